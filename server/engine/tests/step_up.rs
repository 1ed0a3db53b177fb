//! Section 9, `step_up`: a call of such an action is confirmed with a passkey, for that call and that preview, once.

#[macro_use]
mod desk;

use desk::{Claims, Desk, SoftKey, confirm, decline};
use engine::browser_session::{LONGEST, SessionWanted};
use engine::passkey::{Asked, Assertion, StepUp, Wanted};
use engine::{Actor, Engine, Happened, ManyFault, OverrideWanted};
use model::refusal::PasskeyFault;
use model::{Ability, Answer, CallId, CallStatus, EventType, Person, Proof, Refusal, Surface};
use serde_json::json;

const ACTION: &str = r#"
[[action]]
name = "pay"
title = "Pay"
description = "Pays."
effect = "write"
credential = "mail"
undo_window = "0s"
step_up = true
RULE
input = { type = "object", required = ["to"], additionalProperties = false, properties = { to = { type = "string" } } }
request = { method = "POST", url = "http://UPSTREAM/messages", json = "{{ input }}" }
preview = { title = "Pay {{ input.to }}", target = "{{ input.to }}" }
"#;

const TWO: &str = "quorum = 2\napprovers = [\"role:approver\", \"role:operator\"]";
const UNFIT: Refusal = Refusal::PasskeyRefused(PasskeyFault::Unfit);

fn rule(desk: &Desk, rule: &str) {
    desk.reload_with(&ACTION.replace("RULE", rule));
}

/// A person with a passkey, in a session of theirs.
struct Holder {
    person: Person,
    session: [u8; 32],
    key: SoftKey,
}

impl Holder {
    async fn new(desk: &Desk, person: &Person, mark: u8) -> Self {
        Self::with(desk, person, mark, &Claims { flags: 0x45, ..Claims::default() }).await
    }

    async fn with(desk: &Desk, person: &Person, mark: u8, claims: &Claims) -> Self {
        let expires = desk.engine.now().plus_seconds(LONGEST);
        let wanted = SessionWanted {
            person: person.id,
            epoch: 0,
            browser: String::new(),
            expires,
            goes_on_since: None,
        };
        assert!(desk.engine.session_create([mark; 32], b"data", wanted).await.expect("stored"));
        let (me, key) = (desk.visitor(person).await, SoftKey::new(person.id));
        let asked = desk.engine.ask_passkey(&me, [mark; 32], &Wanted::Add).await.expect("asked");
        desk.engine
            .add_passkey(&me, [mark; 32], "Key", &key.create_with(&asked, claims))
            .await
            .expect("added");
        Self { person: person.clone(), session: [mark; 32], key }
    }

    async fn asked(&self, desk: &Desk, call: CallId, version: &str) -> Result<Asked, Refusal> {
        let me = desk.visitor(&self.person).await;
        let view_token = desk.engine.view_token(&me, call, version);
        desk.pass(1);
        let wanted = Wanted::Confirm { call, version: version.to_owned(), view_token };
        desk.engine.ask_passkey(&me, self.session, &wanted).await
    }

    async fn signed(&self, desk: &Desk, call: CallId) -> (String, Assertion) {
        let version = desk.preview(&self.person, call).await.version;
        let asked = self.asked(desk, call, &version).await.expect("asked");
        (version, self.key.sign(&asked))
    }

    async fn confirms_with(
        &self,
        desk: &Desk,
        call: CallId,
        version: &str,
        assertion: &Assertion,
    ) -> Result<CallStatus, Refusal> {
        self.confirms_at(&desk.engine, desk, call, version, assertion).await
    }

    async fn confirms_at(
        &self,
        engine: &Engine,
        desk: &Desk,
        call: CallId,
        version: &str,
        assertion: &Assertion,
    ) -> Result<CallStatus, Refusal> {
        let proof = StepUp { assertion: assertion.clone(), session: self.session };
        let decider = desk.decider(&self.person).await;
        engine
            .decide_with(&decider, call, confirm(version), Some(proof))
            .await
            .map(|call| let_go(call.status))
    }

    async fn confirms(&self, desk: &Desk, call: CallId) -> Result<CallStatus, Refusal> {
        let (version, assertion) = self.signed(desk, call).await;
        self.confirms_with(desk, call, &version, &assertion).await
    }
}

