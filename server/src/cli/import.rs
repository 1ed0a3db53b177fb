//! `countersign import …`

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use engine::upstream::Definition;
use serde_json::json;
use tempfile::NamedTempFile;
use url::Url;

use super::Output;
use super::output::print_line;
use crate::config::{self, Config, Environment};
use crate::failure::Failure;
use crate::import::mcp::{self, Server};
use crate::import::openapi::{self, Imported, Remark, Unusable, Wishes};

/// The largest document that is read, in bytes.
const LIMIT: u64 = 64 << 20;

const UNDONE: &str = "Nothing was written.";

#[derive(Debug, Subcommand)]
pub(super) enum ImportCommand {
    /// Make a catalogue of an OpenAPI 3.0 or 3.1 document, JSON or YAML.
    ///
    /// Every operation becomes an action with its input schema, request and preview; security schemes become credentials
    /// whose secrets are environment variables. The effect of an action is told by its method, that of a POST by its
    /// name too: look through all of them. What could not be taken is listed on the standard error, operation by
    /// operation.
    Openapi(Openapi),
    /// Make a catalogue of the tools of an MCP server.
    ///
    /// Every tool becomes an action with its input schema, written out so that titles, descriptions, schemas and effects are
    /// yours and not the server's. The effect is told by the tool's annotations, and what they do not say is taken for the
    /// worst. The server is asked for its tools and for nothing else.
    Mcp(Mcp),
}

/// Which server is asked, and where the catalogue goes.
#[derive(Debug, Args)]
#[command(after_help = MCP_HELP)]
pub(super) struct Mcp {
    /// The address of the server
    url: Url,
    /// What the names of its actions begin with [default: made of the address]
    #[arg(long)]
    name: Option<String>,
    /// The environment variable with the server's secret, sent as a bearer token
    #[arg(long, value_name = "VARIABLE")]
    secret: Option<String>,
    /// Send the secret in this header instead
    #[arg(long, value_name = "HEADER", requires = "secret")]
    header: Option<String>,
    /// Write the catalogue into this file instead of the standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file of --out when it is there
    #[arg(long, requires = "out")]
    force: bool,
    #[command(flatten)]
    output: Output,
}

const MCP_HELP: &str = "\
Examples:
  countersign import mcp https://tickets.example/mcp --secret TICKETS_TOKEN --out countersign.toml
  countersign import mcp http://127.0.0.1:3000/mcp --name tickets --secret TICKETS_TOKEN --header X-Api-Key

Exit codes: 0 a catalogue was made, 1 failed, 2 wrong usage.";

/// What is read, and where the catalogue goes.
#[derive(Debug, Args)]
#[command(after_help = OPENAPI_HELP)]
pub(super) struct Openapi {
    /// The document; - reads the standard input
    file: PathBuf,
    /// Write the catalogue into this file instead of the standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file of --out when it is there
    #[arg(long, requires = "out")]
    force: bool,
    /// The address before every path, in the place of the document's servers
    #[arg(long, value_name = "URL")]
    server: Option<Url>,
    /// Only operations with this tag; can be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    #[command(flatten)]
    output: Output,
}

const OPENAPI_HELP: &str = "\
Examples:
  countersign import openapi api.yaml --out countersign.toml
  countersign import openapi api.json --server https://api.house.example/v2 --tag invoices

A document in several files has to be bundled into one first.
Exit codes: 0 a catalogue was made, 1 failed, 2 wrong usage.";

impl ImportCommand {
    pub(super) async fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Self::Openapi(openapi) => openapi.run(),
            Self::Mcp(mcp) => mcp.run().await,
        }
    }
}

impl Openapi {
    fn run(self) -> Result<ExitCode, Failure> {
        let text = read(&self.file)?;
        let wishes = Wishes { server: self.server.clone(), tags: self.tags.clone() };
        let imported = openapi::import(&text, &wishes).map_err(|unusable| failure(&unusable))?;
        tell(&imported)?;
        if imported.actions.is_empty() {
            return Err(Failure::new(
                "No operation could be taken.",
                UNDONE,
                "The list above tells why. A document in several files has to be bundled into one first.",
            ));
        }
        hand_over(&imported, self.out.as_deref(), self.force, self.output)
    }
}

