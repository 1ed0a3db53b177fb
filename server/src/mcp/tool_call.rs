//! `tools/call`: an arrival for the engine, and its answer in the form that this client can wait with.

use engine::Arrival;
use engine::catalogue::is_question;
use engine::input_hash::InputHash;
use engine::request_state::StateRequest;
use model::{Answer, CallId, Refusal, Surface};
use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::desk::{Desk, broken};
use super::means::Means;
use super::{answer, call_status, elicitation, task};

/// The method that a state is bound to.
const METHOD: &str = "tools/call";

/// One request of the method.
pub(super) struct ToolCall<'a> {
    pub(super) desk: &'a Desk,
    pub(super) tool: &'a str,
    pub(super) arguments: &'a JsonObject,
    pub(super) means: Means,
}

/// Runs a tool, or goes on with a call that an earlier round has made.
pub(super) async fn run(
    desk: &Desk,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let call = ToolCall { desk, tool: &request.name, arguments: &arguments, means: Means::of(context) };
    match request.request_state {
        Some(state) => elicitation::go_on(&call, &state, request.input_responses.as_ref()).await,
        // What is asked of a server's prompts and resources has methods of its own.
        None if is_question(call.tool) => Err(unknown_tool()),
        None if call.tool == call_status::NAME => Ok(call_status::run(desk, &arguments).await.into()),
        None => call.begin().await,
    }
}

impl ToolCall<'_> {
    /// The call's way through the engine.
    async fn begin(&self) -> Result<CallToolResponse, ErrorData> {
        match self.desk.engine.call(self.arrival(), None).await {
            Ok(Answer::Waiting(waiting)) => self.held(waiting.call_id).await,
            Ok(answered) => Ok(answer::answered(self.tool, &answered).into()),
            // One that may not be seen is one that does not exist.
            Err(Refusal::NotFound) => Err(unknown_tool()),
            Err(refusal) => Ok(self.refused(&refusal).await.into()),
        }
    }

    fn arrival(&self) -> Arrival {
        Arrival {
            actor: self.desk.actor.clone(),
            surface: Surface::Mcp,
            action: self.tool.to_owned(),
            input: self.arguments.clone(),
            key_header: Vec::new(),
            session: self.desk.session.clone(),
            tenant: self.desk.tenant.clone(),
            reason: self.desk.reason.clone(),
        }
    }

    /// What a client is told of a call that waits for a person.
    async fn held(&self, id: CallId) -> Result<CallToolResponse, ErrorData> {
        let found = self.desk.engine.call_status(&self.desk.actor, id, None).await;
        let call = found.map_err(|refusal| broken(&refusal))?;
        let url = self.desk.approve_url(id);
        // Somebody may have decided it in the meantime.
        if call.status.is_ended() {
            return Ok(answer::stands(&call, &url).into());
        }
        Ok(match self.means {
            Means::Task => task::created(&call, &url).into(),
            Means::Url => elicitation::first_round(self, &call, &url),
            Means::Plain => answer::stands(&call, &url).into(),
        })
    }

    /// A refusal; where it is about another call that the caller may see, with how that one stands.
    async fn refused(&self, refusal: &Refusal) -> rmcp::model::CallToolResult {
        let about = match refusal.location() {
            Some(id) => self.desk.engine.call_status(&self.desk.actor, id, None).await.ok(),
            None => None,
        };
        answer::refused_about(refusal, about.as_ref())
    }

    /// What a state is bound to.
    pub(super) fn state_request(&self) -> StateRequest<'_> {
        StateRequest { method: METHOD, tool: self.tool, arguments: InputHash::of(self.arguments) }
    }
}

/// The same for a tool that does not exist and for one that this caller may not see.
fn unknown_tool() -> ErrorData {
    ErrorData::invalid_params("Unknown tool. Nothing was done.", None)
}