/// A call that was let go may have come to its end by the time its decision is answered.
fn let_go(status: CallStatus) -> CallStatus {
    if status == CallStatus::Done { CallStatus::Sending } else { status }
}

async fn held(desk: &Desk, to: &str) -> CallId {
    desk.held(desk.careful("pay", json!({ "to": to })).await).await
}

fn is_required(refusal: &Refusal, call: CallId) -> bool {
    *refusal == Refusal::StepUpRequired { approve_url: format!("http://127.0.0.1:8087/inbox/{call}") }
}

on_both! {
    async fn it_is_confirmed_with_a_passkey_and_told_so(desk: Desk) {
        rule(&desk, "");
        let ann = Holder::new(&desk, &desk.ann, 1).await;
        let id = held(&desk, "a").await;
        let refused = desk.confirms(&desk.ann, id).await.expect_err("no passkey");
        assert!(is_required(&refused, id), "{refused:?}");
        let problem = refused.problem();
        assert_eq!((problem.status, problem.code.as_str()), (403, "step_up_required"));
        assert!(desk.upstream.writes().is_empty());
        assert_eq!(ann.confirms(&desk, id).await, Ok(CallStatus::Sending));
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        assert_eq!(desk.upstream.writes().len(), 1);
        let olga = desk.visitor(&desk.olga).await;
        let events = desk.engine.events(&olga, &engine::PageAsked::default()).await.expect("events").items;
        let proofs: Vec<_> = events.iter().filter(|event| event.call_id == id).map(|event| (event.r#type, event.proof)).collect();
        assert_eq!(proofs, [(EventType::Completed, None), (EventType::Decided, Some(Proof::Passkey)), (EventType::Held, None)]);
        let story = desk.engine.story(&olga, desk.receipts().await[0].id).await.expect("storage").expect("a story");
        let with: Vec<_> = story.steps.iter().filter_map(|step| match step.happened {
            Happened::Confirmed { with_passkey, .. } => Some(with_passkey),
            _ => None,
        }).collect();
        assert_eq!(with, [true]);
    }
}

on_both! {
    /// Each of these is refused, nothing is sent, the call stays held, and what fits is taken afterwards.
    async fn an_answer_is_good_for_its_call_preview_person_and_session_alone(desk: Desk) {
        rule(&desk, "approvers = [\"role:approver\", \"role:operator\"]");
        let (max, olga) = (Holder::new(&desk, &desk.max, 1).await, Holder::new(&desk, &desk.olga, 2).await);
        let (id, other) = (held(&desk, "a").await, held(&desk, "b").await);
        let (version, assertion) = max.signed(&desk, id).await;
        let (other_version, other_assertion) = max.signed(&desk, other).await;
        assert_eq!(max.confirms_with(&desk, other, &other_version, &assertion).await, Err(UNFIT), "another call");
        assert_eq!(max.confirms_with(&desk, id, &version, &other_assertion).await, Err(UNFIT), "another call's");
        // A version of the same preview that tells of something else beside it.
        let alike = held(&desk, "a").await;
        let told = desk.preview(&desk.max, id).await.version;
        assert_ne!(told, version);
        assert_eq!(max.confirms_with(&desk, id, &told, &assertion).await, Err(UNFIT), "another version");
        desk.engine.decide(&desk.decider(&desk.max).await, alike, decline("no")).await.expect("declined without one");
        assert_eq!(olga.confirms_with(&desk, id, &version, &assertion).await, Err(UNFIT), "another person's passkey");
        let (_, hers) = olga.signed(&desk, id).await;
        assert_eq!(max.confirms_with(&desk, id, &version, &hers).await, Err(UNFIT), "the same, the other way around");
        let elsewhere = Holder { session: [9; 32], person: desk.max.clone(), key: SoftKey::new(desk.max.id) };
        assert_eq!(elsewhere.confirms_with(&desk, id, &version, &assertion).await, Err(UNFIT), "another session");
        // What proves who one is, or signs in, confirms nothing.
        let me = desk.visitor(&desk.max).await;
        let asked = desk.engine.ask_passkey(&me, max.session, &Wanted::Prove).await.expect("asked");
        assert_eq!(max.confirms_with(&desk, id, &version, &max.key.sign(&asked)).await, Err(UNFIT));
        let asked = desk.engine.ask_to_sign_in().expect("asked");
        assert_eq!(max.confirms_with(&desk, id, &version, &max.key.sign(&asked)).await, Err(UNFIT));
        for lie in [
            Claims { origin: "http://localhost:9999".to_owned(), ..Claims::default() },
            Claims { flags: 0x01, ..Claims::default() },
            Claims { rp: Some("evil.example".to_owned()), ..Claims::default() },
        ] {
            let asked = max.asked(&desk, id, &version).await.expect("asked");
            assert_eq!(max.confirms_with(&desk, id, &version, &max.key.sign_with(&asked, &lie)).await, Err(UNFIT), "{lie:?}");
        }
        assert!(desk.upstream.writes().is_empty());
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM decisions WHERE verdict = 'confirm'").await, 0);
        assert_eq!(max.confirms(&desk, id).await, Ok(CallStatus::Sending));
        assert_eq!(max.confirms(&desk, other).await, Ok(CallStatus::Sending));
    }
}

on_both! {
    async fn an_answer_is_good_for_sixty_seconds(desk: Desk) {
        rule(&desk, "");
        let ann = Holder::new(&desk, &desk.ann, 1).await;
        let id = held(&desk, "a").await;
        let (version, late) = ann.signed(&desk, id).await;
        desk.pass(61);
        assert_eq!(ann.confirms_with(&desk, id, &version, &late).await, Err(UNFIT));
        assert!(desk.upstream.writes().is_empty());
        let (version, in_time) = ann.signed(&desk, id).await;
        desk.pass(40);
        assert_eq!(ann.confirms_with(&desk, id, &version, &in_time).await, Ok(CallStatus::Sending));
    }
}

on_both! {
    /// What was undone is confirmed again with another answer.
    async fn an_answer_is_spent_with_its_decision(desk: Desk) {
        rule(&desk, TWO);
        let (max, olga) = (Holder::new(&desk, &desk.max, 1).await, Holder::new(&desk, &desk.olga, 2).await);
        let id = held(&desk, "a").await;
        let (version, assertion) = max.signed(&desk, id).await;
        assert_eq!(max.confirms_with(&desk, id, &version, &assertion).await, Ok(CallStatus::Held));
        desk.engine.undo(&desk.decider(&desk.max).await, id).await.expect("undone");
        assert_eq!(max.confirms_with(&desk, id, &version, &assertion).await, Err(UNFIT), "it was spent");
        assert_eq!(olga.confirms(&desk, id).await, Ok(CallStatus::Held));
        // Each of a quorum needs one of their own.
        let refused = desk.confirms(&desk.max, id).await.expect_err("no passkey");
        assert!(is_required(&refused, id));
        assert!(desk.upstream.writes().is_empty());
        assert_eq!(max.confirms(&desk, id).await, Ok(CallStatus::Sending));
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM decisions WHERE passkey_id IS NOT NULL").await, 3);
    }
}

on_both! {
    /// Two nodes, one answer, many presses: one decision, one send.
    async fn one_answer_confirms_once_however_many_bring_it(desk: Desk) {
        rule(&desk, TWO);
        // A passkey that does not count: nothing but the challenge keeps the answer from counting twice.
        let still = Claims { flags: 0x45, counter: Some(0), ..Claims::default() };
        let max = Holder::with(&desk, &desk.max, 1, &still).await;
        let other = desk.second_node().await;
        other.replace_catalogue(desk::parsed(&with_rule(&desk, TWO)));
        let id = held(&desk, "a").await;
        let version = desk.preview(&desk.max, id).await.version;
        let asked = max.asked(&desk, id, &version).await.expect("asked");
        let assertion = max.key.sign_with(&asked, &Claims { flags: 0x05, ..still });
        let tries = (0..8).map(|n| {
            let engine = if n % 2 == 0 { &desk.engine } else { &other };
            let (max, desk, version, assertion) = (&max, &desk, &version, &assertion);
            async move {
                let came = max.confirms_at(engine, desk, id, version, assertion).await;
                // Whoever came first takes the vote back at once, so that only the challenge is left to refuse the others.
                if came.is_ok() { desk.engine.undo(&desk.decider(&desk.max).await, id).await.expect("undone"); }
                came
            }
        });
        let came = futures::future::join_all(tries).await;
        assert_eq!(came.iter().filter(|came| came.is_ok()).count(), 1, "{came:?}");
        assert!(came.iter().all(|came| matches!(came, Ok(_) | Err(Refusal::PasskeyRefused(_) | Refusal::AlreadyDecided))), "{came:?}");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM decisions").await, 1);
        assert!(desk.upstream.writes().is_empty());
    }
}

/// The catalogue with the action under this rule, as another node reads it.
fn with_rule(desk: &Desk, rule: &str) -> String {
    let text = format!("{}\n{}", include_str!("desk/catalogue.toml"), ACTION.replace("RULE", rule));
    text.replace("UPSTREAM", &desk.upstream.address())
}

on_both! {
    async fn a_count_that_went_back_confirms_nothing(desk: Desk) {
        rule(&desk, "");
        let ann = Holder::new(&desk, &desk.ann, 1).await;
        let (first, id) = (held(&desk, "a").await, held(&desk, "b").await);
        ann.confirms(&desk, first).await.expect("confirmed");
        desk.ended(first).await;
        let version = desk.preview(&desk.ann, id).await.version;
        let asked = ann.asked(&desk, id, &version).await.expect("asked");
        let copy = ann.key.sign_with(&asked, &Claims { counter: Some(ann.key.count()), ..Claims::default() });
        let came = ann.confirms_with(&desk, id, &version, &copy).await;
        assert_eq!(came, Err(Refusal::PasskeyRefused(PasskeyFault::WentBack)));
        assert_eq!(desk.upstream.writes().len(), 1);
        let told = desk.engine.own_account_events(&desk.visitor(&desk.ann).await).await.expect("events");
        assert_eq!(told[0].r#type, engine::account_event::AccountEventType::PasskeyWentBack);
        assert_eq!(ann.confirms(&desk, id).await, Ok(CallStatus::Sending));
    }
}

on_both! {
    /// Section 5, "never let through by a token or by the caller's own session": whoever calls, it is held; and only a
    /// person in the browser confirms it.
    async fn no_caller_and_no_token_gets_it_past_a_person(desk: Desk) {
        rule(&desk, "");
        let id = desk.held(desk.quick("pay", json!({ "to": "a" })).await).await;
        let me = desk.visitor(&desk.ann).await;
        let form = desk::arrival(Actor::Person(me.clone()), "pay", json!({ "to": "b" }));
        let mut form = form;
        form.surface = Surface::Form;
        let own = desk.held(form).await;
        let mut queued = desk.quick("pay", json!({ "to": "c" })).await;
        queued.surface = Surface::Queue;
        let queued = desk.held(queued).await;
        let code = desk.engine.call(desk::arrival(Actor::System, "pay", json!({ "to": "d" })), None).await;
        assert!(matches!(code, Ok(Answer::Waiting(_))), "{code:?}");
        let (_, token) = desk.engine.make_own_token(&me, vec![Ability::ApprovalsDecide], None).await.expect("a token");
        let Actor::Person(bearer) = desk.actor(token.reveal()).await else { panic!("a person") };
        let bearer = bearer.decider().expect("it decides");
        let ann = Holder::new(&desk, &desk.ann, 1).await;
        for call in [id, own, queued] {
            let (version, assertion) = ann.signed(&desk, call).await;
            let refused = desk.engine.decide(&bearer, call, confirm(&version)).await.expect_err("a token");
            assert!(is_required(&refused, call));
            let proof = StepUp { assertion, session: ann.session };
            let refused = desk.engine.decide_with(&bearer, call, confirm(&version), Some(proof)).await;
            assert_eq!(refused, Err(Refusal::Denied), "a token beside a passkey");
        }
        let decider = desk.decider(&desk.ann).await;
        assert_eq!(desk.engine.may_confirm_many(&decider, &[id, own]).await, Err(ManyFault::StepUp));
        assert!(desk.upstream.writes().is_empty());
        desk.engine.decide(&bearer, id, decline("no")).await.expect("declined without one");
        assert_eq!(ann.confirms(&desk, own).await, Ok(CallStatus::Sending));
    }
}

on_both! {
    /// The stricter of what held when it was held and what the catalogue says now.
    async fn asked_for_meanwhile_it_counts_and_stays(desk: Desk) {
        desk.reload_with(&ACTION.replace("step_up = true\nRULE", ""));
        let id = held(&desk, "a").await;
        rule(&desk, "");
        assert!(is_required(&desk.confirms(&desk.ann, id).await.expect_err("no passkey"), id));
        let item = desk.engine.item(&desk.visitor(&desk.ann).await, id).await.expect("storage").expect("an item");
        assert!(item.step_up);
        let later = held(&desk, "b").await;
        desk.reload_with(&ACTION.replace("step_up = true\nRULE", ""));
        assert!(is_required(&desk.confirms(&desk.ann, later).await.expect_err("no passkey"), later), "as it was held");
        desk.confirms(&desk.ann, id).await.expect("held before, and nobody had looked at it since");
        let ann = Holder::new(&desk, &desk.ann, 1).await;
        assert_eq!(ann.confirms(&desk, later).await, Ok(CallStatus::Sending));
    }
}

on_both! {
    /// What was said without a passkey before it was asked for counts no more.
    async fn a_vote_from_before_it_was_asked_for_counts_no_more(desk: Desk) {
        let plain = ACTION.replace("step_up = true", "").replace("RULE", TWO);
        desk.reload_with(&plain);
        let id = held(&desk, "a").await;
        assert_eq!(desk.confirms(&desk.max, id).await.expect("one of two").status, CallStatus::Held);
        rule(&desk, TWO);
        let (olga, max) = (Holder::new(&desk, &desk.olga, 1).await, Holder::new(&desk, &desk.max, 2).await);
        assert_eq!(olga.confirms(&desk, id).await, Ok(CallStatus::Held), "Max has not said it with one");
        assert!(desk.upstream.writes().is_empty());
        assert_eq!(max.confirms(&desk, id).await, Ok(CallStatus::Sending));
    }
}

on_both! {
    /// A proof renews a session only where it was spent.
    async fn an_answer_that_was_spent_on_nothing_says_so(desk: Desk) {
        rule(&desk, "");
        let ann = Holder::new(&desk, &desk.ann, 1).await;
        let id = held(&desk, "a").await;
        let (version, assertion) = ann.signed(&desk, id).await;
        rule(&desk, "authorize = \"false\"");
        assert_eq!(ann.confirms_with(&desk, id, &version, &assertion).await, Ok(CallStatus::Refused));
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    /// Whoever overrides those who decide proves it as they would have to: for that call, once.
    async fn an_override_takes_one_too(desk: Desk) {
        rule(&desk, "approvers = [\"role:approver\"]");
        let olga = Holder::new(&desk, &desk.olga, 1).await;
        let me = desk.visitor(&desk.olga).await;
        let (id, other) = (held(&desk, "a").await, held(&desk, "b").await);
        let item = desk.engine.open_to_override(&me, id).await.expect("opened").expect("it can be overridden");
        assert!(item.step_up && item.may_override);
        let version = item.preview.expect("a preview").version;
        let view_token = desk.engine.view_token(&me, id, &version);
        desk.pass(1);
        let overrides = |assertion: Option<Assertion>| {
            let (desk, me, version, view_token, session) = (&desk, &me, &version, &view_token, olga.session);
            async move {
                let proof = assertion.map(|assertion| StepUp { assertion, session });
                let wanted = OverrideWanted { version, view_token, target: "", reason: "Away.", proof: proof.as_ref() };
                desk.engine.override_call(me, id, wanted).await.map(|call| let_go(call.status))
            }
        };
        assert!(is_required(&overrides(None).await.expect_err("no passkey"), id));
        let elsewhere = desk.engine.open_to_override(&me, other).await.expect("opened").expect("it can be overridden");
        let asked = olga.asked(&desk, other, &elsewhere.preview.expect("a preview").version).await.expect("asked");
        assert_eq!(overrides(Some(olga.key.sign(&asked))).await, Err(UNFIT), "another call's");
        let late = olga.key.sign(&olga.asked(&desk, id, &version).await.expect("asked"));
        desk.pass(61);
        assert_eq!(overrides(Some(late)).await, Err(UNFIT), "too old");
        assert!(desk.upstream.writes().is_empty());
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM decisions").await, 0);
        let assertion = olga.key.sign(&olga.asked(&desk, id, &version).await.expect("asked"));
        assert_eq!(overrides(Some(assertion)).await, Ok(CallStatus::Sending));
        desk.ended(id).await;
        assert_eq!(desk.upstream.writes().len(), 1);
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM decisions WHERE kind = 'override' AND passkey_id IS NOT NULL").await, 1);
        let events = desk.engine.events(&me, &engine::PageAsked::default()).await.expect("events").items;
        let told = events.iter().find(|event| event.r#type == EventType::Overridden).expect("it is told");
        assert_eq!((told.proof, told.by), (Some(Proof::Passkey), Some(desk.olga.id)));
        let story = desk.engine.story(&me, desk.receipts().await[0].id).await.expect("storage").expect("a story");
        assert!(story.steps.iter().any(|step| matches!(step.happened, Happened::Overridden { with_passkey: true, .. })));
    }
}

on_both! {
    /// A challenge is made for who decides the call, once its preview has been shown for half a second, and has a passkey.
    async fn who_is_asked_for_a_passkey(desk: Desk) {
        rule(&desk, "");
        let (ann, max) = (Holder::new(&desk, &desk.ann, 1).await, Holder::new(&desk, &desk.max, 2).await);
        let id = held(&desk, "a").await;
        let version = desk.preview(&desk.ann, id).await.version;
        assert_eq!(max.asked(&desk, id, &version).await, Err(Refusal::NotFound), "not his to decide");
        let me = desk.visitor(&desk.ann).await;
        let view_token = desk.engine.view_token(&me, id, &version);
        let wanted = Wanted::Confirm { call: id, version: version.clone(), view_token };
        let early = desk.engine.ask_passkey(&me, ann.session, &wanted).await;
        assert!(matches!(early, Err(Refusal::Invalid(_))), "{early:?}");
        let other = Wanted::Confirm { call: id, version: "else".to_owned(), view_token: desk.engine.view_token(&me, id, &version) };
        desk.pass(1);
        assert_eq!(desk.engine.ask_passkey(&me, ann.session, &other).await, Err(Refusal::PreviewChanged(None)));
        let asked = desk.engine.ask_passkey(&me, ann.session, &wanted).await.expect("asked");
        assert_eq!(asked.options["timeout"], json!(60_000));
        assert_eq!(asked.options["allowCredentials"].as_array().map(Vec::len), Some(1));
        let own = desk.engine.own_passkeys(&me).await.expect("a list");
        desk.engine.remove_passkey(&me, ann.session, own[0].id).await.expect("removed");
        assert!(matches!(ann.asked(&desk, id, &version).await, Err(Refusal::Invalid(_))), "without a passkey");
        assert_eq!(ann.confirms_with(&desk, id, &version, &ann.key.sign(&asked)).await, Err(UNFIT), "it was removed");
        assert!(desk.upstream.writes().is_empty());
    }
}

#[test]
fn what_nobody_could_confirm_is_a_mistake() {
    let text = |url: &str| {
        format!(
            "[server]\npublic_url = \"{url}\"\n{}",
            ACTION
                .replace("RULE", "")
                .replace("credential = \"mail\"\n", "")
                .replace("http://UPSTREAM", "https://a.example")
        )
    };
    for url in ["http://127.0.0.1:8087", "http://localhost:8087", "https://desk.example"] {
        let read = engine::catalogue::Catalogue::parse(&text(url), "c.toml");
        assert!(
            read.is_ok(),
            "{url}: {}",
            read.err().map(|mistakes| mistakes.to_string()).unwrap_or_default()
        );
    }
    for url in ["http://desk.example", "https://192.0.2.7"] {
        let Err(mistakes) = engine::catalogue::Catalogue::parse(&text(url), "c.toml") else {
            panic!("{url}")
        };
        assert!(mistakes.to_string().starts_with("c.toml:10:"), "{mistakes}");
    }
}