impl Mcp {
    async fn run(self) -> Result<ExitCode, Failure> {
        let server = Server {
            name: self.name.clone().unwrap_or_else(|| Server::name_of(&self.url)),
            url: self.url.clone(),
            secret: self.secret.clone(),
            header: self.header.clone(),
        };
        let imported = mcp::import(&server, &ask(&server).await?);
        tell(&imported)?;
        if imported.actions.is_empty() {
            let next = "The list above tells why; when it is empty, the server has no tools.";
            return Err(Failure::new("No tool could be taken.", UNDONE, next));
        }
        hand_over(&imported, self.out.as_deref(), self.force, self.output)
    }
}

/// What the server says about its tools, asked by a desk that is there for nothing else.
async fn ask(server: &Server) -> Result<Vec<Definition>, Failure> {
    let next = "Look at the address, at --name, and at the variable that --secret names. Plain http takes a --secret.";
    let failed = |happened: String| Failure::new(happened, UNDONE, next);
    let folder = tempfile::tempdir().map_err(|error| failed(format!("No folder can be made: {error}.")))?;
    let config = Config::new(&folder.path().join("the server"), server.catalogue());
    let catalogue = config.catalogue().map_err(|mistakes| {
        let told: Vec<_> = mistakes.0.iter().map(|mistake| format!("{}.", mistake.message)).collect();
        failed(told.join("\n"))
    })?;
    let engine = config::open(&config, catalogue, Environment::default()).await?;
    engine.check_upstreams().await;
    let lines = engine.upstream_lines().await;
    engine.close().await;
    let lines = lines.map_err(|refusal| Failure::refused(&refusal, UNDONE))?;
    let line = lines.into_iter().next().ok_or_else(|| failed("There is no server.".to_owned()))?;
    match line.fault {
        Some(why) => {
            Err(failed(format!("The server {} could not be asked for its tools. {why}", server.url)))
        }
        None => Ok(line.tools.into_iter().filter_map(|tool| tool.taken).collect()),
    }
}

/// Writes the catalogue where it was wanted.
fn hand_over(
    imported: &Imported,
    out: Option<&Path>,
    force: bool,
    output: Output,
) -> Result<ExitCode, Failure> {
    match out {
        Some(out) => {
            save(out, force, &imported.text)?;
            output.print(&summary(imported, Some(out)), &sentence(imported, out))?;
        }
        None if output.json => print_line(&summary(imported, None).to_string())?,
        None => print_line(imported.text.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The document's text.
fn read(file: &Path) -> Result<String, Failure> {
    let unreadable = |error: &dyn std::fmt::Display| {
        let happened = format!("The document {} cannot be read: {error}.", file.display());
        Failure::new(happened, UNDONE, "Name a JSON or YAML file, or - for the standard input.")
    };
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(LIMIT + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|open| open.take(LIMIT + 1).read_to_string(&mut text))
    };
    read.map_err(|error| unreadable(&error))?;
    if text.len() as u64 > LIMIT {
        return Err(unreadable(&format!("it is larger than {} MiB", LIMIT >> 20)));
    }
    Ok(text)
}

fn failure(unusable: &Unusable) -> Failure {
    let next = match unusable {
        Unusable::OwnFault(_) => "Please report it, with the document if you can share it.",
        Unusable::Server(_) | Unusable::NoSuchTag(_) => "Look at the command line.",
        _ => "Name a file that holds an OpenAPI 3.0 or 3.1 document, as JSON or YAML.",
    };
    Failure::new(unusable.to_string(), UNDONE, next)
}

/// Lists on the standard error what could not be taken.
fn tell(imported: &Imported) -> Result<(), Failure> {
    let mut lines: Vec<String> = Vec::new();
    let mut list = |title: &str, remarks: &[Remark]| {
        if !remarks.is_empty() {
            lines.push(format!("{title} ({}):", remarks.len()));
        }
        lines.extend(remarks.iter().map(|remark| format!("  {}: {}", remark.operation, remark.message)));
    };
    list("Taken with less than was said", &imported.notes);
    list("Left out", &imported.left_out);
    let mut out = std::io::stderr().lock();
    let text = lines.into_iter().map(|line| line + "\n").collect::<String>();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::unprintable(&error))
}

/// Writes the catalogue whole or not at all.
fn save(out: &Path, force: bool, text: &str) -> Result<(), Failure> {
    let unwritable = |error: &std::io::Error| {
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            let happened = format!("The file {} is already there.", out.display());
            return Failure::new(happened, UNDONE, "Name another file, or replace it with --force.");
        }
        let happened = format!("The file {} cannot be written: {error}.", out.display());
        Failure::new(happened, UNDONE, "Name a file in a folder that can be written to.")
    };
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = readable_by_others(folder).map_err(|error| unwritable(&error))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.as_file().sync_all())
        .map_err(|error| unwritable(&error))?;
    let kept = if force { file.persist(out) } else { file.persist_noclobber(out) };
    kept.map(drop).map_err(|error| unwritable(&error.error))
}

