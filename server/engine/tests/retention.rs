//! Receipts that have passed their retention are forgotten; that their keys were used is not.

mod desk;

use desk::{Behaviour, Desk, keyed};
use engine::{Arrival, PageAsked, ReceiptFilter};
use model::{Answer, Finding, Refusal, Settlement, Surface};
use serde_json::json;

const DAY: i64 = 86_400;

fn keeps_for(desk: &Desk, days: u32) {
    let mut catalogue = desk.catalogue();
    catalogue.server.receipt_retention_days = days;
    desk.engine.replace_catalogue(catalogue);
}

/// Writes with a key on each surface that has receipts.
async fn arrivals(desk: &Desk) -> Vec<Arrival> {
    let url = format!("http://{}/things", desk.upstream.address());
    let request = json!({ "credential": "open", "method": "POST", "url": url, "body": "x" });
    let mut all = vec![keyed(desk.quick("note", json!({ "text": "x" })).await, "of-action")];
    for (surface, action) in [(Surface::Fetch, "fetch"), (Surface::Via, "via")] {
        let arrival = desk::arrival(desk.actor(&desk.quick).await, action, request.clone());
        all.push(keyed(Arrival { surface, ..arrival }, &format!("of-{action}")));
    }
    all
}

async fn receipts(desk: &Desk) -> usize {
    let olga = desk.visitor(&desk.olga).await;
    let page = desk.engine.receipts(&olga, &ReceiptFilter::default(), &PageAsked::default()).await;
    page.expect("receipts").items.len()
}

on_both! {
    async fn a_forgotten_key_is_never_sent_again(desk: Desk) {
        for arrival in arrivals(&desk).await {
            let answer = desk.engine.call(arrival, None).await;
            assert!(matches!(answer, Ok(Answer::Done(_) | Answer::Passed(_))), "{answer:?}");
        }
        assert_eq!((receipts(&desk).await, desk.upstream.writes().len()), (3, 3));
        desk.pass(29 * DAY);
        keeps_for(&desk, 30);
        desk.engine.erase().await.expect("the job runs");
        assert_eq!(receipts(&desk).await, 3, "not yet");
        keeps_for(&desk, 0);
        desk.pass(4_000 * DAY);
        desk.engine.erase().await.expect("the job runs");
        assert_eq!(receipts(&desk).await, 3, "0 days: for ever");

        keeps_for(&desk, 30);
        desk.engine.erase().await.expect("the job runs");
        assert_eq!(receipts(&desk).await, 0);
        for arrival in arrivals(&desk).await {
            let answer = desk.engine.call(arrival, None).await;
            assert_eq!(answer, Err(Refusal::IdempotencyKeyForgotten));
        }
        let other = desk.engine.call(keyed(desk.quick("note", json!({ "text": "y" })).await, "of-action"), None).await;
        assert_eq!(other, Err(Refusal::IdempotencyKeyReused));
        assert_eq!(desk.upstream.writes().len(), 3, "nothing is sent again");
        let fresh = desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "fresh"), None).await;
        assert!(matches!(fresh, Ok(Answer::Done(_))), "{fresh:?}");
        assert_eq!(receipts(&desk).await, 1);
    }
}

on_both! {
    async fn what_is_in_doubt_stays_until_it_was_settled_for_as_long(desk: Desk) {
        desk.upstream.behave(Behaviour::Cut);
        let call = keyed(desk.quick("note", json!({ "text": "x" })).await, "k");
        let Err(Refusal::OutcomeUnknown(id)) = desk.engine.call(call, None).await else { panic!("in doubt") };
        keeps_for(&desk, 30);
        desk.pass(400 * DAY);
        desk.engine.erase().await.expect("the job runs");
        assert_eq!(receipts(&desk).await, 1, "in doubt, however old");
        let settlement = Settlement { outcome: Finding::Happened, reason: None };
        desk.engine.settle(&desk.visitor(&desk.olga).await, id, settlement).await.expect("settled");
        desk.engine.erase().await.expect("the job runs");
        assert_eq!(receipts(&desk).await, 1, "kept from its settlement on");
        desk.pass(31 * DAY);
        desk.engine.erase().await.expect("the job runs");
        assert_eq!(receipts(&desk).await, 0);
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM receipt_amendments").await, 0);
        let again = desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "k"), None).await;
        assert_eq!(again, Err(Refusal::IdempotencyKeyForgotten));
    }
}

