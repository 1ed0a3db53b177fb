//! `/v1/receipts`: what was done.

use axum::Json;
use axum::extract::{OriginalUri, State};
use axum::response::Response;
use engine::{Engine, ReceiptFilter};
use model::{Listing, Outcome, PersonId, Receipt, ReceiptId, Refusal, Time};

use super::bearer::Reader;
use super::documented::{ListProblems, ReceiptProblems};
use super::list_answer::list_answer;
use super::path_id::PathId;
use super::query::Query;
use crate::problem::Rejected;

/// Receipts, newest first: a person's own; an operator's: everyone's.
///
/// Where filters go together that no index has, a page is what was found among so many receipts: it may have fewer items
/// than `limit`, or none, and still a `next_cursor`, which goes on behind them. The list ends where there is no cursor.
#[utoipa::path(
    get, path = "/receipts", operation_id = "listReceipts", tag = "receipts",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500, description = "The most items of a page; 50 when not given."),
        ("cursor" = Option<String>, Query, min_length = 1, max_length = 1000, description = "The `next_cursor` of the page before."),
        ("user_id" = Option<PersonId>, Query, description = "One person's. Another person's is an empty list for who is no operator."),
        ("agent" = Option<String>, Query, min_length = 1, max_length = 1000, description = "An agent's name or id."),
        ("action" = Option<String>, Query, min_length = 1, max_length = 1000, description = "An action's name."),
        ("host" = Option<String>, Query, min_length = 1, max_length = 1000, description = "The host the call was sent to: on every port, or with one."),
        ("outcome" = Option<Outcome>, Query, description = "How it ended."),
        ("from" = Option<Time>, Query, description = "Not before this time (RFC 3339)."),
        ("to" = Option<Time>, Query, description = "Before this time (RFC 3339)."),
    ),
    responses(
        (status = 200, description = "The receipts.", body = Listing<Receipt>,
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
    let filter = read_filter(&mut query);
    query.finish()?;
    Ok(list_answer(&uri, engine.receipts(&person, &filter, &page).await?))
}

/// One receipt.
///
/// Another person's is answered like one that does not exist.
#[utoipa::path(
    get, path = "/receipts/{id}", operation_id = "getReceipt", tag = "receipts",
    params(("id" = ReceiptId, Path, description = "The receipt.")),
    responses((status = 200, description = "The receipt.", body = Receipt), ReceiptProblems),
)]
pub(crate) async fn show(
    State(engine): State<Engine>,
    Reader(person): Reader,
    PathId(id): PathId<ReceiptId>,
) -> Result<Json<Receipt>, Rejected> {
    let receipt = engine.receipt(&person, id).await?;
    Ok(Json(receipt.ok_or(Refusal::NotFound)?))
}