/// A new file with the rights that files usually have: a catalogue holds no secret.
fn readable_by_others(folder: &Path) -> std::io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let rights = std::fs::Permissions::from_mode(0o644);
    tempfile::Builder::new().prefix(".countersign-import-").permissions(rights).tempfile_in(folder)
}

fn summary(imported: &Imported, out: Option<&Path>) -> serde_json::Value {
    let mut summary = json!({
        "out": out.map(|out| out.display().to_string()),
        "credentials": imported.credentials,
        "actions": imported.actions,
        "left_out": imported.left_out,
        "notes": imported.notes,
    });
    if out.is_none() {
        summary["catalogue"] = json!(imported.text);
    }
    summary
}

fn sentence(imported: &Imported, out: &Path) -> String {
    format!(
        "{}: {} actions, {} credentials; {} were left out.",
        out.display(),
        imported.actions.len(),
        imported.credentials.len(),
        imported.left_out.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "openapi: 3.0.0\ninfo: { title: Shop }\nservers: [{ url: 'https://a.example' }]\n\
                            paths: { /a: { get: {} }, /b: { post: { requestBody: { content: { text/csv: {} } } } } }\n";

    fn command(folder: &Path, document: &str, force: bool) -> Openapi {
        let file = folder.join("api.yaml");
        std::fs::write(&file, document).expect("a document");
        let out = Some(folder.join("out.toml"));
        Openapi { file, out, force, server: None, tags: Vec::new(), output: Output { json: true } }
    }

    #[test]
    fn a_file_is_only_replaced_when_that_is_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out.toml");
        std::fs::write(&out, "mine").expect("a file");
        let failure = command(folder.path(), DOCUMENT, false).run().expect_err("a refusal").to_string();
        assert!(failure.contains("out.toml is already there") && failure.contains("--force"), "{failure}");
        assert_eq!(std::fs::read_to_string(&out).expect("the file"), "mine");
        command(folder.path(), DOCUMENT, true).run().expect("done");
        assert!(std::fs::read_to_string(&out).expect("the file").contains("[[action]]"));
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 2);
    }

    #[test]
    fn a_failure_writes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        for document in ["swagger: '2.0'", "openapi: 3.0.0\npaths: { /a: { get: {} } }"] {
            let failure = command(folder.path(), document, false).run().expect_err("a refusal").to_string();
            assert!(failure.contains(UNDONE), "{failure}");
        }
        assert!(!folder.path().join("out.toml").exists());
        let missing = read(&folder.path().join("none.yaml")).expect_err("not there").to_string();
        assert!(missing.contains("none.yaml"), "{missing}");
    }

    #[test]
    fn the_summary_holds_everything() {
        let imported = openapi::import(DOCUMENT, &Wishes::default()).expect("a catalogue");
        let summary = summary(&imported, None);
        let taken = json!([{ "operation": "GET /a", "name": "get_a", "effect": "read" }]);
        let left = json!([{ "operation": "POST /b", "message": "its body is text/csv; an action carries JSON or a form" }]);
        assert_eq!(
            (&summary["actions"], &summary["left_out"], &summary["out"]),
            (&taken, &left, &json!(null))
        );
        assert!(summary["catalogue"].as_str().is_some_and(|text| text.contains("get_a")));
    }
}
