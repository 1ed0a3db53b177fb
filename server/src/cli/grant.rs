//! `countersign grant …`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use engine::{GrantLine, PageAsked};
use model::ApprovalId;
use serde_json::{Value, json};

use super::Output;
use super::output::table;
use crate::config::Config;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(super) enum GrantCommand {
    /// List the standing grants that let calls through
    List(List),
    /// Revoke one: from then on it lets nothing through
    Revoke(Revoke),
}

/// List the standing grants that let calls through, newest first.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Those that have ended instead
    #[arg(long)]
    ended: bool,
    /// How many at most
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Where the page before ended
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    output: Output,
}

/// Revoke one: from then on it lets nothing through.
#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// The grant's id (apr_…)
    #[arg(value_parser = grant_id)]
    id: ApprovalId,
    #[command(flatten)]
    output: Output,
}

fn grant_id(text: &str) -> Result<ApprovalId, String> {
    text.parse().map_err(|_| "the id of a grant looks like apr_01h455vb4pex5vsknk084sn02q".to_owned())
}

impl GrantCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        match self {
            Self::List(list) => list.run(config).await,
            Self::Revoke(revoke) => revoke.run(config).await,
        }
    }
}

impl List {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let page = PageAsked { limit: Some(self.limit), cursor: self.cursor };
        let grants = super::engine(config).await?.all_grants(!self.ended, &page).await;
        let grants = grants.map_err(|refusal| Failure::refused(&refusal, "Nothing was changed."))?;
        let rows: Vec<_> = grants.items.iter().map(row).collect();
        let items: Vec<_> = grants.items.iter().map(item).collect();
        let text = table(&["Id", "Agent", "Action", "Sent to", "Made by", "Used", "Ends"], &rows);
        self.output.print(&json!({ "items": items, "next_cursor": grants.next_cursor }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn row(grant: &GrantLine) -> Vec<String> {
    let ends = match grant.ended {
        Some((at, how)) => format!("{at} ({})", how.as_str()),
        None => grant.expires_at.to_string(),
    };
    vec![
        grant.id.to_string(),
        grant.agent_name.clone(),
        grant.action.clone(),
        format!("{} {}", grant.method, grant.host),
        grant.grantor_name.clone(),
        format!("{} of {}", grant.used, grant.uses),
        ends,
    ]
}

fn item(grant: &GrantLine) -> Value {
    json!({
        "id": grant.id,
        "call_id": grant.call,
        "person_id": grant.grantor,
        "person": grant.grantor_name,
        "agent_id": grant.agent,
        "agent": grant.agent_name,
        "action": grant.action,
        "credential": grant.credential,
        "method": grant.method,
        "host": grant.host,
        "uses": grant.uses,
        "used": grant.used,
        "made_at": grant.made_at,
        "expires_at": grant.expires_at,
        "last_used_at": grant.last_used_at,
        "ended_at": grant.ended.map(|(at, _)| at),
        "ended": grant.ended.map(|(_, how)| how.as_str()),
    })
}

impl Revoke {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let undone = "Nothing was revoked.";
        let look = "Look at `countersign grant list`.";
        let revoked = super::engine(config).await?.revoke_grant_at_console(self.id).await;
        match revoked {
            Ok(true) => {}
            Ok(false) => return Err(Failure::new("This grant has ended before.", undone, look)),
            Err(model::Refusal::NotFound) => {
                return Err(Failure::new("There is no such grant.", undone, look));
            }
            Err(refusal) => return Err(Failure::refused(&refusal, undone)),
        }
        let text = format!("The grant {} is revoked: it lets nothing through any more.", self.id);
        self.output.print(&json!({ "id": self.id, "revoked": true }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}
