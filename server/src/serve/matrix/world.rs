//! Who there is, and what belongs to whom. What asking has changed is made anew for the next one who asks.

use std::collections::HashMap;
use std::time::Duration;

use engine::browser_session::SessionWanted;
use engine::invitation::InvitationWanted;
use engine::registry::{AgentWanted, PersonWanted};
use engine::{DelegationWanted, GrantWanted, PauseScope, PersonActor};
use model::{Ability, Person, Role};
use serde_json::{Value, json};

use super::table::Row;
use crate::demo::testing::{Desk, Told};

/// More calls than the whole matrix leaves open, and no wait for somebody who does not come.
const SETTINGS: &str = "max_held = 1000\nvia_wait = 0";

/// What Ann and approvers may decide. It looks the same whenever it is asked, and within the test nothing of it is sent.
const COUNTERSIGNED: &str = r#"
[[action]]
name = "countersigned"
title = "Countersigned"
description = "Waits for Ann or an approver."
effect = "external"
credential = "odd"
approvers = ["person:ann@demo.test", "role:approver"]
undo_window = "5m"
input = { type = "object", required = ["n"], additionalProperties = false, properties = { n = { type = "integer" } } }
request = { method = "POST", url = "@ODD@/answer/201", json = "{{ input }}" }
"#;

/// Everybody's.
pub(super) const PASSWORD: &str = "fetch-bexar-wantn";

/// The desk and everybody who asks it.
pub(super) struct World {
    pub(super) desk: Desk,
    tokens: HashMap<&'static str, String>,
    cookies: HashMap<&'static str, String>,
    /// What exists to be asked for, by what it is: its id, and what goes with it.
    things: HashMap<&'static str, (String, String)>,
    made: u64,
}

/// Who signs in: their column, their address.
const PEOPLE: [(&str, &str); 6] = [
    ("ann", "ann@demo.test"),
    ("max", "max@demo.test"),
    ("olga", "olga@demo.test"),
    ("ada", "ada@demo.test"),
    ("eve", "eve@demo.test"),
    ("left", "lee@demo.test"),
];

/// Ann's tokens and her agents' keys with one ability each.
const OWN_TOKENS: [(&str, Ability); 7] = [
    ("a.read", Ability::ActionsRead),
    ("a.write", Ability::ActionsWrite),
    ("a.ext", Ability::ActionsExternal),
    ("a.destr", Ability::ActionsDestructive),
    ("a.rcpts", Ability::ReceiptsRead),
    ("a.dec", Ability::ApprovalsDecide),
    ("a.agents", Ability::AgentsManage),
];
const KEYS: [(&str, Ability); 5] = [
    ("k.read", Ability::ActionsRead),
    ("k.write", Ability::ActionsWrite),
    ("k.ext", Ability::ActionsExternal),
    ("k.destr", Ability::ActionsDestructive),
    ("k.rcpts", Ability::ReceiptsRead),
];

impl World {
    pub(super) async fn open() -> Self {
        let desk = Desk::with(SETTINGS, COUNTERSIGNED).await;
        let (tokens, cookies, things) = (HashMap::new(), HashMap::new(), HashMap::new());
        desk.engine.checkpoint(false).await.expect("signed");
        let mut world = Self { desk, tokens, cookies, things, made: 0 };
        for (name, email, role) in [
            ("Ada", "ada@demo.test", Role::Admin),
            ("Eve", "eve@demo.test", Role::Member),
            ("Lee", "lee@demo.test", Role::Admin),
        ] {
            world.person(name, email, role).await;
        }
        for (column, email) in PEOPLE {
            world.desk.engine.set_password(email, PASSWORD).await.expect("a password");
            let (_, token) =
                world.desk.engine.add_token(email, Ability::ALL.to_vec()).await.expect("a token");
            world.tokens.insert(column, token.reveal().to_owned());
            world.sign_in(column).await;
        }
        world.desk.engine.disable_person("lee@demo.test").await.expect("disabled");
        world.make_keys().await;
        world
    }

    async fn make_keys(&mut self) {
        for (column, ability) in OWN_TOKENS {
            let (_, token) =
                self.desk.engine.add_token("ann@demo.test", vec![ability]).await.expect("a token");
            self.tokens.insert(column, token.reveal().to_owned());
        }
        for (column, ability) in KEYS {
            let (_, key) = self.agent("ann@demo.test", vec![ability]).await;
            self.tokens.insert(column, key);
        }
        let abilities = [Ability::AGENT_DEFAULT, &[Ability::ReceiptsRead]].concat();
        let (_, key) = self.agent("eve@demo.test", abilities).await;
        self.tokens.insert("k.eve", key);
        self.tokens.insert("k.careful", self.desk.careful().to_owned());
        let (id, gone) =
            self.desk.engine.add_token("ann@demo.test", Ability::ALL.to_vec()).await.expect("a token");
        self.desk.engine.revoke_token(id).await.expect("revoked");
        self.tokens.insert("gone", gone.reveal().to_owned());
        let mut typo = self.token("ann").to_owned();
        let last = if typo.ends_with('0') { '1' } else { '0' };
        typo.pop();
        typo.push(last);
        self.tokens.insert("typo", typo);
    }

