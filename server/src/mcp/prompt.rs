//! The prompts of the MCP servers behind the desk. A prompt's name begins with its server's, as a tool's does.

use std::sync::Arc;

use engine::catalogue::Upstream;
use engine::upstream::Question;
use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult, Prompt};
use serde_json::Value;

use super::desk::Desk;
use super::question::{self, ask, entries, told, unknown_method};

/// What is told of a prompt.
const PARTS: [&str; 4] = ["name", "title", "description", "arguments"];

/// `prompts/list`
pub(super) async fn list(desk: &Desk) -> Result<ListPromptsResult, ErrorData> {
    let upstreams = servers(desk)?;
    let found = entries(desk, upstreams, Question::Prompts, "prompts").await?;
    let prompts = found.into_iter().filter_map(|(upstream, entry)| {
        let mut prompt: Prompt = question::entry(entry, &PARTS)?;
        prompt.name = format!("{}_{}", upstream.name, prompt.name);
        Some(prompt)
    });
    Ok(ListPromptsResult::with_all_items(prompts.collect()))
}

/// `prompts/get`
pub(super) async fn get(
    desk: &Desk,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResponse, ErrorData> {
    let upstreams = servers(desk)?;
    let (upstream, own) = server_of(&upstreams, &request.name).ok_or_else(unknown)?;
    let mut params = question::params(request);
    params.insert("name".to_owned(), Value::from(own));
    let result = ask(desk, upstream, Question::Prompt, params).await.map_err(|refusal| told(&refusal))?;
    let result: GetPromptResult = question::read(result)?;
    Ok(GetPromptResponse::Complete(result))
}

/// The server that a prompt is of, and the prompt's own name there. One server's name may be the beginning of another's:
/// then the longer one is meant.
pub(super) fn server_of<'a>(
    upstreams: &'a [Arc<Upstream>],
    prompt: &'a str,
) -> Option<(&'a Upstream, &'a str)> {
    let own = |upstream: &'a Arc<Upstream>| {
        let own = prompt.strip_prefix(upstream.name.as_str())?.strip_prefix('_')?;
        Some((upstream.as_ref(), own))
    };
    upstreams.iter().filter_map(own).max_by_key(|(upstream, _)| upstream.name.len())
}

fn servers(desk: &Desk) -> Result<Vec<Arc<Upstream>>, ErrorData> {
    let servers = desk.engine.catalogue().with_prompts(&desk.actor);
    if servers.is_empty() { Err(unknown_method()) } else { Ok(servers) }
}

/// The same for a prompt that does not exist and for one that this caller may not ask for.
pub(super) fn unknown() -> ErrorData {
    ErrorData::invalid_params("There is no such prompt.", None)
}
