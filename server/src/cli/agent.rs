//! `countersign agent …`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use engine::PauseScope;
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
    /// Pause an agent, or everything: calls are answered 503 and nothing is sent until it is resumed
    Pause(Pause),
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

/// Pause an agent, or everything, at once and on every node; or resume.
#[derive(Debug, Args)]
pub(super) struct Pause {
    /// The agent's name or id; or --all in its place
    #[arg(required_unless_present = "all", conflicts_with = "all", value_name = "AGENT|--all")]
    agent: Option<String>,
    /// Everything: calls of agents, of people and of everybody else
    #[arg(long)]
    all: bool,
    /// Why, in your words, for the people on the desk
    #[arg(long, value_name = "WORDS", conflicts_with = "resume")]
    reason: Option<String>,
    /// End the pause: what waited goes on
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    output: Output,
}

impl AgentCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        match self {
            Self::Add(add) => add.run(config).await,
            Self::List(list) => list.run(config).await,
            Self::Revoke(revoke) => revoke.run(config).await,
            Self::Pause(pause) => pause.run(config).await,
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
        let text =
            table(&["Id", "Name", "Owner", "Approval", "Toolset", "Last used", "Paused", "Revoked"], &rows);
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

impl Pause {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let undone = if self.resume { "Nothing was resumed." } else { "Nothing was paused." };
        let refused = |refusal| Failure::refused(&refusal, undone);
        let engine = super::engine(config).await?;
        let scope = match &self.agent {
            None => PauseScope::Everything,
            Some(agent) => {
                let happened = "There is no agent of that name or id.";
                let missing = || Failure::new(happened, undone, "Look at `countersign agent list`.");
                let found = engine.find_agent(agent).await.map_err(refused)?;
                PauseScope::Agent(found.ok_or_else(missing)?.id)
            }
        };
        let changed = if self.resume {
            engine.resume_at_console(scope).await
        } else {
            engine.pause_at_console(scope, self.reason.as_deref()).await
        };
        let changed = changed.map_err(refused)?;
        let what = self.agent.clone().unwrap_or_else(|| "Everything".to_owned());
        let text = match (self.resume, changed) {
            (false, true) => format!("{what} is paused: calls are answered 503 and nothing is sent."),
            (false, false) => format!("{what} was paused before; nothing was changed."),
            (true, true) => format!("{what} was resumed; what waited goes on."),
            (true, false) => format!("{what} was not paused; nothing was changed."),
        };
        let json =
            json!({ "agent": self.agent, "all": self.all, "paused": !self.resume, "changed": changed });
        self.output.print(&json, &text)?;
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
        time(agent.pause.as_ref().map(|pause| pause.at)),
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
        "held": agent.held,
        "paused_at": agent.pause.as_ref().map(|pause| pause.at),
        "revoked_at": agent.revoked_at,
    })
}
