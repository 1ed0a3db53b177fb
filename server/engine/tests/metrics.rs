//! What is open, by age, as the numbers tell it.

mod desk;

use desk::Desk;
use serde_json::json;

async fn numbers(desk: &Desk) -> String {
    let mut text = String::new();
    // A node of its own has looked at nothing yet.
    desk.second_node().await.write_metrics(&mut text).await.expect("written");
    text
}

fn number(text: &str, line: &str) -> Option<i64> {
    text.lines().find_map(|one| one.strip_prefix(line)?.strip_prefix(' ')?.parse().ok())
}

on_both! {
    /// Calls that wait are told by their age, each once; one that is confirmed waits no more.
    async fn held_calls_grow_older(desk: Desk) {
        let input = json!({ "to": "ann@example.test" });
        let old = desk.held(desk.careful("undoable", input.clone()).await).await;
        desk.pass(700);
        desk.held(desk.careful("undoable", input).await).await;
        let text = numbers(&desk).await;
        for (age, expected) in [("1m", 1), ("10m", 0), ("1h", 1), ("1d", 0), ("older", 0)] {
            let line = format!("countersign_held_calls{{younger_than=\"{age}\"}}");
            assert_eq!(number(&text, &line), Some(expected), "{line} in {text}");
        }
        desk.confirms(&desk.ann, old).await.expect("confirmed");
        let text = numbers(&desk).await;
        assert_eq!(number(&text, "countersign_held_calls{younger_than=\"1h\"}"), Some(0), "{text}");
        assert_eq!(number(&text, "countersign_open_calls{state=\"approved\"}"), Some(1), "{text}");
    }
}