on_both! {
    async fn a_backlog_is_worked_off_in_bounded_batches(desk: Desk) {
        let done = desk.engine.call(desk.quick("note", json!({ "text": "x" })).await, None).await;
        assert!(matches!(done, Ok(Answer::Done(_))), "{done:?}");
        let columns = "at, person_id, agent_id, session, credential, action, surface, method, url, host, body_size, body_sha256, \
                       approval_id, approval_kind, approval_by, approval_at, upstream_status, outcome";
        let copies = format!(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2500) \
             INSERT INTO receipts (id, call_id, {columns}) SELECT r.id || CAST(n AS TEXT), r.call_id || CAST(n AS TEXT), {columns} FROM receipts r, n"
        );
        // Ids that no version of the desk could read are not met: what is forgotten is read by id.
        let copies = copies.replace("r.id || CAST(n AS TEXT)", "SUBSTR(r.id, 1, 26) || SUBSTR(CAST(1000 + n AS TEXT), 1, 4)");
        desk.database.run(&copies).await.expect("copied");
        desk.pass(40 * DAY);
        keeps_for(&desk, 30);
        desk.engine.erase().await.expect("a turn");
        let left = desk.database.count("SELECT COUNT(*) FROM receipts").await;
        assert!(left > 0 && left < 2_501, "one turn is bounded: {left}");
        desk.engine.erase().await.expect("another turn");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM receipts").await, 0);
    }
}

on_both! {
    async fn the_way_through_is_narrow(desk: Desk) {
        let done = desk.engine.call(desk.quick("note", json!({ "text": "x" })).await, None).await;
        assert!(matches!(done, Ok(Answer::Done(_))), "{done:?}");
        desk.upstream.behave(Behaviour::Cut);
        let doubt = desk.engine.call(desk.quick("note", json!({ "text": "y" })).await, None).await;
        assert!(matches!(doubt, Err(Refusal::OutcomeUnknown(_))), "{doubt:?}");
        let far = i64::MAX;
        for sql in [
            "DELETE FROM receipts".to_owned(),
            // Too young.
            "INSERT INTO receipts_forgotten (receipt_id, forgotten_at) SELECT id, at FROM receipts".to_owned(),
            // In doubt, at whatever time.
            format!("INSERT INTO receipts_forgotten (receipt_id, forgotten_at) SELECT id, {far} FROM receipts WHERE outcome = 'in_doubt'"),
            // No receipt at all.
            format!("INSERT INTO receipts_forgotten (receipt_id, forgotten_at) VALUES ('rct_x', {far})"),
            "UPDATE receipts SET outcome = 'done'".to_owned(),
        ] {
            let said = desk.database.run(&sql).await;
            assert!(said.as_ref().is_err_and(|error| error.contains("append-only")), "{sql}: {said:?}");
        }
        desk.pass(40 * DAY);
        keeps_for(&desk, 30);
        desk.engine.erase().await.expect("the job runs");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM receipts").await, 1);
        for sql in [
            "DELETE FROM receipts",
            "DELETE FROM receipts_forgotten",
            "UPDATE receipts_forgotten SET forgotten_at = 1",
        ] {
            let said = desk.database.run(sql).await;
            assert!(said.as_ref().is_err_and(|error| error.contains("append-only")), "{sql}: {said:?}");
        }
        if desk.database.file().is_some() {
            let replace = "INSERT OR REPLACE INTO receipts SELECT * FROM receipts";
            let said = desk.database.run(replace).await;
            assert!(said.as_ref().is_err_and(|error| error.contains("append-only")), "{said:?}");
        }
    }
}

on_both! {
    /// A refusal frees its key and keeps its receipt. When that is forgotten, the key may be a later call's, and stays so.
    async fn forgetting_a_refusal_leaves_the_key_to_whose_it_is_now(desk: Desk) {
        keeps_for(&desk, 30);
        let note = async || desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "k"), None).await;
        desk.upstream.behave(Behaviour::Answer(404, "{}".to_owned()));
        assert!(matches!(note().await, Err(Refusal::Invalid(_))));
        desk.pass(20 * DAY);
        desk.upstream.behave(Behaviour::Answer(200, "{}".to_owned()));
        let again = note().await;
        assert!(matches!(again, Ok(Answer::Done(_))), "the key is free: {again:?}");
        desk.pass(11 * DAY);
        desk.engine.erase().await.expect("the job runs");
        assert_eq!(receipts(&desk).await, 1, "the refusal's is forgotten");
        let repeat = note().await;
        assert!(matches!(repeat, Ok(Answer::Replayed(_))), "{repeat:?}");
        assert_eq!(desk.upstream.writes().len(), 2);
    }
}
