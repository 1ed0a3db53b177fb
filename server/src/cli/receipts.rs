//! `countersign receipts …`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrono::{NaiveDate, NaiveTime};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use engine::{Engine, PageAsked, Proven, ReceiptFilter};
use model::{Outcome, PersonId, ReceiptFacts, Time};
use serde_json::json;

use super::Output;
use super::output::table;
use super::proofs::{self, Verify};
use crate::config::Config;
use crate::failure::Failure;
use crate::receipt_export::{Format, page};

const UNDONE: &str = "Nothing was changed.";

#[derive(Debug, Subcommand)]
pub(super) enum ReceiptsCommand {
    /// List receipts, newest first
    List(List),
    /// Write all receipts that the filters show, as CSV or JSON Lines, or with proofs
    Export(Export),
    /// Judge an export with proofs by checkpoints that somebody kept. Needs no desk, no catalogue and no network
    Verify(Verify),
}

/// List receipts of everybody, newest first. Never what was in a call, nor its digest.
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    filters: Filters,
    /// The most receipts of a page
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Go on where the page before ended: its `next_cursor`
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    output: Output,
}

/// Write all receipts that the filters show. Never what was in a call, nor its digest (with --proofs: the digest too, as it is
/// part of what was recorded). In CSV a cell that a spreadsheet
/// would take for a formula begins with an apostrophe.
#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(flatten)]
    filters: Filters,
    /// How to write them [default: csv; with --json and without --out: jsonl]
    #[arg(long, value_enum, conflicts_with = "proofs")]
    format: Option<Format>,
    /// Write the leaves of the ledger, each receipt as it was recorded, with what `receipts verify` judges them by. Without
    /// a filter: all of them, so that nothing can be left out unseen. Signs a checkpoint first
    #[arg(long)]
    proofs: bool,
    /// A checkpoint that the export is to be judged by. May be given several times [default: the one before the newest]
    #[arg(long, value_name = "FILE", requires = "proofs")]
    checkpoint: Vec<PathBuf>,
    /// Write them into this file instead of the standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file of --out when it is there
    #[arg(long, requires = "out")]
    force: bool,
    #[command(flatten)]
    output: Output,
}

/// Which receipts. Filters narrow each other.
#[derive(Debug, Args)]
struct Filters {
    /// One person's: their address or id
    #[arg(long)]
    person: Option<String>,
    /// One agent's: its name or id
    #[arg(long)]
    agent: Option<String>,
    /// Of one action
    #[arg(long)]
    action: Option<String>,
    /// Sent to this host: on every port, or with one
    #[arg(long)]
    host: Option<String>,
    /// Ended this way
    #[arg(long, value_parser = PossibleValuesParser::new(Outcome::ALL.iter().map(|outcome| outcome.as_str())).try_map(|word| word.parse::<Outcome>()))]
    outcome: Option<Outcome>,
    /// Not before this time: RFC 3339, or a day in UTC
    #[arg(long, value_parser = beginning)]
    from: Option<Time>,
    /// Before this time: RFC 3339; or up to the end of a day in UTC
    #[arg(long, value_parser = end)]
    to: Option<Time>,
}

fn beginning(text: &str) -> Result<Time, String> {
    time(text, 0)
}

fn end(text: &str) -> Result<Time, String> {
    time(text, 1)
}

fn time(text: &str, days_on: i64) -> Result<Time, String> {
    let day = text.parse::<NaiveDate>().ok();
    let midnight =
        day.map(|day| Time::from(day.and_time(NaiveTime::MIN).and_utc()).plus_seconds(days_on * 86_400));
    midnight
        .or_else(|| Time::parse(text))
        .ok_or_else(|| "write a day as 2026-11-30, or a time as 2026-11-30T09:30:00Z".to_owned())
}

impl ReceiptsCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        match self {
            Self::List(list) => list.run(config).await,
            Self::Export(export) => export.run(config).await,
            Self::Verify(verify) => verify.run(),
        }
    }
}

impl Filters {
    /// Whether any of them is there.
    fn narrows(&self) -> bool {
        let texts = [&self.person, &self.agent, &self.action, &self.host];
        texts.iter().any(|text| text.is_some())
            || self.outcome.is_some()
            || self.from.is_some()
            || self.to.is_some()
    }

    async fn read(self, engine: &Engine) -> Result<ReceiptFilter, Failure> {
        let person = match self.person {
            Some(person) => Some(whose(engine, &person).await?),
            None => None,
        };
        let host = self.host.map(|host| host.to_lowercase());
        let Self { agent, action, outcome, from, to, .. } = self;
        Ok(ReceiptFilter { person, agent, action, host, outcome, from, to })
    }
}

async fn whose(engine: &Engine, person: &str) -> Result<PersonId, Failure> {
    if let Ok(id) = person.parse() {
        return Ok(id);
    }
    let people = engine.all_people().await.map_err(|refusal| Failure::refused(&refusal, UNDONE))?;
    let found = people.iter().find(|one| one.email.eq_ignore_ascii_case(person)).map(|one| one.id);
    found
        .ok_or_else(|| Failure::new("Nobody has this address.", UNDONE, "Look at `countersign person list`."))
}

