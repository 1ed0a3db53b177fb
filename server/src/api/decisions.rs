//! `/v1/calls/{id}/decision`: a person's yes or no, and taking a yes back.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use engine::{Actor, Decider, Engine};
use http::HeaderMap;
use model::{Call, CallId, Decision, FieldError, Refusal, Verdict};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::bearer::Caller;
use super::body::JsonObject;
use super::calls::{LONGEST_WAIT, render};
use super::documented::{DecisionProblems, UndoProblems};
use super::path_id::PathId;
use super::prefer::Wait;
use crate::problem::Rejected;

/// The most characters of a person's words.
const REASON_LIMIT: usize = 2_000;

/// What a person says to a held call, as the document shows it: a yes names what was shown.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(discriminator(
    property_name = "decision",
    mapping(("confirm" = "#/components/schemas/Confirmed"), ("decline" = "#/components/schemas/Declined")),
))]
#[expect(dead_code, reason = "a shape for the document alone: every fault is told by `read_decision`")]
pub(crate) enum DecisionGiven {
    /// Yes.
    Confirmed(Confirmed),
    /// No.
    Declined(Declined),
}

/// The one word of a yes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "a shape for the document alone")]
enum Yes {
    /// Send exactly what was shown.
    Confirm,
}

/// The one word of a no.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "a shape for the document alone")]
enum No {
    /// Send nothing.
    Decline,
}

/// Send exactly what was shown.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Confirmed {
    #[schema(inline)]
    decision: Yes,
    /// The version of the preview that was shown.
    preview_version: String,
    /// The person's words.
    #[schema(max_length = 2000)]
    reason: Option<String>,
}

/// Send nothing.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Declined {
    #[schema(inline)]
    decision: No,
    /// Not needed.
    preview_version: Option<String>,
    /// The person's words; the agent is told.
    #[schema(max_length = 2000)]
    reason: Option<String>,
}

/// Decide a held call.
///
/// Confirming names the version of the preview that was shown. The answer comes once the decision is recorded; it
/// waits for the send only with `Prefer: wait=N`. A call whose action has `step_up` is confirmed in the browser alone:
/// 403 `step_up_required`, with the address of its page in `context.approve_url`. It can be declined here.
#[utoipa::path(
    post, path = "/calls/{id}/decision", operation_id = "decideCall", tag = "approvals",
    params(
        ("id" = CallId, Path, description = "The call."),
        ("Prefer" = Option<String>, Header, description = "`wait=N` holds the answer for up to N ≤ 30 seconds until the call has ended (RFC 7240)."),
    ),
    request_body(content = DecisionGiven, content_type = "application/json"),
    responses((status = 200, description = "The call, decided.", body = Call), DecisionProblems),
)]
pub(crate) async fn decide(
    State(engine): State<Engine>,
    Caller(actor): Caller,
    PathId(id): PathId<CallId>,
    headers: HeaderMap,
    JsonObject(body): JsonObject,
) -> Result<Response, Rejected> {
    let decider = decider(&actor)?;
    let decision = read_decision(body)?;
    let call = engine.decide(&decider, id, decision).await?;
    let Some(wait) = Wait::asked(&headers, LONGEST_WAIT) else { return Ok(render(&call, None)) };
    // The decision stands, whatever becomes of looking on.
    let call = engine.call_status(&actor, id, Some(wait.duration())).await.unwrap_or(call);
    Ok(render(&call, Some(wait)))
}

/// Take a Confirm back within the undo window, or one's own vote while the call waits for others.
#[utoipa::path(
    delete, path = "/calls/{id}/decision", operation_id = "undoDecision", tag = "approvals",
    params(("id" = CallId, Path, description = "The call.")),
    responses((status = 200, description = "The call, held again.", body = Call), UndoProblems),
)]
pub(crate) async fn undo(
    State(engine): State<Engine>,
    Caller(actor): Caller,
    PathId(id): PathId<CallId>,
) -> Result<Json<Call>, Rejected> {
    Ok(Json(engine.undo(&decider(&actor)?, id).await?))
}

/// The caller as one who decides. An agent can never be one, so for it there is nothing here.
fn decider(actor: &Actor) -> Result<Decider, Refusal> {
    match actor {
        Actor::Person(person) => person.decider(),
        Actor::Agent(_) | Actor::Public { .. } | Actor::System => Err(Refusal::NotFound),
    }
}

