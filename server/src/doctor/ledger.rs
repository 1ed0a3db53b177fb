//! The ledger: whether its newest checkpoint is one that its key signed, and how old it is.

use engine::Engine;
use engine::ambient::Ambient;

use super::Finding;

const LEDGER: &str = "ledger";

/// After so many seconds somebody should wonder why nothing is signed.
const LATE: i64 = 600;

pub(super) async fn examine(engine: &Engine) -> Finding {
    let standing = match engine.ledger_standing().await {
        Ok(standing) => standing,
        Err(error) => {
            let next = "Run `countersign checkpoint`, and do what it says.";
            return Finding::bad(LEDGER, format!("{error}."), next);
        }
    };
    let (Some(key), Some(newest)) = (standing.key, standing.newest) else {
        let next = "The server signs the first one when it starts.";
        return Finding::mind(LEDGER, "there is no checkpoint yet.", next);
    };
    let age = Ambient::system().now().seconds_since(newest.at);
    let found = format!(
        "the newest checkpoint covers {} leaves, {} wait; it is checked with {key}",
        newest.size, standing.waiting
    );
    if standing.waiting > 0 && age > LATE {
        let next = "Look at the server's log: it signs every minute while it runs.";
        return Finding::mind(LEDGER, found, next);
    }
    Finding::good(LEDGER, found)
}
