//! The real desk: the binary, its own database, people and agents.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Desk {
    pub(crate) address: SocketAddr,
    /// The key of an agent whose writes pass.
    pub(crate) key: String,
    /// A token with which the agents' owner decides.
    pub(crate) decider: String,
    server: Child,
    folder: Folder,
}

/// Where the desk was set up, and on which database; without one it is the folder's own file.
struct Folder {
    path: TempDir,
    database: Option<String>,
}

impl Desk {
    /// A desk on a database file of its own.
    pub(crate) fn start(upstream: SocketAddr) -> Self {
        Self::start_on(None, upstream)
    }

    /// A desk on this database; `None` is a file of its own.
    pub(crate) fn start_on(database: Option<String>, upstream: SocketAddr) -> Self {
        let path = tempfile::tempdir().expect("a folder");
        std::fs::write(path.path().join("countersign.toml"), catalogue(upstream)).expect("a catalogue");
        let folder = Folder { path, database };
        let log = std::fs::File::create(folder.path.path().join("desk.log")).expect("a log");
        let mut serve = folder.command("serve --json");
        let mut server = serve.stdout(Stdio::piped()).stderr(log).spawn().expect("run");
        let mut line = String::new();
        BufReader::new(server.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).expect("JSON");
        let address = told["listen"].as_str().expect("an address").parse().expect("an address");
        let person = "person add --email ann@desk.test --name Ann --role member --password-stdin --json";
        folder.ask(person, "correct horse battery\n");
        let key = folder.told("agent add --name bot --owner ann@desk.test --json", "key");
        let decider =
            folder.told("token add --person ann@desk.test --ability approvals:decide --json", "token");
        Self { address, key, decider, server, folder }
    }

    /// The keys of so many more agents, all of whose writes wait for their owner.
    pub(crate) fn agents(&self, count: usize) -> Vec<String> {
        (0..count)
            .map(|number| {
                let add =
                    format!("agent add --name bot-{number} --owner ann@desk.test --requires-approval --json");
                self.folder.told(&add, "key")
            })
            .collect()
    }

    /// Where it stands: on the disk that is measured.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path.path()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // Nothing is lost that anybody wants.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn catalogue(upstream: SocketAddr) -> String {
    format!(
        r#"
[server]
listen = "127.0.0.1:0"

[[credential]]
name = "office"
hosts = ["{upstream}"]
secret = {{ env = "OFFICE_TOKEN" }}
allow_http = true
allow_private = true

[[action]]
name = "read_quota"
title = "Read the quota"
description = "How much may still be sent."
effect = "read"
credential = "office"
input = {{ type = "object", additionalProperties = false, properties = {{}} }}
request = {{ method = "GET", url = "http://{upstream}/quota" }}
preview = {{ title = "Read the quota" }}

[[action]]
name = "book"
title = "Book an amount"
description = "Books an amount on an account."
effect = "write"
credential = "office"
input = {{ type = "object", required = ["account", "amount"], additionalProperties = false, properties = {{ account = {{ type = "string" }}, amount = {{ type = "integer" }} }} }}
request = {{ method = "POST", url = "http://{upstream}/bookings", json = "{{{{ input }}}}" }}
preview = {{ title = "Book {{{{ input.amount }}}}", fields = [{{ label = "Account", value = "{{{{ input.account }}}}" }}] }}
"#
    )
}

impl Folder {
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command
            .args(line.split(' '))
            .current_dir(self.path.path())
            .env("OFFICE_TOKEN", "a-secret-of-the-office");
        command.env_remove("DATABASE_URL").env_remove("COUNTERSIGN_KEY").env_remove("RUST_LOG");
        if let Some(database) = &self.database {
            // On PostgreSQL the key is never made silently.
            command.env("DATABASE_URL", database).env("COUNTERSIGN_KEY", BASE64_STANDARD.encode([7; 32]));
        }
        command
    }

    /// Runs a command with this on its standard input: the line of JSON it prints.
    fn ask(&self, line: &str, input: &str) -> Value {
        let mut command = self.command(line);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("run");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
        let output = child.wait_with_output().expect("an end");
        assert!(output.status.success(), "{line}: {output:?}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Runs a command: one text of the line of JSON it prints.
    fn told(&self, line: &str, field: &str) -> String {
        self.ask(line, "")[field].as_str().expect("a text").to_owned()
    }
}
