//! Somebody writes into the row of a call while it waits, with what stands in the row of another call. Whatever they change,
//! what leaves is what the person was shown, or nothing.

mod desk;

use std::time::Duration;

use desk::{Database, Desk, confirm};
use engine::Actor;
use model::{CallId, Preview};
use serde_json::json;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};

/// What stands in every row that no sending goes by: when it was made and what names it.
const NAMES: [&str; 1] = ["id"];

/// Where a change has to keep the call from being sent: what was sealed elsewhere does not open here, and another action,
/// fingerprint or version is not what was shown.
const HAVE_TO_STOP: [&str; 4] = ["action", "input", "fingerprint", "preview_version"];

/// Every column of the table, as the database itself lists them.
async fn columns(database: &Database) -> Vec<String> {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(&database.url()).await.expect("a connection");
    let sql = match database.file() {
        Some(_) => "SELECT name FROM pragma_table_info('calls')",
        None => "SELECT CAST(column_name AS TEXT) FROM information_schema.columns WHERE table_name = 'calls'",
    };
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut connection).await.expect("rows");
    let names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    names.into_iter().filter(|name| !NAMES.contains(&name.as_str())).collect()
}

/// Puts what stands in one call's column into another's. Whether the database let it in.
async fn tamper(desk: &Desk, column: &str, of: CallId, from: CallId) -> bool {
    let taken = format!("(SELECT {column} FROM calls WHERE id = '{from}')");
    desk.database.run(&format!("UPDATE calls SET {column} = {taken} WHERE id = '{of}'")).await.is_ok()
}

/// Waits until a call has ended, as far as it can be read.
async fn over(desk: &Desk, id: CallId) {
    let ann = Actor::Person(desk.visitor(&desk.ann).await);
    drop(desk.engine.call_status(&ann, id, Some(Duration::from_secs(1))).await);
}

/// What was sent since is what was shown, once at most. How much that was.
fn sent_as_shown(desk: &Desk, before: usize, shown: &Preview, column: &str) -> usize {
    let writes = desk.upstream.writes();
    let new = &writes[before..];
    assert!(new.len() <= 1, "{column}: sent {} times", new.len());
    for seen in new {
        let line = format!("{} {}", shown.request.method, shown.request.path);
        assert_eq!(seen.line.trim_end(), line, "{column}: another address than was shown");
        assert_eq!(Some(&seen.body), shown.request.body.as_ref(), "{column}: another body than was shown");
    }
    new.len()
}

on_both! {
    async fn what_is_sent_is_what_was_shown_whatever_is_changed_before_the_confirm(desk: Desk) {
        let mut sent = 0;
        for column in columns(&desk.database).await {
            let other = desk.held(desk.careful("undoable", json!({ "to": "eve@example.test" })).await).await;
            let input = json!({ "to": "ann@example.test", "body": column });
            let id = desk.held(desk.careful("send_mail", input).await).await;
            let shown = desk.preview(&desk.ann, id).await;
            let before = desk.upstream.writes().len();
            let is_in = tamper(&desk, &column, id, other).await;
            let decided = desk.engine.decide(&desk.decider(&desk.ann).await, id, confirm(&shown.version)).await;
            if decided.is_ok() {
                over(&desk, id).await;
            }
            let count = sent_as_shown(&desk, before, &shown, &column);
            assert!(!(is_in && count > 0 && HAVE_TO_STOP.contains(&column.as_str())), "{column} stopped nothing");
            sent += count;
        }
        assert!(sent > 10, "only {sent} calls were sent: the others were stopped by something else");
    }
}

on_both! {
    async fn nor_by_what_is_changed_between_confirm_and_send(desk: Desk) {
        let mut sent = 0;
        for column in columns(&desk.database).await {
            let other = json!({ "to": "eve@example.test", "body": column });
            let other = desk.held(desk.careful("send_mail", other).await).await;
            let input = json!({ "to": format!("ann+{column}@example.test") });
            let id = desk.held(desk.careful("undoable", input).await).await;
            let shown = desk.preview(&desk.ann, id).await;
            let before = desk.upstream.writes().len();
            desk.confirms(&desk.ann, id).await.expect("confirmed");
            let is_in = tamper(&desk, &column, id, other).await;
            desk.pass(61);
            drop(desk.engine.send_due_calls().await);
            over(&desk, id).await;
            let count = sent_as_shown(&desk, before, &shown, &column);
            assert!(!(is_in && count > 0 && column == "input"), "{column} stopped nothing");
            sent += count;
        }
        assert!(sent > 10, "only {sent} calls were sent: the others were stopped by something else");
    }
}
