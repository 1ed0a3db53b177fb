//! Section 3 of the contract: what each step's no looks like, and that the steps come in their order.

mod desk;

use desk::{Behaviour, Desk, keyed, with};
use engine::{Actor, Arrival};
use model::refusal::TokenFault;
use model::{Answer, CallStatus, Refusal, Surface};
use serde_json::{Value, json};

/// An action that says no at every step, as long as nobody sees to it.
const STRICT: &str = r#"
[[action]]
name = "strict"
title = "Strict"
description = "Says no at every step."
effect = "external"
credential = "mail"
expose = EXPOSED
tenants = ["acme", "other"]
register_when = "caller.person == 'ann@desk.test' && REGISTERED"
authorize = "'mailers' in caller.groups"
authorize_input = "input.number < 10"
input = { type = "object", required = ["number"], additionalProperties = false, properties = { number = { type = "integer" } } }
rules = [ { when = "input.number == 3", field = "number", message = "Not three." } ]
request = { method = "POST", url = "http://UPSTREAM/messages", json = "{{ input }}" }
preview = { title = "Strict" }
"#;

fn strict(desk: &Desk, exposed: &str, registered: &str) {
    desk.reload_with(&STRICT.replace("EXPOSED", exposed).replace("REGISTERED", registered));
}

/// A call of it in a tenant.
async fn call(desk: &Desk, input: Value) -> Result<Answer, Refusal> {
    let arrival = Arrival { tenant: Some("acme".to_owned()), ..desk.quick("strict", input).await };
    desk.engine.call(arrival, None).await
}

