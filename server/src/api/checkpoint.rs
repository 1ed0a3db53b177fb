//! `/checkpoint`: the newest signed head of the ledger, for whoever wants to keep one.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use engine::Engine;
use model::Refusal;

use super::documented::NoCheckpoint;
use crate::problem::Rejected;

const TEXT: &str = "text/plain; charset=utf-8";

/// The newest checkpoint of the ledger: a signed note (c2sp.org/tlog-checkpoint) with the name of the log, how many leaves it
/// covers, the head of their tree, and the signature. It says nothing of any receipt. Keep it: with a later one and an export
/// with proofs, `countersign receipts verify` tells whether anything was changed since.
#[utoipa::path(
    get, path = "/checkpoint", operation_id = "getCheckpoint", tag = "operation",
    responses((status = 200, description = "It.", body = String, content_type = "text/plain"), NoCheckpoint),
    security(()),
)]
pub(crate) async fn show(State(engine): State<Engine>) -> Result<impl IntoResponse, Rejected> {
    let signed = engine.newest_checkpoint().await?.ok_or(Refusal::NotFound)?;
    Ok(([(CONTENT_TYPE, TEXT)], signed.note))
}

#[cfg(test)]
mod tests {
    use ledger::Checkpoint;

    use crate::demo::testing::Desk;

    #[tokio::test]
    async fn the_newest_checkpoint_is_there_for_everybody() {
        let desk = Desk::open().await;
        desk.ask("GET", "/checkpoint").refused(404, "not_found").await;
        let signed = desk.engine.checkpoint(false).await.expect("signed");
        let told = desk.ask("GET", "/checkpoint").ok(200).await;
        assert_eq!(told.headers["content-type"], super::TEXT);
        let text = String::from_utf8(told.bytes).expect("a text");
        assert_eq!(text, signed.note);
        let key = desk.engine.ledger_key().await.expect("a key").parse().expect("a key");
        let checkpoint = Checkpoint::open(&text, &key).expect("signed by the desk");
        assert_eq!(checkpoint.size, signed.size);
    }
}
