//! A whole catalogue, and that whatever comes out can be parsed.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const SHOP: &str = r##"
openapi: 3.0.3
info: { title: Corner Shop API, version: 2.1.0 }
servers:
  - url: https://{region}.shop.example/v2
    variables: { region: { default: eu, enum: [eu, us] } }
security: [ { key: [] } ]
tags: [ { name: Orders } ]
paths:
  /orders/{order_id}:
    parameters:
      - { name: order_id, in: path, required: true, schema: { type: string, maxLength: 20 }, description: The **order**. }
    get:
      tags: [ Orders ]
      operationId: getOrder
      summary: Show an order
      responses:
        200: { description: The order., content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } } }
        404: { description: Not Found }
    patch:
      tags: [ Orders ]
      operationId: updateOrder
      summary: Change an order.
      description: Changes what has **not been shipped** yet. See [the guide](https://shop.example/guide).
      requestBody:
        content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } }
      responses:
        200: { description: Changed. }
        409: { description: The order has been shipped already }
    delete:
      tags: [ Orders ]
      operationId: cancelOrder
      summary: Delete an order
      responses: { 204: { description: Gone. } }
  /refunds:
    post:
      tags: [ Money ]
      operationId: createRefund
      summary: Refund an order
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [ order, amount ]
              properties:
                order: { type: string }
                amount: { type: integer, minimum: 0, exclusiveMinimum: true }
                reason: { type: string, nullable: true, enum: [ late, broken, null ] }
      responses: { 422: { description: Unprocessable Entity } }
  /photos:
    post:
      tags: [ Photos ]
      requestBody: { content: { image/png: { schema: { type: string, format: binary } } } }
components:
  securitySchemes: { key: { type: apiKey, in: header, name: X-Shop-Key } }
  schemas:
    Order:
      type: object
      properties:
        id: { type: string, readOnly: true }
        note: { type: string, maxLength: 500 }
        express: { type: boolean }
        lines: { type: array, items: { type: object, properties: { article: { type: string }, count: { type: integer, format: int32 } } } }
"##;

