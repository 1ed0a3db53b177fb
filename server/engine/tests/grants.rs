//! Standing grants: what a person lets through in advance, and everything that it must not cover.

mod desk;

use std::time::Duration;

use desk::{Behaviour, Desk, keyed, with_keys};
use engine::grant::Place;
use engine::{Actor, Arrival, Engine, GrantEnd, GrantLine, GrantOffer, GrantWanted, Happened, PageAsked};
use model::{Answer, ApprovalKind, CallId, CallStatus, EventType, Person, Receipt, Refusal, Surface};
use serde_json::{Value, json};

/// So many uses within an hour; nothing but what is named may vary.
fn wanted(uses: u32, vary: Vec<String>) -> GrantWanted {
    GrantWanted { vary, uses, lasts: Duration::from_hours(1) }
}

async fn offer(desk: &Desk, person: &Person, id: CallId) -> Option<GrantOffer> {
    desk.engine.grant_offer(&desk.visitor(person).await, id).await.expect("storage")
}

/// The keys of these parts of a call.
async fn keys(desk: &Desk, person: &Person, id: CallId, places: &[Place]) -> Vec<String> {
    let offer = offer(desk, person, id).await.expect("an offer");
    let key = |place: &Place| {
        let part = offer.parts.iter().find(|part| part.place == *place);
        part.unwrap_or_else(|| panic!("no {place:?} in {offer:?}")).key.clone()
    };
    places.iter().map(key).collect()
}

async fn grants(
    desk: &Desk,
    person: &Person,
    id: CallId,
    wanted: GrantWanted,
) -> Result<model::Call, Refusal> {
    let version = desk.preview(person, id).await.version;
    desk.engine.confirm_and_grant(&desk.decider(person).await, id, version, wanted).await
}

/// This call is held, this person confirms it and lets through more like it; the grant.
async fn granted(desk: &Desk, person: &Person, call: Arrival, uses: u32, vary: &[Place]) -> GrantLine {
    let id = desk.held(call).await;
    let keys = keys(desk, person, id, vary).await;
    grants(desk, person, id, wanted(uses, keys)).await.expect("recorded");
    let about = desk.engine.grant_about(&desk.visitor(person).await, id).await.expect("storage");
    about.expect("a grant")
}

async fn about(desk: &Desk, grant: &GrantLine) -> GrantLine {
    let olga = desk.visitor(&desk.olga).await;
    desk.engine.grant_about(&olga, grant.call).await.expect("storage").expect("a grant")
}

/// How a grant has ended, if it has.
async fn end_of(desk: &Desk, grant: &GrantLine) -> Option<GrantEnd> {
    about(desk, grant).await.ended.map(|(_, how)| how)
}

async fn note(desk: &Desk, text: &str) -> Arrival {
    desk.careful("note", json!({ "text": text })).await
}

fn argument(name: &str) -> Place {
    Place::Argument(name.to_owned())
}

async fn passes(desk: &Desk, call: Arrival) -> bool {
    passes_on(&desk.engine, call).await
}

async fn passes_on(engine: &Engine, call: Arrival) -> bool {
    match engine.call(call, None).await {
        Ok(Answer::Done(_) | Answer::Passed(_)) => true,
        Ok(Answer::Waiting(_)) => false,
        other => panic!("neither done nor held: {other:?}"),
    }
}

async fn by_grant(desk: &Desk) -> Vec<Receipt> {
    let mut receipts = desk.receipts().await;
    receipts.retain(|receipt| receipt.approval.kind == ApprovalKind::Grant);
    receipts
}

/// A request of the careful agent with a credential that asks for approval.
async fn fetch(desk: &Desk, method: &str, path: &str, more: Value) -> Arrival {
    let url = format!("http://{}{path}", desk.upstream.address());
    let mut input = json!({ "credential": "guarded", "method": method, "url": url });
    if let (Some(input), Value::Object(more)) = (input.as_object_mut(), more) {
        input.extend(more);
    }
    Arrival { surface: Surface::Fetch, ..desk::arrival(desk.actor(&desk.careful).await, "fetch", input) }
}

