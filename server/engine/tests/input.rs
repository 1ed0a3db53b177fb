//! Steps 6 to 8 from outside: what is told of an input with faults is all that is true, and nothing of what is hidden.

mod desk;

use desk::Desk;
use engine::{Actor, Arrival};
use model::refusal::TokenFault;
use model::{Answer, Refusal, Surface};
use serde_json::{Value, json};

const ACTIONS: &str = r##"
[[action]]
name = "order"
effect = "write"
credential = "mail"
fixed = { from = "desk" }
convert = { a = "integer", b = "integer" }
input = { type = "object", required = ["a", "b", "c", "from"], properties = { a = { type = "integer" }, b = { type = "integer" }, c = { type = "integer", default = 1 }, from = { type = "string" } } }
rules = [ { when = "input.from != 'desk'", field = "b", message = "Not from there." }, { when = "input.a > 100", field = "c", message = "Too much." } ]
request = { method = "PUT", url = "http://UPSTREAM/note", json = "{{ input }}" }

[[action]]
name = "nested"
effect = "write"
credential = "mail"
input = { type = "object", required = ["direct", "referred"], properties = { direct = { type = "object", additionalProperties = false, properties = { y = { type = "integer" }, z = { default = 7 } } }, referred = { "$ref" = "#/$defs/inner" }, list = { type = "array", items = { "$ref" = "#/$defs/inner" } } }, "$defs" = { inner = { type = "object", additionalProperties = false, properties = { y = { type = "integer" }, z = { default = 7 } } } } }
request = { method = "PUT", url = "http://UPSTREAM/note", json = "{{ input }}" }

[[action]]
name = "watched"
effect = "write"
credential = "mail"
hold_when = "true"
input = { type = "object", properties = {} }
request = { method = "PUT", url = "http://UPSTREAM/note", json = "{{ input }}" }
"##;

/// Every fault of the input, as the caller is told.
async fn faults(desk: &Desk, surface: Surface, action: &str, input: Value) -> Vec<(String, String)> {
    let arrival = Arrival { surface, ..desk.quick(action, input).await };
    match desk.engine.call(arrival, None).await {
        Err(Refusal::Invalid(errors)) => {
            errors.into_iter().map(|error| (error.field, error.message)).collect()
        }
        other => panic!("not invalid: {other:?}"),
    }
}

fn fields(faults: &[(String, String)]) -> Vec<&str> {
    faults.iter().map(|(field, _)| field.as_str()).collect()
}

on_both! {
    /// A field that cannot be converted is the only one at fault; what is converted, completed or fixed beside it is.
    async fn one_fault_makes_no_others(desk: Desk) {
        desk.reload_with(ACTIONS);
        for surface in [Surface::Api, Surface::Mcp, Surface::Form, Surface::Queue, Surface::Code] {
            let told = faults(&desk, surface, "order", json!({ "a": "x", "b": "5" })).await;
            assert_eq!(fields(&told), ["/a"], "{surface}: {told:?}");
            let told = faults(&desk, surface, "order", json!({ "a": "x", "b": "y" })).await;
            assert_eq!(fields(&told), ["/a", "/b"], "every fault at once: {told:?}");
        }
        let told = faults(&desk, Surface::Api, "order", json!({ "a": 1, "b": 5, "from": "evil" })).await;
        assert_eq!(fields(&told), ["/from"], "{told:?}");
        let told = faults(&desk, Surface::Api, "order", json!({ "a": "101", "b": "x" })).await;
        assert_eq!(fields(&told), ["/b", "/c"], "a rule over what is sound is told too: {told:?}");
    }
}

on_both! {
    /// Section 9: "the caller neither sees nor sets these".
    async fn a_fixed_field_is_not_named_to_anybody(desk: Desk) {
        desk.reload_with(ACTIONS);
        let told = faults(&desk, Surface::Api, "order", json!({ "a": 1, "b": 1, "frm": 1, "d": 1 })).await;
        assert_eq!(fields(&told), ["/frm", "/d"]);
        assert!(told.iter().all(|(_, message)| !message.contains("from")), "{told:?}");
    }
}