/// Reads the decision and reports everything that is wrong with it, without repeating any of it.
fn read_decision(mut body: Map<String, Value>) -> Result<Decision, Refusal> {
    let mut faults = Vec::new();
    let mut fault = |field: &str, message: &str| faults.push(FieldError::new(field, message));
    let verdict = body.remove("decision").and_then(|value| value.as_str()?.parse::<Verdict>().ok());
    if verdict.is_none() {
        fault("/decision", "Say “confirm” or “decline”.");
    }
    let preview_version = text(body.remove("preview_version"));
    if preview_version.is_err() || (verdict == Some(Verdict::Confirm) && preview_version == Ok(None)) {
        fault("/preview_version", "Confirming takes the version of the preview that was shown, as a string.");
    }
    let reason = text(body.remove("reason"));
    if reason.as_ref().map_or(true, |words| words.as_deref().is_some_and(|words| !is_fit(words))) {
        fault("/reason", "The reason is a string of at most 2000 characters, without NUL.");
    }
    if !body.is_empty() {
        fault("", "A decision has the fields decision, preview_version and reason, and no other.");
    }
    match (verdict, preview_version, reason) {
        (Some(decision), Ok(preview_version), Ok(reason)) if faults.is_empty() => {
            Ok(Decision { decision, preview_version, reason })
        }
        _ => Err(Refusal::Invalid(faults)),
    }
}

/// A string, or none.
pub(super) fn text(value: Option<Value>) -> Result<Option<String>, ()> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(()),
    }
}

