//! The ledger: every receipt becomes a leaf, in one order, and what was signed never changes.

mod desk;

use std::collections::HashSet;

use desk::{Behaviour, Desk, keyed};
use engine::checkpoint::Unsigned;
use engine::{Engine, ReceiptFilter};
use ledger::note::VerifierKey;
use ledger::{Report, Word, verify};
use model::{Answer, Finding, Refusal, Settlement};
use serde_json::json;
use sqlx::Connection as _;

const DAY: i64 = 86_400;

async fn write(desk: &Desk, engine: &Engine, text: &str) {
    let done = engine.call(desk.quick("note", json!({ "text": text })).await, None).await;
    assert!(matches!(done, Ok(Answer::Done(_))), "{done:?}");
}

/// A write that ends in doubt, and is settled.
async fn settled(desk: &Desk) {
    desk.upstream.behave(Behaviour::Cut);
    let call = desk.quick("note", json!({ "text": "cut" })).await;
    let Err(Refusal::OutcomeUnknown(id)) = desk.engine.call(call, None).await else { panic!("in doubt") };
    desk.pass(60);
    let settlement = Settlement { outcome: Finding::Happened, reason: Some("I looked.".to_owned()) };
    desk.engine.settle(&desk.visitor(&desk.olga).await, id, settlement).await.expect("settled");
    desk.upstream.behave(Behaviour::Answer(200, "{}".to_owned()));
}

/// The text of an export.
async fn exported(engine: &Engine, filter: Option<&ReceiptFilter>, kept: &[String]) -> String {
    let mut proven = engine.prove(filter, kept).await.expect("an export");
    let mut text = proven.header();
    while let Some(more) = engine.prove_more(&mut proven).await.expect("the database answers") {
        text.push_str(&more);
    }
    text
}

async fn judged(engine: &Engine, text: &str, kept: &[String]) -> Report {
    let key: VerifierKey = engine.ledger_key().await.expect("a key").parse().expect("a key");
    verify(text.as_bytes(), &key, kept).expect("an export")
}

/// An export of everything, judged by these checkpoints.
async fn audited(engine: &Engine, kept: &[String]) -> Report {
    let text = exported(engine, None, kept).await;
    judged(engine, &text, kept).await
}

async fn count(desk: &Desk, what: &str) -> i64 {
    desk.database.count(&format!("SELECT COUNT(*) FROM {what}")).await
}

/// Takes the triggers of a table away, as somebody would who owns the database.
async fn unguarded(desk: &Desk, table: &str) {
    let sql = if desk.database.file().is_some() {
        let named = format!(
            "SELECT 'DROP TRIGGER ' || name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '{table}'"
        );
        desk.database.texts(&named).await.join("; ")
    } else {
        format!("ALTER TABLE {table} DISABLE TRIGGER ALL")
    };
    desk.database.run(&sql).await.expect("the owner of a database may do anything");
}