on_both! {
    /// A use has a receipt of its own: kind, the grant's id, who made it; and a story that says so. The journal tells it.
    async fn a_use_says_whose_grant_it_was(desk: Desk) {
        let grant = granted(&desk, &desk.ann, note(&desk, "milk").await, 1, &[]).await;
        assert_eq!((grant.uses, grant.used, &grant.ended), (1, 0, &None));
        assert_eq!((grant.grantor, grant.owner), (desk.ann.id, desk.ann.id));
        desk.ended(grant.call).await;
        let receipts = desk.receipts().await;
        assert_eq!(receipts[0].approval.kind, ApprovalKind::Person, "the call itself was confirmed");
        assert!(passes(&desk, note(&desk, "milk").await).await);
        let receipt = by_grant(&desk).await.remove(0);
        assert_eq!((receipt.approval.id, &receipt.approval.by), (Some(grant.id), &vec![desk.ann.id]));
        assert_eq!(receipt.approval.at, Some(grant.made_at));
        let story = desk.engine.story(&desk.visitor(&desk.ann).await, receipt.id).await.expect("storage");
        let story = story.expect("a story");
        let happened: Vec<_> = story.steps.iter().map(|step| step.happened.clone()).collect();
        let said = Happened::Granted {
            id: Some(grant.id),
            by: Some(desk.ann.id),
            name: "Ann".to_owned(),
            made_at: Some(grant.made_at),
        };
        assert_eq!(happened, [Happened::Asked, said, Happened::Sent, Happened::Answered(Some(200))]);
        assert!(story.steps.windows(2).all(|two| two[0].at <= two[1].at), "{:?}", story.steps);
        let used = [EventType::GrantUsed, EventType::GrantEnded, EventType::Completed];
        assert_eq!(desk.events_of(story.call).await, used);
        let made = [EventType::Held, EventType::Decided, EventType::GrantMade, EventType::Completed];
        assert_eq!(desk.events_of(grant.call).await, made);
        let of_use = desk.engine.grant_about(&desk.visitor(&desk.ann).await, story.call).await.expect("storage");
        assert_eq!(of_use.map(|line| line.id), Some(grant.id), "the call tells which grant let it through");
        assert_eq!(end_of(&desk, &grant).await, Some(GrantEnd::UsedUp));
        assert!(!passes(&desk, note(&desk, "milk").await).await, "every use was taken");
    }
}

on_both! {
    /// Never more uses than the count, whatever races: the others are held, and none is lost.
    async fn fifty_at_once_take_five(desk: Desk) {
        let grant = granted(&desk, &desk.ann, note(&desk, "milk").await, 5, &[]).await;
        desk.ended(grant.call).await;
        let second = desk.second_node().await;
        let mut calls = tokio::task::JoinSet::new();
        for turn in 0..50 {
            let engine = if turn % 2 == 0 { desk.engine.clone() } else { second.clone() };
            let call = note(&desk, "milk").await;
            calls.spawn(async move { passes_on(&engine, call).await });
        }
        let passed = calls.join_all().await.into_iter().filter(|passed| *passed).count();
        assert_eq!((passed, by_grant(&desk).await.len(), desk.upstream.writes().len()), (5, 5, 6));
        let ann = desk.decider(&desk.ann).await;
        let all = PageAsked { limit: Some(100), cursor: None };
        let held = desk.engine.approvals(&ann, &all).await.expect("a list").items.len();
        assert_eq!(held, 45);
        let line = about(&desk, &grant).await;
        assert_eq!((line.used, line.ended.map(|(_, how)| how)), (5, Some(GrantEnd::UsedUp)));
    }
}

on_both! {
    /// Once it is revoked nothing passes any more: what passed had begun before, and each has its receipt.
    async fn revoking_races_uses(desk: Desk) {
        let grant = granted(&desk, &desk.ann, note(&desk, "milk").await, 100, &[]).await;
        desk.ended(grant.call).await;
        let second = desk.second_node().await;
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..30 {
            let (engine, call) = (second.clone(), note(&desk, "milk").await);
            calls.spawn(async move { passes_on(&engine, call).await });
        }
        desk.upstream.until_writes(3).await;
        assert_eq!(desk.engine.revoke_grant(&desk.visitor(&desk.ann).await, grant.id).await, Ok(true));
        let used = about(&desk, &grant).await.used;
        for _ in 0..3 {
            assert!(!passes_on(&second, note(&desk, "milk").await).await, "it was revoked before");
        }
        let passed = calls.join_all().await.into_iter().filter(|passed| *passed).count();
        assert_eq!((passed, by_grant(&desk).await.len()), (used as usize, used as usize));
        assert_eq!(about(&desk, &grant).await.used, used, "none is counted after its end");
        assert_eq!(desk.engine.revoke_grant(&desk.visitor(&desk.ann).await, grant.id).await, Ok(false));
        assert_eq!(desk.events_of(grant.call).await.last(), Some(&EventType::GrantRevoked));
    }
}