    pub(super) fn token(&self, caller: &str) -> &str {
        self.tokens.get(caller).unwrap_or_else(|| panic!("{caller} has no token"))
    }

    pub(super) fn cookie(&self, caller: &str) -> &str {
        self.cookies.get(caller).unwrap_or_else(|| panic!("{caller} has no session"))
    }

    /// After an answer: what it may have used up is made anew, and sessions that it may have ended begin again.
    pub(super) async fn after(&mut self, row: &Row, caller: &'static str, status: u16) {
        if row.is_safe() || [401, 403, 404].contains(&status) {
            return;
        }
        self.things.clear();
        self.desk.engine.resume_at_console(PauseScope::Everything).await.expect("resumed");
        let ends = ["/do/sign-in", "/do/sign-out", "/do/session", "/do/join", "/do/prove"]
            .contains(&row.route.path.as_str());
        if ends && PEOPLE.iter().any(|(column, _)| *column == caller && caller != "left") {
            self.sign_in(caller).await;
        }
    }

    async fn sign_in(&mut self, column: &'static str) {
        let email = address(column);
        let cookie = self.desk.sign_in(email, PASSWORD).await;
        self.cookies.insert(column, cookie);
    }

    /// Something of this kind: its id, and what goes with it.
    pub(super) async fn thing(&mut self, kind: &'static str) -> (String, String) {
        if let Some(thing) = self.things.get(kind) {
            return thing.clone();
        }
        let made = self.make(kind).await;
        self.things.insert(kind, made.clone());
        made
    }

    async fn make(&mut self, kind: &str) -> (String, String) {
        match kind {
            // A held call of Ann's careful agent, and the version of its preview. Ann and approvers may decide it.
            "held" => self.held().await,
            "approved" => self.approved().await,
            "in doubt" => self.in_doubt().await,
            "prompt" => self.prompt().await,
            "receipt" => self.receipt().await,
            "agent" => self.agent("ann@demo.test", Ability::AGENT_DEFAULT.to_vec()).await,
            "key" => self.key().await,
            "token" => {
                let (id, token) =
                    self.desk.engine.add_token("ann@demo.test", Vec::new()).await.expect("a token");
                (id.to_string(), token.reveal().to_owned())
            }
            "session" => self.session().await,
            "invitation" => self.invitation().await,
            "grant" => self.grant().await,
            "delegation" => self.delegation().await,
            "person" | "disabled" => self.stranger(kind == "disabled").await,
            "member" => self.member().await,
            other => panic!("nobody makes a thing of the kind {other}"),
        }
    }

