//! `countersign receipts export --proofs` and `countersign receipts verify`

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use engine::checkpoint::Unsigned;
use engine::{Engine, Proven, ReceiptFilter, Unproven};
use ledger::note::VerifierKey;
use ledger::{Finding, NoExport, Report, Word, verify};
use serde_json::json;

use super::checkpoint::failure;
use super::output::{Output, print_line};
use super::receipts::cut_short;
use crate::failure::Failure;

/// The largest checkpoint that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// How much of an export is read at once, in bytes.
const AT_ONCE: usize = 1 << 20;

/// Begins an export up to a checkpoint that is signed now. Of a ledger that is not what was signed any more it is up to the
/// last one that was: it shows what is wrong.
pub(super) async fn begin(
    engine: &Engine,
    filter: Option<&ReceiptFilter>,
    kept: &[String],
) -> Result<Proven, Failure> {
    match engine.checkpoint(false).await {
        Ok(_) => {}
        Err(error @ (Unsigned::Forked(_) | Unsigned::Published(_) | Unsigned::File(_))) => {
            eprintln!("countersign: {error}. The export is up to the last checkpoint that was signed.");
        }
        Err(error) => return Err(failure(&error)),
    }
    engine.prove(filter, kept).await.map_err(|error| unproven(&error))
}

/// Writes every part as it is read: how many leaves it were.
pub(super) async fn write(engine: &Engine, mut proven: Proven, out: &mut impl Write) -> Result<u64, Failure> {
    let lines = proven.lines();
    out.write_all(proven.header().as_bytes()).map_err(|error| cut_short(&error))?;
    while let Some(text) = engine.prove_more(&mut proven).await.map_err(|error| unproven(&error))? {
        out.write_all(text.as_bytes()).map_err(|error| cut_short(&error))?;
    }
    out.flush().map_err(|error| cut_short(&error))?;
    Ok(lines)
}

fn unproven(error: &Unproven) -> Failure {
    let next = match error {
        Unproven::Ledger(error) => return failure(error),
        Unproven::Receipts(_) => "Look at the database, then run the command again.",
        Unproven::NoCheckpoint => "Run `countersign checkpoint`, and do what it says.",
        Unproven::Stranger(..) => "Give checkpoints that this desk signed: what /checkpoint answered.",
    };
    Failure::new(format!("{error}."), "The export is not whole.", next)
}

/// Checkpoints that somebody kept.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<String>, Failure> {
    files.iter().map(|file| one(file)).collect()
}

fn one(file: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = File::open(file).and_then(|opened| opened.take(LARGEST).read_to_string(&mut text));
    read.map(|_| text).map_err(|error| {
        let happened = format!("The checkpoint {} cannot be read: {error}.", file.display());
        Failure::new(happened, "Nothing was judged.", "Name a file that holds what /checkpoint answered.")
    })
}

/// Judge an export with proofs: whether every record is what the ledger committed to, whether all are there and in their
/// order, and whether the checkpoints that were kept are of one history. Of an export that was narrowed by a filter it cannot
/// tell what was left out.
#[derive(Debug, Args)]
#[command(after_help = CODES)]
pub(super) struct Verify {
    /// The export; `-`: the standard input
    export: PathBuf,
    /// A checkpoint that was kept: what /checkpoint answered then. Once for an older and once for a newer one, or more often.
    /// Without any, the export is judged by the checkpoints in it alone
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,
    /// What checkpoints are checked with, from `countersign checkpoint --key`
    #[arg(long)]
    key: VerifierKey,
    /// End with 0 also when records were erased by retention
    #[arg(long)]
    allow_pruned: bool,
    #[command(flatten)]
    output: Output,
}

const CODES: &str = "\
Exit codes, the gravest of what was found:
  0  everything is as it was signed
  1  it could not be judged
  2  wrong usage
  3  pruned: records were erased by retention; their hashes are still in the tree
  4  altered: a record or a leaf is another than the ledger committed to
  5  missing: something that the ledger committed to is not there
  6  reordered: leaves stand in another order than they were written in
  7  forked: two signed checkpoints are not of one history
  8  bad_signature: a checkpoint is not signed by the key
From the lightest to the gravest: pruned, reordered, missing, altered, forked, bad_signature.";

impl Verify {
    /// Ends with what was found.
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let kept = read(&self.checkpoint)?;
        let report = if self.export.as_os_str() == "-" {
            verify(std::io::stdin().lock(), &self.key, &kept)
        } else {
            let opened = File::open(&self.export).map_err(NoExport::from);
            opened.and_then(|file| verify(BufReader::with_capacity(AT_ONCE, file), &self.key, &kept))
        };
        let report = report.map_err(|error| {
            let happened = format!("{}: {error}.", self.export.display());
            let next = "Name a file that `countersign receipts export --proofs` wrote.";
            Failure::new(happened, "Nothing was judged.", next)
        })?;
        let verdict = report.verdict().filter(|word| !(self.allow_pruned && *word == Word::Pruned));
        if self.output.json {
            print_line(&as_json(&report).to_string())?;
        } else {
            print_line(&told(&report))?;
        }
        Ok(verdict.map_or(ExitCode::SUCCESS, |word| ExitCode::from(word.exit_code())))
    }
}

fn as_json(report: &Report) -> serde_json::Value {
    let finding = |one: &Finding| json!({ "word": one.word.as_str(), "index": one.index, "what": one.what });
    json!({
        "verdict": report.verdict().map_or("verified", Word::as_str),
        "extent": if report.is_whole { "whole" } else { "selection" },
        "leaves": report.leaves,
        "size": report.size,
        "records": report.records,
        "pruned": report.pruned,
        "confirmed": report.confirmed,
        "found": report.found,
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn told(report: &Report) -> String {
    let mut lines: Vec<String> = report.findings.iter().map(line).collect();
    if report.found > report.findings.len() as u64 {
        lines.push(format!("… and {} more.", report.found - report.findings.len() as u64));
    }
    let of = if report.is_whole { "all" } else { "a selection of" };
    lines.push(format!(
        "{} leaves, {of} the {} that the export's checkpoint covers: {} records are what the ledger committed to, {} were erased by retention.",
        report.leaves, report.size, report.records, report.pruned
    ));
    if !report.confirmed.is_empty() {
        let sizes: Vec<_> = report.confirmed.iter().map(ToString::to_string).collect();
        lines.push(format!("Signed and confirmed: the tree of {} leaves.", sizes.join(", of ")));
    }
    let verdict = match report.verdict() {
        None => "Verified.".to_owned(),
        Some(Word::Pruned) => "Verified, and pruned: what is gone was committed to.".to_owned(),
        Some(word) => format!("NOT VERIFIED: {}.", word.as_str()),
    };
    lines.push(verdict);
    lines.join("\n")
}

fn line(finding: &Finding) -> String {
    let word = finding.word.as_str();
    match finding.index {
        Some(index) => format!("{word}: leaf {index}: {}", finding.what),
        None => format!("{word}: {}", finding.what),
    }
}
