//! The resources of the MCP servers behind the desk: those whose URIs begin as the catalogue says.

use std::sync::Arc;

use engine::catalogue::Upstream;
use engine::upstream::Question;
use model::Refusal;
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceTemplate,
};
use serde_json::json;

use super::desk::Desk;
use super::question::{self, ask, entries, told, unknown_method};

/// What is told of a resource.
const PARTS: [&str; 7] = ["uri", "name", "title", "description", "mimeType", "size", "annotations"];

/// What is told of a kind of resource.
const TEMPLATE_PARTS: [&str; 6] = ["uriTemplate", "name", "title", "description", "mimeType", "annotations"];

/// `resources/list`
pub(super) async fn list(desk: &Desk) -> Result<ListResourcesResult, ErrorData> {
    let found = entries(desk, servers(desk)?, Question::Resources, "resources").await?;
    let resources = found.into_iter().filter_map(|(upstream, entry)| {
        let resource: Resource = question::entry(entry, &PARTS)?;
        upstream.covers(&resource.uri).then_some(resource)
    });
    Ok(ListResourcesResult::with_all_items(resources.collect()))
}

/// `resources/templates/list`
pub(super) async fn templates(desk: &Desk) -> Result<ListResourceTemplatesResult, ErrorData> {
    let found = entries(desk, servers(desk)?, Question::Templates, "resourceTemplates").await?;
    let templates = found.into_iter().filter_map(|(upstream, entry)| {
        let template: ResourceTemplate = question::entry(entry, &TEMPLATE_PARTS)?;
        upstream.covers_template(&template.uri_template).then_some(template)
    });
    Ok(ListResourceTemplatesResult::with_all_items(templates.collect()))
}

/// `resources/read`
pub(super) async fn read(
    desk: &Desk,
    request: &ReadResourceRequestParams,
) -> Result<ReadResourceResponse, ErrorData> {
    let upstreams = servers(desk)?;
    let upstream = upstreams
        .iter()
        .find(|upstream| upstream.covers(&request.uri))
        .ok_or_else(|| unknown(&request.uri))?;
    let params = question::params(request);
    let answer = ask(desk, upstream, Question::Resource, params).await;
    let result = answer.map_err(|refusal| match refusal {
        Refusal::Refused { .. } | Refusal::NotFound => unknown(&request.uri),
        other => told(&other),
    })?;
    let result: ReadResourceResult = question::read(result)?;
    Ok(ReadResourceResponse::Complete(result))
}

/// The same for a resource that does not exist and for one that this caller may not ask for.
fn unknown(uri: &str) -> ErrorData {
    ErrorData::invalid_params("There is no such resource.", Some(json!({ "uri": uri })))
}

/// The servers that this caller may ask.
fn servers(desk: &Desk) -> Result<Vec<Arc<Upstream>>, ErrorData> {
    let servers = desk.engine.catalogue().with_resources(&desk.actor);
    if servers.is_empty() { Err(unknown_method()) } else { Ok(servers) }
}
