//! `countersign doctor`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::Output;
use super::output::{print_line, table};
use crate::config::{Config, Environment};
use crate::doctor::{Finding, Verdict, examine};
use crate::failure::Failure;

/// Look at this deployment: the catalogue, the database and how durable it is, the clock, the sealing key, the
/// credentials' secrets, TLS, and whether the desk is found at its public address. Nothing is changed.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    output: Output,
}

impl Doctor {
    /// Ends with 1 when something is bad.
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let findings = examine(config, Environment::of_process()).await;
        let bad = findings.iter().filter(|finding| finding.verdict == Verdict::Bad).count();
        if self.output.json {
            print_line(&json!({ "healthy": bad == 0, "findings": findings }).to_string())?;
        } else {
            print_line(&told(&findings, bad))?;
        }
        Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn told(findings: &[Finding], bad: usize) -> String {
    let row = |finding: &Finding| {
        let next = finding.next.map(|next| format!(" {next}")).unwrap_or_default();
        vec![
            finding.verdict.word().to_owned(),
            finding.subject.to_owned(),
            format!("{}{next}", finding.found),
        ]
    };
    let rows: Vec<_> = findings.iter().map(row).collect();
    let end = match bad {
        0 => "Nothing is bad.".to_owned(),
        1 => "One thing is bad.".to_owned(),
        more => format!("{more} things are bad."),
    };
    format!("{}\n{end}", table(&["How", "What", "Found"], &rows))
}
