//! Servers and credentials.

use super::*;

fn schemes(schemes: &Value, security: &Value) -> Imported {
    let paths = json!({ "/things": { "get": { "operationId": "get" }, "post": { "operationId": "add" } } });
    with(&paths, &json!({ "components": { "securitySchemes": schemes }, "security": security }))
}

#[test]
fn each_kind_of_scheme_has_its_header() {
    let one = |scheme: Value| {
        let imported = schemes(&json!({ "main": scheme }), &json!([{ "main": [] }]));
        let credential = tables(&imported, "credential").pop().unwrap_or_default();
        (credential["header"].clone(), credential["value"].clone(), credential["secret"]["env"].clone())
    };
    let expect = |header: &str, value: &str, env: &str| (json!(header), json!(value), json!(env));
    assert_eq!(
        one(json!({ "type": "http", "scheme": "Bearer" })),
        expect("Authorization", "Bearer {secret}", "SHOP_TOKEN")
    );
    assert_eq!(
        one(json!({ "type": "http", "scheme": "basic" })),
        expect("Authorization", "Basic {secret}", "SHOP_BASIC")
    );
    assert_eq!(
        one(json!({ "type": "apiKey", "in": "header", "name": "X-Key" })),
        expect("X-Key", "{secret}", "SHOP_KEY")
    );
    assert_eq!(
        one(json!({ "type": "oauth2", "flows": {} })),
        expect("Authorization", "Bearer {secret}", "SHOP_TOKEN")
    );
}

#[test]
fn a_credential_is_bounded_to_what_it_is_for() {
    let imported =
        schemes(&json!({ "main": { "type": "http", "scheme": "bearer" } }), &json!([{ "main": [] }]));
    let credential = &tables(&imported, "credential")[0];
    assert_eq!(credential["hosts"], json!(["api.shop.example"]));
    assert_eq!(credential["methods"], json!(["GET", "POST"]));
    assert_eq!(credential["path_prefixes"], json!(["/v1"]));
    assert_eq!(credential["base_url"], "https://api.shop.example/v1");
    assert_eq!(credential["requires_approval"], true);
    assert_eq!(tables(&imported, "action")[0]["credential"], "shop");
}

#[test]
fn the_first_alternative_that_can_be_carried_is_taken() {
    let all = json!({
        "query": { "type": "apiKey", "in": "query", "name": "key" },
        "token": { "type": "http", "scheme": "bearer" },
        "basic": { "type": "http", "scheme": "basic" },
    });
    let value = |security: Value| {
        tables(&schemes(&all, &security), "credential").pop().map(|credential| credential["value"].clone())
    };
    assert_eq!(
        value(json!([{ "query": [] }, { "token": [] }, { "basic": [] }])),
        Some(json!("Bearer {secret}"))
    );
    assert_eq!(value(json!([{}, { "basic": [] }])), Some(json!("Basic {secret}")));
    assert_eq!(value(json!([])), None);
    let both = schemes(&all, &json!([{ "token": [], "query": [] }]));
    assert_eq!(tables(&both, "credential").len(), 1);
    assert!(
        notes(&both)[0].starts_with("it also needs the security scheme “query”: a key in the query"),
        "{:?}",
        notes(&both)
    );
    let undefined = schemes(&all, &json!([{ "none": [] }]));
    assert_eq!(
        notes(&undefined)[0],
        "it also needs the security scheme “none”: the document does not define it"
    );
}

#[test]
fn several_credentials_have_names_of_their_own() {
    let paths = json!({ "/a": { "get": { "security": [{ "one": [] }] }, "post": { "security": [{ "two-b": [] }] } } });
    let bearer = json!({ "type": "http", "scheme": "bearer" });
    let imported =
        with(&paths, &json!({ "components": { "securitySchemes": { "one": bearer, "two-b": bearer } } }));
    assert_eq!(imported.credentials, ["shop_one", "shop_two_b"]);
    assert_eq!(tables(&imported, "action")[1]["credential"], "shop_two_b");
}

#[test]
fn a_document_that_never_says_which_scheme_uses_its_first() {
    let paths = json!({ "/a": { "get": {} } });
    let imported = with(
        &paths,
        &json!({ "components": { "securitySchemes": { "t": { "type": "http", "scheme": "bearer" } } } }),
    );
    assert_eq!(imported.credentials, ["shop"]);
}

#[test]
fn servers() {
    let url = |servers: Value, wishes: &Wishes| {
        let text = document("3.0.0", &json!({ "/a": { "get": {} } }), &json!({ "servers": servers }));
        let imported = import(&text, wishes).expect("a catalogue");
        match tables(&imported, "action").pop() {
            Some(action) => action["request"]["url"].as_str().unwrap_or_default().to_owned(),
            None => left_out(&imported).to_owned(),
        }
    };
    let none = Wishes::default();
    let given = Wishes { server: "https://given.example/x/".parse().ok(), ..Wishes::default() };
    assert_eq!(url(json!([{ "url": "https://A.Example:443/v1/" }]), &none), "https://a.example/v1/a");
    assert_eq!(url(json!([{ "url": "/v1" }]), &given), "https://given.example/x/a");
    assert_eq!(url(json!([]), &given), "https://given.example/x/a");
    assert!(url(json!([{ "url": "/v1" }]), &none).contains("--server URL"));
    assert!(url(json!([]), &none).contains("--server URL"));
    assert!(url(json!([{ "url": "https://{host}/" }]), &none).contains("no value for it"));
    assert!(url(json!([{ "url": "https://{host" }]), &none).contains("braces"));
    assert!(url(json!([{ "url": "ftp://a.example" }]), &none).contains("http or https"));
    assert!(url(json!([{ "url": "https://u:p@a.example" }]), &none).contains("http or https"));
    assert!(url(json!([{ "url": "http://a.example" }]), &none).contains("plain http"));
}

#[test]
fn an_operations_own_server_counts() {
    let paths = json!({
        "/a": { "servers": [{ "url": "https://files.shop.example" }], "get": { "operationId": "a" } },
        "/b": { "get": { "operationId": "b", "servers": [{ "url": "/beta" }] } },
    });
    let imported = imported(&paths);
    let urls: Vec<Value> =
        tables(&imported, "action").iter().map(|action| action["request"]["url"].clone()).collect();
    assert_eq!(urls, ["https://files.shop.example/a", "https://api.shop.example/beta/b"]);
}

#[test]
fn plain_http_is_allowed_by_its_credential_and_told() {
    let paths = json!({ "/a": { "get": {} } });
    let more = json!({ "servers": [{ "url": "http://localhost:8080" }], "security": [{ "t": [] }],
                       "components": { "securitySchemes": { "t": { "type": "http", "scheme": "bearer" } } } });
    let imported = with(&paths, &more);
    let credential = &tables(&imported, "credential")[0];
    assert_eq!((&credential["allow_http"], &credential["hosts"]), (&json!(true), &json!(["localhost:8080"])));
    assert!(imported.text.contains("# allow_http:") && imported.text.contains("allow_private = true."));
    assert!(credential.get("allow_private").is_none());
}