#[test]
#[expect(clippy::too_many_lines, reason = "the whole catalogue stands in it")]
fn a_small_shop() {
    let imported = import(SHOP, &Wishes::default()).expect("a catalogue");
    insta::assert_snapshot!(imported.text, @r###"
    # A catalogue made from Corner Shop API, version 2.1.0. Yours to edit: keep the actions that agents need.
    # Look through every effect: read passes without a person, write can be put back, external leaves the house,
    # destructive cannot be put back. Methods and names were all there was to go by.

    # CORNER_SHOP_KEY holds the API key as it stands in the header.
    # requires_approval: what goes past the actions, through fetch and via, waits for a person.
    [[credential]]
    name = "corner_shop"
    hosts = ["eu.shop.example"]
    base_url = "https://eu.shop.example/v2"
    methods = ["GET", "PATCH", "DELETE", "POST"]
    path_prefixes = ["/v2"]
    header = "X-Shop-Key"
    value = "{secret}"
    secret = { env = "CORNER_SHOP_KEY" }
    requires_approval = true

    # ---- Orders ----

    # GET /orders/{order_id}
    [[action]]
    name = "get_order"
    title = "Show an order"
    description = "Show an order."
    effect = "read"
    credential = "corner_shop"
    request = { method = "GET", url = "https://eu.shop.example/v2/orders/{{ input.order_id }}" }
    refusals = [{ status = 404, field = "order_id", message = "There is none of that name or id." }]

    [action.input]
    type = "object"
    required = ["order_id"]
    properties = { order_id = { type = "string", maxLength = 20, description = "The order." } }

    # PATCH /orders/{order_id}
    # dry_run: before anybody is asked, the desk reads what is there; a no ends the call.
    [[action]]
    name = "update_order"
    title = "Change an order"
    description = "Changes what has not been shipped yet. See the guide."
    effect = "write"
    credential = "corner_shop"
    dry_run = { method = "GET", url = "https://eu.shop.example/v2/orders/{{ input.order_id }}" }
    fingerprint = ["/note", "/express"]
    refusals = [{ status = 409, message = "The order has been shipped already." }]

    [action.input]
    type = "object"
    required = ["order_id"]

    [action.input.properties]
    order_id = { type = "string", maxLength = 20, description = "The order." }
    note = { type = "string", maxLength = 500 }
    express = { type = "boolean" }

    [action.input.properties.lines]
    type = "array"
    items = { type = "object", properties = { article = { type = "string" }, count = { type = "integer" } } }

    [action.request]
    method = "PATCH"
    url = "https://eu.shop.example/v2/orders/{{ input.order_id }}"
    json = { note = "{{ input.note }}", express = "{{ input.express }}", lines = "{{ input.lines }}" }

    [action.preview]
    title = "Change an order: {{ input.order_id }}"
    fields = [
        { label = "Order id", value = "{{ input.order_id }}" },
        { label = "Note", value = "{{ input.note }}", before = "{{ dry_run.note if input.note is defined }}" },
        { label = "Express", value = "{{ input.express }}", before = "{{ dry_run.express if input.express is defined }}" },
        { label = "Lines", value = "{{ input.lines }}" },
    ]

    # DELETE /orders/{order_id}
    # dry_run: before anybody is asked, the desk reads what is there; a no ends the call.
    [[action]]
    name = "cancel_order"
    title = "Delete an order"
    description = "Delete an order."
    effect = "destructive"
    credential = "corner_shop"
    request = { method = "DELETE", url = "https://eu.shop.example/v2/orders/{{ input.order_id }}" }
    dry_run = { method = "GET", url = "https://eu.shop.example/v2/orders/{{ input.order_id }}" }

    [action.input]
    type = "object"
    required = ["order_id"]
    properties = { order_id = { type = "string", maxLength = 20, description = "The order." } }

    [action.preview]
    title = "Delete an order: {{ input.order_id }}"
    target = "{{ input.order_id }}"
    fields = [{ label = "Order id", value = "{{ input.order_id }}" }]

    # ---- Money ----

    # POST /refunds
    [[action]]
    name = "create_refund"
    title = "Refund an order"
    description = "Refund an order."
    effect = "external"
    credential = "corner_shop"
    request = { method = "POST", url = "https://eu.shop.example/v2/refunds", json = "{{ input }}" }
    refusals = [{ status = 422, as = 422, message = "The service does not take these values." }]

    [action.input]
    type = "object"
    required = ["order", "amount"]

    [action.input.properties]
    order = { type = "string" }
    amount = { type = "integer", exclusiveMinimum = 0 }
    reason = { anyOf = [{ type = "string", enum = ["late", "broken"] }, { type = "null" }] }

    [action.preview]
    title = "Refund an order"
    fields = [
        { label = "Order", value = "{{ input.order }}" },
        { label = "Amount", value = "{{ input.amount }}" },
        { label = "Reason", value = "{{ input.reason }}" },
    ]

    # ---- Photos ----

    # POST /photos is left out: its body is image/png; an action carries JSON or a form.
    "###);
    assert_eq!(import(SHOP, &Wishes::default()).expect("a catalogue").text, imported.text);
    assert_eq!(imported.credentials, ["corner_shop"]);
    assert_eq!(left_out(&imported), "its body is image/png; an action carries JSON or a form");
}

#[test]
fn json_and_yaml_are_the_same_document() {
    let json = document(
        "3.0.0",
        &json!({ "/a": { "get": { "responses": { "404": { "description": "No." } } } } }),
        &json!({}),
    );
    let yaml = "openapi: 3.0.0\ninfo: {title: Shop API, version: '1'}\nservers: [{url: 'https://api.shop.example/v1'}]\n\
                paths:\n  /a:\n    get:\n      responses:\n        404:\n          description: No.\n";
    let text = |document: &str| import(document, &Wishes::default()).expect("a catalogue").text;
    assert_eq!(text(&json), text(yaml));
}

#[test]
fn only_the_tags_that_were_asked_for() {
    let wishes = Wishes { tags: vec!["Money".to_owned()], ..Wishes::default() };
    let imported = import(SHOP, &wishes).expect("a catalogue");
    assert_eq!(
        imported.actions.iter().map(|taken| taken.name.as_str()).collect::<Vec<_>>(),
        ["create_refund"]
    );
    let wishes = Wishes { tags: vec!["Mony".to_owned()], ..Wishes::default() };
    assert_eq!(import(SHOP, &wishes).err(), Some(Unusable::NoSuchTag("“Mony”".to_owned())));
}

/// Texts that break things: quotes, braces, line ends, tags of templates, dot segments.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a", "Id", "-", "_", "/", "..", ".", "{", "}", "{{", "}}", "{%", "\"", "'''", "\"\"\"", "\\", "\n",
        "\r", "\u{0}", "\u{1}", "\u{202e}", "ü", "日", "#", "?", "%", "%2e", " ", "[", "]", "=", "<b>", "`",
        "*", "$ref", "items", "not",
    ]);
    prop::collection::vec(pieces, 0..5).prop_map(|pieces| pieces.concat())
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        hostile().prop_map(Value::from),
    ]
}