on_both! {
    /// Everything is as in the call, to the byte, but what the person freed.
    async fn the_scope_is_to_the_byte(desk: Desk) {
        let mail = |to: &'static str, body: &'static str| {
            let desk = &desk;
            async move { desk.careful("send_mail", json!({ "to": to, "body": body })).await }
        };
        granted(&desk, &desk.ann, mail("bo", "hi").await, 100, &[argument("body")]).await;
        assert!(passes(&desk, mail("bo", "something else").await).await);
        assert!(!passes(&desk, mail("bo ", "hi").await).await, "one byte more");
        assert!(!passes(&desk, mail("Bo", "hi").await).await);
        granted(&desk, &desk.ann, note(&desk, "milk").await, 100, &[]).await;
        assert!(!passes(&desk, note(&desk, "milk\u{200b}").await).await, "one that nobody sees");
        assert!(passes(&desk, note(&desk, "milk").await).await);
        granted(&desk, &desk.ann, desk.careful("free", json!({ "to": "a" })).await, 9, &[argument("to")]).await;
        assert!(passes(&desk, desk.careful("free", json!({ "to": "b" })).await).await);
        assert!(!passes(&desk, desk.careful("free", json!({ "to": "a", "cc": "b" })).await).await, "an argument more");
    }
}

on_both! {
    /// A request of an agent's own: query, headers and body are as they were; a segment that looks like an id varies only
    /// where the person says so, and is one id then. A read has its receipt too.
    async fn a_request_of_its_own(desk: Desk) {
        let put = |path: &'static str, more: Value| {
            let desk = &desk;
            async move { fetch(desk, "PUT", path, more).await }
        };
        let open = json!({ "body": "open", "headers": { "content-type": "text/plain" } });
        let call = put("/tickets/T-101/state?a=1", open.clone()).await;
        granted(&desk, &desk.ann, call, 100, &[Place::Segment(2)]).await;
        assert!(passes(&desk, put("/tickets/T-102/state?a=1", open.clone()).await).await);
        for (path, more) in [
            ("/tickets/all/state?a=1", open.clone()),
            ("/tickets/T-101/T-102/state?a=1", open.clone()),
            ("/tickets/T-101/state/?a=1", open.clone()),
            ("/tickets/T-101/owner?a=1", open.clone()),
            ("/tickets/T-101/state?a=2", open.clone()),
            ("/tickets/T-101/state", open.clone()),
            ("/tickets/T-101/state?a=1", json!({ "body": "open!", "headers": { "content-type": "text/plain" } })),
            ("/tickets/T-101/state?a=1", json!({ "body": "open" })),
            ("/tickets/T-101/state?a=1", json!({ "body": "open", "headers": { "content-type": "text/plain", "x-more": "1" } })),
        ] {
            assert!(!passes(&desk, put(path, more.clone()).await).await, "{path} {more}");
        }
        let post = fetch(&desk, "POST", "/tickets/T-102/state?a=1", open).await;
        assert!(!passes(&desk, post).await, "another method");
        granted(&desk, &desk.ann, fetch(&desk, "GET", "/quota", json!({})).await, 1, &[]).await;
        assert!(passes(&desk, fetch(&desk, "GET", "/quota", json!({})).await).await);
        let read = by_grant(&desk).await.remove(0);
        assert_eq!((read.method.as_str(), read.upstream_status), ("GET", Some(200)));
    }
}

/// Actions that a grant never covers, each for a reason of its own.
const NEVER: &str = r#"
[[action]]
name = "wipe"
title = "Wipe"
description = "Cannot be put back."
effect = "destructive"
credential = "mail"
input = { type = "object", properties = { target = { type = "string" } } }
request = { method = "DELETE", url = "http://UPSTREAM/things/{{ input.target }}" }
preview = { title = "Wipe {{ input.target }}", target = "{{ input.target }}" }

[[action]]
name = "two"
title = "Two"
description = "Two decide."
effect = "write"
credential = "mail"
approvers = ["role:approver", "role:operator"]
quorum = 2
request = { method = "PUT", url = "http://UPSTREAM/note" }
preview = { title = "Two" }