on_both! {
    async fn every_receipt_and_what_became_known_of_it_is_a_leaf(desk: Desk) {
        let empty = desk.engine.checkpoint(false).await.expect("signed");
        assert_eq!(empty.size, 0);
        write(&desk, &desk.engine, "one").await;
        settled(&desk).await;
        assert_eq!((count(&desk, "ledger_waiting").await, count(&desk, "ledger_leaves").await), (3, 0));
        let first = desk.engine.checkpoint(false).await.expect("signed");
        assert_eq!((first.size, count(&desk, "ledger_waiting").await), (3, 0));
        assert_eq!(desk.engine.checkpoint(true).await.expect("the same"), first, "nothing is new");
        write(&desk, &desk.engine, "two").await;
        let second = desk.engine.checkpoint(true).await.expect("signed");
        assert_eq!(second.size, 4);
        assert_eq!(desk.engine.newest_checkpoint().await.expect("storage"), Some(second.clone()));

        let kept = [first.note, second.note, empty.note];
        let text = exported(&desk.engine, None, &kept).await;
        assert!(text.contains("I looked.") && text.contains(r#""amendment":{"#), "{text}");
        let report = judged(&desk.engine, &text, &kept).await;
        assert_eq!((report.verdict(), report.records, report.confirmed.as_slice()), (None, 4, &[0, 3, 4][..]), "{report:?}");
        let salts = desk.database.count("SELECT COUNT(DISTINCT salt) FROM ledger_leaves").await;
        assert_eq!(salts, 4, "each leaf has a salt of its own");
    }
}

on_both! {
    async fn a_person_has_proofs_of_their_own_receipts_alone(desk: Desk) {
        write(&desk, &desk.engine, "one").await;
        settled(&desk).await;
        let first = desk.engine.checkpoint(false).await.expect("signed");
        write(&desk, &desk.engine, "two").await;
        let kept = [first.note, desk.engine.checkpoint(false).await.expect("signed").note];
        let of = |person| ReceiptFilter { person: Some(person), ..ReceiptFilter::default() };
        for (person, leaves) in [(desk.ann.id, 4), (desk.max.id, 0)] {
            let text = exported(&desk.engine, Some(&of(person)), &kept).await;
            assert!(leaves > 0 || !text.contains("rct_"), "{text}");
            let report = judged(&desk.engine, &text, &kept).await;
            assert_eq!((report.verdict(), report.records, report.confirmed.as_slice()), (None, leaves, &[3, 4][..]), "{report:?}");
        }
        let doubtful = ReceiptFilter { outcome: Some(model::Outcome::SettledHappened), ..ReceiptFilter::default() };
        let report = judged(&desk.engine, &exported(&desk.engine, Some(&doubtful), &[]).await, &[]).await;
        assert_eq!((report.verdict(), report.records), (None, 2), "the receipt and its settlement: {report:?}");
    }
}

on_both! {
    async fn nodes_at_once_make_one_sequence_without_a_gap(desk: Desk) {
        let nodes = [desk.engine.clone(), desk.second_node().await, desk.second_node().await];
        let mut signed = Vec::new();
        for round in 0..4 {
            let writes = nodes.iter().map(|node| async {
                for at in 0..6 {
                    write(&desk, node, &format!("{round} {at}")).await;
                }
            });
            let signs = nodes.iter().map(|node| async {
                let mut all = Vec::new();
                for _ in 0..4 {
                    all.push(node.checkpoint(false).await.expect("signed"));
                }
                all
            });
            let (_, heads) = futures::join!(futures::future::join_all(writes), futures::future::join_all(signs));
            signed.extend(heads.into_iter().flatten());
        }
        let last = desk.engine.checkpoint(true).await.expect("signed");
        assert_eq!(last.size, 72);
        let indexes = "SELECT MAX(idx) + 1 FROM ledger_leaves";
        assert_eq!((desk.database.count(indexes).await, count(&desk, "ledger_leaves").await), (72, 72));
        // No two nodes ever signed what is not of one history.
        let kept: Vec<_> = signed.into_iter().map(|signed| signed.note).collect();
        let report = audited(&desk.engine, &kept).await;
        assert_eq!((report.verdict(), report.records), (None, 72), "{report:?}");
        let distinct: HashSet<_> = kept.into_iter().collect();
        assert!(distinct.len() > 1, "more than one head was signed");
    }
}

on_both! {
    async fn a_process_that_dies_leaves_no_gap(desk: Desk) {
        for _ in 0..12 {
            write(&desk, &desk.engine, "x").await;
        }
        for life in 0..8_u64 {
            write(&desk, &desk.engine, "y").await;
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
            let node = runtime.spawn(desk.node()).await.expect("a node");
            let signing = runtime.spawn(async move { node.checkpoint(true).await.map(drop) });
            // Wherever it is by then: each life is cut off a little later.
            for _ in 0..life * 40 {
                tokio::task::yield_now().await;
            }
            runtime.shutdown_background();
            drop(signing.await);
        }
        let last = desk.engine.checkpoint(true).await.expect("signed");
        let report = audited(&desk.engine, &[]).await;
        assert_eq!((last.size, report.verdict(), report.records), (20, None, 20), "{report:?}");
    }
}

on_both! {
    async fn retention_takes_record_and_salt_and_leaves_the_leaf(desk: Desk) {
        write(&desk, &desk.engine, "old").await;
        settled(&desk).await;
        let before = desk.engine.checkpoint(false).await.expect("signed");
        desk.pass(40 * DAY);
        write(&desk, &desk.engine, "young").await;
        let mut catalogue = desk.catalogue();
        catalogue.server.receipt_retention_days = 30;
        desk.engine.replace_catalogue(catalogue);
        desk.engine.erase().await.expect("the job runs");
        assert_eq!(count(&desk, "receipts").await, 1);
        assert_eq!(count(&desk, "ledger_leaves WHERE salt IS NULL").await, 3);
        let after = desk.engine.checkpoint(true).await.expect("signed");
        let report = audited(&desk.engine, &[before.note, after.note]).await;
        assert_eq!((report.verdict(), report.pruned, report.records), (Some(Word::Pruned), 3, 1), "{report:?}");
        assert_eq!(report.confirmed, [3, 4]);
    }
}

on_both! {
    async fn what_has_no_leaf_yet_is_not_forgotten(desk: Desk) {
        write(&desk, &desk.engine, "old").await;
        desk.pass(40 * DAY);
        let mut catalogue = desk.catalogue();
        catalogue.server.receipt_retention_days = 30;
        desk.engine.replace_catalogue(catalogue);
        desk.engine.erase().await.expect("the job runs");
        let gone = (count(&desk, "receipts").await, count(&desk, "ledger_leaves WHERE salt IS NULL").await);
        assert_eq!(gone, (0, 1), "it got its leaf first");
    }
}

on_both! {
    async fn nobody_changes_the_ledger_by_the_way(desk: Desk) {
        write(&desk, &desk.engine, "one").await;
        desk.engine.checkpoint(false).await.expect("signed");
        write(&desk, &desk.engine, "two").await;
        let zeros = if desk.database.file().is_some() { "zeroblob(32)" } else { "decode(repeat('00', 32), 'hex')" };
        for sql in [
            "DELETE FROM ledger_leaves".to_owned(),
            "UPDATE ledger_leaves SET salt = NULL".to_owned(),
            format!("UPDATE ledger_leaves SET salt = {zeros}"),
            format!("UPDATE ledger_leaves SET hash = {zeros}"),
            "UPDATE ledger_leaves SET idx = 7".to_owned(),
            format!("INSERT INTO ledger_leaves (idx, record_id, receipt_id, kind, form, hash) VALUES (5, 'x', 'x', 'receipt', 1, {zeros})"),
            "DELETE FROM ledger_waiting".to_owned(),
            "UPDATE ledger_waiting SET kind = 'amendment'".to_owned(),
            "DELETE FROM ledger_checkpoints".to_owned(),
            "UPDATE ledger_checkpoints SET note = ''".to_owned(),
            format!("INSERT INTO ledger_checkpoints (size, note, peaks, signed_at) VALUES (0, '', {zeros}, 0)"),
            format!("INSERT INTO ledger_checkpoints (size, note, peaks, signed_at) VALUES (9, '', {zeros}, 0)"),
        ] {
            let said = desk.database.run(&sql).await;
            assert!(said.as_ref().is_err_and(|error| error.contains("append-only")), "{sql}: {said:?}");
        }
        if desk.database.file().is_some() {
            let replace = format!("INSERT OR REPLACE INTO ledger_leaves (idx, record_id, receipt_id, kind, form, hash) VALUES (0, 'x', 'x', 'receipt', 1, {zeros})");
            assert!(desk.database.run(&replace).await.is_err_and(|error| error.contains("append-only")));
        }
        assert_eq!(audited(&desk.engine, &[]).await.verdict(), None);
    }
}

on_both! {
    async fn whoever_owns_the_database_cannot_change_a_receipt_unseen(desk: Desk) {
        for text in ["one", "two", "three"] {
            write(&desk, &desk.engine, text).await;
        }
        let kept = [desk.engine.checkpoint(false).await.expect("signed").note];
        for table in ["receipts", "ledger_leaves", "ledger_checkpoints"] {
            unguarded(&desk, table).await;
        }
        let first = "(SELECT record_id FROM ledger_leaves WHERE idx = 0)";
        desk.database.run(&format!("UPDATE receipts SET url = 'https://b.example/' WHERE id = {first}")).await.expect("changed");
        let report = audited(&desk.engine, &kept).await;
        assert_eq!((report.verdict(), report.findings[0].index), (Some(Word::Altered), Some(0)), "{report:?}");

        desk.database.run(&format!("DELETE FROM receipts WHERE id = {first}")).await.expect("deleted");
        let report = audited(&desk.engine, &kept).await;
        assert_eq!((report.verdict(), report.findings[0].index), (Some(Word::Missing), Some(0)), "{report:?}");

        desk.database.run("DELETE FROM ledger_leaves WHERE idx = 1").await.expect("deleted");
        assert_eq!(audited(&desk.engine, &kept).await.verdict(), Some(Word::Missing));
        let refused = desk.engine.checkpoint(true).await;
        assert!(matches!(&refused, Err(Unsigned::Forked(why)) if why.contains("leaf 1 is gone")), "{refused:?}");
        // The end is cut off, with its checkpoint: whoever kept that one sees it.
        desk.database.run("DELETE FROM ledger_leaves WHERE idx > 0").await.expect("deleted");
        let refused = desk.engine.checkpoint(false).await;
        assert!(matches!(&refused, Err(Unsigned::Forked(_))), "{refused:?}");
        desk.database.run("DELETE FROM ledger_checkpoints").await.expect("deleted");
        desk.engine.checkpoint(true).await.expect("signed: nothing here says otherwise any more");
        assert_eq!(audited(&desk.engine, &[]).await.verdict(), Some(Word::Missing), "its receipt");
        assert!(audited(&desk.engine, &kept).await.findings.iter().any(|found| found.what.contains("3 leaves")));
    }
}

on_both! {
    async fn a_head_that_was_published_is_never_gone_back_behind(desk: Desk) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("checkpoint");
        desk.reload_with(&format!("[ledger]\ncheckpoint_file = \"{}\"", file.display()));
        write(&desk, &desk.engine, "one").await;
        let first = desk.engine.checkpoint(false).await.expect("signed");
        let published = || std::fs::read_to_string(&file).expect("the file");
        assert_eq!(published(), first.note);
        write(&desk, &desk.engine, "two").await;
        let second = desk.engine.checkpoint(false).await.expect("signed");
        assert_eq!(published(), second.note);
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1, "nothing is left beside it");

        // The database is brought back from before the second.
        for table in ["ledger_leaves", "ledger_checkpoints"] {
            unguarded(&desk, table).await;
        }
        for sql in ["DELETE FROM ledger_leaves WHERE idx = 1", "DELETE FROM ledger_checkpoints WHERE size = 2"] {
            desk.database.run(sql).await.expect("deleted");
        }
        let refused = desk.engine.checkpoint(false).await;
        assert!(matches!(&refused, Err(Unsigned::Forked(why)) if why.contains("older backup")), "{refused:?}");
        // With others in their place it is as long again, and still another.
        write(&desk, &desk.engine, "three").await;
        write(&desk, &desk.engine, "four").await;
        let refused = desk.engine.checkpoint(false).await;
        assert!(matches!(&refused, Err(Unsigned::Forked(why)) if why.contains("published")), "{refused:?}");
        assert_eq!((published(), count(&desk, "ledger_checkpoints").await), (second.note, 1), "nothing was signed");

        std::fs::write(&file, "a shopping list\n").expect("written");
        assert!(matches!(desk.engine.checkpoint(false).await, Err(Unsigned::Published(_))));
        assert_eq!(published(), "a shopping list\n", "it is not written over");
    }
}