    pub(super) fn another(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    async fn held(&mut self) -> (String, String) {
        let input = json!({ "n": self.another() });
        self.desk.held("countersigned", &input).await
    }

    async fn approved(&mut self) -> (String, String) {
        let (id, version) = self.held().await;
        let confirm = json!({ "decision": "confirm", "preview_version": version });
        let path = format!("/v1/calls/{id}/decision");
        let told = self.desk.ask("POST", &path).token(self.token("ann")).json(&confirm).ok(200).await;
        assert_eq!(told.body["status"], "approved", "within its undo window");
        (id, version)
    }

    async fn in_doubt(&self) -> (String, String) {
        let told = self.desk.call("hang_up", self.desk.quick(), &json!({})).send().await;
        let path = told.headers["location"].to_str().expect("text").to_owned();
        let id = path.rsplit('/').next().expect("an id").to_owned();
        (id, path)
    }

    async fn prompt(&self) -> (String, String) {
        let input = json!({ "to": "bo@customers.test", "subject": "s", "body": "b" });
        let told = self.desk.call("send_mail", self.token("k.ext"), &input).ok(202).await;
        (text(&told, "confirm_token"), String::new())
    }

    async fn receipt(&self) -> (String, String) {
        let input = json!({ "ticket": "T-101", "state": "waiting" });
        let told = self.desk.call("move_ticket", self.desk.quick(), &input).ok(200).await;
        (text(&told, "receipt_id"), String::new())
    }

    /// A fresh agent: its id and its key.
    async fn agent(&mut self, owner: &str, abilities: Vec<Ability>) -> (String, String) {
        let name = format!("agent-{}", self.another());
        let owner = owner.to_owned();
        let wanted =
            AgentWanted { name, owner, requires_approval: false, abilities, toolset: None, session: None };
        let (id, key) = self.desk.engine.add_agent(wanted).await.expect("an agent");
        (id.to_string(), key.reveal().to_owned())
    }

    /// A key of a fresh agent, and the agent.
    async fn key(&mut self) -> (String, String) {
        let (agent, _) = self.agent("ann@demo.test", Vec::new()).await;
        let ada = self.visitor("ada").await;
        let page = self.desk.engine.agent(&ada, agent.parse().expect("an id")).await.expect("the agent");
        (page.keys[0].id.to_string(), agent)
    }

    /// Another session of Ann's.
    async fn session(&mut self) -> (String, String) {
        let ann = self.visitor("ann").await;
        let hash = [u8::try_from(self.another() % 250).expect("small"); 32];
        let expires = self.desk.engine.now().plus_seconds(600);
        let signed_in = self.desk.engine.sign_in("ann@demo.test", PASSWORD, None).await;
        let epoch = signed_in.expect("looked at").expect("right").epoch;
        let wanted = SessionWanted {
            person: ann.id(),
            epoch,
            browser: "other".to_owned(),
            expires,
            goes_on_since: None,
        };
        self.desk.engine.session_create(hash, b"data", wanted).await.expect("stored");
        let own = self.desk.engine.own_sessions(&ann, Some(hash)).await.expect("sessions");
        let this = own.iter().find(|one| one.is_this).expect("it is there");
        (this.id.to_string(), String::new())
    }

    /// An invitation of Ada's, and what stands in its link.
    async fn invitation(&mut self) -> (String, String) {
        let email = format!("guest-{}@demo.test", self.another());
        let wanted = InvitationWanted { email, name: "Guest".to_owned(), roles: vec![] };
        let ada = self.visitor("ada").await;
        let (invited, link) = self.desk.engine.invite(&ada, wanted).await.expect("invited");
        (invited.id.to_string(), link.reveal().to_owned())
    }

    /// A standing grant of Ann's, for her agent.
    async fn grant(&mut self) -> (String, String) {
        let (call, version) = self.held().await;
        let (ann, call) = (self.visitor("ann").await, call.parse().expect("an id"));
        let decider = ann.decider().expect("she decides");
        let wanted = GrantWanted { vary: Vec::new(), uses: 1, lasts: Duration::from_hours(1) };
        self.desk.engine.confirm_and_grant(&decider, call, version, wanted).await.expect("granted");
        let line = self.desk.engine.grant_about(&ann, call).await.expect("storage").expect("a grant");
        (line.id.to_string(), String::new())
    }

    /// Ann's voice passed on to Max, from the day after tomorrow on: it changes nothing today.
    async fn delegation(&mut self) -> (String, String) {
        let ann = self.visitor("ann").await;
        // Each at another time: of two at once there is one.
        let begins = 2 * 86_400 + i64::try_from(self.another()).expect("few") * 600;
        let at = |seconds: i64| {
            let moment = self.desk.engine.now().plus_seconds(seconds).to_string();
            moment.chars().take(16).collect::<String>()
        };
        let (from, until) = (at(begins), at(begins + 300));
        let wanted = DelegationWanted { to: "max@demo.test", from: &from, until: &until };
        let id = self.desk.engine.delegate(&ann, wanted).await.expect("delegated");
        (id.to_string(), String::new())
    }

    /// Somebody whom nobody knows yet: their id and address.
    async fn stranger(&mut self, is_disabled: bool) -> (String, String) {
        let email = format!("stranger-{}@demo.test", self.another());
        let person = self.person("Stranger", &email, Role::Member).await;
        if is_disabled {
            self.desk.engine.disable_person(&email).await.expect("disabled");
        }
        (person.id.to_string(), email)
    }

    /// Somebody in the group `crew`: their id and address.
    async fn member(&mut self) -> (String, String) {
        let (id, email) = self.stranger(false).await;
        self.desk.engine.add_to_group("crew", &email).await.expect("in the group");
        (id, email)
    }

    async fn person(&self, name: &str, email: &str, role: Role) -> Person {
        let (email, name) = (email.to_owned(), name.to_owned());
        let wanted = PersonWanted { email, name, roles: vec![role], password: None };
        self.desk.engine.add_person(wanted).await.expect("a person")
    }

    async fn visitor(&self, column: &str) -> PersonActor {
        let id = self.id_of(column).await.parse().expect("an id");
        self.desk.engine.visitor(id).await.expect("storage").expect("an account")
    }

    /// The id of whoever has this column.
    pub(super) async fn id_of(&self, column: &str) -> String {
        let people = self.desk.engine.all_people().await.expect("people");
        let found = people.iter().find(|person| person.email == address(column));
        found.expect("an account").id.to_string()
    }
}

fn address(column: &str) -> &'static str {
    PEOPLE.iter().find(|(name, _)| *name == column).unwrap_or_else(|| panic!("nobody is {column}")).1
}

fn text(told: &Told, field: &str) -> String {
    told.body[field].as_str().unwrap_or_else(|| panic!("{field} in {}", Value::clone(&told.body))).to_owned()
}
