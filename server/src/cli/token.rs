//! `countersign token …`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use model::{Ability, KeyId};
use serde_json::json;

use super::Output;
use super::abilities;
use crate::config::Config;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Make a person's token
    Add(Add),
    /// End a person's token or an agent's key
    Revoke(Revoke),
}

/// Make a person's token. It is shown once.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// The person's address
    #[arg(long, value_name = "EMAIL")]
    person: String,
    /// What it may be used for; can be repeated [default: receipts:read]
    #[arg(long = "ability", value_name = "ABILITY", value_parser = abilities::of_person)]
    abilities: Vec<Ability>,
    #[command(flatten)]
    output: Output,
}

/// End a person's token or an agent's key. Calls that an agent's key has held are withdrawn.
#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// The token's id (key_…)
    #[arg(value_parser = key_id)]
    id: KeyId,
    #[command(flatten)]
    output: Output,
}

fn key_id(text: &str) -> Result<KeyId, &'static str> {
    text.parse().map_err(|_| "a token's id begins with key_; it is not the token itself")
}

impl TokenCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        match self {
            Self::Add(add) => add.run(config).await,
            Self::Revoke(revoke) => revoke.run(config).await,
        }
    }
}

impl Add {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let added = super::engine(config).await?.add_token(&self.person, self.abilities).await;
        let (id, token) = added.map_err(|refusal| Failure::refused(&refusal, "No token was made."))?;
        let json = json!({ "id": id, "token": token.reveal() });
        self.output.print(&json, &format!("The token {id}, shown this once:\n{}", token.reveal()))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Revoke {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let undone = "No token was revoked.";
        let refused = |refusal| Failure::refused(&refusal, undone);
        if !super::engine(config).await?.revoke_token(self.id).await.map_err(refused)? {
            let happened = "There is no token of that id, or it was revoked before.";
            return Err(Failure::new(happened, undone, "A token's id is told when it is made."));
        }
        self.output
            .print(&json!({ "id": self.id, "revoked": true }), &format!("{} was revoked.", self.id))?;
        Ok(ExitCode::SUCCESS)
    }
}
