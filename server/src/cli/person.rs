//! `countersign person …`

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use engine::Engine;
use engine::password;
use engine::registry::PersonWanted;
use model::{Person, Refusal, Role};
use serde_json::json;

use super::Output;
use super::output::table;
use super::piped;
use crate::config::Config;
use crate::failure::Failure;

/// The longest password that is read, in bytes.
const PASSWORD_LIMIT: usize = 1_024;

#[derive(Debug, Subcommand)]
pub(super) enum PersonCommand {
    /// Make an account
    Add(Add),
    /// List the accounts
    List(List),
    /// Set a new password, and end every session
    SetPassword(SetPassword),
    /// Change what a person may do
    Role(SetRoles),
    /// Link an account to somebody at the sign-in provider
    Link(Link),
    /// Take an account's link to the sign-in provider away, and end every session
    Unlink(Unlink),
    /// End an account: its sessions, tokens and agents' keys, at once
    Disable(Disable),
    /// Make a disabled account usable again
    Enable(Enable),
}

/// Make an account.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// The address they sign in with
    #[arg(long)]
    email: String,
    /// The name as people see it
    #[arg(long)]
    name: String,
    /// What they may do beyond their own agents and calls
    #[arg(long, default_value = "member", value_parser = role())]
    role: Role,
    /// Read the password from the standard input; one trailing newline is dropped
    #[arg(long, required_unless_present = "no_password")]
    password_stdin: bool,
    /// Without a password: they sign in through the sign-in provider
    #[arg(long, conflicts_with = "password_stdin")]
    no_password: bool,
    #[command(flatten)]
    output: Output,
}

/// List the accounts.
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    output: Output,
}

/// Set a new password. Every session of the account ends; its tokens and agents' keys stay.
#[derive(Debug, Args)]
pub(super) struct SetPassword {
    /// The address they sign in with
    #[arg(long)]
    email: String,
    /// Read the password from the standard input; one trailing newline is dropped
    #[arg(long, required = true)]
    password_stdin: bool,
    #[command(flatten)]
    output: Output,
}

/// Give a person these roles and no other. Everybody is a member. Calls that nobody can decide any more go to the operators.
#[derive(Debug, Args)]
pub(super) struct SetRoles {
    /// The address they sign in with
    #[arg(long)]
    email: String,
    /// A role; can be repeated. `member` alone takes every other one away
    #[arg(long = "role", value_name = "ROLE", required = true, value_parser = role())]
    roles: Vec<Role>,
    #[command(flatten)]
    output: Output,
}

/// Link an account to somebody at the sign-in provider of the catalogue, by the provider's own name for them (the claim
/// `sub`). People whose address the provider has verified are linked by themselves when they first sign in.
#[derive(Debug, Args)]
pub(super) struct Link {
    /// The address of the account
    #[arg(long)]
    email: String,
    /// The provider's name for them: the claim `sub`, to the letter
    #[arg(long)]
    subject: String,
    #[command(flatten)]
    output: Output,
}

/// Make a disabled account usable again. Tokens and agents' keys that were not revoked are taken again; sessions and calls
/// do not come back.
#[derive(Debug, Args)]
pub(super) struct Enable {
    /// The address they sign in with
    #[arg(long)]
    email: String,
    #[command(flatten)]
    output: Output,
}

/// Take an account's link to the sign-in provider away: when they are somebody else there now, or it was linked by mistake.
/// Every session of the account ends.
#[derive(Debug, Args)]
pub(super) struct Unlink {
    /// The address of the account
    #[arg(long)]
    email: String,
    #[command(flatten)]
    output: Output,
}

/// End an account: its sessions, tokens and agents' keys are taken no more, its agents' calls are withdrawn, and calls
/// that only this person could decide go to the operators. The last admin who can sign in stays.
#[derive(Debug, Args)]
pub(super) struct Disable {
    /// The address they sign in with
    #[arg(long)]
    email: String,
    #[command(flatten)]
    output: Output,
}

/// One of the roles.
fn role() -> impl TypedValueParser<Value = Role> {
    PossibleValuesParser::new(Role::ALL.iter().map(|role| role.as_str())).try_map(|word| word.parse::<Role>())
}

impl PersonCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        match self {
            Self::Add(add) => add.run(config).await,
            Self::List(list) => list.run(config).await,
            Self::SetPassword(set) => set.run(config).await,
            Self::Role(roles) => roles.run(config).await,
            Self::Link(link) => link.run(config).await,
            Self::Unlink(unlink) => unlink.run(config).await,
            Self::Disable(disable) => disable.run(config).await,
            Self::Enable(enable) => enable.run(config).await,
        }
    }
}

