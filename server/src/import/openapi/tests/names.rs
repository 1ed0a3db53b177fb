//! Names, titles, words and effects.

use super::*;

fn names(paths: &Value) -> Vec<String> {
    imported(paths).actions.into_iter().map(|taken| taken.name).collect()
}

fn effects(paths: &Value) -> Vec<String> {
    imported(paths)
        .actions
        .into_iter()
        .map(|taken| format!("{} {}", taken.name, taken.effect.as_str()))
        .collect()
}

#[test]
fn names_come_from_ids_or_from_method_and_path() {
    let paths = json!({
        "/a": { "get": { "operationId": "listOAuthTokens" }, "post": { "operationId": "repos/create-in-org" } },
        "/b": { "get": { "operationId": "Get_HTTPServerV2" } },
        "/users/{user_id}/cards": { "get": {}, "delete": { "operationId": "日本" } },
        "/fetch": { "get": { "operationId": "fetch" } },
        "/9": { "get": { "operationId": "9lives" } },
    });
    let expected = [
        "list_oauth_tokens",
        "repos_create_in_org",
        "get_http_server_v2",
        "get_users_by_user_id_cards",
        "delete_users_by_user_id_cards",
        "fetch_action",
        "call_9lives",
    ];
    assert_eq!(names(&paths), expected);
}

#[test]
fn names_are_unique_and_short_enough() {
    let long = "averyveryverylongsinglewordthatgoesonandonandonandonandonandonandonandon";
    let paths = json!({
        "/a": { "get": { "operationId": "same" } },
        "/b": { "get": { "operationId": "Same" } },
        "/c": { "get": { "operationId": "same_2" } },
        "/d": { "get": { "operationId": long } },
        "/e": { "get": { "operationId": long } },
        "/f": { "get": { "operationId": "one two three four five six seven eight nine ten eleven twelve thirteen" } },
    });
    let names = names(&paths);
    assert_eq!(names[..3], ["same", "same_2", "same_2_2"]);
    assert!(names.iter().all(|name| name.len() <= 64), "{names:?}");
    assert_eq!(names[5], "one_two_three_four_five_six_seven_eight_nine_ten_eleven_twelve");
}

#[test]
fn effects_come_from_the_method_and_from_a_verb_that_says_more() {
    let post = |id: &str| json!({ "post": { "operationId": id } });
    let paths = json!({
        "/a": { "get": { "operationId": "listThings" }, "head": { "operationId": "peek" }, "put": { "operationId": "replace" },
                "patch": { "operationId": "change" }, "delete": { "operationId": "drop" } },
        "/b": post("createInvoice"),
        "/c": post("sendInvoice"),
        "/d": post("PostThings"),
        "/e": post("removeMembers"),
        "/f": post("searchThings"),
        "/things/{id}/refunds": post("x"),
        "/transfer/get": post("transferGet"),
        "/g": { "post": { "operationId": "y", "summary": "Publish the page" } },
        "/h": { "get": { "operationId": "getTransfer" }, "put": { "operationId": "sendInvoice" },
                "patch": { "operationId": "refundOrder" } },
        "/i": { "put": { "operationId": "purgeAccount" } },
        "/sms/send": { "get": {} },
        "/items/{id}/delete": { "get": {} },
        "/messages/{id}": { "get": {}, "patch": {} },
    });
    let expected = [
        "list_things read",
        "peek read",
        "replace write",
        "change write",
        "drop destructive",
        "create_invoice write",
        "send_invoice external",
        "post_things write",
        "remove_members destructive",
        "search_things write",
        "x external",
        "transfer_get write",
        "y external",
        "get_transfer read",
        "send_invoice_2 external",
        "refund_order external",
        "purge_account destructive",
        "get_sms_send external",
        "get_items_by_id_delete destructive",
        "get_messages_by_id read",
        "patch_messages_by_id write",
    ];
    assert_eq!(effects(&paths), expected);
    assert!(imported(&paths).text.contains("By its name it may only look"));
}

#[test]
fn words_are_plain_and_short() {
    let paths = json!({ "/a": { "post": {
        "summary": "Make a `thing`.",
        "description": "# Things\nA **bold** [link](https://x.example), <em>tags</em> and\n\n* a list\n\n```\ncode\n```\n<p>Para</p>",
    } } });
    let action = only(&imported(&paths));
    assert_eq!(action["title"], "Make a thing");
    assert_eq!(action["description"], "Things. A bold link, tags and a list Para.");
    let long = "Many words. ".repeat(100) + &"word ".repeat(4000);
    let action = only(&imported(&json!({ "/a": { "get": { "description": long } } })));
    assert!(
        action["description"].as_str().is_some_and(|text| text.chars().count() <= 400 && text.ends_with('.'))
    );
}

#[test]
fn words_cannot_break_the_file_or_become_templates() {
    let bad = "\"\"\" ''' \\ {{ input.secret }} {% raw %} \u{202e}\u{0}\n[[action]]\nname = \"x\"";
    let paths = json!({ "/a": { "post": { "summary": bad, "description": bad, "tags": [bad], "operationId": bad } },
                        "/b": { "get": { "tags": ["b"], "operationId": "b" } } });
    let imported = with(&paths, &json!({ "info": { "title": bad, "version": bad } }));
    let actions = tables(&imported, "action");
    assert_eq!(actions.len(), 2);
    let title = actions[0]["preview"]["title"].as_str().expect("a title");
    assert!(!title.contains('{') && !imported.text.contains('\u{202e}'), "{title}");
}