impl List {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let engine = super::engine(config).await?;
        let filter = self.filters.read(&engine).await?;
        let asked = PageAsked { limit: Some(self.limit), cursor: self.cursor };
        let leaf = engine.all_done(&filter, &asked).await;
        let leaf = leaf.map_err(|refusal| Failure::refused(&refusal, UNDONE))?;
        let mut text = table(&HEAD, &leaf.items.iter().map(row).collect::<Vec<_>>());
        if let Some(at) = leaf.looked_to {
            text = format!("{text}\nLooked back to {at}.");
        }
        if let Some(cursor) = &leaf.older {
            text = format!("{text}\nOlder ones: --cursor {cursor}");
        }
        self.output.print(&json!({ "items": leaf.items, "next_cursor": leaf.older }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

const HEAD: [&str; 8] = ["When", "Method", "Address", "Answer", "Outcome", "Agent", "Person", "Receipt"];

fn row(facts: &ReceiptFacts) -> Vec<String> {
    vec![
        facts.at.to_string(),
        facts.method.clone(),
        facts.url.clone(),
        facts.upstream_status.map(|status| status.to_string()).unwrap_or_default(),
        facts.outcome.as_str().to_owned(),
        facts.agent.clone().unwrap_or_default(),
        facts.person.clone().unwrap_or_default(),
        facts.id.to_string(),
    ]
}

impl Export {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let engine = super::engine(config).await?;
        let narrows = self.filters.narrows();
        let filter = self.filters.read(&engine).await?;
        if self.proofs {
            let kept = proofs::read(&self.checkpoint)?;
            let proven = proofs::begin(&engine, narrows.then_some(&filter), &kept).await?;
            let what = Source::Proofs(&engine, proven);
            return deliver(what, self.out.as_deref(), self.force, self.output, "leaves").await;
        }
        let format = self.format.unwrap_or(if self.output.json && self.out.is_none() {
            Format::Jsonl
        } else {
            Format::Csv
        });
        let what = Source::Receipts(&engine, &filter, format);
        deliver(what, self.out.as_deref(), self.force, self.output, "receipts").await
    }
}

/// What an export is of.
enum Source<'e> {
    Receipts(&'e Engine, &'e ReceiptFilter, Format),
    Proofs(&'e Engine, Proven),
}

impl Source<'_> {
    /// Writes every part as it is read: how many receipts or leaves it were.
    async fn write(self, out: &mut impl Write) -> Result<u64, Failure> {
        match self {
            Self::Receipts(engine, filter, format) => write(engine, filter, format, out).await,
            Self::Proofs(engine, proven) => proofs::write(engine, proven, out).await,
        }
    }
}

/// Into a file, or onto the standard output.
async fn deliver(
    what: Source<'_>,
    out: Option<&Path>,
    force: bool,
    output: Output,
    noun: &str,
) -> Result<ExitCode, Failure> {
    match out {
        None => {
            what.write(&mut std::io::stdout().lock()).await?;
        }
        Some(out) => {
            let count = save(what, out, force).await?;
            let text = format!("{}: {count} {noun}.", out.display());
            output.print(&json!({ "out": out.display().to_string(), (noun): count }), &text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes every page as it is read: how many receipts it were.
async fn write(
    engine: &Engine,
    filter: &ReceiptFilter,
    format: Format,
    out: &mut impl Write,
) -> Result<u64, Failure> {
    let (mut count, mut cursor, mut begin) = (0, None, format.head());
    loop {
        let leaf = engine.all_done(filter, &page(cursor)).await;
        let leaf = leaf.map_err(|refusal| Failure::refused(&refusal, "The export is not whole."))?;
        begin.push_str(&format.lines(&leaf.items));
        out.write_all(begin.as_bytes()).map_err(|error| cut_short(&error))?;
        count += leaf.items.len() as u64;
        (cursor, begin) = (leaf.older, String::new());
        if cursor.is_none() {
            break;
        }
    }
    out.flush().map_err(|error| cut_short(&error))?;
    Ok(count)
}

pub(super) fn cut_short(error: &std::io::Error) -> Failure {
    Failure::new(
        format!("The receipts could not be written: {error}."),
        "The export is not whole; nothing else was changed.",
        "Make room and run the command again.",
    )
}

/// Into a file that is there once it is whole.
async fn save(what: Source<'_>, out: &Path, force: bool) -> Result<u64, Failure> {
    let failed = |error: std::io::Error| {
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            let happened = format!("The file {} is already there.", out.display());
            return Failure::new(happened, UNDONE, "Name another file, or replace it with --force.");
        }
        let happened = format!("The file {} cannot be written: {error}.", out.display());
        Failure::new(happened, UNDONE, "Name a file in a folder that can be written to.")
    };
    if !force && out.exists() {
        return Err(failed(std::io::ErrorKind::AlreadyExists.into()));
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let lines = what.write(&mut file).await?;
    file.as_file().sync_all().map_err(failed)?;
    let kept = if force { file.persist(out) } else { file.persist_noclobber(out) };
    kept.map_err(|kept| failed(kept.error))?;
    Ok(lines)
}
