//! `/v1/events`: the journal.

use axum::extract::{OriginalUri, State};
use axum::response::Response;
use engine::Engine;
use model::{Event, Listing};

use super::bearer::Reader;
use super::documented::ListProblems;
use super::list_answer::list_answer;
use super::query::Query;
use crate::problem::Rejected;

/// The journal, newest first: a person's own calls; an operator's: all.
///
/// Ids and status only, never an input value.
#[utoipa::path(
    get, path = "/events", operation_id = "listEvents", tag = "events",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500, description = "The most items of a page; 50 when not given."),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before."),
    ),
    responses(
        (status = 200, description = "The events.", body = Listing<Event>,
         headers(("Link" = Option<String>, description = "`rel=\"next\"`, when there is another page."))),
        ListProblems,
    ),
)]
pub(crate) async fn list(
    State(engine): State<Engine>,
    Reader(person): Reader,
    OriginalUri(uri): OriginalUri,
) -> Result<Response, Rejected> {
    let mut query = Query::of(uri.query());
    let page = query.page();
    query.finish()?;
    Ok(list_answer(&uri, engine.events(&person, &page).await?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::demo::testing::Desk;

    #[tokio::test]
    async fn the_journal_tells_what_happened_and_no_value() {
        let desk = Desk::open().await;
        desk.held("refund", &json!({ "order": "O-2041", "amount": "24.90" })).await;
        desk.call("move_ticket", desk.quick(), &json!({ "ticket": "T-999", "state": "open" }))
            .refused(422, "invalid")
            .await;
        let types = async |token: &str| {
            let told = desk.get("/v1/events", token).ok(200).await;
            assert!(!told.body.to_string().contains("O-2041"));
            let items = told.body["items"].as_array().expect("items");
            items.iter().filter_map(|item| item["type"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(types(desk.ann()).await, ["action.refused", "call.held"]);
        assert_eq!(types(desk.olga()).await, ["action.refused", "call.held"]);
        assert!(types(desk.max()).await.is_empty());
        desk.get("/v1/events", desk.careful()).refused(403, "denied").await;
    }
}
