//! The sealed store of secrets: what is set counts at once in every process, and is never seen again.

mod desk;

use desk::{Desk, parsed};
use engine::catalogue::Catalogue;
use engine::credential_secret::{SecretStanding, kept_in};
use engine::{Arrival, PageAsked, ReceiptFilter};
use model::{Answer, Refusal, Surface};
use serde_json::json;

const SECRET: &str = "s3cr3t-of-the-store-0123456789";

fn catalogue(desk: &Desk) -> Catalogue {
    let address = desk.upstream.address();
    parsed(&format!(
        r#"
        [[credential]]
        name = "kept"
        hosts = ["{address}"]
        header = "X-Api-Key"
        value = "{{secret}}"
        secret = {{ store = true }}
        allow_http = true
        allow_private = true

        [[credential]]
        name = "elsewhere"
        hosts = ["{address}"]
        secret = {{ env = "COUNTERSIGN_TEST_NEVER_SET" }}

        [[credential]]
        name = "other"
        hosts = ["{address}"]
        secret = {{ store = true }}
        "#
    ))
}

async fn write(desk: &Desk) -> Result<Answer, Refusal> {
    let url = format!("http://{}/things", desk.upstream.address());
    let input = json!({ "credential": "kept", "method": "POST", "url": url, "body": "x" });
    let arrival =
        Arrival { surface: Surface::Fetch, ..desk::arrival(desk.actor(&desk.quick).await, "fetch", input) };
    desk.engine.call(arrival, None).await
}

async fn standings(desk: &Desk) -> Vec<SecretStanding> {
    let lines = desk.engine.credential_lines().await.expect("lines");
    lines.iter().map(|line| line.standing).collect()
}

on_both! {
    async fn a_secret_counts_at_once_in_every_process_and_never_stands_in_the_clear(desk: Desk) {
        desk.engine.replace_catalogue(catalogue(&desk));
        assert_eq!(standings(&desk).await, [SecretStanding::Missing; 3]);
        assert_eq!(kept_in(&desk.database.url(), "/".as_ref()).await.expect("read"), Vec::<String>::new());
        assert_eq!(write(&desk).await, Err(Refusal::Unavailable), "nothing is sent without the secret");
        assert!(desk.upstream.writes().is_empty());

        let other = desk.second_node().await;
        other.replace_catalogue(catalogue(&desk));
        other.set_secret("kept", "an-older-one").await.expect("kept");
        other.set_secret("kept", SECRET).await.expect("replaced");
        assert_eq!(standings(&desk).await, [SecretStanding::Usable, SecretStanding::Missing, SecretStanding::Missing]);
        assert_eq!(kept_in(&desk.database.url(), "/".as_ref()).await.expect("read"), ["kept"]);
        assert!(matches!(write(&desk).await, Ok(Answer::Passed(_))));
        let writes = desk.upstream.writes();
        assert!(writes[0].head.to_lowercase().contains(&format!("x-api-key: {SECRET}")), "{}", writes[0].head);

        let olga = desk.visitor(&desk.olga).await;
        let page = PageAsked::default();
        let receipts = desk.engine.receipts(&olga, &ReceiptFilter::default(), &page).await.expect("receipts");
        let events = desk.engine.events(&olga, &page).await.expect("events");
        let lines = desk.engine.credential_lines().await.expect("lines");
        assert!(!format!("{receipts:?}{events:?}{lines:?}").contains(SECRET));
        if let Some(bytes) = desk.file_bytes() {
            assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()));
        }
    }
}

on_both! {
    async fn only_a_credential_of_the_store_takes_a_secret_that_a_header_can_carry(desk: Desk) {
        desk.engine.replace_catalogue(catalogue(&desk));
        for (name, secret, field) in [
            ("nobody", SECRET, "/name"),
            ("elsewhere", SECRET, "/name"),
            ("kept", "", "/secret"),
            ("kept", "two\nlines", "/secret"),
            ("kept", "nul\0", "/secret"),
            ("kept", "ü", "/secret"),
            ("kept", &"x".repeat(16 * 1024 + 1), "/secret"),
        ] {
            match desk.engine.set_secret(name, secret).await {
                Err(Refusal::Invalid(errors)) => {
                    assert_eq!(errors[0].field, field);
                    assert!(secret.is_empty() || !errors[0].message.contains(secret));
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM credential_secrets").await, 0);
    }
}

on_both! {
    async fn a_secret_of_another_key_or_another_row_is_told_as_unusable(desk: Desk) {
        desk.engine.replace_catalogue(catalogue(&desk));
        desk.engine.set_secret("other", SECRET).await.expect("kept");
        // As if somebody had moved another credential's secret here.
        desk.database.run("UPDATE credential_secrets SET name = 'kept'").await.expect("moved");
        assert_eq!(standings(&desk).await[0], SecretStanding::Unusable);
        let warning = desk.engine.credential_lines().await.expect("lines")[0].warning().expect("a warning");
        assert!(warning.contains("countersign credential set kept"), "{warning}");
        assert_eq!(write(&desk).await, Err(Refusal::Unavailable));
        assert!(desk.upstream.writes().is_empty());
    }
}

/// Looking does not make a database.
#[tokio::test]
async fn a_database_that_is_not_there_keeps_nothing_and_is_not_made() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(kept_in("sqlite:none.db", folder.path()).await.expect("looked"), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}
