//! What each index costs whoever appends a receipt: so many in one transaction, with fewer indexes each time.

use std::time::Instant;

use serde_json::{Value, json};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};

use super::filled::{BEGIN, Filled, connect, receipt_id};

/// Receipts of one measurement.
const COUNT: i64 = 5_000;

/// Which indexes go, in turn.
const TURNS: [(&str, &[&str]); 3] = [
    ("every index", &[]),
    ("without receipts_unanswered", &["receipts_unanswered"]),
    (
        "without those of person, agent, host and action",
        &["receipts_by_person", "receipts_by_agent", "receipts_by_host", "receipts_by_action"],
    ),
];

/// Microseconds for one receipt, one number a turn. What it drops is not put back.
pub(crate) async fn measure(desk: &Filled) -> Value {
    let mut database = connect(&desk.url).await;
    let mut found = Vec::new();
    println!("appending to {} receipts, {COUNT} in one transaction, µs each:", desk.receipts);
    for (turn, (name, dropped)) in TURNS.into_iter().enumerate() {
        for index in dropped {
            let drop = format!("DROP INDEX {index}");
            database.execute(AssertSqlSafe(drop)).await.expect("dropped");
        }
        let first = 300_000_000_000 + i64::try_from(turn).expect("small") * 10 * COUNT;
        append(&mut database, first - COUNT, 500).await;
        let begun = Instant::now();
        append(&mut database, first, COUNT).await;
        let each = begun.elapsed().as_micros() / u128::from(COUNT.unsigned_abs());
        println!("  {name:<50} {each:>5}");
        found.push(json!({ "with": name, "us": u64::try_from(each).unwrap_or(u64::MAX) }));
    }
    database.close().await.expect("closed");
    json!(found)
}

async fn append(database: &mut AnyConnection, begin: i64, count: i64) {
    let mut tx = database.begin().await.expect("a transaction");
    for n in begin..begin + count {
        let spread = n * 7_919 % 1_000;
        sqlx::query(
            "INSERT INTO receipts (id, at, call_id, person_id, agent_id, session, credential, action, surface, method, url, host, body_size, body_sha256, \
             approval_kind, approval_by, upstream_status, outcome) VALUES ($1, $2, $3, $4, $5, 'session', 'office', $6, 'api', 'POST', $7, $8, 120, \
             'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'none', '[]', 200, $9)",
        )
        .bind(receipt_id(n))
        .bind(BEGIN + n)
        .bind(format!("call_01{n:024}"))
        .bind(format!("per_01{:024}", spread % 100))
        .bind(format!("agt_01{spread:024}"))
        .bind(format!("action_{}", n % 20))
        .bind(format!("https://host-{}.example/v1/things", spread % 20))
        .bind(format!("host-{}.example", spread % 20))
        .bind(if n % 100 == 99 { "in_doubt" } else { "done" })
        .execute(&mut *tx)
        .await
        .expect("a receipt");
    }
    tx.commit().await.expect("durable");
}
