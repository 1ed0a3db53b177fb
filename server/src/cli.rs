//! The command line.

mod abilities;
mod agent;
mod backup;
mod check;
mod checkpoint;
mod credential;
mod demo;
mod doctor;
mod grant;
mod group;
mod import;
mod keys;
mod migrate;
mod output;
mod person;
mod piped;
mod proofs;
mod receipts;
mod serve;
mod tenant;
mod token;
mod upstream;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::{self, Config, Environment};
use crate::failure::Failure;
use crate::{log, memory};
use output::Output;
pub(crate) use output::print_line;

/// A desk where people countersign what agents write.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    /// The catalogue [default: countersign.toml in the working directory, then built-in defaults]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 failed, 2 wrong usage.
Every command works while the server runs. `countersign demo` needs nothing to start with.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Bring the database up to date and serve
    Serve(serve::Serve),
    /// Show it all: a desk, an upstream and an agent that calls, on temporary data
    Demo(demo::Demo),
    /// Look for mistakes in the catalogue
    Check(check::Check),
    /// What other systems say about themselves, made into a catalogue
    #[command(subcommand)]
    Import(import::ImportCommand),
    /// People with accounts
    #[command(subcommand)]
    Person(person::PersonCommand),
    /// Programs that act for a person
    #[command(subcommand)]
    Agent(agent::AgentCommand),
    /// Standing grants, which let calls through in advance
    #[command(subcommand)]
    Grant(grant::GrantCommand),
    /// Groups, which rules and approvers name
    #[command(subcommand)]
    Group(group::GroupCommand),
    /// Tenants, which calls and actions name
    #[command(subcommand)]
    Tenant(tenant::TenantCommand),
    /// The secrets of the catalogue's credentials
    #[command(subcommand)]
    Credential(credential::CredentialCommand),
    /// People's tokens and agents' keys
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// MCP servers whose tools are actions
    #[command(subcommand)]
    Upstream(upstream::UpstreamCommand),
    /// What was done
    #[command(subcommand)]
    Receipts(receipts::ReceiptsCommand),
    /// Sign the head of the ledger of receipts, or show what it is checked with
    Checkpoint(checkpoint::CheckpointCommand),
    /// The keys that everything is sealed with
    #[command(subcommand)]
    Keys(keys::KeysCommand),
    /// Bring the database up to date
    Migrate(migrate::Migrate),
    /// Look at this deployment: what would keep it from working, or from being trusted
    Doctor(doctor::Doctor),
    /// Copy the database, while the server runs
    Backup(backup::Backup),
}

impl Command {
    /// What is worth telling when nobody says: a server tells of every request, a command of what goes wrong.
    const fn log_level(&self) -> &'static str {
        if matches!(self, Self::Serve(_)) { "info" } else { "warn" }
    }
}