[[action]]
name = "sometimes"
title = "Sometimes"
description = "Held for what is in it."
effect = "write"
credential = "mail"
hold_when = "input.text.contains('big')"
input = { type = "object", required = ["text"], properties = { text = { type = "string" } } }
request = { method = "PUT", url = "http://UPSTREAM/note", json = "{{ input }}" }
preview = { title = "Sometimes" }

[[action]]
name = "others"
title = "Others"
description = "Not its owner."
effect = "write"
credential = "mail"
approvers = ["role:approver", "person:ann@desk.test"]
self_approval = false
request = { method = "PUT", url = "http://UPSTREAM/note" }
preview = { title = "Others" }

[[action]]
name = "nobody"
title = "Nobody"
description = "The group is empty."
effect = "write"
credential = "mail"
approvers = ["group:nobody"]
request = { method = "PUT", url = "http://UPSTREAM/note" }
preview = { title = "Nobody" }

[[action]]
name = "proved"
title = "Proved"
description = "Takes a passkey, each time."
effect = "write"
credential = "mail"
step_up = true
request = { method = "PUT", url = "http://UPSTREAM/note" }
preview = { title = "Proved" }
"#;

on_both! {
    /// What a grant must not cover is not offered, and refused to whoever asks for it all the same: nothing is confirmed.
    async fn what_no_grant_covers(desk: Desk) {
        desk.reload_with(NEVER);
        let action = |name: &'static str, input: Value| {
            let desk = &desk;
            async move { desk.careful(name, input).await }
        };
        let secret = json!({ "headers": { "x-api-token": "ghp_0123456789abcdefghijABCDEFGHIJ012345" } });
        let cases = [
            (action("wipe", json!({ "target": "a" })).await, &desk.ann),
            (action("two", json!({})).await, &desk.max),
            (action("sometimes", json!({ "text": "big" })).await, &desk.ann),
            (action("nobody", json!({})).await, &desk.olga),
            (action("proved", json!({})).await, &desk.ann),
            (fetch(&desk, "PUT", "/note", secret).await, &desk.ann),
            (fetch(&desk, "DELETE", "/things/1", json!({})).await, &desk.ann),
            (desk::arrival(Actor::Person(desk.visitor(&desk.ann).await), "note", json!({ "text": "mine" })), &desk.ann),
        ];
        for (call, person) in cases {
            let name = call.action.clone();
            let id = desk.held(call).await;
            assert_eq!(offer(&desk, person, id).await, None, "{name}");
            let refused = grants(&desk, person, id, wanted(5, Vec::new())).await;
            assert!(matches!(&refused, Err(Refusal::Invalid(errors)) if errors[0].field == "/grant"), "{name}: {refused:?}");
            assert_eq!(desk.stands_at(person, id).await, CallStatus::Held, "{name}: nothing was confirmed");
        }
        let id = desk.held(action("others", json!({})).await).await;
        assert_eq!(offer(&desk, &desk.ann, id).await, None, "the owner is barred");
        assert!(offer(&desk, &desk.max, id).await.is_some());
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    /// A call that waits for a further reason waits, whatever was let through before.
    async fn a_further_reason_holds_still(desk: Desk) {
        desk.reload_with(NEVER);
        let some = |text: &'static str| {
            let desk = &desk;
            async move { desk.careful("sometimes", json!({ "text": text })).await }
        };
        granted(&desk, &desk.ann, some("small").await, 100, &[argument("text")]).await;
        assert!(passes(&desk, some("medium").await).await);
        assert!(!passes(&desk, some("big").await).await, "`hold_when`");
        let body = [Place::Body];
        granted(&desk, &desk.ann, fetch(&desk, "PUT", "/note", json!({ "body": "a" })).await, 100, &body).await;
        assert!(passes(&desk, fetch(&desk, "PUT", "/note", json!({ "body": "b" })).await).await);
        let secret = json!({ "body": "token=ghp_0123456789abcdefghijABCDEFGHIJ012345" });
        assert!(!passes(&desk, fetch(&desk, "PUT", "/note", secret).await).await, "something shaped like a secret");
        let read = |session: &str, call: Arrival| Arrival { session: Some(session.to_owned()), ..call };
        let call = fetch(&desk, "PUT", "/note", json!({ "body": "c" })).await;
        let agent = desk.actor(&desk.careful).await;
        desk.engine.taint_session(&agent, "run-1").await.expect("marked");
        assert!(!passes(&desk, read("run-1", call.clone())).await, "the session is tainted");
        assert!(passes(&desk, read("run-2", call)).await);
    }
}

