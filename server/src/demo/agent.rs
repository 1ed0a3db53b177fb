//! The demo's agents: real calls over HTTP, of every effect, and what became of them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::client::{Ask, Client, ClientError, Told};
use super::errands::{self, Errand};
use crate::cli::print_line;

/// Between one wish and the next, once the first ones have been made.
const PAUSE: Duration = Duration::from_secs(45);

/// Between the first ones: close together, but in an order that can be told.
const SHORT_PAUSE: Duration = Duration::from_millis(150);

/// How many wishes are made at once at the start.
const AT_ONCE: usize = 4;

/// While this many wait for a person, no more are made.
const MOST_OPEN: usize = 6;

/// The keys the agents call with.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) careful: String,
    pub(super) quick: String,
}

/// An agent at work.
#[derive(Debug, Clone)]
struct Agent {
    name: &'static str,
    client: Client,
    /// Whether people are told on the console.
    aloud: bool,
    /// Calls that wait for a person.
    open: Arc<AtomicUsize>,
}

/// Calls as long as it is left to. What goes wrong is told and does not end it.
pub(super) async fn run(desk: SocketAddr, keys: Keys, aloud: bool) {
    let agent = |name, key| Agent { name, client: Client { desk, key }, aloud, open: Arc::default() };
    let quick = agent("quick", keys.quick);
    let careful = agent("careful", keys.careful);
    quick.work_unattended().await;
    careful.look_around().await;
    for (number, wish) in errands::wishes().into_iter().cycle().enumerate() {
        careful.wish(number, wish).await;
        tokio::time::sleep(if number + 1 < AT_ONCE { SHORT_PAUSE } else { PAUSE }).await;
        while careful.open.load(Ordering::Relaxed) >= MOST_OPEN {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl Agent {
    /// A write that needs nobody, and a mail whose prompt the agent answers itself.
    async fn work_unattended(&self) {
        let moved = self.call(&errands::unattended(), "quick-move-T-104").await;
        self.told("move_ticket", moved);
        let mut mail = errands::self_confirmed();
        let prompt = self.call(&mail, "quick-mail-ida").await;
        if let Ok(Told { status: 202, body }) = &prompt
            && let Some(token) = body["confirm_token"].as_str()
        {
            mail.input["confirm_token"] = Value::from(token);
            let sent = self.call(&mail, "quick-mail-ida").await;
            self.told("send_mail", sent);
        } else {
            self.told("send_mail", prompt);
        }
    }

    /// Reads pass by themselves.
    async fn look_around(&self) {
        for look in errands::looks() {
            let seen = self.call(&look, "").await;
            self.told(look.action, seen);
        }
    }

    /// Asks for one write; when it is held, follows it in a task of its own until it ends.
    async fn wish(&self, number: usize, wish: Errand) {
        match self.call(&wish, &format!("careful-{number}")).await {
            Ok(Told { status: 202, body }) => {
                let Some(id) = body["call_id"].as_str().map(str::to_owned) else { return };
                self.say(&format!("asked for {}: it waits for a person", wish.action));
                self.open.fetch_add(1, Ordering::Relaxed);
                let agent = self.clone();
                tokio::spawn(async move {
                    agent.follow(&id, wish.action).await;
                    agent.open.fetch_sub(1, Ordering::Relaxed);
                });
            }
            other => self.told(wish.action, other),
        }
    }

    /// Asks how a call stands until it has ended.
    async fn follow(&self, id: &str, action: &str) {
        loop {
            let ask = Ask {
                path: format!("/v1/calls/{id}"),
                headers: vec![("prefer", "wait=30")],
                ..Ask::default()
            };
            match self.client.ask(ask).await {
                Ok(Told { status: 200, body }) => match body["status"].as_str() {
                    Some("held" | "approved" | "sending" | "queued" | "running") => {}
                    Some(end) => return self.say(&ending(action, end, &body)),
                    None => return,
                },
                Ok(_) | Err(_) => return,
            }
            // The desk may answer before the wait is over when it is stopping.
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    async fn call(&self, errand: &Errand, key: &str) -> Result<Told, ClientError> {
        let reason = utf8_percent_encode(errand.reason, NON_ALPHANUMERIC).to_string();
        let mut headers = vec![("countersign-session", "demo"), ("countersign-reason", reason.as_str())];
        if !key.is_empty() {
            headers.push(("idempotency-key", key));
        }
        let path = format!("/v1/actions/{}", errand.action);
        self.client.ask(Ask { method: Method::POST, path, headers, body: Some(&errand.input) }).await
    }

    /// Tells what became of a call that did not wait.
    fn told(&self, action: &str, told: Result<Told, ClientError>) {
        match told {
            Ok(Told { status: 200, .. }) => self.say(&format!("called {action}: done")),
            Ok(Told { status, body }) => {
                self.say(&format!(
                    "called {action}: {status}, {}",
                    body["detail"].as_str().unwrap_or("no words")
                ));
            }
            Err(error) => self.say(&format!("called {action}: no answer ({error})")),
        }
    }

    fn say(&self, words: &str) {
        tracing::debug!(agent = self.name, words);
        if self.aloud {
            // Nobody may be reading any more; the agent goes on.
            drop(print_line(&format!("{:>8} {words}", self.name)));
        }
    }
}

/// How a call ended, in words.
fn ending(action: &str, end: &str, call: &Value) -> String {
    match (end, call["decline_reason"].as_str(), call["reply"].as_str()) {
        ("declined", Some(words), _) => format!("was told no to {action}: {words}"),
        ("declined", None, _) => format!("was told no to {action}"),
        ("done", _, Some(reply)) => format!("was told: {reply}"),
        _ => format!("was told that {action} is {end}"),
    }
}
