//! One word on several held calls.

use engine::view_token::ViewFault;
use engine::{ManyFault, Shown, Step};
use leptos::prelude::*;
use model::{CallId, CallStatus, Refusal};
use serde::{Deserialize, Serialize};

use super::{Fault, Fields, Form, Next, Posted, visit};
use crate::parts::inbox_query::beside;

/// What came of one of several calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The call.
    pub call: CallId,
    /// What it was named by before it was decided.
    pub title: Option<String>,
    /// What came of it, in words.
    pub words: String,
    /// Whether it is what was wanted.
    pub is_done: bool,
}

/// Declines the calls that are ticked, leads to the page that shows them whole, or confirms what that page showed.
#[server(name = Many, prefix = "/do", endpoint = "many")]
pub(crate) async fn many(fields: Fields) -> Result<Next, Fault> {
    let visit = visit()?;
    let decider = visit.visitor.ok_or_else(Fault::signed_out)?.decider()?;
    let calls = ids(&fields);
    let value = |name: &str| values(&fields, name).next().unwrap_or_default();
    let steps = match value("decision") {
        "decline" => visit.engine.decline_many(&decider, &calls, Some(value("reason"))).await,
        "review" => {
            visit.engine.may_confirm_many(&decider, &calls).await.map_err(in_words)?;
            return Ok(Next::Go(review(&calls, value("list"))));
        }
        "confirm" => {
            visit.engine.confirm_many(&decider, &shown(&fields).ok_or_else(Fault::unreadable)?).await
        }
        _ => return Err(Fault::unreadable()),
    };
    Ok(Next::Told(steps.map_err(in_words)?.into_iter().map(told).collect()))
}

fn values<'a>(fields: &'a Fields, wanted: &str) -> impl Iterator<Item = &'a str> {
    fields.iter().filter(move |(name, _)| name == wanted).map(|(_, value)| value.as_str())
}

fn ids(fields: &Fields) -> Vec<CallId> {
    values(fields, "call").filter_map(|id| id.parse().ok()).collect()
}

/// Whether this call is ticked in what was posted.
pub(crate) fn picks(posted: &Posted, call: CallId) -> bool {
    posted.form == super::MANY && ids(&posted.fields).contains(&call)
}

/// What the page showed, call by call; `None`: it did not arrive whole.
fn shown(fields: &Fields) -> Option<Vec<Shown>> {
    let calls: Vec<_> = values(fields, "call").collect();
    let versions: Vec<_> = values(fields, "preview_version").collect();
    let tokens: Vec<_> = values(fields, "view_token").collect();
    if calls.len() != versions.len() || calls.len() != tokens.len() {
        return None;
    }
    let one = |((call, version), token): ((&&str, &&str), &&str)| {
        Some(Shown {
            call: call.parse().ok()?,
            version: (*version).to_owned(),
            view_token: (*token).to_owned(),
        })
    };
    calls.iter().zip(&versions).zip(&tokens).map(one).collect()
}

/// The page that shows each of them whole.
fn review(calls: &[CallId], list: &str) -> String {
    let calls = calls.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let list = list.strip_prefix('?').map(|list| format!("&{list}")).unwrap_or_default();
    beside("/inbox/selected", &format!("?calls={calls}{list}"))
}

fn in_words(fault: ManyFault) -> Fault {
    many_fault(fault).unwrap_or_else(Fault::from)
}

/// Why nothing of many was done.
///
/// # Errors
/// What every form says of it.
pub(crate) fn many_fault(fault: ManyFault) -> Result<Fault, Refusal> {
    Ok(match fault {
        ManyFault::None => Fault::new(422, "Nothing was done: no call is selected. Select some first."),
        ManyFault::TooMany(most) => Fault::new(
            422,
            format!("Nothing was done: at most {most} calls are decided at once. Select fewer."),
        ),
        ManyFault::Dangerous => Fault::new(
            409,
            "Nothing was done: only calls that can be put back are confirmed together. Open each of the others and confirm it by itself.",
        ),
        ManyFault::StepUp => Fault::new(
            409,
            "Nothing was done: some of these are confirmed with a passkey, each by itself. Open each of them and confirm it there.",
        ),
        ManyFault::Mixed => Fault::new(
            409,
            "Nothing was done: only calls of one action are confirmed together. Select calls of one action.",
        ),
        ManyFault::View(ViewFault::TooYoung) => Fault::new(
            422,
            "Nothing was done: the button was pressed within half a second of the page appearing. Read the calls, then confirm.",
        ),
        ManyFault::View(ViewFault::Other) => Fault::new(
            409,
            "Nothing was done: the page you pressed the button on is no longer good. This is a fresh one. Read it, then confirm.",
        ),
        ManyFault::Refused(refusal) => return Err(refusal),
    })
}

fn told(step: Step) -> Told {
    let (words, is_done) = match step.outcome {
        Ok(CallStatus::Done) => ("sent".to_owned(), true),
        Ok(CallStatus::Declined) => ("declined".to_owned(), true),
        Ok(CallStatus::Queued | CallStatus::Sending | CallStatus::Running) => ("being sent".to_owned(), true),
        Ok(CallStatus::Approved) => ("confirmed, sent in a moment".to_owned(), true),
        Ok(CallStatus::Held) => ("confirmed by you, waits for others".to_owned(), true),
        Ok(CallStatus::Refused) => ("refused by the service".to_owned(), false),
        Ok(CallStatus::InDoubt) => ("not known: somebody has to settle it".to_owned(), false),
        Ok(_) => ("failed".to_owned(), false),
        Err(Refusal::PreviewChanged(_)) => ("changed: read it again".to_owned(), false),
        Err(Refusal::AlreadyDecided | Refusal::NotHeld) => ("decided already".to_owned(), false),
        Err(Refusal::Expired) => ("lapsed".to_owned(), false),
        Err(Refusal::Withdrawn) => ("taken back by its caller".to_owned(), false),
        Err(Refusal::NotFound) => ("not yours to decide".to_owned(), false),
        Err(Refusal::UpstreamUnreachable | Refusal::UpstreamFailed(_)) => {
            ("still held: the service could not be asked".to_owned(), false)
        }
        Err(refusal) => (format!("not done: {}", refusal.problem().detail), false),
    };
    Told { call: step.id, title: step.title, words, is_done }
}

/// Everything as it came.
#[expect(clippy::unnecessary_wraps, reason = "the shape of every form's reader")]
pub(crate) fn read(fields: &Fields) -> Option<Many> {
    Some(Many { fields: fields.clone() })
}

impl Form for Many {
    fn page(posted: &Posted) -> String {
        let list = posted.typed("list");
        if posted.typed("decision") == "confirm" || !posted.told.is_empty() {
            return review(&ids(&posted.fields), &list);
        }
        beside("/inbox", &list)
    }
}