on_both! {
    /// It ends with its time, and with the Confirm it was made with; and by who made it, the agent's owner, an operator.
    async fn its_ends(desk: Desk) {
        desk.reload_with(NEVER);
        let lapsing = granted(&desk, &desk.ann, note(&desk, "a").await, 100, &[]).await;
        desk.pass(3_599);
        assert!(passes(&desk, note(&desk, "a").await).await);
        desk.pass(2);
        assert!(!passes(&desk, note(&desk, "a").await).await);
        desk.engine.end_dead_grants().await.expect("storage");
        assert_eq!(end_of(&desk, &lapsing).await, Some(GrantEnd::Lapsed));

        let undone = granted(&desk, &desk.ann, desk.careful("undoable", json!({ "to": "a" })).await, 9, &[]).await;
        assert!(!passes(&desk, desk.careful("undoable", json!({ "to": "a" })).await).await, "it can be taken back still");
        desk.engine.undo(&desk.decider(&desk.ann).await, undone.call).await.expect("undone");
        assert_eq!(end_of(&desk, &undone).await, Some(GrantEnd::Undone));
        assert!(!passes(&desk, desk.careful("undoable", json!({ "to": "a" })).await).await);

        let grant = granted(&desk, &desk.ann, desk.careful("undoable", json!({ "to": "b" })).await, 9, &[]).await;
        desk.pass(61);
        desk.engine.send_due_calls().await.expect("sent");
        desk.ended(grant.call).await;
        assert!(passes(&desk, desk.careful("undoable", json!({ "to": "b" })).await).await);

        for person in [&desk.ann, &desk.max, &desk.olga] {
            let grant = granted(&desk, &desk.max, desk.careful("others", json!({})).await, 9, &[]).await;
            assert_eq!(desk.engine.revoke_grant(&desk.visitor(person).await, grant.id).await, Ok(true));
            assert_eq!(about(&desk, &grant).await.ended_by.as_ref(), Some(&person.name));
            assert!(!passes(&desk, desk.careful("others", json!({})).await).await);
        }
        let own = granted(&desk, &desk.ann, note(&desk, "b").await, 9, &[]).await;
        assert_eq!(desk.engine.revoke_grant(&desk.visitor(&desk.max).await, own.id).await, Err(Refusal::NotFound));
        assert_eq!(desk.engine.grant_about(&desk.visitor(&desk.max).await, own.call).await, Ok(None));
        assert!(passes(&desk, note(&desk, "b").await).await);
    }
}

on_both! {
    /// Who may decide such calls no more lets nothing through any more, from the moment on; nor for an agent that may not
    /// act.
    async fn it_ends_with_who_made_it_and_with_its_agent(desk: Desk) {
        desk.reload_with(NEVER);
        let others = || desk.careful("others", json!({}));
        let by_max = granted(&desk, &desk.max, others().await, 100, &[]).await;
        assert!(passes(&desk, others().await).await);
        desk.engine.disable_person("max@desk.test").await.expect("disabled");
        assert!(!passes(&desk, others().await).await);
        assert_eq!(end_of(&desk, &by_max).await, Some(GrantEnd::Grantor));
        assert_eq!(desk.events_of(by_max.call).await.last(), Some(&EventType::GrantEnded));

        desk.engine.add_to_group("nobody", "olga@desk.test").await.expect("added");
        let nobody = || desk.careful("nobody", json!({}));
        let by_olga = granted(&desk, &desk.olga, nobody().await, 100, &[]).await;
        assert!(passes(&desk, nobody().await).await);
        desk.engine.remove_from_group("nobody", Some("olga@desk.test")).await.expect("removed");
        assert!(!passes(&desk, nobody().await).await, "she is in the group no more");
        desk.engine.end_dead_grants().await.expect("storage");
        assert_eq!(end_of(&desk, &by_olga).await, Some(GrantEnd::Grantor));

        let of_agent = granted(&desk, &desk.ann, note(&desk, "a").await, 100, &[]).await;
        desk.engine.revoke_agent("careful").await.expect("revoked");
        assert_eq!(end_of(&desk, &of_agent).await, Some(GrantEnd::Agent));
    }
}

