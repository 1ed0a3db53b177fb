//! `countersign group …`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::Output;
use super::output::table;
use crate::config::Config;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(super) enum GroupCommand {
    /// Put a person into a group
    Add(Add),
    /// List the groups and who is in them
    List(List),
    /// Take a person, or everybody, out of a group
    Remove(Remove),
}

/// Put a person into a group; the group is there from then on.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// The group's name
    #[arg(long)]
    name: String,
    /// The address of the person
    #[arg(long, value_name = "EMAIL")]
    person: String,
    #[command(flatten)]
    output: Output,
}

/// List the groups and who is in them.
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    output: Output,
}

/// Take a person, or everybody, out of a group.
#[derive(Debug, Args)]
pub(super) struct Remove {
    /// The group's name
    #[arg(long)]
    name: String,
    /// The address of the person [default: everybody]
    #[arg(long, value_name = "EMAIL")]
    person: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl GroupCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        match self {
            Self::Add(add) => add.run(config).await,
            Self::List(list) => list.run(config).await,
            Self::Remove(remove) => remove.run(config).await,
        }
    }
}

impl Add {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let added = super::engine(config).await?.add_to_group(&self.name, &self.person).await;
        added.map_err(|refusal| Failure::refused(&refusal, "Nobody was put into a group."))?;
        let text = format!("{} is in the group {}.", self.person, self.name);
        self.output.print(&json!({ "name": self.name, "person": self.person }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl List {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let groups = super::engine(config).await?.groups().await;
        let groups = groups.map_err(|refusal| Failure::refused(&refusal, "Nothing was changed."))?;
        let rows: Vec<_> =
            groups.iter().map(|group| vec![group.name.clone(), group.members.join(", ")]).collect();
        let items: Vec<_> =
            groups.iter().map(|group| json!({ "name": group.name, "members": group.members })).collect();
        self.output.print(&json!({ "items": items }), &table(&["Name", "Members"], &rows))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Remove {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let undone = "Nothing was removed.";
        let removed =
            super::engine(config).await?.remove_from_group(&self.name, self.person.as_deref()).await;
        if !removed.map_err(|refusal| Failure::refused(&refusal, undone))? {
            return Err(Failure::new(
                "There is no such group, or the person is not in it.",
                undone,
                "Look at `countersign group list`.",
            ));
        }
        let text = match &self.person {
            Some(person) => format!("{person} is no longer in the group {}.", self.name),
            None => format!("The group {} is gone.", self.name),
        };
        self.output.print(&json!({ "name": self.name, "person": self.person, "removed": true }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}
