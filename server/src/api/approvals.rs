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
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before."),
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
