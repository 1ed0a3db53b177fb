//! The desk as one caller of the protocol sees it.

use std::borrow::Cow;

use engine::{Actor, Engine};
use model::{CallId, Refusal, Surface};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetTaskParams,
    GetTaskResult, Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, PromptsCapability, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ResourcesCapability, ServerCapabilities, ServerConfig,
    UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::means::is_stateless;
use super::{completion, prompt, resource, task, tool, tool_call};

/// What the model reads once, before it calls anything.
const INSTRUCTIONS: &str = "Some calls have to be confirmed by a person. An answer that says NOT DONE means that \
    nothing was done yet: do not repeat the call. Show its address to your person, and ask the tool call_status with its \
    call_id how it stands. Give every write an idempotency_key: a repeat with the same key is never done twice.";

/// The revisions that are spoken.
const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// The methods that are known here. A request for one of them that could not be read has wrong params.
const METHODS: &[&str] = &[
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

/// The desk as one caller sees it, for one request.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) engine: Engine,
    pub(super) actor: Actor,
    /// `Countersign-Session`
    pub(super) session: Option<String>,
    /// `Countersign-Tenant`
    pub(super) tenant: Option<String>,
    /// `Countersign-Reason`
    pub(super) reason: Option<String>,
}

impl Desk {
    /// The page where a person decides a call.
    pub(super) fn approve_url(&self, call: CallId) -> String {
        format!("{}/inbox/{call}", self.engine.public_url())
    }

    /// Tools always; prompts and resources where a server behind the desk has some for this caller.
    fn capabilities(&self) -> ServerCapabilities {
        let catalogue = self.engine.catalogue();
        let mut capabilities = ServerCapabilities::builder().enable_tools().enable_tasks().build();
        capabilities.prompts =
            (!catalogue.with_prompts(&self.actor).is_empty()).then(PromptsCapability::default);
        capabilities.resources =
            (!catalogue.with_resources(&self.actor).is_empty()).then(ResourcesCapability::default);
        let has_any = capabilities.prompts.is_some() || capabilities.resources.is_some();
        capabilities.completions = has_any.then(JsonObject::new);
        capabilities
    }
}

impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(self.capabilities())
            .with_server_info(
                Implementation::new("countersign", env!("CARGO_PKG_VERSION")).with_title("Countersign"),
            )
            .with_instructions(INSTRUCTIONS)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let offered = self.engine.offered(&self.actor, Surface::Mcp, self.tenant.as_deref()).await;
        Ok(ListToolsResult::with_all_items(tool::all(offered.map_err(|refusal| broken(&refusal))?)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tool_call::run(self, request, &context).await
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        prompt::list(self).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompt::get(self, &request).await
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resource::list(self).await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        resource::templates(self).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resource::read(self, &request).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        completion::complete(self, &request).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        task::get(self, &request.task_id).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        task::update(self, &request.task_id).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        task::cancel(self, &request.task_id).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let is_removed = request.method == "initialize" && is_stateless(&context);
        if METHODS.contains(&request.method.as_str()) && !is_removed {
            return Err(ErrorData::invalid_params(
                "The params do not fit the method. Nothing was done.",
                None,
            ));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "There is no such method.", None))
    }
}

/// The desk itself cannot answer.
pub(super) fn broken(refusal: &Refusal) -> ErrorData {
    ErrorData::internal_error(refusal.problem().detail, None)
}