/// Schemas with right and wrong values for every keyword.
fn schema() -> impl Strategy<Value = Value> {
    let keyword = prop::sample::select(vec![
        "minimum",
        "exclusiveMaximum",
        "maxLength",
        "pattern",
        "format",
        "enum",
        "const",
        "default",
        "description",
        "nullable",
        "readOnly",
        "type",
        "required",
        "uniqueItems",
        "multipleOf",
        "items",
        "additionalProperties",
        "title",
    ]);
    let value = prop_oneof![scalar(), prop::collection::vec(scalar(), 0..3).prop_map(Value::from)];
    let kind = prop::sample::select(vec![
        "object", "array", "string", "integer", "number", "boolean", "null", "file",
    ]);
    let leaf = (kind.clone(), prop::collection::vec((keyword, value), 0..4)).prop_map(|(kind, keywords)| {
        let mut schema = json!({ "type": kind });
        for (keyword, value) in keywords {
            schema[keyword] = value;
        }
        schema
    });
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            (prop::collection::vec((hostile(), inner.clone()), 0..4), prop::collection::vec(hostile(), 0..2))
                .prop_map(|(fields, required)| {
                    let fields: serde_json::Map<String, Value> = fields.into_iter().collect();
                    json!({ "type": "object", "properties": fields, "required": required })
                }),
            inner.clone().prop_map(|items| json!({ "type": ["array", "null"], "items": items })),
            (prop::sample::select(vec!["allOf", "anyOf", "oneOf"]), prop::collection::vec(inner, 0..3))
                .prop_map(|(keyword, list)| json!({ keyword: list })),
            Just(json!({ "$ref": "#/components/schemas/loop" })),
        ]
    })
}

fn parameter() -> impl Strategy<Value = Value> {
    let places = prop::sample::select(vec!["path", "query", "header", "cookie", "nowhere"]);
    let styles = prop::sample::select(vec!["form", "simple", "deepObject", "pipeDelimited", "matrix"]);
    (hostile(), places, styles, any::<bool>(), any::<bool>(), schema()).prop_map(|(name, place, style, explode, required, schema)| {
        json!({ "name": name, "in": place, "style": style, "explode": explode, "required": required, "schema": schema })
    })
}

fn operation() -> impl Strategy<Value = Value> {
    let media = prop::sample::select(vec![
        "application/json",
        "application/x-www-form-urlencoded",
        "*/*",
        "text/x",
        "a\nb/c+json",
    ]);
    let body = (media, schema(), prop::sample::select(vec!["form", "deepObject"]));
    (hostile(), hostile(), hostile(), prop::collection::vec(parameter(), 0..4), body).prop_map(
        |(id, summary, text, parameters, (media, schema, style))| {
            let encoding: serde_json::Map<String, Value> = schema
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|(name, _)| (name.clone(), json!({ "style": style })))
                .collect();
            json!({
                "operationId": id, "summary": summary, "description": text, "tags": [text], "parameters": parameters,
                "requestBody": { "content": { media: { "schema": schema, "encoding": encoding } } },
                "responses": { "404": { "description": text }, "422": { "description": summary } },
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// `import` parses what it made, so a document that can be read never fails.
    #[test]
    fn whatever_comes_out_is_a_catalogue(
        version in prop::sample::select(vec!["3.0.3", "3.1.0"]),
        paths in prop::collection::vec((hostile(), prop::sample::select(vec!["get", "post", "patch", "delete"]), operation(), operation()), 1..4),
        title in hostile(),
        scheme in hostile(),
    ) {
        let mut written = serde_json::Map::new();
        for (path, method, first, second) in paths {
            written.insert(format!("/{path}/{{a}}"), json!({ method: first.clone(), "get": second }));
            written.insert(path, json!({ method: first }));
        }
        let more = json!({
            "info": { "title": title, "version": title },
            "security": [{ scheme.clone(): [] }],
            "components": {
                "securitySchemes": { scheme: { "type": "apiKey", "in": "header", "name": "X-Key" } },
                "schemas": { "loop": { "type": "object", "properties": { "next": { "$ref": "#/components/schemas/loop" } } } },
            },
        });
        match import(&document(version, &Value::Object(written), &more), &Wishes::default()) {
            Ok(_) | Err(Unusable::NoOperations) => {}
            Err(unusable) => return Err(TestCaseError::fail(unusable.to_string())),
        }
    }
}