on_both! {
    async fn a_flood_of_faults_is_cut(desk: Desk) {
        let many = |value: &str| (0..1_000).map(|n| (format!("n{n}"), json!(value))).collect::<Value>();
        for input in [many("a"), many("\0"), json!({ "text": vec!["\0"; 1_000] })] {
            let told = faults(&desk, Surface::Api, "note", input).await;
            assert!((1..=100).contains(&told.len()), "{}", told.len());
        }
    }
}

on_both! {
    /// A schema may say the same with a reference.
    async fn a_reference_is_followed(desk: Desk) {
        desk.reload_with(ACTIONS);
        let inner = || json!({ "y": 1, "surplus": 2 });
        let input = json!({ "direct": inner(), "referred": inner(), "list": [inner()] });
        let arrival = Arrival { surface: Surface::Mcp, ..desk.quick("nested", input.clone()).await };
        let done = desk.engine.call(arrival, None).await;
        assert!(matches!(done, Ok(Answer::Done(_))), "cut on MCP: {done:?}");
        let body: Value = serde_json::from_str(&desk.upstream.writes()[0].body).expect("JSON");
        let whole = || json!({ "y": 1, "z": 7 });
        // Defaults go into objects, as they always did; an array is what its caller made it.
        assert_eq!(body, json!({ "direct": whole(), "referred": whole(), "list": [{ "y": 1 }] }));
        let told = faults(&desk, Surface::Api, "nested", input).await;
        assert_eq!(fields(&told), ["/direct/surplus", "/referred/surplus", "/list/0/surplus"], "elsewhere invalid");
    }
}

on_both! {
    /// Seed: "a confirm_token from such a key is refused", whatever else would hold the call.
    async fn a_token_of_a_careful_key_is_refused_also_where_a_rule_holds(desk: Desk) {
        desk.reload_with(ACTIONS);
        let told = desk.engine.call(desk.careful("watched", json!({ "confirm_token": "cft_x" })).await, None).await;
        assert_eq!(told.map(|_| ()), Err(Refusal::ConfirmTokenInvalid(TokenFault::Invalid)));
        let held = desk.engine.call(desk.careful("watched", json!({})).await, None).await;
        assert!(matches!(held, Ok(Answer::Waiting(_))), "{held:?}");
    }
}

on_both! {
    /// Section 3: "none where the action is not `public`: 401, the same for every path", and "steps that say not found
    /// answer like an action that does not exist": without a token that is 401.
    async fn nobody_in_particular_is_told_the_same_of_all_that_is_hidden(desk: Desk) {
        let public = |name: &str, more: &str| {
            format!("[[action]]\nname = \"{name}\"\neffect = \"read\"\npublic = true\ncredential = \"mail\"\nrequest = {{ url = \"http://UPSTREAM/quota\" }}\n{more}\n")
        };
        let text = [
            public("unregistered", "register_when = \"false\""),
            public("of_a_tenant", "tenants = [\"acme\"]"),
            public("denied_quietly", "authorize = \"false\"\ndeny_as_not_found = true"),
            public("denied_after_all", "authorize_input = \"false\"\ndeny_as_not_found = true"),
            public("open", ""),
        ];
        desk.reload_with(&text.join("\n"));
        let call = async |action: &str| {
            let arrival = desk::arrival(Actor::Public { client: None }, action, json!({}));
            desk.engine.call(arrival, None).await.map(|_| ())
        };
        for action in ["no_such_action", "note", "unregistered", "of_a_tenant", "denied_quietly", "denied_after_all"] {
            assert_eq!(call(action).await, Err(Refusal::Unauthenticated), "{action}");
        }
        assert_eq!(call("open").await, Ok(()));
    }
}
