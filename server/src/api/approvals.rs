//! `/v1/approvals`: what waits for this person.

use axum::extract::{OriginalUri, State};
use axum::response::Response;
use engine::Engine;
use model::{HeldCall, Listing};

use super::bearer::Deciding;
use super::documented::ListProblems;
use super::list_answer::list_answer;
use super::query::Query;
use crate::problem::Rejected;

/// The held calls this person may decide, newest first, each with its preview.
#[utoipa::path(
    get, path = "/approvals", operation_id = "listApprovals", tag = "approvals",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500, description = "The most items of a page; 50 when not given."),
        ("cursor" = Option<String>, Query, min_length = 1, max_length = 1000, description = "The `next_cursor` of the page before."),
    ),
    responses(
        (status = 200, description = "The held calls.", body = Listing<HeldCall>,
         headers(("Link" = Option<String>, description = "`rel=\"next\"`, when there is another page."))),
        ListProblems,
    ),
)]
pub(crate) async fn list(
    State(engine): State<Engine>,
    Deciding(decider): Deciding,
    OriginalUri(uri): OriginalUri,
) -> Result<Response, Rejected> {
    let mut query = Query::of(uri.query());
    let page = query.page();
    query.finish()?;
    Ok(list_answer(&uri, engine.approvals(&decider, &page).await?))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::demo::testing::Desk;

    #[tokio::test]
    async fn each_person_is_shown_what_they_may_decide() {
        let desk = Desk::open().await;
        desk.held("wipe_customer", &json!({ "customer": "C-03" })).await;
        desk.held("refund", &json!({ "order": "O-2041", "amount": "24.90" })).await;
        let titles = async |token: &str| {
            let told = desk.get("/v1/approvals", token).ok(200).await;
            let items = told.body["items"].as_array().expect("items");
            items.iter().map(|item| item["preview"]["title"].clone()).collect::<Vec<Value>>()
        };
        let (refund, wipe) =
            ("Refund 24.90 EUR to Bo Lindqvist", "Erase Vera Novak with everything known about them");
        assert_eq!(titles(desk.ann()).await, [refund, wipe]);
        assert_eq!(titles(desk.max()).await, [refund]);
        assert!(titles(desk.olga()).await.is_empty());
        desk.get("/v1/approvals", desk.careful()).refused(403, "denied").await;
        let (_, reader) = desk.engine.add_token("ann@demo.test", Vec::new()).await.expect("a token");
        desk.get("/v1/approvals", reader.reveal()).refused(403, "denied").await;
    }

    #[tokio::test]
    async fn pages_join_up() {
        let desk = Desk::open().await;
        for ticket in ["T-101", "T-102", "T-103"] {
            desk.held("move_ticket", &json!({ "ticket": ticket, "state": "closed" })).await;
        }
        let mut path = "/v1/approvals?limit=2".to_owned();
        let mut seen = Vec::new();
        loop {
            let told = desk.get(&path, desk.ann()).ok(200).await;
            seen.extend(
                told.body["items"].as_array().expect("items").iter().map(|i| i["preview"]["target"].clone()),
            );
            let Some(link) = told.headers.get("link") else { break };
            let link = link.to_str().expect("text");
            path = link[1..link.find('>').expect("an end")].to_owned();
        }
        assert_eq!(seen, ["T-103", "T-102", "T-101"]);
    }
}
