//! The one writer, as its members, its readers and other processes see it. How many commits there were is read from the
//! write-ahead log itself.

use std::path::Path;
use std::pin::pin;
use std::task::Poll;

use sqlx::Row;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::*;
use crate::store::{Readers, Store, Tx, Writers};

/// No group ends because of its age.
const FOR_EVER: Bounds = Bounds { members: 64, age: Duration::from_hours(1) };

struct Shelf {
    folder: TempDir,
    store: Store,
}

impl Shelf {
    async fn with(bounds: Bounds) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path(), bounds).await;
        let table =
            "CREATE TABLE notes (id BIGINT PRIMARY KEY, about BIGINT REFERENCES notes (id), word BLOB)";
        store.write(sqlx::query(table)).await.expect("a table");
        Self { folder, store }
    }

    fn writer(&self) -> &GroupCommit {
        match &self.store.writers {
            Writers::One(writer) => writer,
            Writers::Many(_) => unreachable!("SQLite has one writer"),
        }
    }

    /// Returns when so many wait for the writer.
    async fn waiting(&self, count: usize) {
        while MOST_WAITING - self.writer().asks.capacity() < count {
            tokio::task::yield_now().await;
        }
    }

    /// Somebody who notes this as soon as the writer is free.
    fn noting(&self, id: i64) -> JoinHandle<Result<(), StoreError>> {
        let store = self.store.clone();
        tokio::spawn(async move {
            let mut tx = store.begin().await?;
            note(&mut tx, id).await?;
            tx.commit().await
        })
    }

    async fn ids(&self) -> Vec<i64> {
        let rows =
            sqlx::query("SELECT id FROM notes ORDER BY id").fetch_all(&self.store.read).await.expect("rows");
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// How many commits stand in the write-ahead log: frames that say how large the database is after them.
    fn commits(&self) -> usize {
        let log = std::fs::read(self.folder.path().join("shelf.db-wal")).expect("a log");
        let number = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().expect("four bytes"));
        let page = usize::try_from(number(8)).expect("a size");
        (32..log.len())
            .step_by(24 + page)
            .take_while(|frame| log[frame + 8..frame + 16] == log[16..24])
            .filter(|frame| number(frame + 4) != 0)
            .count()
    }
}

async fn open(folder: &Path, bounds: Bounds) -> Store {
    let mut store = Store::open("sqlite:shelf.db", folder).await.expect("it opens");
    let options = Dialect::Sqlite.connect_options("sqlite:shelf.db", folder).expect("an address");
    let fence = Fence::new();
    store.read = Readers::of_file(options.clone(), fence.clone());
    store.writers = Writers::One(GroupCommit::start(options, folder.join("shelf.db"), bounds, fence));
    store
}

async fn note(tx: &mut Tx, id: i64) -> Result<(), StoreError> {
    sqlx::query("INSERT INTO notes (id) VALUES ($1)").bind(id).execute(&mut *tx.inner).await?;
    Ok(())
}

async fn run(tx: &mut Tx, sql: &'static str) -> Result<(), StoreError> {
    sqlx::query(sql).execute(&mut *tx.inner).await?;
    Ok(())
}

#[tokio::test]
async fn all_that_wait_are_durable_with_one_commit() {
    let shelf = Shelf::with(FOR_EVER).await;
    let before = shelf.commits();
    let mut first = shelf.store.begin().await.expect("a transaction");
    note(&mut first, 0).await.expect("noted");
    let others: Vec<_> = (1..10).map(|id| shelf.noting(id)).collect();
    shelf.waiting(9).await;
    assert_eq!(shelf.ids().await, [0; 0], "nobody sees what is not committed");
    first.commit().await.expect("committed");
    assert_eq!(shelf.ids().await.len(), 10, "the first is told when all of them are durable");
    for other in others {
        other.await.expect("an end").expect("committed");
    }
    assert_eq!(shelf.commits() - before, 1);
}