on_both! {
    /// What the catalogue says of the action, or of its credential, is what it was, or nothing is let through.
    async fn it_ends_with_what_the_catalogue_said(desk: Desk) {
        let with_rule = |rule: &str| NEVER.replace("description = \"Held for what is in it.\"", rule);
        desk.reload_with(NEVER);
        let some = || desk.careful("sometimes", json!({ "text": "a" }));
        let grant = granted(&desk, &desk.ann, some().await, 100, &[]).await;
        desk.reload_with(&format!("{NEVER}\n# a remark\n"));
        assert!(passes(&desk, some().await).await, "it says the same");
        desk.reload_with(&with_rule("description = \"Held for what is in it!\""));
        assert!(!passes(&desk, some().await).await);
        assert_eq!(end_of(&desk, &grant).await, Some(GrantEnd::Changed));
        desk.reload_with(NEVER);
        assert!(!passes(&desk, some().await).await, "it does not come back");

        let credential = |more: &str| {
            format!("[[credential]]\nname = \"late\"\nhosts = [\"UPSTREAM\"]\nsecret = {{ env = \"PATH\" }}\nrequires_approval = true\nallow_http = true\nallow_private = true\n{more}")
        };
        desk.reload_with(&credential(""));
        let call = || async {
            let mut call = fetch(&desk, "PUT", "/note", json!({})).await;
            call.input.insert("credential".to_owned(), json!("late"));
            call
        };
        let grant = granted(&desk, &desk.ann, call().await, 100, &[]).await;
        assert!(passes(&desk, call().await).await);
        desk.reload_with(&credential("trusted = true"));
        desk.engine.end_dead_grants().await.expect("storage");
        assert_eq!(end_of(&desk, &grant).await, Some(GrantEnd::Changed));
        assert!(!passes(&desk, call().await).await);
        desk.reload_with("");
        desk.engine.end_dead_grants().await.expect("an action that is gone is no fault");
    }
}

on_both! {
    /// What takes a use and what does not: a repeat takes none, nor does a call that its dry run refuses, or one that a
    /// pause keeps from being begun; a send that failed is not given back.
    async fn what_takes_a_use(desk: Desk) {
        let grant = granted(&desk, &desk.ann, note(&desk, "a").await, 100, &[]).await;
        let first = desk.engine.call(keyed(note(&desk, "a").await, "k"), None).await;
        assert!(matches!(first, Ok(Answer::Done(_))), "{first:?}");
        let again = desk.engine.call(keyed(note(&desk, "a").await, "k"), None).await;
        assert!(matches!(again, Ok(Answer::Replayed(_))), "{again:?}");
        assert_eq!(about(&desk, &grant).await.used, 1);

        desk.upstream.behave(Behaviour::Answer(500, "{}".to_owned()));
        let failed = desk.engine.call(note(&desk, "a").await, None).await;
        assert_eq!(failed, Err(Refusal::UpstreamFailed(Some(500))));
        assert_eq!(about(&desk, &grant).await.used, 2);
        desk.upstream.behave(Behaviour::Answer(200, "{}".to_owned()));

        let olga = desk.visitor(&desk.olga).await;
        desk.engine.pause(&olga, engine::PauseScope::Everything, None).await.expect("paused");
        assert_eq!(desk.engine.call(note(&desk, "a").await, None).await, Err(Refusal::Paused));
        desk.engine.resume(&olga, engine::PauseScope::Everything).await.expect("resumed");
        assert_eq!(about(&desk, &grant).await.used, 2);

        let mail = || desk.careful("send_mail", json!({ "to": "bo", "body": "hi" }));
        let grant = granted(&desk, &desk.ann, mail().await, 100, &[]).await;
        desk.ended(grant.call).await;
        desk.upstream.fail_reads(Some(404));
        let refused = desk.engine.call(mail().await, None).await;
        assert!(matches!(refused, Err(Refusal::Refused { .. })), "{refused:?}");
        desk.upstream.fail_reads(None);
        assert_eq!(about(&desk, &grant).await.used, 0);
        assert!(passes(&desk, mail().await).await);
    }
}

