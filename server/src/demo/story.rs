//! What the demo says when it is ready.

use serde_json::{Value, json};

use super::Places;
use super::people::{Cast, DemoAgent};
use crate::cli::print_line;
use crate::failure::Failure;

/// A call to make by hand.
const FIRST_CALL: &str = r#"curl "$DESK/v1/actions/move_ticket" -H "Authorization: Bearer $AGENT_KEY" -H 'Content-Type: application/json' -d '{"ticket": "T-101", "state": "closed"}'"#;

/// Where everything is, and who is who.
pub(super) struct Story<'a> {
    pub(super) places: Places,
    pub(super) cast: &'a Cast,
    pub(super) quiet_agent: bool,
}

impl Story<'_> {
    /// One line of JSON.
    pub(super) fn tell_programs(&self) -> Result<(), Failure> {
        let person = |person: &super::people::DemoPerson| json!({ "email": person.email, "name": person.name, "role": person.role, "password": person.password, "token": person.token });
        let people: Vec<Value> = self.cast.people.iter().map(person).collect();
        let line = json!({
            "url": self.places.desk_url(),
            "upstream_url": self.places.upstream_url(),
            "people": people,
            "agents": [agent(&self.cast.careful), agent(&self.cast.quick)],
        });
        print_line(&line.to_string())
    }

    /// The same for people, with what to do first.
    pub(super) fn tell_people(&self) -> Result<(), Failure> {
        let people: Vec<String> = self
            .cast
            .people
            .iter()
            .map(|p| format!("  {:<15} {}   {}", p.email, p.password, p.part))
            .collect();
        let agent = if self.quiet_agent {
            "The agent is quiet."
        } else {
            "The agent “careful” is calling now: its first writes wait in Ann's inbox."
        };
        print_line(&format!(
            "\nThe desk is open. Everything in it is made up, and gone when it stops (Ctrl+C).\n\n\
             1. Open     {desk}\n\
             2. Sign in  as one of\n\n{people}\n\n\
             3. Confirm  what the agent asks, and see it happen at {upstream}\n\n\
             {agent} Other commands of `countersign`, such as `agent add`, do not reach this desk. To call as the agent does:\n\n\
             export DESK={desk} SERVICE={upstream} AGENT_KEY={key}\n{call}\n",
            desk = self.places.desk_url(),
            upstream = self.places.upstream_url(),
            people = people.join("\n"),
            key = self.cast.careful.key,
            call = FIRST_CALL,
        ))
    }
}

fn agent(agent: &DemoAgent) -> Value {
    json!({ "name": agent.name, "key": agent.key, "requires_approval": agent.requires_approval })
}
