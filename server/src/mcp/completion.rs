//! `completion/complete`: how an argument of a prompt or of a kind of resource could go on, in the words of its server.

use engine::upstream::Question;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, JsonObject};
use serde_json::Value;

use super::desk::Desk;
use super::prompt::{self, server_of};
use super::question::{self, ask, told, unknown_method};

/// Answers it.
pub(super) async fn complete(
    desk: &Desk,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let mut params = question::params(request);
    let Some(Value::Object(about)) = params.get_mut("ref") else { return Err(prompt::unknown()) };
    let catalogue = desk.engine.catalogue();
    let (prompts, resources) = (catalogue.with_prompts(&desk.actor), catalogue.with_resources(&desk.actor));
    if prompts.is_empty() && resources.is_empty() {
        return Err(unknown_method());
    }
    let text = |about: &JsonObject, name: &str| about.get(name).and_then(Value::as_str).map(str::to_owned);
    let name = text(about, "name");
    let upstream = if let Some(name) = &name {
        let (upstream, own) = server_of(&prompts, name).ok_or_else(prompt::unknown)?;
        about.insert("name".to_owned(), Value::from(own));
        upstream
    } else {
        let uri = text(about, "uri").unwrap_or_default();
        let covers = resources.iter().find(|upstream| upstream.covers_template(&uri));
        covers.ok_or_else(|| ErrorData::invalid_params("There is no such resource.", None))?
    };
    let result = ask(desk, upstream, Question::Completion, params).await.map_err(|refusal| told(&refusal))?;
    question::read(result)
}
