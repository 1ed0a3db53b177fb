//! The form of an action is a surface like every other: the same steps, the same no, the same event.

use engine::catalogue::Catalogue;
use serde_json::{Value, json};

use crate::demo::testing::{Desk, Told};

const REST: &str = r#"
description = "An action."
effect = "write"
input = { type = "object", required = ["n"], additionalProperties = false, properties = { n = { type = "integer" }, raw = {}, note = { type = "string", minLength = 3 } } }
request = { method = "POST", url = "https://notes.test/notes", json = "{{ input }}" }
"#;

/// Name, what the catalogue rules, what is put in for `n`, what the API answers, and the events of the call.
type Case = (&'static str, &'static str, &'static str, u16, &'static str, &'static [&'static str]);

const REFUSED: &[&str] = &["action.refused"];

const CASES: [Case; 8] = [
    ("denied", "authorize = \"false\"", "1", 403, "denied", REFUSED),
    ("denied_for_this", "authorize_input = \"input.n < 5\"", "9", 403, "denied", REFUSED),
    ("hidden", "authorize = \"false\"\ndeny_as_not_found = true", "1", 404, "not_found", REFUSED),
    ("unregistered", "register_when = \"false\"", "1", 404, "not_found", REFUSED),
    ("of_a_tenant", "tenants = [\"acme\"]", "1", 404, "not_found", REFUSED),
    ("behind_the_door", "expose = [\"mcp\"]", "1", 404, "not_found", &[]),
    ("invalid", "", "abc", 422, "invalid", REFUSED),
    ("held", "", "1", 202, "", &["call.held"]),
];

/// A desk of which the catalogue is these actions.
async fn desk() -> (Desk, String) {
    let desk = Desk::open().await;
    let action =
        |(name, rule, ..): &Case| format!("[[action]]\nname = \"{name}\"\ntitle = \"{name}\"\n{rule}{REST}");
    let text: Vec<_> = CASES.iter().map(action).collect();
    desk.engine.replace_catalogue(Catalogue::parse(&text.join("\n"), "c.toml").expect("a catalogue"));
    let cookie = desk.sign_in_as_ann().await;
    (desk, cookie)
}

async fn post(desk: &Desk, cookie: &str, fields: &[(&str, &str)]) -> (Told, String) {
    let told = desk.ask("POST", "/do/run").header("cookie", cookie).form(fields).send().await;
    let page = String::from_utf8(told.bytes.clone()).expect("text");
    (told, page)
}

/// The events of an action on one surface: types and statuses.
async fn events(desk: &Desk, action: &str, surface: &str) -> Vec<(String, String)> {
    let told = desk.get("/v1/events?limit=500", desk.olga()).ok(200).await;
    let text = |event: &Value, field: &str| event[field].as_str().expect("text").to_owned();
    let items = told.body["items"].as_array().expect("items");
    let mine = items.iter().filter(|event| event["action"] == action && event["surface"] == surface);
    mine.map(|event| (text(event, "type"), text(event, "status"))).collect()
}

#[tokio::test]
async fn a_form_is_answered_as_the_api_is() {
    let (desk, cookie) = desk().await;
    for (name, _, n, status, code, expected) in CASES {
        let input = n.parse::<u64>().map_or_else(|_| json!({ "n": n }), |n| json!({ "n": n }));
        let api = desk.call(name, desk.ann(), &input).send().await;
        assert_eq!(
            (api.status, api.body["code"].as_str().unwrap_or_default()),
            (status, code),
            "{name}: {api:?}"
        );
        let (form, page) = post(&desk, &cookie, &[("action", name), ("input/n", n)]).await;
        // What waits is shown on a page of its own.
        assert_eq!(form.status, if status == 202 { 303 } else { status }, "{name}: {page}");
        match status {
            403 => assert!(page.contains(api.body["detail"].as_str().expect("a detail")), "{page}"),
            404 => {
                let nowhere = desk.ask("GET", "/run/nowhere").header("cookie", &cookie).ok(404).await;
                assert_eq!(
                    page,
                    String::from_utf8(nowhere.bytes).expect("text"),
                    "{name}: as what does not exist"
                );
            }
            422 => assert!(page.contains("id=\"field-n-wrong\"") && page.contains("value=\"abc\""), "{page}"),
            _ => {}
        }
        let told = events(&desk, name, "form").await;
        assert_eq!(told, events(&desk, name, "api").await, "{name}");
        assert_eq!(told.iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>(), expected, "{name}");
    }
}

#[tokio::test]
async fn what_is_no_json_hides_no_other_fault() {
    let (desk, cookie) = desk().await;
    let typed = [("action", "invalid"), ("input/n", "abc"), ("input/raw", "{"), ("input/note", "no")];
    let (told, page) = post(&desk, &cookie, &typed).await;
    assert_eq!(told.status, 422);
    for field in ["n", "raw", "note"] {
        assert!(page.contains(&format!("id=\"field-{field}-wrong\"")), "{field}: {page}");
    }
    assert!(page.contains("This is not JSON.") && page.contains("3 fields are at fault"), "{page}");
    for kept in ["value=\"abc\"", ">\n{</textarea>", ">\nno</textarea>"] {
        assert!(page.contains(kept), "{kept}: {page}");
    }
    // A text would fit the schema of `raw`; what is no JSON is not taken for one.
    let (told, page) =
        post(&desk, &cookie, &[("action", "invalid"), ("input/n", "1"), ("input/raw", "{")]).await;
    assert!(told.status == 422 && page.contains("one field is at fault"), "{page}");
    // It is told to those alone who may call the action at all.
    let (told, page) = post(&desk, &cookie, &[("action", "denied"), ("input/raw", "{")]).await;
    assert!(told.status == 403 && !page.contains("This is not JSON."), "{page}");
    assert_eq!(desk.get("/v1/approvals", desk.ann()).ok(200).await.body["items"], json!([]));
}