on_both! {
    /// Seed: "every call takes the same steps, in the same order"; section 3, "in this order". One call that every step
    /// would refuse is told the first; once that is seen to, the next.
    async fn the_steps_come_in_their_order(desk: Desk) {
        let bad = || json!({ "number": "many", "surplus": 1, "confirm_token": "cft_x", "idempotency_key": "k" });
        let fields = |answer: Result<Answer, Refusal>| match answer {
            Err(Refusal::Invalid(errors)) => errors.into_iter().map(|error| error.field).collect::<Vec<_>>(),
            other => panic!("not invalid: {other:?}"),
        };
        // The key is used already, for another call: step 10 would say so.
        let used = keyed(desk.quick("note", json!({ "text": "x" })).await, "k");
        assert!(matches!(desk.engine.call(used, None).await, Ok(Answer::Done(_))));
        strict(&desk, "[\"form\"]", "false");
        assert_eq!(call(&desk, bad()).await, Err(Refusal::NotFound), "1 the door");
        strict(&desk, "[\"api\"]", "false");
        assert_eq!(call(&desk, bad()).await, Err(Refusal::NotFound), "3 registration");
        strict(&desk, "[\"api\"]", "true");
        assert_eq!(call(&desk, bad()).await, Err(Refusal::NotFound), "4 membership");
        desk.engine.add_tenant("acme", Some("ann@desk.test")).await.expect("a tenant");
        assert_eq!(call(&desk, bad()).await, Err(Refusal::Denied), "5 authorize, before anything is said of the input");
        desk.engine.add_to_group("mailers", "ann@desk.test").await.expect("a group");
        assert_eq!(fields(call(&desk, bad()).await), ["/surplus", "/number"], "7 and 8");
        let three = json!({ "number": 3, "confirm_token": "cft_x", "idempotency_key": "k" });
        assert_eq!(fields(call(&desk, three).await), ["/number"], "8, its rules");
        let denied = json!({ "number": 10, "confirm_token": "cft_x", "idempotency_key": "k" });
        assert_eq!(call(&desk, denied).await, Err(Refusal::Denied), "9 authorize with input, before the key");
        let reused = json!({ "number": 1, "confirm_token": "cft_x", "idempotency_key": "k" });
        assert_eq!(call(&desk, reused).await, Err(Refusal::IdempotencyKeyReused), "10, before the gate");
        let gated = json!({ "number": 1, "confirm_token": "cft_x", "idempotency_key": "k2" });
        assert_eq!(call(&desk, gated).await, Err(Refusal::ConfirmTokenInvalid(TokenFault::Invalid)), "11 the gate");
        assert!(matches!(call(&desk, json!({ "number": 1, "idempotency_key": "k2" })).await, Ok(Answer::Prompt(_))));
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    /// Section 3, steps 2 and 5: the ability is asked before `authorize` could tell that there is something to deny.
    async fn without_the_ability_there_is_nothing(desk: Desk) {
        let (_, token) = desk.engine.add_token("ann@desk.test", vec![model::Ability::ActionsRead]).await.expect("a token");
        let actor = desk.actor(token.reveal()).await;
        let call = |action: &str| desk.engine.call(desk::arrival(actor.clone(), action, json!({ "text": "x" })), None);
        assert_eq!(call("denied").await, Err(Refusal::NotFound), "no 403 for whoever could not call it at all");
        assert_eq!(call("note").await, Err(Refusal::NotFound));
        assert_eq!(call("nothing").await, Err(Refusal::NotFound));
    }
}

/// A call on this surface that passes or is held when the surface is on.
async fn on(desk: &Desk, surface: Surface) -> Arrival {
    let action = desk.quick("note", json!({ "text": "x" })).await;
    let request = json!({ "credential": "open", "method": "GET", "url": format!("http://{}/quota", desk.upstream.address()) });
    match surface {
        Surface::Fetch | Surface::Via => {
            Arrival { surface, ..desk::arrival(action.actor, surface.as_str(), request) }
        }
        surface => Arrival { surface, ..action },
    }
}

on_both! {
    /// Section 3, step 1: "the surface is switched on", each of them at the door.
    async fn a_surface_that_is_off_has_nothing(desk: Desk) {
        for surface in [Surface::Api, Surface::Mcp, Surface::Form, Surface::Queue, Surface::Fetch, Surface::Via] {
            desk.reload_with(&format!("[surfaces]\n{surface} = false"));
            for asked in [Surface::Api, Surface::Mcp, Surface::Form, Surface::Queue, Surface::Fetch, Surface::Via] {
                let answer = desk.engine.call(on(&desk, asked).await, None).await;
                assert_eq!(answer == Err(Refusal::NotFound), asked == surface, "{asked} while {surface} is off: {answer:?}");
            }
        }
    }
}

on_both! {
    /// Section 3, step 3, and the seed: `shouldRegister()` is "exposure, not authorization": no is 404, and "left out"
    /// of the list.
    async fn what_is_not_registered_is_not_there(desk: Desk) {
        desk.reload_with(r#"
[[action]]
name = "for_sessions"
title = "For people"
description = "Not for agents."
effect = "read"
register_when = "caller.kind == 'person'"
credential = "mail"
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "GET", url = "http://UPSTREAM/quota" }
preview = { title = "x" }
"#);
        let agent = desk.actor(&desk.quick).await;
        let person = Actor::Person(desk.visitor(&desk.ann).await);
        let offered = async |actor: &Actor| {
            let list = desk.engine.offered(actor, Surface::Api, None).await.expect("a list");
            list.iter().any(|action| action.name == "for_sessions")
        };
        assert!(offered(&person).await && !offered(&agent).await);
        let call = |actor: &Actor| desk.engine.call(desk::arrival(actor.clone(), "for_sessions", json!({})), None);
        assert_eq!(call(&agent).await, Err(Refusal::NotFound));
        assert!(matches!(call(&person).await, Ok(Answer::Done(_))));
    }
}

on_both! {
    /// Section 3, step 4: an action's own `tenants`, and a call without a tenant to such an action.
    async fn an_action_for_tenants_is_called_in_one_of_them(desk: Desk) {
        strict(&desk, "[\"api\"]", "true");
        desk.engine.add_to_group("mailers", "ann@desk.test").await.expect("a group");
        for tenant in ["acme", "elsewhere"] {
            desk.engine.add_tenant(tenant, Some("ann@desk.test")).await.expect("a tenant");
        }
        let agent = desk.actor(&desk.quick).await;
        for (tenant, there) in [(None, false), (Some("elsewhere"), false), (Some("other"), false), (Some("acme"), true)] {
            let arrival = Arrival { tenant: tenant.map(str::to_owned), ..desk.quick("strict", json!({ "number": 1 })).await };
            let answer = desk.engine.call(arrival, None).await;
            assert_eq!(answer != Err(Refusal::NotFound), there, "{tenant:?}: {answer:?}");
            let offered = desk.engine.offered(&agent, Surface::Api, tenant).await.expect("a list");
            assert_eq!(offered.iter().any(|action| action.name == "strict"), there, "{tenant:?}");
        }
    }
}

on_both! {
    /// Seed: "An authorize() that takes input … stays listed until the model calls it"; section 3, step 9: 403, or 404
    /// with `deny_as_not_found`.
    async fn authorize_with_input_runs_at_the_call(desk: Desk) {
        let action = |name: &str, more: &str| format!(r#"
[[action]]
name = "{name}"
title = "{name}"
description = "Small numbers alone."
effect = "write"
authorize_input = "input.number < 10"
{more}
credential = "mail"
input = {{ type = "object", required = ["number"], additionalProperties = false, properties = {{ number = {{ type = "integer" }} }} }}
request = {{ method = "POST", url = "http://UPSTREAM/messages" }}
preview = {{ title = "x" }}
"#);
        desk.reload_with(&[action("told", ""), action("untold", "deny_as_not_found = true")].concat());
        let offered = desk.engine.offered(&desk.actor(&desk.quick).await, Surface::Api, None).await.expect("a list");
        for (name, no) in [("told", Refusal::Denied), ("untold", Refusal::NotFound)] {
            assert!(offered.iter().any(|action| action.name == name), "{name} is listed");
            let call = async |number| desk.engine.call(desk.quick(name, json!({ "number": number })).await, None).await;
            assert_eq!(call(10).await, Err(no));
            assert!(matches!(call(9).await, Ok(Answer::Done(_))));
        }
        assert_eq!(desk.upstream.writes().len(), 2);
    }
}

on_both! {
    /// Seed: "otherwise status() sets the HTTP status, 409 by default", and "Replacements in the message come from your
    /// own text, never from the caller's input": a template in it stays text. "Actions::refuse() turns an exception into
    /// a refusal on every surface": the queue too.
    async fn a_refusal_takes_its_status_and_its_own_words(desk: Desk) {
        desk.reload_with(r#"
[[action]]
name = "gone"
title = "Gone"
description = "Refuses."
effect = "write"
credential = "mail"
input = { type = "object", required = ["name"], additionalProperties = false, properties = { name = { type = "string" } } }
request = { method = "POST", url = "http://UPSTREAM/messages" }
preview = { title = "x" }
refusals = [ { status = 404, as = 410, message = "{{ input.name }} is gone." }, { status = 418, message = "No tea." } ]
"#);
        let call = async || desk.quick("gone", json!({ "name": "kwijibo" })).await;
        let refused = |status, message: Option<&str>, upstream| Refusal::Refused {
            status, message: message.map(str::to_owned), upstream_status: Some(upstream),
        };
        for (upstream, expected) in [
            (404, refused(410, Some("{{ input.name }} is gone."), 404)),
            (418, refused(409, Some("No tea."), 418)),
            (403, refused(409, None, 403)),
        ] {
            desk.upstream.behave(Behaviour::Answer(upstream, "{}".to_owned()));
            assert_eq!(desk.engine.call(call().await, None).await, Err(expected.clone()));
            let id = desk.held(Arrival { surface: Surface::Queue, ..call().await }).await;
            desk.engine.run_queue().await.expect("the queue runs");
            let ended = desk.ended(id).await;
            let problem = ended.problem.expect("a problem");
            assert_eq!((ended.status, problem.status, problem.detail), (CallStatus::Refused, expected.problem().status, expected.problem().detail));
        }
    }
}

on_both! {
    /// Section 3: "A call that has reached step 10 runs to its end even when the caller hangs up", while it is sent.
    async fn a_caller_that_hangs_up_loses_nothing(desk: Desk) {
        desk.upstream.behave(Behaviour::Wait);
        let (engine, arrival) = (desk.engine.clone(), keyed(desk.quick("note", json!({ "text": "x" })).await, "k"));
        let caller = tokio::spawn(async move { engine.call(arrival, None).await });
        desk.upstream.until_writes(1).await;
        caller.abort();
        assert!(caller.await.is_err_and(|error| error.is_cancelled()));
        let again = desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "k"), None).await;
        let Err(Refusal::IdempotencyInFlight(id)) = again else { panic!("not under way: {again:?}") };
        desk.upstream.release();
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        assert_eq!(desk.receipts().await.len(), 1);
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    /// Section 3, step 2: "an unknown or expired token … 401, the same for every path".
    async fn an_expired_token_is_an_unknown_one(desk: Desk) {
        assert!(desk.engine.authenticate(&desk.quick).await.is_ok());
        let soon = desk.engine.now().plus_seconds(60).micros();
        desk.database.run(&format!("UPDATE keys SET expires_at = {soon}")).await.expect("updated");
        assert!(desk.engine.authenticate(&desk.quick).await.is_ok(), "not yet");
        desk.pass(61);
        let unknown = format!("{}x", desk.quick);
        for token in [&desk.quick, &unknown] {
            assert_eq!(desk.engine.authenticate(token).await.err(), Some(Refusal::Unauthenticated));
        }
    }
}

on_both! {
    /// Section 3, step 6, and the seed's step 6: on `mcp` what is not advertised is cut; elsewhere it is 422.
    async fn arguments_are_cut_on_mcp_alone(desk: Desk) {
        let call = async |surface| {
            let arrival = with(desk.quick("note", json!({ "text": "x" })).await, "surplus", json!(1));
            desk.engine.call(Arrival { surface, ..arrival }, None).await
        };
        assert!(matches!(call(Surface::Mcp).await, Ok(Answer::Done(_))));
        for surface in [Surface::Api, Surface::Form, Surface::Queue] {
            let told = call(surface).await;
            assert!(matches!(&told, Err(Refusal::Invalid(errors)) if errors[0].field == "/surplus"), "{surface}: {told:?}");
        }
        assert!(!desk.upstream.writes()[0].body.contains("surplus"));
    }
}
