//! A desk whose database was filled set by set, with nothing but SQL.

use std::path::PathBuf;

use engine::ambient::Ambient;
use engine::catalogue::Catalogue;
use engine::seal::Sealer;
use engine::{Engine, OpenOptions, PersonActor};
use model::PersonId;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};
use tempfile::TempDir;

/// Rows of one statement.
const BATCH: i64 = 250_000;

/// Microseconds of the first receipt; each of the others is a second later.
pub(crate) const BEGIN: i64 = 1_750_000_000_000_000;

/// People, and agents of each.
const PEOPLE: i64 = 10;
const AGENTS: i64 = 100;

pub(crate) struct Filled {
    pub(crate) engine: Engine,
    pub(crate) receipts: i64,
    pub(crate) url: String,
    folder: Option<TempDir>,
    server: Option<(String, String)>,
}

impl Filled {
    pub(crate) async fn new(server: Option<&str>, purpose: &str, receipts: i64, held: i64) -> Self {
        let (url, folder, server) = match server {
            None => {
                let folder = tempfile::tempdir().expect("a folder");
                (format!("sqlite:{}", folder.path().join("desk.db").display()), Some(folder), None)
            }
            Some(server) => {
                let name = format!("lists_{purpose}_{}", std::process::id());
                execute(server, &format!("CREATE DATABASE {name}")).await;
                let (base, _) = server.rsplit_once('/').expect("an address with a database");
                (format!("{base}/{name}"), None, Some((server.to_owned(), name)))
            }
        };
        open(&url).await.close().await;
        fill(&url, receipts, held).await;
        Self { engine: open(&url).await, receipts, url, folder, server }
    }

    /// The nth person: 0 is an operator, 1 may decide everything that is held, 2 a few of it.
    pub(crate) async fn person(&self, n: i64) -> PersonActor {
        self.engine.visitor(person_id(n)).await.expect("storage").expect("an account")
    }