/// Whether a person's words can be kept and passed on.
pub(super) fn is_fit(words: &str) -> bool {
    words.chars().count() <= REASON_LIMIT && !words.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::testing::Desk;
    use serde_json::json;

    fn read(body: Value) -> Result<Decision, Vec<String>> {
        let Value::Object(body) = body else { panic!("an object") };
        read_decision(body).map_err(|refusal| match refusal {
            Refusal::Invalid(faults) => faults.into_iter().map(|fault| fault.field).collect(),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_decision_is_read() {
        let confirm = Decision {
            decision: Verdict::Confirm,
            preview_version: Some("v1".to_owned()),
            reason: Some("fine".to_owned()),
        };
        assert_eq!(
            read(json!({"decision": "confirm", "preview_version": "v1", "reason": "fine"})),
            Ok(confirm)
        );
        let decline = Decision { decision: Verdict::Decline, preview_version: None, reason: None };
        assert_eq!(read(json!({"decision": "decline", "reason": null})), Ok(decline));
    }

    #[test]
    fn every_fault_is_reported() {
        assert_eq!(read(json!({})), Err(vec!["/decision".to_owned()]));
        assert_eq!(read(json!({"decision": "confirm"})), Err(vec!["/preview_version".to_owned()]));
        let all = read(json!({"decision": 1, "preview_version": [], "reason": "\u{0}", "by": "me"}));
        assert_eq!(all, Err(["/decision", "/preview_version", "/reason", ""].map(str::to_owned).to_vec()));
        let long = read(json!({"decision": "decline", "reason": "ä".repeat(2_001)}));
        assert_eq!(long, Err(vec!["/reason".to_owned()]));
    }

    const MOVE: &str = "move_ticket";

    fn closed() -> Value {
        json!({ "ticket": "T-101", "state": "closed" })
    }

    fn confirm(version: &str) -> Value {
        json!({ "decision": "confirm", "preview_version": version })
    }

    #[tokio::test]
    async fn what_is_confirmed_is_sent_once() {
        let desk = Desk::open().await;
        let (id, version) = desk.held(MOVE, &closed()).await;
        let path = format!("/v1/calls/{id}/decision");
        let decide = || desk.ask("POST", &path).token(desk.ann()).json(&confirm(&version));
        let told = decide().header("prefer", "wait=20").ok(200).await;
        assert_eq!((&told.body["status"], &told.body["result"]["state"]), (&json!("done"), &json!("closed")));
        assert_eq!(told.headers["preference-applied"], "wait=20");
        decide().refused(409, "already_decided").await;
        desk.ask("DELETE", &path).token(desk.ann()).refused(409, "not_held").await;
        assert_eq!(desk.upstream().await["writes_received"], 1);
    }

    #[tokio::test]
    async fn what_is_declined_is_told_in_the_persons_words() {
        let desk = Desk::open().await;
        let (id, _) = desk.held(MOVE, &closed()).await;
        let decline = json!({ "decision": "decline", "reason": "Not before Friday." });
        let told = desk
            .ask("POST", &format!("/v1/calls/{id}/decision"))
            .token(desk.ann())
            .json(&decline)
            .ok(200)
            .await;
        assert_eq!(
            (&told.body["status"], &told.body["decline_reason"]),
            (&json!("declined"), &decline["reason"])
        );
        let seen = desk.get(&format!("/v1/calls/{id}"), desk.careful()).ok(200).await;
        assert_eq!(seen.body["problem"]["code"], "declined");
        assert_eq!(desk.upstream().await["writes_received"], 0);
    }

    #[tokio::test]
    async fn a_waiting_call_gets_its_final_answer() {
        let desk = Desk::open().await;
        let call = desk.call(MOVE, desk.careful(), &closed()).header("prefer", "wait=20").send();
        let decide = async {
            let list = loop {
                let list = desk.get("/v1/approvals", desk.ann()).ok(200).await.body;
                if list["items"][0].is_object() {
                    break list;
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            };
            let path = format!("/v1/calls/{}/decision", list["items"][0]["id"].as_str().expect("an id"));
            let decline = json!({ "decision": "decline", "reason": "No." });
            desk.ask("POST", &path).token(desk.ann()).json(&decline).ok(200).await
        };
        let (told, _) = tokio::join!(call, decide);
        assert_eq!((told.status, &told.body["code"]), (403, &json!("declined")));
        assert_eq!(told.body["context"]["reason"], "No.");
    }

    #[tokio::test]
    async fn only_the_newest_preview_can_be_confirmed() {
        let desk = Desk::open().await;
        let (id, version) = desk.held(MOVE, &closed()).await;
        let decide = |version: &str| {
            desk.ask("POST", &format!("/v1/calls/{id}/decision")).token(desk.ann()).json(&confirm(version))
        };
        let wrong = decide("another").refused(409, "preview_changed").await;
        assert_eq!(wrong.body["context"]["preview"]["version"], version.as_str());
        let moved = json!({ "ticket": "T-101", "state": "waiting" });
        desk.call(MOVE, desk.quick(), &moved).ok(200).await;
        let changed = decide(&version).refused(409, "preview_changed").await;
        let fresh = &changed.body["context"]["preview"];
        assert_eq!(fresh["fields"][0]["before"], "waiting");
        decide(fresh["version"].as_str().expect("a version")).ok(200).await;
    }

    #[tokio::test]
    async fn who_may_not_decide_finds_nothing() {
        let desk = Desk::open().await;
        let (id, version) = desk.held(MOVE, &closed()).await;
        for (token, path) in [
            (desk.careful(), format!("/v1/calls/{id}/decision")),
            (desk.max(), format!("/v1/calls/{id}/decision")),
            (desk.olga(), format!("/v1/calls/{id}/decision")),
            (desk.ann(), "/v1/calls/call_01h455vb4pex5vsknk084sn02q/decision".to_owned()),
        ] {
            desk.ask("POST", &path).token(token).json(&confirm(&version)).refused(404, "not_found").await;
            desk.ask("DELETE", &path).token(token).refused(404, "not_found").await;
        }
        let (_, reader) = desk.engine.add_token("ann@demo.test", Vec::new()).await.expect("a token");
        let path = format!("/v1/calls/{id}/decision");
        desk.ask("POST", &path).token(reader.reveal()).json(&confirm(&version)).refused(403, "denied").await;
    }

    #[tokio::test]
    async fn a_decision_out_of_form_decides_nothing() {
        let desk = Desk::open().await;
        let (id, version) = desk.held(MOVE, &closed()).await;
        let path = format!("/v1/calls/{id}/decision");
        for body in [json!({}), json!({ "decision": "yes" }), json!({ "decision": "confirm" })] {
            desk.ask("POST", &path).token(desk.ann()).json(&body).refused(422, "invalid").await;
        }
        let named = json!({ "decision": "confirm", "preview_version": version, "by": "max" });
        desk.ask("POST", &path).token(desk.ann()).json(&named).refused(422, "invalid").await;
        desk.ask("POST", &path).token(desk.ann()).bytes(b"yes".to_vec()).refused(400, "malformed").await;
        assert_eq!(desk.get(&format!("/v1/calls/{id}"), desk.ann()).ok(200).await.body["status"], "held");
    }

    #[tokio::test]
    async fn a_confirm_is_taken_back_within_its_window() {
        let desk = Desk::open().await;
        let mail = json!({ "to": "bo@customers.test", "subject": "s", "body": "b" });
        let (id, version) = desk.held("send_mail", &mail).await;
        let path = format!("/v1/calls/{id}/decision");
        let told = desk.ask("POST", &path).token(desk.ann()).json(&confirm(&version)).ok(200).await;
        assert_eq!(told.body["status"], "approved");
        assert_eq!(desk.ask("DELETE", &path).token(desk.ann()).ok(200).await.body["status"], "held");
        assert_eq!(desk.upstream().await["writes_received"], 0);
    }
}
