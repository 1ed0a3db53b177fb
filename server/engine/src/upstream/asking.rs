//! One request to a server and its answer, through the one door out of the house: once, and never again.

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use model::Refusal;
use tokio::time::timeout;

use super::answer::{Events, Reply, of_json};
use super::message::SESSION;
use crate::credential::Credential;
use crate::egress::{AnswerBody, BodyRead, NeverLeft, Response, Sent};
use crate::engine::Engine;
use crate::outgoing::Outgoing;

/// How a request ended.
#[derive(Debug)]
pub(super) enum Asked {
    /// Not one byte of it can have left.
    NeverLeft(NeverLeft),
    /// A byte may have left, and no status line came back.
    Unknown,
    /// A status line came back.
    Answered {
        status: u16,
        /// The session that the server has opened.
        session: Option<HeaderValue>,
        /// The response; `None`: none came that could be read.
        reply: Option<Reply>,
    },
}

/// Sends a request once, and reads the answer as far as its response.
pub(super) async fn ask(
    engine: &Engine,
    credential: Option<&Credential>,
    outgoing: Outgoing,
    key: Option<&str>,
) -> Asked {
    let checked = match engine.egress().check(credential, outgoing) {
        Ok(checked) => checked,
        Err(blocked) => return Asked::NeverLeft(NeverLeft::Blocked(blocked)),
    };
    let Ok(secret) = engine.secret_of(credential).await else { return Asked::NeverLeft(NeverLeft::Secret) };
    match engine.egress().open(checked, secret.as_ref(), key).await {
        Ok((response, body)) => {
            // The time counts for the whole of the answer, however steadily a stream goes on.
            let reading = timeout(engine.egress().limits().answer, read(&response, body));
            let reply = reading.await.ok().flatten();
            let session = response.headers.get(SESSION).cloned();
            Asked::Answered { status: response.status, session, reply }
        }
        Err(Sent::Answered(response)) => {
            Asked::Answered { status: response.status, session: None, reply: None }
        }
        Err(Sent::NeverLeft(why)) => Asked::NeverLeft(why),
        Err(Sent::Unknown(_)) => Asked::Unknown,
    }
}

/// The response in the body, be it a message or a stream of them. A stream is left at the response: not every server
/// ends it then.
async fn read(response: &Response, mut body: AnswerBody) -> Option<Reply> {
    if !is_stream(response) {
        return match body.collect().await {
            BodyRead::Whole(bytes) => of_json(&bytes),
            _ => None,
        };
    }
    let mut events = Events::default();
    while let Some(piece) = body.next().await {
        if let Some(reply) = events.push(&piece.ok()?) {
            return Some(reply);
        }
    }
    None
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

impl Asked {
    /// What kept a request that only reads from its answer, as its caller is told it.
    pub(super) fn fault(self) -> Refusal {
        match self {
            Self::NeverLeft(why) => why.into(),
            Self::Unknown => Refusal::UpstreamFailed(None),
            Self::Answered { status, .. } => Refusal::UpstreamFailed(Some(status)),
        }
    }
}