/// Runs what the command line says. Wrong usage ends the process with 2 before anything is done.
pub(crate) async fn run() -> ExitCode {
    let Cli { config, command } = Cli::parse();
    log::start(command.log_level());
    memory::keep_private();
    let done = match command {
        Command::Demo(demo) => demo.run().await,
        Command::Import(import) => import.run().await,
        Command::Receipts(receipts::ReceiptsCommand::Verify(verify)) => verify.run(),
        command => match Config::find(config.as_deref()) {
            Ok(config) => dispatch(command, config).await,
            Err(failure) => Err(failure),
        },
    };
    match done {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("countersign: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Commands that look at the catalogue.
async fn dispatch(command: Command, config: Config) -> Result<ExitCode, Failure> {
    match command {
        Command::Serve(serve) => serve.run(&config).await,
        Command::Demo(demo) => demo.run().await,
        Command::Check(check) => check.run(&config).await,
        Command::Credential(credential) => credential.run(&config).await,
        Command::Import(import) => import.run().await,
        Command::Person(person) => person.run(&config).await,
        Command::Agent(agent) => agent.run(&config).await,
        Command::Grant(grant) => grant.run(&config).await,
        Command::Group(group) => group.run(&config).await,
        Command::Tenant(tenant) => tenant.run(&config).await,
        Command::Token(token) => token.run(&config).await,
        Command::Keys(keys) => keys.run(&config).await,
        Command::Upstream(upstream) => upstream.run(&config).await,
        Command::Receipts(receipts) => receipts.run(&config).await,
        Command::Checkpoint(checkpoint) => checkpoint.run(&config).await,
        Command::Migrate(migrate) => migrate.run(&config).await,
        Command::Doctor(doctor) => doctor.run(&config).await,
        Command::Backup(backup) => backup.run(&config).await,
    }
}

/// The engine over the catalogue's database, brought up to date so that any command can be the first one ever run.
async fn engine(config: &Config) -> Result<engine::Engine, Failure> {
    config::open(config, config.usable_catalogue()?, Environment::of_process()).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    fn refused(line: &str) -> ErrorKind {
        Cli::try_parse_from(line.split(' ')).expect_err(line).kind()
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_the_contract_shows_is_understood() {
        for line in [
            "countersign serve",
            "countersign --config x.toml serve --json",
            "countersign demo --port 9000 --json --quiet-agent",
            "countersign check --json",
            "countersign --config x.toml person add --email E --name N --role operator --password-stdin --json",
            "countersign person list --json",
            "countersign person disable --email E --json",
            "countersign person enable --email E --json",
            "countersign person role --email E --role operator --role approver --json",
            "countersign person set-password --email E --password-stdin --json",
            "countersign group add --name mailers --person E --json",
            "countersign group list --json",
            "countersign group remove --name mailers --person E --json",
            "countersign tenant add --name acme --json",
            "countersign tenant list --json",
            "countersign tenant remove --name acme --json",
            "countersign agent add --name N --owner E --requires-approval --ability actions:read --ability actions:write --toolset a,b --session s --json",
            "countersign agent list --json",
            "countersign agent revoke N --json",
            "countersign agent pause N --reason W --json",
            "countersign agent pause N --resume",
            "countersign agent pause --all --reason W",
            "countersign agent pause --all --resume --json",
            "countersign token add --person E --ability receipts:read --json",
            "countersign token revoke key_01h455vb4pex5vsknk084sn02q --json",
            "countersign grant list --ended --limit 10 --cursor c --json",
            "countersign grant revoke apr_01h455vb4pex5vsknk084sn02q --json",
            "countersign credential set mail --json",
            "countersign credential list --json",
            "countersign keys rotate --json",
            "countersign keys list --json",
            "countersign migrate --json",
            "countersign import mcp https://tickets.example/mcp --name tickets --secret T --header X-Api-Key --out c.toml --force --json",
            "countersign upstream list --json",
            "countersign upstream check --json",
            "countersign upstream accept tickets close_ticket --hash 0123abcd --json",
            "countersign upstream accept tickets --all",
            "countersign receipts list --person E --agent A --action send_mail --host a.example --outcome in_doubt --from 2026-11-30 --to 2026-11-30T09:30:00Z --limit 500 --cursor c --json",
            "countersign receipts export --json",
            "countersign receipts export --format jsonl --out receipts.jsonl --force --agent A",
            "countersign receipts export --proofs --checkpoint a.txt --checkpoint b.txt --out receipts.jsonl --person E",
            "countersign receipts verify receipts.jsonl --checkpoint a.txt --checkpoint b.txt --key PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW --allow-pruned --json",
            "countersign receipts verify - --key PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
            "countersign checkpoint --json",
            "countersign checkpoint --key",
            "countersign import openapi api.json",
            "countersign import openapi - --out countersign.toml --force --server https://a.example/v1 --tag a --tag b --json",
        ] {
            Cli::try_parse_from(line.split(' ')).expect(line);
        }
    }

    #[test]
    fn wrong_usage_is_told_before_anything_is_done() {
        assert_eq!(refused("countersign fly"), ErrorKind::InvalidSubcommand);
        assert_eq!(
            refused("countersign person add --email E --name N --role king --password-stdin"),
            ErrorKind::InvalidValue
        );
        assert_eq!(
            refused("countersign person add --email E --name N --role member"),
            ErrorKind::MissingRequiredArgument
        );
        assert_eq!(refused("countersign person set-password --email E"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("countersign person role --email E"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("countersign agent add --name N"), ErrorKind::MissingRequiredArgument);
        assert_eq!(
            refused("countersign agent add --name N --owner E --ability approvals:decide"),
            ErrorKind::ValueValidation
        );
        assert_eq!(
            refused("countersign token add --person E --ability everything"),
            ErrorKind::ValueValidation
        );
        assert_eq!(refused("countersign agent pause"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("countersign agent pause N --all"), ErrorKind::ArgumentConflict);
        assert_eq!(refused("countersign agent pause N --resume --reason W"), ErrorKind::ArgumentConflict);
        assert_eq!(refused("countersign token revoke nonsense"), ErrorKind::ValueValidation);
        assert_eq!(refused("countersign grant revoke nonsense"), ErrorKind::ValueValidation);
        assert_eq!(refused("countersign credential set"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("countersign credential set mail s3cr3t"), ErrorKind::UnknownArgument);
        assert_eq!(refused("countersign demo --port 70000"), ErrorKind::ValueValidation);
        assert_eq!(refused("countersign serve --config x.toml"), ErrorKind::UnknownArgument);
        assert_eq!(refused("countersign receipts list --outcome perhaps"), ErrorKind::InvalidValue);
        assert_eq!(refused("countersign receipts list --from yesterday"), ErrorKind::ValueValidation);
        assert_eq!(refused("countersign receipts list --limit 501"), ErrorKind::ValueValidation);
        assert_eq!(refused("countersign receipts export --format xml"), ErrorKind::InvalidValue);
        assert_eq!(refused("countersign receipts export --force"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("countersign receipts export --checkpoint a"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("countersign receipts export --proofs --format csv"), ErrorKind::ArgumentConflict);
        assert_eq!(refused("countersign receipts verify x.jsonl"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("countersign receipts verify x.jsonl --key K"), ErrorKind::ValueValidation);
        assert_eq!(refused("countersign import openapi"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("countersign import mcp nowhere"), ErrorKind::ValueValidation);
        assert_eq!(refused("countersign upstream accept tickets"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("countersign upstream accept tickets x --all"), ErrorKind::ArgumentConflict);
        assert_eq!(refused("countersign import openapi x.json --force"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("countersign import openapi x.json --server nowhere"), ErrorKind::ValueValidation);
    }

    #[test]
    fn every_command_has_help() {
        for line in [
            "countersign --help",
            "countersign serve --help",
            "countersign person add --help",
            "countersign token revoke --help",
            "countersign import openapi --help",
        ] {
            assert_eq!(refused(line), ErrorKind::DisplayHelp);
        }
    }
}