/// What the list is narrowed to.
fn read_filter(query: &mut Query) -> ReceiptFilter {
    const TIME: &str = "A time is written as in RFC 3339, for example 2026-11-30T09:30:00Z.";
    const OUTCOME: &str = "An outcome is done, in_doubt, settled_happened or settled_did_not_happen.";
    ReceiptFilter {
        person: query.take_as("user_id", "A person's id begins with per_."),
        agent: query.take("agent"),
        action: query.take("action"),
        host: query.take("host"),
        outcome: query.take_as("outcome", OUTCOME),
        from: query.take_with("from", TIME, Time::parse),
        to: query.take_with("to", TIME, Time::parse),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::testing::Desk;
    use serde_json::json;

    #[test]
    fn a_filter_is_read() {
        let raw =
            "agent=careful&action=send_mail&host=a.example%3A8443&outcome=in_doubt&from=2026-11-30T09:30:00Z";
        let mut query = Query::of(Some(raw));
        let filter = read_filter(&mut query);
        assert_eq!(query.finish(), Ok(()));
        let expected = ReceiptFilter {
            person: None,
            agent: Some("careful".to_owned()),
            action: Some("send_mail".to_owned()),
            host: Some("a.example:8443".to_owned()),
            outcome: Some(Outcome::InDoubt),
            from: Time::parse("2026-11-30T09:30:00Z"),
            to: None,
        };
        assert_eq!(filter, expected);
    }

    #[test]
    fn a_time_may_have_an_offset() {
        let mut query = Query::of(Some("from=2026-11-30T09:30:00%2B01:00"));
        assert_eq!(read_filter(&mut query).from, Time::parse("2026-11-30T08:30:00Z"));
    }

    #[tokio::test]
    async fn a_person_sees_their_own_and_an_operator_everyones() {
        let desk = Desk::open().await;
        let input = json!({ "ticket": "T-101", "state": "closed" });
        let done = desk.call("move_ticket", desk.quick(), &input).ok(200).await;
        let id = done.body["receipt_id"].as_str().expect("a receipt").to_owned();
        let ids = async |token: &str, query: &str| {
            let told = desk.get(&format!("/v1/receipts{query}"), token).ok(200).await;
            let items = told.body["items"].as_array().expect("items");
            items.iter().filter_map(|item| item["id"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(ids(desk.ann(), "").await, [id.as_str()]);
        assert_eq!(ids(desk.olga(), "").await, [id.as_str()]);
        assert!(ids(desk.max(), "").await.is_empty());
        let receipt = desk.get(&format!("/v1/receipts/{id}"), desk.ann()).ok(200).await.body;
        let ann = receipt["person_id"].as_str().expect("a person").to_owned();
        assert_eq!(ids(desk.olga(), &format!("?user_id={ann}")).await, [id.as_str()]);
        assert!(ids(desk.max(), &format!("?user_id={ann}")).await.is_empty());
        desk.get(&format!("/v1/receipts/{id}"), desk.olga()).ok(200).await;
        desk.get(&format!("/v1/receipts/{id}"), desk.max()).refused(404, "not_found").await;
        desk.get("/v1/receipts", desk.quick()).refused(403, "denied").await;
    }

    #[tokio::test]
    async fn filters_narrow_the_list() {
        let desk = Desk::open().await;
        for (ticket, agent) in [("T-101", desk.quick()), ("T-102", desk.quick())] {
            desk.call("move_ticket", agent, &json!({ "ticket": ticket, "state": "closed" })).ok(200).await;
        }
        let count = async |query: &str| {
            let told = desk.get(&format!("/v1/receipts?{query}"), desk.ann()).ok(200).await;
            told.body["items"].as_array().expect("items").len()
        };
        assert_eq!(count("agent=quick&action=move_ticket&outcome=done").await, 2);
        assert_eq!(count("agent=careful").await, 0);
        assert_eq!(count("action=send_mail").await, 0);
        assert_eq!(count("host=elsewhere.test").await, 0);
        assert_eq!(count("outcome=in_doubt").await, 0);
        assert_eq!(count("to=2001-01-01T00:00:00Z").await, 0);
        assert_eq!(count("from=2001-01-01T00:00:00Z").await, 2);
        assert_eq!(count("limit=1&agent=quick").await, 1);
    }

    #[tokio::test]
    async fn a_receipt_names_no_query_and_no_body() {
        let desk = Desk::open().await;
        let input = json!({ "ticket": "T-101", "state": "closed" });
        desk.call("move_ticket", desk.quick(), &input).header("idempotency-key", "secret-key").ok(200).await;
        let told = desk.get("/v1/receipts", desk.ann()).ok(200).await;
        let receipt = &told.body["items"][0];
        assert_eq!((&receipt["method"], &receipt["body_size"]), (&json!("PUT"), &json!(18)));
        assert!(receipt["url"].as_str().expect("an address").ends_with("/tickets/T-101/state"));
        assert!(!told.body.to_string().contains("secret-key"));
        let fields: Vec<_> = receipt.as_object().expect("a receipt").keys().map(String::as_str).collect();
        assert!(!fields.contains(&"body") && !fields.contains(&"headers"), "{fields:?}");
    }
}
