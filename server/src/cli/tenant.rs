//! `countersign tenant …`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::Output;
use super::output::table;
use crate::config::Config;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(super) enum TenantCommand {
    /// Make a tenant, and put a person into it
    Add(Add),
    /// List the tenants and who is in them
    List(List),
    /// Take a person out of a tenant, or remove the tenant
    Remove(Remove),
}

/// Make a tenant when there is none of this name, and put a person into it when one is given.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// The tenant's name
    #[arg(long)]
    name: String,
    /// The address of a person to put into it
    #[arg(long, value_name = "EMAIL")]
    person: Option<String>,
    #[command(flatten)]
    output: Output,
}

/// List the tenants and who is in them.
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    output: Output,
}

/// Take a person out of a tenant, or remove the tenant.
#[derive(Debug, Args)]
pub(super) struct Remove {
    /// The tenant's name or id
    #[arg(long)]
    name: String,
    /// The address of the person [default: the tenant itself]
    #[arg(long, value_name = "EMAIL")]
    person: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl TenantCommand {
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
        let added = super::engine(config).await?.add_tenant(&self.name, self.person.as_deref()).await;
        let id = added.map_err(|refusal| Failure::refused(&refusal, "No tenant was added or changed."))?;
        let text = match &self.person {
            Some(person) => format!("{person} is in the tenant {} ({id}).", self.name),
            None => format!("The tenant {} is there ({id}).", self.name),
        };
        self.output.print(&json!({ "id": id, "name": self.name, "person": self.person }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl List {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let tenants = super::engine(config).await?.tenants().await;
        let tenants = tenants.map_err(|refusal| Failure::refused(&refusal, "Nothing was changed."))?;
        let rows: Vec<_> = tenants
            .iter()
            .map(|tenant| vec![tenant.id.to_string(), tenant.name.clone(), tenant.members.join(", ")])
            .collect();
        let items: Vec<_> = tenants
            .iter()
            .map(|tenant| json!({ "id": tenant.id, "name": tenant.name, "members": tenant.members }))
            .collect();
        self.output.print(&json!({ "items": items }), &table(&["Id", "Name", "Members"], &rows))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Remove {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let undone = "Nothing was removed.";
        let removed = super::engine(config).await?.remove_tenant(&self.name, self.person.as_deref()).await;
        if !removed.map_err(|refusal| Failure::refused(&refusal, undone))? {
            return Err(Failure::new(
                "There is no such tenant, or the person is not in it.",
                undone,
                "Look at `countersign tenant list`.",
            ));
        }
        let text = match &self.person {
            Some(person) => format!("{person} is no longer in the tenant {}.", self.name),
            None => format!("The tenant {} is gone.", self.name),
        };
        self.output.print(&json!({ "name": self.name, "person": self.person, "removed": true }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}
