//! `countersign upstream …`

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use engine::Engine;
use engine::upstream::{Definition, Stand, ToolLine, UpstreamLine};
use model::visible::{Place, visible_text};
use serde_json::{Value, json};

use super::Output;
use super::output::table;
use crate::config::Config;
use crate::failure::Failure;

const UNDONE: &str = "Nothing was accepted.";

#[derive(Debug, Subcommand)]
pub(super) enum UpstreamCommand {
    /// List the MCP servers, their tools, and what waits for a word of yours
    List(List),
    /// Ask every MCP server now, and list what it said
    Check(List),
    /// Accept a tool that is new or has changed
    Accept(Accept),
}

/// List the MCP servers and their tools.
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    output: Output,
}

/// Accept a tool that is new or has changed. It can be called from then on; what was ended stays ended.
#[derive(Debug, Args)]
pub(super) struct Accept {
    /// The server's name in the catalogue
    name: String,
    /// The tool's name at its server
    #[arg(required_unless_present = "all")]
    tool: Option<String>,
    /// Accept everything of this server that waits
    #[arg(long, conflicts_with_all = ["tool", "hash"])]
    all: bool,
    /// Only when the hash of what waits begins like this (8 digits or more)
    #[arg(long)]
    hash: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl UpstreamCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let engine = super::engine(config).await?;
        match self {
            Self::List(list) => list.run(&engine).await,
            Self::Check(list) => {
                engine.check_upstreams().await;
                list.run(&engine).await
            }
            Self::Accept(accept) => accept.run(&engine).await,
        }
    }
}

impl List {
    async fn run(self, engine: &Engine) -> Result<ExitCode, Failure> {
        let lines = engine.upstream_lines().await;
        let lines = lines.map_err(|refusal| Failure::refused(&refusal, "Nothing was changed."))?;
        let items: Vec<_> = lines.iter().map(json_of).collect();
        let text: Vec<_> = lines.iter().map(text_of).collect();
        self.output.print(&json!({ "items": items }), &text.join("\n\n"))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Accept {
    async fn run(self, engine: &Engine) -> Result<ExitCode, Failure> {
        let tools = match &self.tool {
            Some(tool) => vec![tool.clone()],
            None => waiting(engine, &self.name).await?,
        };
        let mut accepted = Vec::new();
        for tool in tools {
            let taken = engine.accept_tool(&self.name, &tool, self.hash.as_deref()).await;
            accepted.push(taken.map_err(|refusal| Failure::refused(&refusal, UNDONE))?);
        }
        let items: Vec<_> = accepted.iter().map(definition).collect();
        let text: Vec<_> = accepted.iter().map(|one| format!("Accepted: {}", words(one))).collect();
        self.output.print(&json!({ "name": self.name, "accepted": items }), &text.join("\n"))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What waits of a server.
async fn waiting(engine: &Engine, name: &str) -> Result<Vec<String>, Failure> {
    let lines = engine.upstream_lines().await.map_err(|refusal| Failure::refused(&refusal, UNDONE))?;
    let tools = lines.into_iter().filter(|line| line.name == name).flat_map(|line| line.tools);
    let waiting: Vec<_> = tools.filter(|tool| tool.stand.waits()).map(|tool| tool.tool).collect();
    if waiting.is_empty() {
        let next = "Look at `countersign upstream list`.";
        return Err(Failure::new("Nothing of this server waits.", UNDONE, next));
    }
    Ok(waiting)
}

fn json_of(line: &UpstreamLine) -> Value {
    let tool = |tool: &ToolLine| {
        json!({
            "tool": tool.tool,
            "state": tool.stand.as_str(),
            "actions": tool.actions,
            "unfit": tool.unfit,
            "effect": tool.effect,
            "accepted": tool.taken.as_ref().map(definition),
            "accepted_at": tool.taken_at,
            "waiting": tool.found.as_ref().map(definition),
            "waiting_since": tool.found_at,
        })
    };
    json!({
        "name": line.name,
        "url": line.url,
        "credential": line.credential,
        "protocol": line.speaks,
        "fault": line.fault,
        "tools": line.tools.iter().map(tool).collect::<Vec<_>>(),
    })
}

/// The hash and what it is the hash of.
fn definition(definition: &Definition) -> Value {
    let parts: Value = serde_json::from_str(definition.canonical()).unwrap_or_default();
    json!({ "hash": definition.hash(), "definition": parts })
}

fn text_of(line: &UpstreamLine) -> String {
    let speaks = line.speaks.as_deref().map_or("never reached".to_owned(), |speaks| format!("MCP {speaks}"));
    let mut text = format!("{}  {}  {speaks}", line.name, line.url);
    if let Some(fault) = &line.fault {
        let _ = write!(text, "\nIt could not be asked: {fault}");
    }
    if !line.tools.is_empty() {
        let rows: Vec<_> = line.tools.iter().map(row).collect();
        text.push('\n');
        text.push_str(&table(&["Tool", "State", "Effect", "Action", "Hash"], &rows));
    }
    for tool in line.tools.iter().filter(|tool| tool.stand.waits()) {
        let _ = write!(text, "\n\n{}", waits(&line.name, tool));
    }
    text
}

fn row(tool: &ToolLine) -> Vec<String> {
    let action = match &tool.unfit {
        Some(why) => format!("none: {why}"),
        None => tool.actions.join(", "),
    };
    let hash = tool.found.as_ref().or(tool.taken.as_ref()).map(|one| one.hash()[..12].to_owned());
    vec![
        tool.tool.clone(),
        tool.stand.as_str().to_owned(),
        tool.effect.to_string(),
        action,
        hash.unwrap_or_default(),
    ]
}

/// What was accepted, what is there now, and how to accept that.
fn waits(upstream: &str, tool: &ToolLine) -> String {
    let mut lines = vec![format!("{}: {}", visible_text(&tool.tool, Place::Line), tool.why())];
    if let (Stand::SetAside, Some(taken)) = (tool.stand, &tool.taken) {
        lines.push(format!("  accepted: {}", words(taken)));
    }
    if let Some(found) = &tool.found {
        lines.push(format!("  now:      {}", words(found)));
        let name = visible_text(&tool.tool, Place::Line);
        lines.push(format!("  countersign upstream accept {upstream} {name} --hash {}", &found.hash()[..12]));
    }
    lines.join("\n")
}

/// A definition on one line, with what hides in it shown as what it is.
fn words(definition: &Definition) -> String {
    visible_text(definition.canonical(), Place::Line)
}