on_both! {
    async fn the_key_stays_with_its_log(desk: Desk) {
        let key = desk.engine.ledger_key().await.expect("made");
        let nodes = [desk.second_node().await, desk.second_node().await];
        for node in &nodes {
            assert_eq!(node.ledger_key().await.expect("kept"), key);
        }
        desk.reload("public_url = \"https://elsewhere.example\"", "");
        assert_eq!(desk.engine.ledger_key().await.expect("kept"), key);
        let keyed = keyed(desk.quick("note", json!({ "text": "x" })).await, "k");
        desk.engine.call(keyed, None).await.expect("done");
        let signed = desk.engine.checkpoint(false).await.expect("signed");
        assert!(signed.note.contains(&format!("\n— {} ", key.split('+').next().expect("a name"))));
    }
}

/// A database of the version before the ledger, with a receipt and its settlement.
async fn of_before(database: &desk::Database) {
    let kind = if database.file().is_some() { "sqlite" } else { "postgres" };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(kind);
    if let Some(file) = database.file() {
        std::fs::File::create(file).expect("made");
    }
    sqlx::any::install_default_drivers();
    let mut connection = sqlx::AnyConnection::connect(&database.url()).await.expect("a connection");
    let migrations = sqlx::migrate::Migrator::new(folder).await.expect("migrations");
    migrations.run_to(17, &mut connection).await.expect("migrated");
    connection.close().await.expect("closed");
    database
        .run(
            "INSERT INTO receipts (id, at, call_id, action, surface, method, url, host, body_size, body_sha256, approval_kind, approval_by, outcome) \
             VALUES ('rct_01h455vb4pex5vsknk084sn02q', 1700000000000000, 'call_01h455vb4pex5vsknk084sn02q', 'note', 'api', 'POST', \
             'https://a.example/', 'a.example', 0, '', 'none', '[]', 'in_doubt'); \
             INSERT INTO receipt_amendments (id, receipt_id, at, outcome) \
             VALUES ('rct_01h455vb4pex5vsknk084sn03r', 'rct_01h455vb4pex5vsknk084sn02q', 1700000001000000, 'settled_happened')",
        )
        .await
        .expect("written");
}

async fn become_leaves(desk: Desk) {
    assert_eq!(count(&desk, "ledger_waiting").await, 2);
    write(&desk, &desk.engine, "of now").await;
    let signed = desk.engine.checkpoint(false).await.expect("signed");
    let report = audited(&desk.engine, &[signed.note]).await;
    assert_eq!((report.verdict(), report.records), (None, 3), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn receipts_of_before_become_leaves_on_sqlite() {
    let database = desk::sqlite();
    of_before(&database).await;
    become_leaves(Desk::on(database).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn receipts_of_before_become_leaves_on_postgres() {
    let Some(database) = desk::postgres().await else { return };
    of_before(&database).await;
    become_leaves(Desk::on(database).await).await;
}
