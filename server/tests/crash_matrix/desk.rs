//! The real binary over a database of its own: started, killed and started again.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;
use sqlx::{AnyConnection, AssertSqlSafe, Connection};
use tempfile::TempDir;
use tokio::sync::watch;

/// Any sealing key will do.
const SEALING_KEY: &str = "Q291bnRlcnNpZ24gc2VhbHMgd2hhdCBhZ2VudHMgc2E=";

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A database with people and keys; every desk begins with a copy.
pub(crate) struct Template {
    place: Place,
    pub(crate) agent: String,
    pub(crate) ann: String,
}

/// A folder, and on PostgreSQL a database beside it. Both are removed with it.
struct Place {
    folder: TempDir,
    postgres: Option<(String, String)>,
}

impl Place {
    /// `server`: the address of a PostgreSQL server; `of`: the database to copy there.
    async fn fresh(server: Option<&str>, of: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(server) = server else { return Self { folder, postgres: None } };
        let name = format!("matrix_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        execute(server, format!("CREATE DATABASE {name} TEMPLATE {of}")).await;
        Self { folder, postgres: Some((server.to_owned(), name)) }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(line.split(' ')).current_dir(self.folder.path());
        command.env("COUNTERSIGN_KEY", SEALING_KEY).env("OFFICE_TOKEN", "office-secret");
        command.env_remove("DATABASE_URL").env_remove("FAILPOINTS").env("RUST_LOG", "off");
        if let Some((server, name)) = &self.postgres {
            let (base, _) = server.rsplit_once('/').expect("an address with a database");
            command.env("DATABASE_URL", format!("{base}/{name}"));
        }
        command
    }

    /// Runs a command that answers with a line of JSON.
    fn json(&self, line: &str, input: &str) -> Value {
        let mut command = self.command(line);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("run");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
        let output = child.wait_with_output().expect("an end");
        assert!(output.status.success(), "{line}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((server, name)) = self.postgres.take() else { return };
        // Dropping is not asynchronous, and the test's own runtime may be ending.
        let removal = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let drop = execute(&server, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
            runtime.expect("a runtime").block_on(drop);
        });
        removal.join().expect("the database is removed");
    }
}

async fn execute(server: &str, sql: String) {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(server).await.expect("a connection");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.expect("done");
    connection.close().await.expect("closed");
}

impl Template {
    /// `server`: the address of a PostgreSQL server; `None`: SQLite.
    pub(crate) async fn make(server: Option<&str>) -> Self {
        let place = Place::fresh(server, "template0").await;
        let add = "person add --email ann@desk.test --name Ann --role member --password-stdin --json";
        place.json(add, "correct horse");
        let agent = place.json("agent add --name bot --owner ann@desk.test --requires-approval --json", "");
        let ann = place.json(
            "token add --person ann@desk.test --ability approvals:decide --ability receipts:read --json",
            "",
        );
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Self { place, agent: text(&agent["key"]), ann: text(&ann["token"]) }
    }

    /// A desk in front of this service, with this lease, that waits for an answer that long.
    pub(crate) async fn desk(&self, upstream: SocketAddr, lease: &str, timeout: &str) -> Desk {
        let (server, of) = self
            .place
            .postgres
            .as_ref()
            .map_or((None, ""), |(server, name)| (Some(server.as_str()), name.as_str()));
        let place = Place::fresh(server, of).await;
        for file in std::fs::read_dir(self.place.folder.path()).expect("a folder") {
            let file = file.expect("a file");
            std::fs::copy(file.path(), place.folder.path().join(file.file_name())).expect("copied");
        }
        std::fs::write(place.folder.path().join("countersign.toml"), catalogue(upstream, lease, timeout))
            .expect("written");
        Desk(place)
    }
}

/// Actions with and without an undo window, a lease, and how long an answer may take.
fn catalogue(upstream: SocketAddr, lease: &str, timeout: &str) -> String {
    let action = |name: &str, undo: &str| {
        format!(
            r#"
[[action]]
name = "{name}"
title = "Write a note"
description = "Writes a note."
effect = "write"
credential = "office"
undo_window = "{undo}"
input = {{ type = "object", required = ["text"], additionalProperties = false, properties = {{ text = {{ type = "string" }} }} }}
request = {{ method = "POST", url = "http://{upstream}/notes", json = "{{{{ input }}}}" }}
preview = {{ title = "Note: {{{{ input.text }}}}" }}
"#
        )
    };
    format!(
        r#"
[server]
listen = "127.0.0.1:0"
lease = "{lease}"
connect_timeout = "5s"
timeout = "{timeout}"

[[credential]]
name = "office"
hosts = ["{upstream}"]
methods = ["POST"]
header = "Authorization"
value = "Bearer {{secret}}"
secret = {{ env = "OFFICE_TOKEN" }}
allow_http = true
allow_private = true
{}{}"#,
        action("note", "0s"),
        action("note_soon", "1s")
    )
}

/// A desk that is started, killed and started again.
pub(crate) struct Desk(Place);

impl Desk {
    /// Starts the server, which stops at this place.
    pub(crate) fn start(&self, place: Option<&str>) -> Process {
        let mut command = self.0.command("serve --json");
        if let Some(place) = place {
            command.env("FAILPOINTS", format!("{place}=return"));
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("run");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).expect("the server serves");
        let errors = BufReader::new(child.stderr.take().expect("a pipe"));
        let (stops, stopped) = watch::channel(false);
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                if line.starts_with("stopped at ") {
                    stops.send_replace(true);
                }
            }
        });
        let authority = told["listen"].as_str().expect("an address").to_owned();
        Process { child, stopped, authority }
    }
}

/// A running server; killed with its handle.
pub(crate) struct Process {
    child: Child,
    stopped: watch::Receiver<bool>,
    pub(crate) authority: String,
}

impl Process {
    /// Returns when the process has stopped at the place it was started with.
    pub(crate) async fn stopped(&self) {
        let mut stopped = self.stopped.clone();
        if stopped.wait_for(|stopped| *stopped).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Sends a signal, by its name.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let told = Command::new("kill").args([&format!("-{name}"), &id]).status().expect("run");
        assert!(told.success(), "{name}");
    }
}

impl Drop for Process {
    /// SIGKILL: nothing of the process runs any more.
    fn drop(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("an end");
    }
}
