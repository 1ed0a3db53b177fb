//! The two schemas are one schema: the same tables, columns and indexes, and everything can be migrated again.

mod desk;

use desk::Database;
use engine::store::Store;

async fn migrated(database: &Database) -> Store {
    let store = Store::open(&database.url(), std::path::Path::new("/")).await.expect("the database opens");
    store.migrate().await.expect("the migrations run");
    store.migrate().await.expect("and run again without harm");
    assert!(store.ready().await.expect("it answers"));
    store
}

/// One line a column: table, name, type, whether it may be NULL.
const SQLITE_COLUMNS: &str = "SELECT m.name || '.' || c.name || ' ' || c.type || (CASE WHEN c.\"notnull\" = 1 THEN ' NOT NULL' ELSE '' END) \
    FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type IN ('table', 'view') \
    AND m.name NOT LIKE 'sqlite_%' AND m.name <> '_sqlx_migrations' ORDER BY 1";
const POSTGRES_COLUMNS: &str = "SELECT table_name || '.' || column_name || ' ' || UPPER(data_type) || (CASE WHEN is_nullable = 'NO' THEN ' NOT NULL' ELSE '' END) \
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> '_sqlx_migrations' ORDER BY 1";
const SQLITE_INDEXES: &str =
    "SELECT name FROM sqlite_master WHERE type = 'index' AND name NOT LIKE 'sqlite_%' ORDER BY 1";
const POSTGRES_INDEXES: &str = "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'public' \
    AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conname = indexname) AND tablename <> '_sqlx_migrations' ORDER BY 1";

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn both_databases_have_the_same_schema() {
    let Some(postgres) = desk::postgres().await else { return };
    let sqlite = desk::sqlite();
    let stores = [migrated(&sqlite).await, migrated(&postgres).await];
    let of_sqlite: Vec<_> =
        sqlite.texts(SQLITE_COLUMNS).await.iter().map(|line| line.replace(" BLOB", " BYTEA")).collect();
    // A view's columns have no declared type on SQLite.
    let tables = |lines: Vec<String>| -> Vec<String> {
        lines.into_iter().filter(|line| !line.starts_with("person_subjects.")).collect()
    };
    assert!(of_sqlite.len() > 100, "{of_sqlite:?}");
    assert_eq!(sorted(tables(of_sqlite)), sorted(tables(postgres.texts(POSTGRES_COLUMNS).await)));
    assert_eq!(sorted(sqlite.texts(SQLITE_INDEXES).await), sorted(postgres.texts(POSTGRES_INDEXES).await));
    for store in stores {
        store.close().await;
    }
}

#[test]
fn the_migrations_have_the_same_names_and_numbers() {
    let names = |folder: &str| -> Vec<String> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(folder);
        let entries = std::fs::read_dir(path).expect("the folder");
        sorted(
            entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect(),
        )
    };
    assert_eq!(names("sqlite"), names("postgres"));
    assert!(!names("sqlite").is_empty());
}