#[test]
fn inputs_of_one_name_are_told_apart() {
    let paths = json!({ "/things/{id}": { "put": {
        "operationId": "put",
        "parameters": [
            { "name": "id", "in": "path", "required": true, "schema": { "type": "string" } },
            { "name": "id", "in": "query", "schema": { "type": "string" } },
            { "name": "X-Trace", "in": "header", "schema": { "type": "string" } },
            { "name": "filter[name]", "in": "query", "schema": { "type": "string" } },
            { "name": "dry_run", "in": "query", "schema": { "type": "boolean" } },
        ],
        "requestBody": { "content": { "application/json": { "schema": { "type": "object", "properties": {
            "id": { "type": "string" }, "items": { "type": "string" }, "not": { "type": "string" } } } } } },
    } } });
    let imported = imported(&paths);
    let input = json!({ "id": "a/b", "query_id": "c", "x_trace": "t", "filter_name": "n", "query_dry_run": true,
                        "body_id": "d", "items": "e", "not": "f" });
    let sent = sent(&imported, "put", &input).expect("a request");
    assert_eq!(
        sent.url.as_str(),
        "https://api.shop.example/v1/things/a%2Fb?id=c&filter%5Bname%5D=n&dry_run=true"
    );
    assert_eq!(sent.body.as_deref(), Some(br#"{"id":"d","items":"e","not":"f"}"#.as_slice()));
    assert!(sent.headers.iter().any(|(name, value)| name == "x-trace" && value == "t"));
}

#[test]
fn previews_name_the_thing_and_the_target() {
    let path = json!([{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }]);
    let body = json!({ "content": { "application/json": { "schema": { "type": "object", "required": ["email"],
        "properties": { "email": { "type": "string" }, "display_name": { "type": "string" } } } } } });
    let paths = json!({
        "/users/{id}": { "delete": { "summary": "Remove a user", "parameters": path } },
        "/users": { "post": { "summary": "Add a {user}", "requestBody": body } },
        "/teams/{id}/users": { "post": { "summary": "Add to a team", "parameters": path, "requestBody": body } },
    });
    let actions = tables(&imported(&paths), "action");
    assert_eq!(actions[0]["preview"]["title"], "Remove a user: {{ input.id }}");
    assert_eq!(actions[0]["preview"]["target"], "{{ input.id }}");
    assert_eq!(actions[1]["preview"]["title"], "Add a (user): {{ input.email }}");
    assert_eq!(actions[2]["preview"]["title"], "Add to a team: {{ input.email }}");
    let fields = json!([{ "label": "Email", "value": "{{ input.email }}" },
                        { "label": "Display name", "value": "{{ input.display_name }}" }]);
    assert_eq!(actions[1]["preview"]["fields"], fields);
}

#[test]
fn writes_are_read_before_where_the_same_path_can_be_read() {
    let path = json!([{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }]);
    let needs_more =
        json!([{ "name": "as_of", "in": "query", "required": true, "schema": { "type": "string" } }]);
    let thing = json!({ "type": "object", "properties": { "name": { "type": "string" }, "big": { "type": "object" } } });
    let content = json!({ "content": { "application/json": { "schema": thing } } });
    let get = json!({ "responses": { "200": content } });
    let change = json!({ "requestBody": content });
    let actions = tables(
        &imported(&json!({
            "/a/{id}": { "parameters": path, "get": get, "patch": change },
            "/b/{id}": { "parameters": path, "get": { "parameters": needs_more }, "patch": change },
            "/c/{id}": { "parameters": path, "get": get, "put": { "requestBody": content, "responses": { "201": {} } } },
        })),
        "action",
    );
    let patches: Vec<&Value> = actions.iter().filter(|action| action["request"]["method"] != "GET").collect();
    assert_eq!(
        patches[0]["dry_run"],
        json!({ "method": "GET", "url": "https://api.shop.example/v1/a/{{ input.id }}" })
    );
    assert_eq!(patches[0]["fingerprint"], json!(["/name"]));
    let before = &patches[0]["preview"]["fields"][1]["before"];
    assert_eq!(before, "{{ dry_run.name if input.name is defined }}");
    assert_eq!((patches[1].get("dry_run"), patches[2].get("dry_run")), (None, None));
}

#[test]
fn what_is_not_given_is_not_shown_as_cleared() {
    let thing = json!({ "content": { "application/json": { "schema": { "type": "object", "properties": {
        "name": { "type": "string" }, "note": { "type": "string" } } } } } });
    let imported = imported(
        &json!({ "/a": { "get": { "responses": { "200": thing } }, "patch": { "operationId": "p", "requestBody": thing } } }),
    );
    let catalogue = Catalogue::parse(&imported.text, "test").expect("a catalogue");
    let action = catalogue.action("p").expect("the action");
    let input = json!({ "name": "New" });
    let outgoing = action.render(&input).expect("a request");
    let preview =
        action.preview(&input, &outgoing, Some(&json!({ "name": "Old", "note": "Kept" })), None, Vec::new());
    let shown: Vec<_> = preview
        .fields
        .iter()
        .map(|field| (field.label.as_str(), field.value.as_str(), field.before.as_deref()))
        .collect();
    assert_eq!(shown, [("Name", "New", Some("Old"))]);
}

#[test]
fn documented_refusals_are_told_in_fixed_words() {
    let path = json!([{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }]);
    let action = only(&imported(&json!({ "/a/{id}": { "get": { "parameters": path, "responses": {
        "404": { "description": "No *thing* of that id" }, "409": { "description": "Conflict" }, "422": {}, "500": {} } } } })));
    let expected = json!([
        { "status": 404, "field": "id", "message": "No thing of that id." },
        { "status": 409, "message": "This does not fit how things stand there." },
        { "status": 422, "as": 422, "message": "The service does not take these values." },
    ]);
    assert_eq!(action["refusals"], expected);
}