    pub(crate) async fn remove(self) {
        self.engine.close().await;
        drop(self.folder);
        if let Some((server, name)) = self.server {
            execute(&server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
        }
    }
}

pub(crate) fn person_id(n: i64) -> PersonId {
    format!("per_01{n:024}").parse().expect("an id")
}

pub(crate) fn receipt_id(n: i64) -> String {
    format!("rct_01{n:024}")
}

async fn open(url: &str) -> Engine {
    let ambient = Ambient::system();
    let key = Sealer::generate(&ambient);
    Engine::open(OpenOptions {
        catalogue: Catalogue::builtin(),
        database_url: url.to_owned(),
        base: PathBuf::from("/"),
        sealer: Sealer::parse(&key, ambient.clone()).expect("a key"),
        ambient,
        roots: None,
    })
    .await
    .expect("the engine opens")
}

pub(crate) async fn connect(url: &str) -> AnyConnection {
    let url = url.replacen("sqlite:", "sqlite://", 1);
    AnyConnection::connect(&url).await.expect("a connection")
}

async fn execute(url: &str, sql: &str) {
    let mut connection = connect(url).await;
    connection.execute(AssertSqlSafe(sql.to_owned())).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
}

async fn fill(url: &str, receipts: i64, held: i64) {
    let mut database = connect(url).await;
    let is_sqlite = url.starts_with("sqlite:");
    if is_sqlite {
        // Nobody wants this database after a crash.
        let settings = "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -400000";
        database.execute(settings).await.expect("settings");
    }
    people(&mut database).await;
    // An index is made faster of rows that are there than row by row.
    let indexes = indexes(&mut database, is_sqlite).await;
    for (name, _) in &indexes {
        set(&mut database, &format!("DROP INDEX {name}")).await;
    }
    let mut from = 0;
    while from < receipts {
        let to = (from + BATCH).min(receipts) - 1;
        set(&mut database, &done_calls(from, to, is_sqlite, receipts)).await;
        set(&mut database, &receipts_of(from, to)).await;
        set(&mut database, &amendments(from, to, receipts)).await;
        set(&mut database, &approvers_of_the_done(from, to)).await;
        from = to + 1;
    }
    set(&mut database, &held_calls(held, is_sqlite)).await;
    set(&mut database, &approvers_of_the_held(held)).await;
    for (_, definition) in &indexes {
        set(&mut database, definition).await;
    }
    // What a server does by itself after so many rows.
    if !is_sqlite {
        set(&mut database, "VACUUM (ANALYZE)").await;
    }
    database.close().await.expect("closed");
}

/// The indexes of what is filled, and how each is made.
async fn indexes(database: &mut AnyConnection, is_sqlite: bool) -> Vec<(String, String)> {
    let tables = "('calls', 'call_approvers', 'receipts', 'receipt_amendments')";
    let sql = if is_sqlite {
        format!(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN {tables}"
        )
    } else {
        format!(
            "SELECT indexname::text, indexdef FROM pg_indexes WHERE tablename IN {tables} \
             AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conname = indexname)"
        )
    };
    sqlx::query_as(AssertSqlSafe(sql)).fetch_all(database).await.expect("the indexes")
}

async fn set(database: &mut AnyConnection, sql: &str) {
    database.execute(AssertSqlSafe(sql.to_owned())).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
}

/// `n` from one number to another.
fn numbers(from: i64, to: i64) -> String {
    format!(
        "WITH RECURSIVE k (n) AS (SELECT CAST({from} AS BIGINT) UNION ALL SELECT n + 1 FROM k WHERE n < {to})"
    )
}

/// An id of this kind with the number that `of` gives.
fn id(kind: &str, of: &str) -> String {
    format!("'{kind}_01000000000' || SUBSTR(CAST(1000000000000000 + {of} AS TEXT), 2)")
}

/// The person and the agent of the nth receipt, spread so that neighbours have others; and one agent that did little.
const SPREAD: &str = "(n * 7919 % 100)";
const AGENT: &str = "CASE WHEN n % 5000 = 5 THEN 99 ELSE (n * 7919 % 100) % 99 END";

async fn people(database: &mut AnyConnection) {
    let (person, agent) = (id("per", "n"), id("agt", "n"));
    let last = PEOPLE - 1;
    set(database, &format!("INSERT INTO persons (id, email, name, created_at) {} SELECT {person}, 'p' || CAST(n AS TEXT) || '@desk.test', 'Person ' || CAST(n AS TEXT), 0 FROM k", numbers(0, last))).await;
    for (n, role) in [(0, "operator"), (1, "approver")] {
        set(
            database,
            &format!("INSERT INTO person_roles (person_id, role) VALUES ('{}', '{role}')", person_id(n)),
        )
        .await;
    }
    let owner = id("per", "(n % 10)");
    set(database, &format!("INSERT INTO agents (id, owner_id, name, created_at) {} SELECT {agent}, {owner}, 'agent-' || CAST(n AS TEXT), 0 FROM k", numbers(0, AGENTS - 1))).await;
}

/// 32 bytes of the number, as a hash is.
fn hash(of: &str, is_sqlite: bool) -> String {
    let text = format!("'00000000000000000' || SUBSTR(CAST(1000000000000000 + {of} AS TEXT), 2)");
    if is_sqlite { format!("CAST({text} AS BLOB)") } else { format!("CONVERT_TO({text}, 'UTF8')") }
}

/// Whether nobody has settled the nth receipt's call yet: the last fifty in doubt.
fn unsettled(receipts: i64) -> String {
    format!("(n % 100 = 99 AND n >= {receipts} - 5000)")
}

fn done_calls(from: i64, to: i64, is_sqlite: bool, receipts: i64) -> String {
    let open = unsettled(receipts);
    format!(
        "INSERT INTO calls (id, state, action, title, effect, surface, person_id, agent_id, session, created_at, decided_at, ended_at, input_hash, upstream_status, receipt_id) \
         {} SELECT {}, CASE WHEN {open} THEN 'in_doubt' ELSE 'done' END, 'action_' || CAST(n * 31 % 20 AS TEXT), 'What the action is called', 'write', 'api', {}, {}, 'session', \
         {BEGIN} + n * 1000000, {BEGIN} + n * 1000000, {BEGIN} + n * 1000000, {}, 200, {} FROM k",
        numbers(from, to),
        id("call", "n"),
        id("per", &format!("(({AGENT}) % 10)")),
        id("agt", &format!("({AGENT})")),
        hash("n", is_sqlite),
        id("rct", "n"),
    )
}

fn receipts_of(from: i64, to: i64) -> String {
    format!(
        "INSERT INTO receipts (id, at, call_id, person_id, agent_id, session, credential, action, surface, method, url, host, body_size, body_sha256, \
         approval_kind, approval_by, upstream_status, outcome) \
         {} SELECT {}, {BEGIN} + n * 1000000, {}, {}, {}, 'session', 'office', 'action_' || CAST(n * 31 % 20 AS TEXT), 'api', 'POST', \
         'https://host-' || CAST({SPREAD} % 20 AS TEXT) || '.example/v1/things/' || CAST(n AS TEXT), \
         'host-' || CAST({SPREAD} % 20 AS TEXT) || '.example' || CASE WHEN n % 7 = 0 THEN ':8443' ELSE '' END, 120, \
         'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'none', '[]', \
         CASE WHEN n % 100 = 99 THEN NULL ELSE 200 END, CASE WHEN n % 100 = 99 THEN 'in_doubt' ELSE 'done' END FROM k",
        numbers(from, to),
        id("rct", "n"),
        id("call", "n"),
        id("per", &format!("(({AGENT}) % 10)")),
        id("agt", &format!("({AGENT})")),
    )
}

fn amendments(from: i64, to: i64, receipts: i64) -> String {
    let open = unsettled(receipts);
    format!(
        "INSERT INTO receipt_amendments (id, receipt_id, at, outcome, person_id, reason) {} SELECT {}, {}, {BEGIN} + n * 1000000 + 60000000, \
         CASE WHEN n % 200 = 99 THEN 'settled_happened' ELSE 'settled_did_not_happen' END, {}, 'looked it up' FROM k WHERE n % 100 = 99 AND NOT {open}",
        numbers(from, to),
        id("rct", "(n + 100000000000)"),
        id("rct", "n"),
        id("per", "(n % 10)"),
    )
}

/// One in ten was held before.
fn approvers_of_the_done(from: i64, to: i64) -> String {
    format!(
        "INSERT INTO call_approvers (call_id, subject) {} SELECT {}, 'role:approver' FROM k WHERE n % 10 = 0",
        numbers(from, to),
        id("call", "n"),
    )
}

fn held_calls(held: i64, is_sqlite: bool) -> String {
    let bytes = hash("n", is_sqlite);
    format!(
        "INSERT INTO calls (id, state, action, title, effect, surface, person_id, agent_id, session, created_at, expires_at, input_hash, input, preview, preview_version, fingerprint) \
         {} SELECT {}, 'held', 'send_mail', 'Send a mail', 'external', 'api', {}, {}, 'session', {BEGIN}, {}, {}, {bytes}, {bytes}, 'pv_1', {bytes} FROM k",
        numbers(1, held),
        id("call", "(n + 200000000000)"),
        id("per", "(n % 10)"),
        id("agt", "(n % 100)"),
        i64::MAX,
        hash("(n + 200000000000)", is_sqlite),
    )
}

fn approvers_of_the_held(held: i64) -> String {
    format!(
        "INSERT INTO call_approvers (call_id, subject) {} SELECT {}, 'role:approver' FROM k UNION ALL SELECT {}, 'id:{}' FROM k WHERE n % 100 = 0",
        numbers(1, held),
        id("call", "(n + 200000000000)"),
        id("call", "(n + 200000000000)"),
        person_id(2),
    )
}