#[tokio::test]
async fn a_group_is_bounded() {
    let shelf = Shelf::with(Bounds { members: 4, ..FOR_EVER }).await;
    let before = shelf.commits();
    let first = shelf.store.begin().await.expect("a transaction");
    let others: Vec<_> = (1..10).map(|id| shelf.noting(id)).collect();
    shelf.waiting(9).await;
    first.commit().await.expect("committed");
    for other in others {
        other.await.expect("an end").expect("committed");
    }
    assert_eq!(shelf.commits() - before, 3, "four, four and two");
    let shelf = Shelf::with(Bounds { age: Duration::ZERO, ..FOR_EVER }).await;
    let before = shelf.commits();
    let others: Vec<_> = (1..5).map(|id| shelf.noting(id)).collect();
    for other in others {
        other.await.expect("an end").expect("committed");
    }
    assert_eq!(shelf.commits() - before, 4, "too old at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn under_load_whoever_has_committed_is_seen_and_commits_are_shared() {
    let shelf = Shelf::with(Bounds::USUAL).await;
    let before = shelf.commits();
    let writing = (0..200).map(|id| {
        let store = shelf.store.clone();
        tokio::spawn(async move {
            let mut tx = store.begin().await.expect("a transaction");
            note(&mut tx, id).await.expect("noted");
            tx.commit().await.expect("committed");
            let seen = sqlx::query("SELECT id FROM notes WHERE id = $1").bind(id);
            assert!(seen.fetch_optional(&store.read).await.expect("read").is_some(), "{id}");
        })
    });
    for writing in writing.collect::<Vec<_>>() {
        writing.await.expect("an end");
    }
    assert_eq!(shelf.ids().await, (0..200).collect::<Vec<_>>());
    assert!(shelf.commits() - before < 200);
}

#[tokio::test]
async fn what_is_dropped_or_fails_undoes_only_its_own() {
    let shelf = Shelf::with(FOR_EVER).await;
    let before = shelf.commits();
    let mut first = shelf.store.begin().await.expect("a transaction");
    note(&mut first, 1).await.expect("noted");
    let store = shelf.store.clone();
    let dropped = tokio::spawn(async move {
        let mut tx = store.begin().await.expect("a transaction");
        note(&mut tx, 2).await.expect("noted");
        run(&mut tx, "UPDATE notes SET word = 'changed' WHERE id = 1").await.expect("changed");
    });
    shelf.waiting(1).await;
    let taken = shelf.noting(1);
    shelf.waiting(2).await;
    let store = shelf.store.clone();
    let goes_on = tokio::spawn(async move {
        let mut tx = store.begin().await?;
        note(&mut tx, 3).await?;
        assert!(note(&mut tx, 1).await.is_err_and(|error| error.is_taken()));
        note(&mut tx, 4).await?;
        tx.commit().await
    });
    shelf.waiting(3).await;
    let last = shelf.noting(5);
    shelf.waiting(4).await;
    first.commit().await.expect("committed");
    dropped.await.expect("an end");
    assert!(taken.await.expect("an end").is_err_and(|error| error.is_taken()));
    goes_on.await.expect("an end").expect("committed");
    last.await.expect("an end").expect("committed");
    assert_eq!(shelf.ids().await, [1, 3, 4, 5]);
    assert_eq!(shelf.commits() - before, 2, "a group ends with whoever is dropped");
    let changed = sqlx::query("SELECT id FROM notes WHERE word IS NOT NULL");
    assert!(changed.fetch_optional(&shelf.store.read).await.expect("read").is_none());
}

#[tokio::test]
async fn whoever_gives_way_finds_outside_what_it_saw_inside() {
    let shelf = Shelf::with(FOR_EVER).await;
    let mut first = shelf.store.begin().await.expect("a transaction");
    note(&mut first, 1).await.expect("noted");
    let store = shelf.store.clone();
    let second = tokio::spawn(async move {
        let mut tx = store.begin().await.expect("a transaction");
        let done = sqlx::query("INSERT INTO notes (id) VALUES (1) ON CONFLICT DO NOTHING");
        assert_eq!(done.execute(&mut *tx.inner).await.expect("asked").rows_affected(), 0, "the first has it");
        drop(tx);
        let read = sqlx::query("SELECT id FROM notes WHERE id = 1").fetch_optional(&store.read).await;
        assert!(read.expect("read").is_some());
    });
    shelf.waiting(1).await;
    let third = shelf.noting(3);
    shelf.waiting(2).await;
    first.commit().await.expect("committed");
    second.await.expect("found");
    third.await.expect("an end").expect("committed");
}

#[tokio::test]
async fn the_first_can_be_dropped_too() {
    let shelf = Shelf::with(FOR_EVER).await;
    let mut first = shelf.store.begin().await.expect("a transaction");
    note(&mut first, 1).await.expect("noted");
    let other = shelf.noting(2);
    shelf.waiting(1).await;
    drop(first);
    other.await.expect("an end").expect("committed");
    assert_eq!(shelf.ids().await, [2]);
}

#[tokio::test]
async fn a_commit_that_fails_is_nobodys() {
    let shelf = Shelf::with(FOR_EVER).await;
    let mut first = shelf.store.begin().await.expect("a transaction");
    note(&mut first, 1).await.expect("noted");
    let store = shelf.store.clone();
    let breaks_a_promise = tokio::spawn(async move {
        let mut tx = store.begin().await?;
        run(&mut tx, "PRAGMA defer_foreign_keys = ON").await?;
        run(&mut tx, "INSERT INTO notes (id, about) VALUES (2, 99)").await?;
        tx.commit().await
    });
    shelf.waiting(1).await;
    let last = shelf.noting(3);
    shelf.waiting(2).await;
    assert!(matches!(first.commit().await, Err(StoreError::NotCommitted(_))));
    assert!(matches!(breaks_a_promise.await.expect("an end"), Err(StoreError::NotCommitted(_))));
    assert!(matches!(last.await.expect("an end"), Err(StoreError::NotCommitted(_))));
    assert_eq!(shelf.ids().await, [0; 0]);
    shelf.noting(4).await.expect("an end").expect("the next group is not touched by it");
    assert_eq!(shelf.ids().await, [4]);
}

#[tokio::test]
async fn a_disk_that_is_full_is_acknowledged_to_nobody() {
    let shelf = Shelf::with(FOR_EVER).await;
    let mut first = shelf.store.begin().await.expect("a transaction");
    note(&mut first, 1).await.expect("noted");
    let store = shelf.store.clone();
    let too_much = tokio::spawn(async move {
        let mut tx = store.begin().await?;
        run(&mut tx, "PRAGMA max_page_count = 20").await?;
        // SQLite undoes the whole transaction by itself when this fails.
        run(&mut tx, "INSERT INTO notes (id, word) VALUES (2, zeroblob(1000000))").await?;
        tx.commit().await
    });
    shelf.waiting(1).await;
    let later = shelf.noting(3);
    shelf.waiting(2).await;
    assert!(matches!(first.commit().await, Err(StoreError::NotCommitted(_))));
    assert!(too_much.await.expect("an end").is_err());
    later.await.expect("an end").expect("in a group of its own");
    assert_eq!(shelf.ids().await, [3]);
}

/// Drops the future when it has been polled so often without an end.
async fn given_up_after<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut left = polls;
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

#[tokio::test]
async fn whoever_gives_up_at_any_point_leaves_all_or_nothing_and_the_writer_whole() {
    let shelf = Shelf::with(Bounds::USUAL).await;
    let mut kept = Vec::new();
    for polls in 0..24 {
        let mine = i64::try_from(polls).expect("small") * 10;
        let store = shelf.store.clone();
        let work = async move {
            let mut tx = store.begin().await?;
            for id in 0..3 {
                note(&mut tx, mine + id).await?;
            }
            tx.commit().await
        };
        let neighbours = [shelf.noting(mine + 5), shelf.noting(mine + 6)];
        if let Some(end) = given_up_after(polls, work).await {
            end.expect("committed");
            kept.push(mine);
        }
        for neighbour in neighbours {
            neighbour.await.expect("an end").expect("committed");
        }
    }
    shelf.noting(1_000).await.expect("an end").expect("committed");
    let ids = shelf.ids().await;
    for mine in (0..24).map(|polls| polls * 10) {
        let left = (0..3).filter(|id| ids.contains(&(mine + id))).count();
        assert!(left == 3 || (left == 0 && !kept.contains(&mine)), "{mine}: {ids:?}");
        assert!(ids.contains(&(mine + 5)) && ids.contains(&(mine + 6)), "{mine}: {ids:?}");
    }
    assert!(!kept.is_empty() && kept.len() < 24, "some gave up and some did not: {kept:?}");
}

#[tokio::test]
async fn a_waiting_one_that_gives_up_is_passed_over() {
    let shelf = Shelf::with(FOR_EVER).await;
    let first = shelf.store.begin().await.expect("a transaction");
    let gone = shelf.noting(1);
    shelf.waiting(1).await;
    let stays = shelf.noting(2);
    shelf.waiting(2).await;
    gone.abort();
    assert!(gone.await.is_err_and(|error| error.is_cancelled()));
    first.commit().await.expect("committed");
    stays.await.expect("an end").expect("committed");
    assert_eq!(shelf.ids().await, [2]);
}

#[tokio::test]
async fn nobody_begins_out_of_turn() {
    let shelf = Shelf::with(FOR_EVER).await;
    let mut line = Turn::at(shelf.folder.path().join("shelf.db"));
    let before = shelf.commits();
    let turn = line.take().await;
    assert!(turn.is_had());
    let waits = shelf.noting(1);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(shelf.commits(), before, "another process has the turn");
    drop(turn);
    waits.await.expect("an end").expect("committed");
    let tx = shelf.store.begin().await.expect("a transaction");
    assert!(line.take().await.is_had(), "whoever writes has given the turn on");
    tx.commit().await.expect("committed");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_gets_to_write_beside_one_that_never_stops() {
    let shelf = Shelf::with(Bounds::USUAL).await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let busy: Vec<_> = (1..=16)
        .map(|lane| {
            let (store, stopped) = (shelf.store.clone(), stopped.clone());
            tokio::spawn(async move {
                for id in (lane * 1_000_000).. {
                    if *stopped.borrow() {
                        return;
                    }
                    let mut tx = store.begin().await.expect("a transaction");
                    note(&mut tx, id).await.expect("noted");
                    tx.commit().await.expect("committed");
                }
            })
        })
        .collect();
    // A store of its own has a writer of its own, as another process would.
    let other = open(shelf.folder.path(), Bounds::USUAL).await;
    for id in 0..10 {
        let mut tx = other.begin().await.expect("a transaction, beside all the others");
        note(&mut tx, id).await.expect("noted");
        tx.commit().await.expect("committed");
    }
    stop.send_replace(true);
    for lane in busy {
        lane.await.expect("an end");
    }
    assert_eq!(shelf.ids().await.iter().filter(|id| **id < 1_000_000).count(), 10);
}

#[tokio::test]
async fn what_came_before_the_end_is_done_and_what_comes_later_is_turned_away() {
    let shelf = Shelf::with(FOR_EVER).await;
    let first = shelf.store.begin().await.expect("a transaction");
    let second = shelf.noting(1);
    shelf.waiting(1).await;
    let store = shelf.store.clone();
    let closing = tokio::spawn(async move { store.close().await });
    shelf.waiting(2).await;
    first.commit().await.expect("committed");
    second.await.expect("an end").expect("committed");
    closing.await.expect("closed");
    assert!(matches!(shelf.store.begin().await, Err(StoreError::Database(sqlx::Error::PoolClosed))));
    let again = Shelf { store: open(shelf.folder.path(), FOR_EVER).await, folder: shelf.folder };
    assert_eq!(again.ids().await, [1]);
}
