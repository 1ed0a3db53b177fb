//! Backups of a SQLite database, and a drill: what is restored knows what it knew, and sends nothing a second time.

mod desk;

use std::path::{Path, PathBuf};
use std::time::Duration;

use desk::{Desk, keyed};
use engine::ambient::Ambient;
use engine::backup::{self, Backup, BackupError};

use engine::{Engine, GrantWanted, PageAsked, PauseScope};
use model::{Answer, CallStatus, Outcome, Refusal, Surface};
use serde_json::json;

async fn back_up(desk: &Desk, name: &str) -> (PathBuf, Backup) {
    let file = beside(desk, name);
    let made = backup::make(&desk.database.url(), Path::new("/"), &file, &Ambient::system())
        .await
        .expect("a backup");
    (file, made)
}

/// A file in the folder of the desk's database.
fn beside(desk: &Desk, name: &str) -> PathBuf {
    desk.database.file().expect("a file").with_file_name(name)
}

/// A desk over this backup, with the same upstream and keys; the one that it was made of is gone.
async fn restore(desk: &mut Desk, file: &Path) -> Engine {
    desk.engine.close().await;
    let place = desk::sqlite();
    std::fs::rename(file, place.file().expect("a file")).expect("moved");
    desk.database = place;
    desk.second_node().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_desk_sends_nothing_a_second_time() {
    let mut desk = Desk::on(desk::sqlite()).await;
    let done = desk.quick("note", json!({ "text": "done" })).await;
    desk.engine.call(done, None).await.expect("done");
    let approved = desk.held(keyed(desk.careful("undoable", json!({ "to": "a" })).await, "k-1")).await;
    desk.confirms(&desk.ann, approved).await.expect("confirmed");
    let granted = desk.held(desk.careful("free", json!({ "to": "c" })).await).await;
    let version = desk.preview(&desk.ann, granted).await.version;
    let wanted = GrantWanted { vary: Vec::new(), uses: 9, lasts: Duration::from_hours(1) };
    let ann = desk.decider(&desk.ann).await;
    desk.engine.confirm_and_grant(&ann, granted, version, wanted).await.expect("granted");
    desk.ended(granted).await;
    let held = desk.held(desk.careful("undoable", json!({ "to": "b" })).await).await;
    let mut queued = desk.quick("note", json!({ "text": "queued" })).await;
    queued.surface = Surface::Queue;
    let Ok(Answer::Waiting(queued)) = desk.engine.call(queued, None).await else { panic!("queued") };

    let (file, made) = back_up(&desk, "night.db").await;
    assert_eq!((made.copied.receipts, made.copied.held, made.copied.in_doubt), (2, 1, 2));

    // After the backup the confirmed call is sent.
    desk.pass(61);
    desk.engine.send_due_calls().await.expect("storage");
    assert_eq!(desk.ended(approved).await.status, CallStatus::Done);
    let sent = desk.upstream.writes().len();

    let restored = restore(&mut desk, &file).await;
    restored.recover_sends().await.expect("storage");
    restored.send_due_calls().await.expect("storage");
    let ann = restored.visitor(desk.ann.id).await.expect("storage").expect("an account");
    for id in [approved, queued.call_id] {
        let item = restored.item(&ann, id).await.expect("storage").expect("it is there");
        assert_eq!(
            item.call.status,
            CallStatus::InDoubt,
            "nobody knows whether it was sent since the backup"
        );
    }
    let outcomes: Vec<_> = restored
        .receipts(&ann, &engine::ReceiptFilter::default(), &PageAsked::default())
        .await
        .expect("receipts")
        .items
        .iter()
        .map(|receipt| receipt.outcome)
        .collect();
    assert_eq!(outcomes, [Outcome::InDoubt, Outcome::InDoubt, Outcome::Done, Outcome::Done]);
    assert_eq!(desk.upstream.writes().len(), sent, "nothing is sent again");

    // Nobody begins anything before somebody has looked.
    let actor = restored.authenticate(&desk.careful).await.expect("a known key");
    let read = desk::arrival(actor, "read_quota", json!({}));
    assert_eq!(restored.call(read, None).await, Err(Refusal::Paused));
    let olga = restored.visitor(desk.olga.id).await.expect("storage").expect("an account");
    let pause = restored.pause_of_everything().await.expect("storage").expect("everything is paused");
    assert!(pause.reason.is_some_and(|reason| reason.starts_with("This is a backup of ")));
    restored.resume(&olga, PauseScope::Everything).await.expect("resumed");

    // How many uses of a grant were taken since, nobody knows.
    let actor = restored.authenticate(&desk.careful).await.expect("a known key");
    let more = restored.call(desk::arrival(actor, "free", json!({ "to": "c" })), None).await;
    assert!(matches!(more, Ok(Answer::Waiting(_))), "{more:?}");

    // The key of what may have happened is kept; what was held can still be read, with the same sealing key.
    let actor = restored.authenticate(&desk.careful).await.expect("a known key");
    let again = keyed(desk::arrival(actor, "undoable", json!({ "to": "a" })), "k-1");
    assert_eq!(restored.call(again, None).await, Err(Refusal::OutcomeUnknown(approved)));
    let item = restored.item(&ann, held).await.expect("storage").expect("it is there");
    assert_eq!(item.preview.expect("its preview opens").title, "Mail to b");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_whole_or_not_there() {
    let desk = Desk::on(desk::sqlite()).await;
    let (file, made) = back_up(&desk, "a.db").await;
    assert_eq!(std::fs::metadata(&file).expect("there").len(), made.bytes);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let rights = std::fs::metadata(&file).expect("there").permissions().mode();
        assert_eq!(rights & 0o777, 0o600, "for its owner alone");
    }
    let again = backup::make(&desk.database.url(), Path::new("/"), &file, &Ambient::system()).await;
    assert!(matches!(again, Err(BackupError::Exists(_))), "what is there is not replaced: {again:?}");
    let nowhere =
        backup::make(&desk.database.url(), Path::new("/"), &beside(&desk, "no/b.db"), &Ambient::system())
            .await;
    assert!(matches!(nowhere, Err(BackupError::File { .. })), "{nowhere:?}");
    let url = format!("sqlite:{}", beside(&desk, "none.db").display());
    let none = backup::make(&url, Path::new("/"), &beside(&desk, "c.db"), &Ambient::system()).await;
    assert!(matches!(none, Err(BackupError::NoDatabase)), "{none:?}");
    assert!(!beside(&desk, "none.db").exists(), "no database is made");
    // A broken-off backup left its part behind.
    std::fs::write(beside(&desk, "d.db.part"), "half").expect("written");
    back_up(&desk, "d.db").await;
    assert!(!beside(&desk, "d.db.part").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_one_moment_of_a_busy_desk() {
    let desk = Desk::on(desk::sqlite()).await;
    let writing = async {
        for n in 0..40 {
            let call = desk.quick("note", json!({ "text": n.to_string() })).await;
            desk.engine.call(call, None).await.expect("done");
        }
    };
    let backing_up = async { back_up(&desk, "busy.db").await };
    let ((), (file, made)) = tokio::join!(writing, backing_up);
    let copy = desk::sqlite();
    std::fs::rename(file, copy.file().expect("a file")).expect("moved");
    let without_event =
        "SELECT COUNT(*) FROM receipts r WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.receipt_id = r.id)";
    assert_eq!(copy.count(without_event).await, 0, "a receipt and its event are of one transaction");
    assert_eq!(copy.count("SELECT COUNT(*) FROM receipts").await.unsigned_abs(), made.copied.receipts);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgresql_has_tools_of_its_own() {
    let Some(database) = desk::postgres().await else { return };
    let desk = Desk::on(database).await;
    let folder = tempfile::tempdir().expect("a folder");
    let made =
        backup::make(&desk.database.url(), Path::new("/"), &folder.path().join("x.db"), &Ambient::system())
            .await;
    assert!(matches!(made, Err(BackupError::Postgres)), "{made:?}");
    assert!(!folder.path().join("x.db").exists());
}
