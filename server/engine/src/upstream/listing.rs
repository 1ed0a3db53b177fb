//! What a server says about its tools, asked page by page. It reads, and changes nothing.

use http::HeaderValue;
use model::Refusal;
use serde_json::{Map, Value, json};

use super::answer::Reply;
use super::asking::{Asked, ask};
use super::definition::Definition;
use super::dialect::{Dialect, NEWEST_OLD};
use super::message::{self, SESSION};
use crate::catalogue::Upstream;
use crate::engine::Engine;
use crate::outgoing::Outgoing;

/// The most pages of a list, and the most tools of a server.
const MOST_PAGES: usize = 100;
const MOST_TOOLS: usize = 1_000;

/// What a server says about its tools.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) dialect: Dialect,
    /// One a name, in the server's order.
    pub(super) definitions: Vec<Definition>,
    /// How many entries could not be taken: without a name, too large, or under a name that came before.
    pub(super) left_out: usize,
}

/// A session, where the server keeps one.
pub(super) struct Opened {
    pub(super) dialect: Dialect,
    pub(super) session: Option<HeaderValue>,
}

/// Asks a server for all its tools. `known`: how it was spoken to the last time; that is tried first.
///
/// # Errors
/// What the first way of speaking ended in, when no way leads to a whole list.
pub(super) async fn list(
    engine: &Engine,
    upstream: &Upstream,
    known: Option<&Dialect>,
) -> Result<Listing, Refusal> {
    let is_new = known.is_none();
    if known.is_some_and(|dialect| *dialect != Dialect::Stateless) {
        return match list_old(engine, upstream).await {
            Err(refusal) if may_speak_otherwise(&refusal, is_new) => {
                list_stateless(engine, upstream).await.map_err(|_| refusal)
            }
            ended => ended,
        };
    }
    match list_stateless(engine, upstream).await {
        Err(refusal) if may_speak_otherwise(&refusal, is_new) => {
            list_old(engine, upstream).await.map_err(|_| refusal)
        }
        ended => ended,
    }
}

/// A server that answers at all may only not have understood; who may not enter is told so in every way. A fault of a
/// server that has understood before is a fault.
const fn may_speak_otherwise(refusal: &Refusal, is_new: bool) -> bool {
    match refusal {
        Refusal::UpstreamFailed(Some(401 | 403 | 429)) => false,
        Refusal::UpstreamFailed(Some(status)) => is_new || *status < 500,
        _ => false,
    }
}

async fn list_stateless(engine: &Engine, upstream: &Upstream) -> Result<Listing, Refusal> {
    pages(engine, upstream, &Opened { dialect: Dialect::Stateless, session: None }).await
}

async fn list_old(engine: &Engine, upstream: &Upstream) -> Result<Listing, Refusal> {
    let opened = open(engine, upstream).await?;
    let listing = pages(engine, upstream, &opened).await;
    close(engine, upstream, &opened);
    listing
}

/// Begins to speak an older revision. Nothing but a session is made by it.
///
/// # Errors
/// `UpstreamUnreachable`, `UpstreamFailed`, or why it may not be asked.
pub(super) async fn open(engine: &Engine, upstream: &Upstream) -> Result<Opened, Refusal> {
    let asked = Dialect::Plain(NEWEST_OLD.to_owned());
    let params =
        json!({ "protocolVersion": NEWEST_OLD, "capabilities": {}, "clientInfo": message::client() });
    let params = params.as_object().cloned().unwrap_or_default();
    let hello = message::request(&upstream.url, &asked, "initialize", params);
    let answer = ask(engine, upstream.credential.as_deref(), hello, None).await;
    let Asked::Answered { status, session, reply: Some(Reply::Result(result)) } = answer else {
        return Err(answer.fault());
    };
    let revision = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let dialect = Dialect::old(revision, session.is_some()).ok_or(Refusal::UpstreamFailed(Some(status)))?;
    let opened = Opened { dialect, session };
    let ready = message::notification(&upstream.url, &opened.dialect, "notifications/initialized");
    match ask(engine, upstream.credential.as_deref(), opened.within(ready), None).await {
        Asked::Answered { status: 200..300, .. } => Ok(opened),
        other => Err(other.fault()),
    }
}

/// Ends a session. Nobody waits for it: a server that forgets it at its own time does no harm.
pub(super) fn close(engine: &Engine, upstream: &Upstream, opened: &Opened) {
    if opened.session.is_none() {
        return;
    }
    let farewell = opened.within(message::farewell(&upstream.url, &opened.dialect));
    let (engine, credential) = (engine.clone(), upstream.credential.clone());
    drop(tokio::spawn(async move { ask(&engine, credential.as_deref(), farewell, None).await }));
}

impl Opened {
    /// The request as one of this session.
    pub(super) fn within(&self, mut outgoing: Outgoing) -> Outgoing {
        outgoing.headers.extend(self.session.clone().map(|session| (SESSION, session)));
        outgoing
    }
}

async fn pages(engine: &Engine, upstream: &Upstream, opened: &Opened) -> Result<Listing, Refusal> {
    let mut listing = Listing { dialect: opened.dialect.clone(), definitions: Vec::new(), left_out: 0 };
    let mut cursor: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let params = cursor.map(|cursor| ("cursor".to_owned(), Value::from(cursor)));
        let request =
            message::request(&upstream.url, &opened.dialect, "tools/list", params.into_iter().collect());
        let answer = ask_twice(engine, upstream, opened.within(request)).await;
        let Asked::Answered { status: 200..300, reply: Some(Reply::Result(page)), .. } = answer else {
            return Err(answer.fault());
        };
        listing.add(&page)?;
        match page.get("nextCursor").and_then(Value::as_str) {
            Some(next) => cursor = Some(next.to_owned()),
            None => return Ok(listing),
        }
    }
    Err(Refusal::UpstreamFailed(Some(200)))
}

/// Asks once more where a server refuses the revision and says in the same breath that it speaks it. It only reads.
async fn ask_twice(engine: &Engine, upstream: &Upstream, request: Outgoing) -> Asked {
    let credential = upstream.credential.as_deref();
    match ask(engine, credential, request.clone(), None).await {
        Asked::Answered { reply: Some(Reply::Error { speaks_stateless: true, .. }), .. } => {
            ask(engine, credential, request, None).await
        }
        asked => asked,
    }
}

impl Listing {
    /// Takes a page. A part of a list is never taken for the whole.
    fn add(&mut self, page: &Map<String, Value>) -> Result<(), Refusal> {
        let broken = Refusal::UpstreamFailed(Some(200));
        let entries = page.get("tools").and_then(Value::as_array).ok_or_else(|| broken.clone())?;
        for entry in entries {
            match Definition::read(entry) {
                Some(definition)
                    if self.definitions.iter().all(|known| known.name() != definition.name()) =>
                {
                    self.definitions.push(definition);
                }
                _ => self.left_out += 1,
            }
        }
        if self.definitions.len() + self.left_out > MOST_TOOLS { Err(broken) } else { Ok(()) }
    }
}
