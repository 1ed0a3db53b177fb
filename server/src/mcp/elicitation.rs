//! Waiting in rounds: the client shows its person the page of a held call, then comes back with a sealed state.
//!
//! What the client answers about the page is never an approval. The person decides on the page; the answer only says
//! whether it is worth waiting for.

use std::time::Duration;

use engine::request_state::RequestState;
use model::{Call, CallId, Refusal};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitationAction, InputRequest, InputRequests,
    InputRequiredResult, InputResponses,
};
use serde::Deserialize;

use super::answer;
use super::desk::broken;
use super::means::Means;
use super::tool_call::ToolCall;

/// The name of the one thing that is asked.
const QUESTION: &str = "approval";

/// How long one round waits: a client gives up on a request after 60 seconds.
const ROUND: Duration = Duration::from_secs(25);

/// The most rounds that wait: a client gives up on a call after 10 rounds.
const ROUNDS: u8 = 7;

/// The answer that asks the client to open the call's page. A client without a person gets the plain one.
pub(super) fn first_round(request: &ToolCall<'_>, call: &Call, url: &str) -> CallToolResponse {
    let state = request.desk.engine.first_state(call.id);
    let Some(sealed) = seal(request, &state) else { return answer::stands(call, url).into() };
    let message = format!(
        "“{}” waits for a person. Open the page, read what would be sent, and confirm or decline it there.",
        title(request)
    );
    let params = ElicitRequestParams::UrlElicitationParams {
        meta: None,
        message,
        url: url.to_owned(),
        elicitation_id: call.id.to_string(),
    };
    let question = InputRequest::Elicitation(ElicitRequest::new(params));
    let questions = InputRequests::from([(QUESTION.to_owned(), question)]);
    InputRequiredResult::new(Some(questions), Some(sealed)).with_meta(answer::meta(call)).into()
}

/// Another round of a call.
///
/// # Errors
/// When the state is not taken, or the client's answer is none.
pub(super) async fn go_on(
    request: &ToolCall<'_>,
    state: &str,
    responses: Option<&InputResponses>,
) -> Result<CallToolResponse, ErrorData> {
    let desk = request.desk;
    let opened = desk.engine.open_state(state, &desk.actor, &request.state_request());
    let state = opened.map_err(|_| not_taken())?;
    let call = stands_now(request, state.call, None).await?;
    // The same state after the end gives the same end, whatever comes with it.
    if call.status.is_ended() {
        return Ok(ended(request, &call));
    }
    match action(responses)? {
        Some(ElicitationAction::Decline) => withdraw(request, state.call).await,
        Some(ElicitationAction::Cancel) => Ok(ended(request, &call)),
        _ => wait(request, state).await,
    }
}

/// Waits for one round.
async fn wait(request: &ToolCall<'_>, state: RequestState) -> Result<CallToolResponse, ErrorData> {
    let call = stands_now(request, state.call, Some(ROUND)).await?;
    let over = call.status.is_ended() || state.round >= ROUNDS || request.means == Means::Plain;
    let next = (!over).then(|| seal(request, &state.next_round())).flatten();
    Ok(match next {
        Some(next) => InputRequiredResult::from_request_state(next).with_meta(answer::meta(&call)).into(),
        None => ended(request, &call),
    })
}

/// The client's person does not want it.
async fn withdraw(request: &ToolCall<'_>, id: CallId) -> Result<CallToolResponse, ErrorData> {
    let call = match request.desk.engine.withdraw(&request.desk.actor, id).await {
        Ok(call) => call,
        // Somebody has confirmed it in the meantime: it cannot be taken back.
        Err(Refusal::NotHeld) => stands_now(request, id, None).await?,
        Err(refusal) => return Err(broken(&refusal)),
    };
    Ok(ended(request, &call))
}

/// How the call of a state stands. A call that this caller may not see makes the state one that is not theirs.
async fn stands_now(request: &ToolCall<'_>, id: CallId, wait: Option<Duration>) -> Result<Call, ErrorData> {
    let desk = request.desk;
    desk.engine.call_status(&desk.actor, id, wait).await.map_err(|refusal| match refusal {
        Refusal::NotFound => not_taken(),
        other => broken(&other),
    })
}

/// The final answer, or the plain one.
fn ended(request: &ToolCall<'_>, call: &Call) -> CallToolResponse {
    answer::stands(call, &request.desk.approve_url(call.id)).into()
}

fn seal(request: &ToolCall<'_>, state: &RequestState) -> Option<String> {
    request.desk.engine.seal_state(state, &request.desk.actor, &request.state_request())
}

/// What people call the action.
fn title(request: &ToolCall<'_>) -> String {
    let catalogue = request.desk.engine.catalogue();
    catalogue.action(request.tool).map_or_else(|| request.tool.to_owned(), |action| action.title.clone())
}

/// What the client's person did with the page; `None`: this round brings no answer.
fn action(responses: Option<&InputResponses>) -> Result<Option<ElicitationAction>, ErrorData> {
    #[derive(Deserialize)]
    struct Response {
        action: ElicitationAction,
    }
    let Some(response) = responses.and_then(|responses| responses.get(QUESTION)) else { return Ok(None) };
    match serde_json::from_value::<Response>(response.clone()) {
        Ok(Response { action }) => Ok(Some(action)),
        Err(_) => Err(ErrorData::invalid_params("The answer to the question cannot be read.", None)),
    }
}

/// One error for every state that is not taken; the log knows which it was.
fn not_taken() -> ErrorData {
    ErrorData::invalid_params("This requestState is not taken. Nothing was done.", None)
}
