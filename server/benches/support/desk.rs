//! The real desk: the binary, its own database file, one agent.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Desk {
    pub(crate) address: SocketAddr,
    /// The key of an agent whose writes pass.
    pub(crate) key: String,
    server: Child,
    _folder: TempDir,
}

impl Desk {
    pub(crate) fn start(upstream: SocketAddr) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("countersign.toml"), catalogue(upstream)).expect("a catalogue");
        let mut server = command(folder.path(), "serve --json").stdout(Stdio::piped()).spawn().expect("run");
        let mut line = String::new();
        BufReader::new(server.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).expect("JSON");
        let address = told["listen"].as_str().expect("an address").parse().expect("an address");
        let person = "person add --email ann@desk.test --name Ann --role member --password-stdin --json";
        ask(folder.path(), person, "correct horse battery\n");
        let agent = ask(folder.path(), "agent add --name bot --owner ann@desk.test --json", "");
        let key = agent["key"].as_str().expect("a key").to_owned();
        Self { address, key, server, _folder: folder }
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
"#
    )
}

fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(line.split(' ')).current_dir(folder).env("OFFICE_TOKEN", "a-secret-of-the-office");
    command.env_remove("DATABASE_URL").env_remove("COUNTERSIGN_KEY").env_remove("RUST_LOG");
    command
}

/// Runs a command with this on its standard input: the line of JSON it prints.
fn ask(folder: &Path, line: &str, input: &str) -> Value {
    let mut command = command(folder, line);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("run");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success(), "{line}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}