impl Add {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let undone = "Nobody was added.";
        let password = if self.no_password {
            None
        } else {
            Some(piped::secret(std::io::stdin().lock(), "password", PASSWORD_LIMIT, undone)?)
        };
        let engine = super::engine(config).await?;
        if let Some(password) = &password {
            warn_of_weak(password.expose(), &[&self.email, &self.name]);
            warn_of_passwords_off(&engine);
        }
        let password = password.map(|password| password.expose().to_owned());
        let wanted = PersonWanted { email: self.email, name: self.name, roles: vec![self.role], password };
        let added = engine.add_person(wanted).await;
        let added = added.map_err(|refusal| Failure::refused(&refusal, undone))?;
        let text = format!("{} was added as {} ({}).", added.email, self.role, added.id);
        self.output.print(&json!({ "id": added.id, "email": added.email }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl SetPassword {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let undone = "No password was changed.";
        let password = piped::secret(std::io::stdin().lock(), "password", PASSWORD_LIMIT, undone)?;
        warn_of_weak(password.expose(), &[&self.email]);
        let engine = super::engine(config).await?;
        warn_of_passwords_off(&engine);
        let set = engine.set_password(&self.email, password.expose()).await;
        let id = set.map_err(|refusal| Failure::refused(&refusal, undone))?;
        let text = format!("{} has a new password and is signed out everywhere.", self.email);
        self.output.print(&json!({ "id": id, "email": self.email }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Whoever runs the desk may choose what its pages would refuse, and is told.
fn warn_of_weak(password: &str, about: &[&str]) {
    if let Some(fault) = password::fault(password, about) {
        eprintln!("countersign: the password is accepted, but weak. {fault}");
    }
}

/// A password that counts for nothing is kept all the same, for the day when passwords count again.
fn warn_of_passwords_off(engine: &Engine) {
    if !engine.catalogue().sign_in.passwords {
        eprintln!(
            "countersign: passwords are switched off (`passwords = false` in [sign_in]): nobody can sign in with it until they are switched on."
        );
    }
}

impl Link {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let linked = super::engine(config).await?.link(&self.email, &self.subject).await;
        let id = linked.map_err(|refusal| Failure::refused(&refusal, "Nobody was linked."))?;
        let text = format!("{} signs in through the provider as this subject from now on.", self.email);
        self.output.print(&json!({ "id": id, "email": self.email, "linked": true }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Unlink {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let unlinked = super::engine(config).await?.unlink(&self.email).await;
        let unlinked = unlinked.map_err(|refusal| Failure::refused(&refusal, "Nothing was changed."))?;
        let text = if unlinked > 0 {
            "is linked no more, and is signed out everywhere. Whoever signs in next with this verified address is linked anew"
        } else {
            "was not linked to anybody at a sign-in provider"
        };
        let json = json!({ "email": self.email, "unlinked": unlinked > 0 });
        self.output.print(&json, &format!("{} {text}.", self.email))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Disable {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let disabled = super::engine(config).await?.disable_person(&self.email).await;
        let disabled = disabled.map_err(|refusal| not_found_or(&refusal, "Nobody was disabled."))?;
        let text = if disabled { "was disabled" } else { "had been disabled before" };
        self.output
            .print(&json!({ "email": self.email, "disabled": true }), &format!("{} {text}.", self.email))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl SetRoles {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let set = super::engine(config).await?.set_roles_of(&self.email, &self.roles).await;
        set.map_err(|refusal| not_found_or(&refusal, "No role was changed."))?;
        let roles: Vec<_> = Role::with_member(&self.roles).iter().map(|role| role.as_str()).collect();
        let text = format!("{} is {} now.", self.email, roles.join(", "));
        self.output.print(&json!({ "email": self.email, "roles": roles }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Enable {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let enabled = super::engine(config).await?.enable_person(&self.email).await;
        let enabled = enabled.map_err(|refusal| not_found_or(&refusal, "Nobody was enabled."))?;
        let text = if enabled { "can be used again" } else { "was not disabled; nothing was changed" };
        let json = json!({ "email": self.email, "disabled": false, "changed": enabled });
        self.output.print(&json, &format!("The account of {} {text}.", self.email))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Nobody has this address; or what the engine says.
fn not_found_or(refusal: &Refusal, undone: &'static str) -> Failure {
    match refusal {
        Refusal::NotFound => {
            Failure::new("There is nobody with this address.", undone, "Look at `countersign person list`.")
        }
        refusal => Failure::refused(refusal, undone),
    }
}

impl List {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let people = super::engine(config).await?.all_people().await;
        let people = people.map_err(|refusal| Failure::refused(&refusal, "Nothing was changed."))?;
        let rows: Vec<_> = people.iter().map(row).collect();
        let text = table(&["Id", "Email", "Name", "Roles", "Disabled"], &rows);
        self.output.print(&json!({ "items": people }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn row(person: &Person) -> Vec<String> {
    let roles: Vec<_> = person.roles.iter().map(|role| role.as_str()).collect();
    let disabled = person.disabled_at.map(|at| at.to_string()).unwrap_or_default();
    vec![person.id.to_string(), person.email.clone(), person.name.clone(), roles.join(", "), disabled]
}