on_both! {
    /// A call for the queue is queued as approved, and has its receipt of the grant when it was run.
    async fn for_the_queue(desk: Desk) {
        let queued = || async { Arrival { surface: Surface::Queue, ..note(&desk, "a").await } };
        granted(&desk, &desk.ann, note(&desk, "a").await, 1, &[]).await;
        let call = match desk.engine.call(queued().await, None).await {
            Ok(Answer::Waiting(waiting)) => waiting.call_id,
            other => panic!("not queued: {other:?}"),
        };
        desk.engine.run_queue().await.expect("storage");
        assert_eq!(desk.ended(call).await.status, CallStatus::Done);
        assert_eq!(by_grant(&desk).await.len(), 1);
    }
}

on_both! {
    /// A grant that cannot be read lets nothing through; nor does one that is asked for with what is no part of the call,
    /// or beyond its limits.
    async fn in_doubt_it_is_held(desk: Desk) {
        let grant = granted(&desk, &desk.ann, note(&desk, "a").await, 9, &[]).await;
        let key = engine::seal::Sealer::generate(&engine::ambient::Ambient::system());
        let stranger = with_keys(&desk, &key).await;
        assert!(!passes_on(&stranger, note(&desk, "a").await).await);
        assert_eq!(about(&desk, &grant).await.used, 0);
        let id = desk.held(note(&desk, "b").await).await;
        let too_many = grants(&desk, &desk.ann, id, wanted(101, Vec::new())).await;
        let none = grants(&desk, &desk.ann, id, wanted(0, Vec::new())).await;
        let long = GrantWanted { lasts: Duration::from_secs(8 * 3_600 + 1), ..wanted(1, Vec::new()) };
        let too_long = grants(&desk, &desk.ann, id, long).await;
        let strange = grants(&desk, &desk.ann, id, wanted(1, vec!["0".repeat(24)])).await;
        for (refused, field) in [(too_many, "/uses"), (none, "/uses"), (too_long, "/lasts"), (strange, "/vary")] {
            assert!(matches!(&refused, Err(Refusal::Invalid(errors)) if errors[0].field == field), "{refused:?}");
        }
        assert_eq!(desk.stands_at(&desk.ann, id).await, CallStatus::Held);
    }
}

on_both! {
    /// Who sees what: what a call has to be like, its grantor and the agent's owner alone.
    async fn who_sees_a_grant(desk: Desk) {
        desk.reload_with(NEVER);
        granted(&desk, &desk.ann, note(&desk, "milk").await, 9, &[]).await;
        let seen = |person: &Person| {
            let (desk, person) = (&desk, person.clone());
            async move {
                let me = desk.visitor(&person).await;
                desk.engine.grants(&me, true, &PageAsked::default()).await.expect("a list").items
            }
        };
        let (ann, max, olga) = (seen(&desk.ann).await, seen(&desk.max).await, seen(&desk.olga).await);
        assert_eq!((ann.len(), max.len(), olga.len()), (1, 0, 1));
        let allowed = ann[0].allowed.as_ref().expect("hers");
        assert_eq!(allowed.parts, [(argument("text"), "milk".to_owned(), engine::Varies::Not)]);
        assert_eq!(olga[0].allowed, None);
        assert_eq!(desk.engine.count_grants(&desk.visitor(&desk.ann).await).await, Ok(1));
        assert_eq!(desk.engine.count_grants(&desk.visitor(&desk.max).await).await, Ok(0));
        if let Some(bytes) = desk.file_bytes() {
            assert!(!bytes.windows(4).any(|four| four == b"milk"), "it stands sealed");
        }
    }
}

on_both! {
    /// A lent right decides one call, and nothing in advance.
    async fn what_one_decides_by_a_lent_right_is_let_through_once(desk: Desk) {
        let id = desk.held(note(&desk, "milk").await).await;
        let now = desk.engine.now();
        let until = now.plus_seconds(3_600).to_string().chars().take(16).collect::<String>();
        let lent = engine::DelegationWanted { to: "max@desk.test", from: "", until: &until };
        desk.engine.delegate(&desk.visitor(&desk.ann).await, lent).await.expect("a delegation");
        desk.engine.decides(&desk.decider(&desk.max).await, id).await.expect("in Ann's place");
        assert_eq!(offer(&desk, &desk.max, id).await, None, "it is not offered");
        assert!(grants(&desk, &desk.max, id, wanted(1, vec![])).await.is_err(), "nor made by whoever asks for it all the same");
        assert!(offer(&desk, &desk.ann, id).await.is_some(), "whose right it is may");
        assert_eq!(desk.stands_at(&desk.ann, id).await, CallStatus::Held);
    }
}
