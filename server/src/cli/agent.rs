//! `countersign agent …`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use engine::agent::AgentLine;
use engine::registry::AgentWanted;
use model::Ability;
use serde_json::{Value, json};

use super::Output;
use super::abilities;
use super::output::table;
use crate::config::Config;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(super) enum AgentCommand {
    /// Make an agent and its first key
    Add(Add),
    /// List the agents
    List(List),
    /// End an agent: its key is refused from now on and its held calls are withdrawn
    Revoke(Revoke),
}

/// Make an agent and its first key. The key is shown once.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// The agent's name
    #[arg(long)]
    name: String,
    /// The address of the person it acts for
    #[arg(long, value_name = "EMAIL")]
    owner: String,
    /// Every write waits for a person
    #[arg(long)]
    requires_approval: bool,
    /// What the key may be used for; can be repeated [default: all four actions: abilities]
    #[arg(long = "ability", value_name = "ABILITY", value_parser = abilities::of_agent)]
    abilities: Vec<Ability>,
    /// The actions it may see, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_name = "ACTIONS")]
    toolset: Option<Vec<String>>,
    /// The one session its key is bound to [default: it may name its own]
    #[arg(long)]
    session: Option<String>,
    #[command(flatten)]
    output: Output,
}

/// List the agents.
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    output: Output,
}

/// End an agent.
#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// The agent's name or id
    agent: String,
    #[command(flatten)]
    output: Output,
}

impl AgentCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        match self {
            Self::Add(add) => add.run(config).await,
            Self::List(list) => list.run(config).await,
            Self::Revoke(revoke) => revoke.run(config).await,
        }
    }
}

impl Add {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let wanted = AgentWanted {
            name: self.name.clone(),
            owner: self.owner,
            requires_approval: self.requires_approval,
            abilities: self.abilities,
            toolset: self.toolset,
            session: self.session,
        };
        let added = super::engine(config).await?.add_agent(wanted).await;
        let (id, key) = added.map_err(|refusal| Failure::refused(&refusal, "No agent was added."))?;
        let json = json!({ "id": id, "name": self.name, "key": key.reveal() });
        let text = format!("{} was added ({id}). Its key, shown this once:\n{}", self.name, key.reveal());
        self.output.print(&json, &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl List {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let agents = super::engine(config).await?.all_agents().await;
        let agents = agents.map_err(|refusal| Failure::refused(&refusal, "Nothing was changed."))?;
        let rows: Vec<_> = agents.iter().map(row).collect();
        let items: Vec<_> = agents.iter().map(item).collect();
        let text = table(&["Id", "Name", "Owner", "Approval", "Toolset", "Last used", "Revoked"], &rows);
        self.output.print(&json!({ "items": items }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Revoke {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let undone = "No agent was revoked.";
        let refused = |refusal| Failure::refused(&refusal, undone);
        if !super::engine(config).await?.revoke_agent(&self.agent).await.map_err(refused)? {
            let happened = "There is no agent of that name or id, or it was revoked before.";
            return Err(Failure::new(happened, undone, "Look at `countersign agent list`."));
        }
        let text = format!("{} was revoked; its held calls are withdrawn.", self.agent);
        self.output.print(&json!({ "agent": self.agent, "revoked": true }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn row(agent: &AgentLine) -> Vec<String> {
    let time = |at: Option<model::Time>| at.map(|at| at.to_string()).unwrap_or_default();
    let approval = if agent.requires_approval { "every write" } else { "as the action says" };
    vec![
        agent.id.to_string(),
        agent.name.clone(),
        agent.owner.clone(),
        approval.to_owned(),
        agent.toolset.as_ref().map_or_else(|| "all".to_owned(), |names| names.join(", ")),
        time(agent.last_used_at),
        time(agent.revoked_at),
    ]
}

fn item(agent: &AgentLine) -> Value {
    json!({
        "id": agent.id,
        "name": agent.name,
        "owner": agent.owner,
        "owner_email": agent.owner_email,
        "requires_approval": agent.requires_approval,
        "abilities": agent.abilities,
        "toolset": agent.toolset,
        "last_used_at": agent.last_used_at,
        "revoked_at": agent.revoked_at,
    })
}
