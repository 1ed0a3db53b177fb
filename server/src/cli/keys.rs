//! `countersign keys …`: the keys that everything in the database is sealed with.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use engine::jobs::KEYS_TAKEN_ON;
use engine::keyring;
use engine::reseal::{KeyUse, Resealed};
use engine::{Engine, ambient::Ambient};
use serde_json::{Value, json};

use super::Output;
use super::output::table;
use crate::config::{self, Config, Environment};
use crate::failure::Failure;

const UNDONE: &str = "The sealing key was not changed.";

#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Make a new sealing key, put it first, and seal everything again with it
    Rotate(Rotate),
    /// List the sealing keys and how much each of them seals
    List(List),
}

/// Make a new sealing key, put it first in the key file, and seal everything in the database again with it. Servers go
/// on meanwhile. Broken off, it is taken up again by the next run, without another key. Keys are never removed: the
/// answer says which may be, and when.
#[derive(Debug, Args)]
pub(super) struct Rotate {
    /// On PostgreSQL: every node reads this very key file
    #[arg(long)]
    shared_file: bool,
    #[command(flatten)]
    output: Output,
}

/// List the sealing keys by their names, which tell nothing about them, and how many values each of them seals.
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    output: Output,
}

impl KeysCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        match self {
            Self::Rotate(rotate) => rotate.run(config).await,
            Self::List(list) => list.run(config).await,
        }
    }
}

/// What a rotation did.
struct Rotation {
    made: bool,
    resealed: Resealed,
    uses: Vec<KeyUse>,
}

impl Rotate {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let environment = Environment::of_process();
        let in_variable = environment.has_sealing_key();
        let (catalogue, ambient) = (config.usable_catalogue()?, Ambient::system());
        let is_shared = environment.database(&catalogue).starts_with("postgres") && !self.shared_file;
        let engine = config::open(config, catalogue, environment).await?;
        let uses = uses(&engine).await?;
        let unfinished = uses.iter().skip(1).any(|key| key.known && key.seals > 0);
        let made = !unfinished && !in_variable && !is_shared;
        if made {
            let put = keyring::put_first(&config.key_file(), &ambient);
            put.map_err(|error| Failure::new(format!("{error}."), UNDONE, "Then run the command again."))?;
            engine.refresh_keys();
        } else if !unfinished && uses.iter().filter(|key| key.known).count() < 2 {
            return Err(by_hand(in_variable));
        }
        let resealed = seal_everything(&engine, made).await?;
        let rotation = Rotation { made, resealed, uses: self::uses(&engine).await? };
        self.output.print(&rotation.json(&engine), &rotation.text(&engine, in_variable))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Until nothing is left that another key seals.
async fn seal_everything(engine: &Engine, made: bool) -> Result<Resealed, Failure> {
    let refused = |refusal| {
        let undone = "The new key is in the file and seals what is new; what was not reached is still sealed with an older one.";
        Failure::refused(&refusal, undone)
    };
    let mut all = engine.reseal().finish().await.map_err(refused)?;
    if made {
        // Servers seal with the older key until they have taken the new one on.
        tokio::time::sleep(KEYS_TAKEN_ON + Duration::from_secs(1)).await;
        all.done += engine.reseal().finish().await.map_err(refused)?.done;
    }
    Ok(all)
}

impl List {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let uses = uses(&super::engine(config).await?).await?;
        let rows: Vec<_> = uses.iter().map(row).collect();
        let items: Vec<_> = uses.iter().enumerate().map(item).collect();
        let text = table(&["Key", "Here", "Seals"], &rows);
        self.output.print(&json!({ "items": items }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn uses(engine: &Engine) -> Result<Vec<KeyUse>, Failure> {
    engine.key_uses().await.map_err(|refusal| Failure::refused(&refusal, UNDONE))
}

/// What a person has to do where this machine alone cannot.
fn by_hand(in_variable: bool) -> Failure {
    let happened = if in_variable {
        "The sealing key stands in COUNTERSIGN_KEY, where this command cannot change it."
    } else {
        "Other nodes may use this PostgreSQL database with key files of their own."
    };
    let other =
        if in_variable { "" } else { " Where every node reads this very file, say --shared-file instead." };
    let next = format!(
        "On every node: 1. make one key (openssl rand -base64 32) and write it behind the old one, separated by a comma; \
         restart. 2. When all nodes have it, write it first; restart. 3. Run `countersign keys rotate` with that value: it \
         seals everything with the first key and says what may be removed.{other}"
    );
    Failure::new(happened, UNDONE, next)
}

impl Rotation {
    /// Keys that seal nothing any more. What clients carry may still be sealed with them for a while.
    fn spare(&self) -> Vec<String> {
        let is_spare = |key: &&KeyUse| key.known && key.seals == 0;
        self.uses.iter().skip(1).filter(is_spare).map(name).collect()
    }

    /// From when on they may be removed.
    fn spare_from(engine: &Engine) -> model::Time {
        let age = engine.catalogue().server.request_state_max_age;
        engine.now().plus_seconds(i64::try_from(age.as_secs()).unwrap_or(i64::MAX))
    }

    fn json(&self, engine: &Engine) -> Value {
        json!({
            "rotated": self.made,
            "resealed": self.resealed.done,
            "unreadable": self.resealed.unreadable,
            "keys": self.uses.iter().enumerate().map(item).collect::<Vec<_>>(),
            "may_be_removed": self.spare(),
            "may_be_removed_from": Self::spare_from(engine),
        })
    }

    fn text(&self, engine: &Engine, in_variable: bool) -> String {
        let place = if in_variable { "COUNTERSIGN_KEY" } else { "the key file" };
        let first = self.uses.first().map(name).unwrap_or_default();
        let mut lines = vec![if self.made {
            format!(
                "A new key ({first}) stands first in the key file. Back the file up, apart from the database."
            )
        } else {
            format!("No new key was made: everything is sealed with the first one of {place} ({first}).")
        }];
        lines.push(format!("Values sealed again: {}.", self.resealed.done));
        let spare = self.spare();
        if !spare.is_empty() {
            lines.push(format!(
                "{} may be removed from {place} from {} on; until then what clients carry may still be sealed with it. \
                 A backup of the database needs the keys of its time.",
                spare.join(", "),
                Self::spare_from(engine)
            ));
        }
        if self.resealed.unreadable > 0 {
            lines.push(format!(
                "Values that open with none of these keys, left as they are: {}.",
                self.resealed.unreadable
            ));
        }
        lines.join("\n")
    }
}

fn name(key: &KeyUse) -> String {
    key.name.iter().fold(String::new(), |name, byte| format!("{name}{byte:02x}"))
}

fn row(key: &KeyUse) -> Vec<String> {
    let here = if key.known { "yes" } else { "missing" };
    vec![name(key), here.to_owned(), key.seals.to_string()]
}

fn item((at, key): (usize, &KeyUse)) -> Value {
    json!({ "name": name(key), "first": at == 0, "known": key.known, "seals": key.seals })
}
