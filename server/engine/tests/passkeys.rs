//! Passkeys: adding and removing them, signing in with one, and proving with one anew who one is.

#[macro_use]
mod desk;

use std::net::IpAddr;

use desk::{Claims, Desk, SoftKey};
use engine::account_event::AccountEventType::{
    self, PasskeyAdded, PasskeyRemoved, PasskeyRenamed, PasskeyWentBack,
};
use engine::browser_session::{LONGEST, SessionWanted};
use engine::passkey::{Asked, Assertion, MOST, Wanted};
use model::refusal::PasskeyFault;
use model::{PasskeyId, Person, Refusal};
use serde_json::json;

const PASSWORD: &str = "fetch-bexar-wantn";
const UNFIT: Refusal = Refusal::PasskeyRefused(PasskeyFault::Unfit);

/// A session of this person's that begins now.
async fn session(desk: &Desk, person: &Person, mark: u8) -> [u8; 32] {
    let expires = desk.engine.now().plus_seconds(LONGEST);
    let wanted = SessionWanted {
        person: person.id,
        epoch: 0,
        browser: "Lynx".to_owned(),
        expires,
        goes_on_since: None,
    };
    assert!(desk.engine.session_create([mark; 32], b"data", wanted).await.expect("stored"));
    [mark; 32]
}

/// A passkey of this person's, added in this session.
async fn added(desk: &Desk, person: &Person, session: [u8; 32]) -> (SoftKey, PasskeyId) {
    added_as(desk, person, session, &Claims { flags: 0x45, ..Claims::default() }).await
}

async fn added_as(desk: &Desk, person: &Person, session: [u8; 32], claims: &Claims) -> (SoftKey, PasskeyId) {
    let me = desk.visitor(person).await;
    let key = SoftKey::new(person.id);
    let asked = desk.engine.ask_passkey(&me, session, &Wanted::Add).await.expect("asked");
    let new = key.create_with(&asked, claims);
    let id = desk.engine.add_passkey(&me, session, "Key ring", &new).await.expect("added");
    (key, id)
}

/// The passkeys that a question names.
fn named(asked: &Asked) -> usize {
    let list = asked.options.get("allowCredentials").or_else(|| asked.options.get("excludeCredentials"));
    list.and_then(|list| list.as_array()).map_or(0, Vec::len)
}

fn is_at(refusal: &Refusal, field: &str) -> bool {
    matches!(refusal, Refusal::Invalid(errors) if errors.iter().all(|error| error.field == field))
}

async fn happened(desk: &Desk, person: &Person) -> Vec<AccountEventType> {
    let events = desk.engine.own_account_events(&desk.visitor(person).await).await.expect("events");
    events.into_iter().rev().map(|event| event.r#type).collect()
}

on_both! {
    async fn one_is_added_named_used_renamed_and_removed(desk: Desk) {
        let engine = &desk.engine;
        let (here, there) = (session(&desk, &desk.ann, 1).await, session(&desk, &desk.ann, 2).await);
        let me = desk.visitor(&desk.ann).await;
        let key = SoftKey::new(desk.ann.id);
        let asked = engine.ask_passkey(&me, here, &Wanted::Add).await.expect("asked");
        assert_eq!((named(&asked), &asked.options["timeout"]), (0, &json!(300_000)));
        assert_eq!(asked.options["rp"], json!({ "name": "Countersign", "id": "localhost" }));
        assert_eq!((&asked.options["user"]["name"], &asked.options["user"]["displayName"]), (&json!("ann@desk.test"), &json!("Ann")));
        let selection = json!({ "requireResidentKey": true, "userVerification": "required" });
        assert_eq!((&asked.options["authenticatorSelection"], &asked.options["attestation"]), (&selection, &json!("none")));
        let attestation = key.create(&asked);
        assert!(is_at(&engine.add_passkey(&me, here, " ", &attestation).await.expect_err("no name"), "/name"));
        assert_eq!(engine.add_passkey(&me, there, "x", &attestation).await, Err(UNFIT), "asked in another session");
        let id = engine.add_passkey(&me, here, " Key ring ", &attestation).await.expect("added");
        assert_eq!(engine.add_passkey(&me, here, "Again", &attestation).await, Err(UNFIT), "once");
        let own = engine.own_passkeys(&me).await.expect("a list");
        assert_eq!(own.iter().map(|one| (one.id, one.name.as_str(), one.used_at)).collect::<Vec<_>>(), [(id, "Key ring", None)]);
        assert!(engine.has_passkey(desk.ann.id).await.expect("storage"));
        // The same authenticator is told that it has one already, and cannot add another under the same name.
        let asked = engine.ask_passkey(&me, here, &Wanted::Add).await.expect("asked");
        assert_eq!(named(&asked), 1);
        assert_eq!(engine.add_passkey(&me, here, "Twice", &key.create(&asked)).await, Err(UNFIT));
        assert_eq!(engine.rename_passkey(&me, id, "Blue key").await, Ok(true));
        // Somebody else's is none of theirs.
        let max = desk.visitor(&desk.max).await;
        let his = session(&desk, &desk.max, 3).await;
        assert_eq!(engine.rename_passkey(&max, id, "Mine").await, Ok(false));
        assert_eq!(engine.remove_passkey(&max, his, id).await, Ok(false));
        assert!(is_at(&engine.remove_passkey(&max, here, id).await.expect_err("Ann's session"), "/proof"));
        assert_eq!(engine.remove_passkey(&me, here, id).await, Ok(true));
        assert!(!engine.has_passkey(desk.ann.id).await.expect("storage"));
        for session in [here, there] {
            assert!(engine.session_load(session).await.expect("storage").is_some(), "nobody's session has ended");
        }
        assert_eq!(happened(&desk, &desk.ann).await, [PasskeyAdded, PasskeyRenamed, PasskeyRemoved]);
        assert!(happened(&desk, &desk.max).await.is_empty());
        let seen = engine.account_events(&desk.visitor(&desk.olga).await).await.expect("an operator");
        assert_eq!((seen.len(), seen[0].name.as_str(), seen[0].about.as_deref()), (3, "Ann", Some("Blue key")));
        assert_eq!(engine.account_events(&max).await, Err(Refusal::NotFound));
    }
}

on_both! {
    /// Adding and removing take a proof that is at most five minutes old: the sign-in, the password or a passkey.
    async fn who_signed_in_long_ago_proves_it_anew(desk: Desk) {
        let engine = &desk.engine;
        engine.set_password("ann@desk.test", PASSWORD).await.expect("set");
        let me = desk.visitor(&desk.ann).await;
        let first = engine.sign_in("ann@desk.test", PASSWORD, None).await.expect("looked at").expect("right");
        let expires = engine.now().plus_seconds(LONGEST);
        let wanted = |goes_on_since| SessionWanted { person: desk.ann.id, epoch: first.epoch, browser: String::new(), expires, goes_on_since };
        assert!(engine.session_create([1; 32], b"data", wanted(None)).await.expect("stored"));
        let (key, id) = added(&desk, &desk.ann, [1; 32]).await;
        desk.pass(301);
        assert_eq!(engine.proved_until([1; 32]).await, Ok(None));
        let refused = engine.ask_passkey(&me, [1; 32], &Wanted::Add).await.expect_err("too long ago");
        assert!(is_at(&refused, "/proof"), "{refused:?}");
        assert!(is_at(&engine.remove_passkey(&me, [1; 32], id).await.expect_err("too long ago"), "/proof"));
        assert!(is_at(&engine.prove_with_password(&me, "wrong").await.expect_err("wrong"), "/present"));
        engine.prove_with_password(&me, PASSWORD).await.expect("right");
        let asked = engine.ask_passkey(&me, [1; 32], &Wanted::Prove).await.expect("asked");
        assert_eq!(named(&asked), 1);
        let answer = key.sign(&asked);
        assert_eq!(engine.prove_with_passkey(&me, [2; 32], &answer).await, Err(UNFIT), "another session");
        engine.prove_with_passkey(&me, [1; 32], &answer).await.expect("right");
        assert_eq!(engine.prove_with_passkey(&me, [1; 32], &answer).await, Err(UNFIT), "once");
        // The session goes on under another id, and ends no later than it would have.
        let begun = engine.session_replaced([1; 32]).await.expect("storage").map(|(begun, _)| begun);
        engine.session_delete([1; 32]).await.expect("asked");
        assert!(engine.session_load([1; 32]).await.expect("storage").is_some(), "what was asked by then is answered");
        assert_eq!(engine.proved_until([1; 32]).await, Ok(None), "it has nothing of the proof");
        assert_eq!(engine.own_sessions(&me, None).await.expect("a list"), []);
        assert!(engine.session_create([2; 32], b"data", wanted(begun)).await.expect("stored"));
        assert!(engine.proved_until([2; 32]).await.expect("storage").is_some());
        assert!(begun.is_some_and(|begun| begun.plus_seconds(300) < engine.now()));
        desk.pass(11);
        assert!(engine.session_load([1; 32]).await.expect("storage").is_none());
        assert_eq!(engine.remove_passkey(&me, [2; 32], id).await, Ok(true));
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM sessions WHERE ends_at > begun_at + 2592000000000").await, 0);
    }
}

on_both! {
    async fn nothing_is_added_that_does_not_hold(desk: Desk) {
        let engine = &desk.engine;
        let here = session(&desk, &desk.ann, 1).await;
        let me = desk.visitor(&desk.ann).await;
        let key = SoftKey::new(desk.ann.id);
        let truth = Claims { flags: 0x45, ..Claims::default() };
        for lie in [
            Claims { origin: "http://localhost:8088".to_owned(), ..truth.clone() },
            Claims { origin: "http://127.0.0.1:8087".to_owned(), ..truth.clone() },
            Claims { cross_origin: true, ..truth.clone() },
            Claims { r#type: Some("webauthn.get"), ..truth.clone() },
            Claims { rp: Some("evil.example".to_owned()), ..truth.clone() },
            Claims { flags: 0x41, ..truth.clone() },
            Claims { flags: 0x44, ..truth.clone() },
            Claims { flags: 0x05, ..truth.clone() },
            Claims { flags: 0x55, ..truth.clone() },
            Claims { algorithm: -8, ..truth.clone() },
            Claims { algorithm: -65_535, ..truth.clone() },
            Claims { id: Some(b"another".to_vec()), ..truth.clone() },
        ] {
            let asked = engine.ask_passkey(&me, here, &Wanted::Add).await.expect("asked");
            assert_eq!(engine.add_passkey(&me, here, "x", &key.create_with(&asked, &lie)).await, Err(UNFIT), "{lie:?}");
        }
        let asked = engine.ask_passkey(&me, here, &Wanted::Add).await.expect("asked");
        let mut other = key.create(&asked);
        other.credential.response.attestation_object.truncate(100);
        assert_eq!(engine.add_passkey(&me, here, "x", &other).await, Err(UNFIT), "no key");
        let mut other = key.create(&asked);
        other.state[40] ^= 1;
        assert_eq!(engine.add_passkey(&me, here, "x", &other).await, Err(UNFIT), "not what the page was given");
        let asked_anew = engine.ask_passkey(&me, here, &Wanted::Add).await.expect("asked");
        let mut other = key.create(&asked_anew);
        other.state = key.create(&asked).state;
        assert_eq!(engine.add_passkey(&me, here, "x", &other).await, Err(UNFIT), "to another question");
        assert_eq!(engine.own_passkeys(&me).await.expect("a list"), []);
        let late = key.create(&asked);
        desk.pass(240);
        engine.add_passkey(&me, here, "x", &late).await.expect("in time");
    }
}

on_both! {
    async fn nobody_has_more_than_twenty_however_many_at_once(desk: Desk) {
        let here = session(&desk, &desk.ann, 1).await;
        let me = desk.visitor(&desk.ann).await;
        for _ in 0..MOST - 1 {
            added(&desk, &desk.ann, here).await;
        }
        let mut tries = Vec::new();
        for _ in 0..4 {
            let key = SoftKey::new(desk.ann.id);
            let asked = desk.engine.ask_passkey(&me, here, &Wanted::Add).await.expect("asked");
            let (engine, me) = (desk.engine.clone(), me.clone());
            tries.push(tokio::spawn(async move { engine.add_passkey(&me, here, "x", &key.create(&asked)).await }));
        }
        let came: Vec<_> = futures::future::join_all(tries).await.into_iter().map(|came| came.expect("no panic")).collect();
        assert_eq!(came.iter().filter(|came| came.is_ok()).count(), 1, "{came:?}");
        assert!(came.iter().filter_map(|came| came.as_ref().err()).all(|refusal| is_at(refusal, "/passkey")), "{came:?}");
    }
}

async fn sign_in(desk: &Desk, assertion: &Assertion) -> Result<Option<String>, Refusal> {
    let from: IpAddr = "198.51.100.7".parse().expect("an address");
    let signed_in = desk.engine.sign_in_with_passkey(assertion, Some(from)).await?;
    Ok(signed_in.map(|signed_in| signed_in.person.person().email.clone()))
}

on_both! {
    async fn somebody_signs_in_with_one(desk: Desk) {
        let engine = &desk.engine;
        let here = session(&desk, &desk.ann, 1).await;
        let (key, _) = added(&desk, &desk.ann, here).await;
        let ask = || engine.ask_to_sign_in().expect("asked");
        assert_eq!(ask().options["allowCredentials"], json!([]), "it tells of nobody's");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM passkey_challenges").await, 0, "to ask leaves nothing behind");
        let answer = key.sign(&ask());
        assert_eq!(sign_in(&desk, &answer).await, Ok(Some("ann@desk.test".to_owned())));
        assert_eq!(sign_in(&desk, &answer).await, Ok(None), "once");
        // Another node knows it was used, and takes what this one asked.
        let other = desk.second_node().await;
        assert!(other.sign_in_with_passkey(&answer, None).await.expect("looked at").is_none());
        assert!(other.sign_in_with_passkey(&key.sign(&ask()), None).await.expect("looked at").is_some());
        for lie in [
            Claims { origin: "https://localhost:8087".to_owned(), ..Claims::default() },
            Claims { cross_origin: true, ..Claims::default() },
            Claims { r#type: Some("webauthn.create"), ..Claims::default() },
            Claims { rp: Some("evil.example".to_owned()), ..Claims::default() },
            Claims { flags: 0x01, ..Claims::default() },
            Claims { flags: 0x04, ..Claims::default() },
            Claims { user_handle: Some(desk.max.id.uuid().as_bytes().to_vec()), ..Claims::default() },
            Claims { user_handle: Some(Vec::new()), ..Claims::default() },
        ] {
            assert_eq!(sign_in(&desk, &key.sign_with(&ask(), &lie)).await, Ok(None), "{lie:?}");
        }
        let mut forged = key.sign(&ask());
        forged.credential.response.client_data_json.push(b' ');
        assert_eq!(sign_in(&desk, &forged).await, Ok(None), "another text was signed");
        assert_eq!(sign_in(&desk, &SoftKey::new(desk.ann.id).sign(&ask())).await, Ok(None), "a passkey of nobody's");
        // What was asked for something else signs nobody in.
        let me = desk.visitor(&desk.ann).await;
        let asked = engine.ask_passkey(&me, here, &Wanted::Prove).await.expect("asked");
        assert_eq!(sign_in(&desk, &key.sign(&asked)).await, Ok(None));
        let asked = ask();
        desk.pass(301);
        assert_eq!(sign_in(&desk, &key.sign(&asked)).await, Ok(None), "too long ago");
        assert_eq!(sign_in(&desk, &key.sign(&ask())).await, Ok(Some("ann@desk.test".to_owned())));
        desk.engine.disable_person("ann@desk.test").await.expect("disabled");
        assert_eq!(sign_in(&desk, &key.sign(&ask())).await, Ok(None), "a disabled person");
    }
}

on_both! {
    async fn one_answer_signs_in_once_however_many_bring_it(desk: Desk) {
        let here = session(&desk, &desk.ann, 1).await;
        // A passkey that does not count: nothing but the challenge keeps the answer from counting twice.
        let still = Claims { flags: 0x45, counter: Some(0), ..Claims::default() };
        let (key, _) = added_as(&desk, &desk.ann, here, &still).await;
        let other = desk.second_node().await;
        let answer = key.sign_with(&desk.engine.ask_to_sign_in().expect("asked"), &Claims { flags: 0x05, ..still });
        let tries = (0..8).map(|n| {
            let engine = if n % 2 == 0 { desk.engine.clone() } else { other.clone() };
            let answer = answer.clone();
            let from: IpAddr = format!("203.0.113.{n}").parse().expect("an address");
            tokio::spawn(async move { engine.sign_in_with_passkey(&answer, Some(from)).await.expect("looked at").is_some() })
        });
        let came = futures::future::join_all(tries).await;
        assert_eq!(came.into_iter().filter(|came| *came.as_ref().expect("no panic")).count(), 1);
    }
}

on_both! {
    /// The count of a passkey's signatures goes back when there is a copy of it.
    async fn a_count_that_went_back_is_refused_and_told(desk: Desk) {
        let here = session(&desk, &desk.ann, 1).await;
        let (key, _) = added(&desk, &desk.ann, here).await;
        let ask = || desk.engine.ask_to_sign_in().expect("asked");
        sign_in(&desk, &key.sign(&ask())).await.expect("taken").expect("right");
        let count = key.count();
        for counter in [count, count - 1, 0] {
            let copy = key.sign_with(&ask(), &Claims { counter: Some(counter), ..Claims::default() });
            assert_eq!(sign_in(&desk, &copy).await, Err(Refusal::PasskeyRefused(PasskeyFault::WentBack)), "{counter}");
        }
        let me = desk.visitor(&desk.ann).await;
        let asked = desk.engine.ask_passkey(&me, here, &Wanted::Prove).await.expect("asked");
        let copy = key.sign_with(&asked, &Claims { counter: Some(count), ..Claims::default() });
        assert_eq!(desk.engine.prove_with_passkey(&me, here, &copy).await, Err(Refusal::PasskeyRefused(PasskeyFault::WentBack)));
        assert_eq!(happened(&desk, &desk.ann).await, [PasskeyAdded, PasskeyWentBack, PasskeyWentBack, PasskeyWentBack, PasskeyWentBack]);
        assert_eq!(sign_in(&desk, &key.sign(&ask())).await, Ok(Some("ann@desk.test".to_owned())));
    }
}

on_both! {
    async fn failures_are_counted_by_where_they_come_from_and_lock_nobody_out(desk: Desk) {
        let here = session(&desk, &desk.ann, 1).await;
        let (key, _) = added(&desk, &desk.ann, here).await;
        let stranger: IpAddr = "203.0.113.9".parse().expect("an address");
        let ask = || desk.engine.ask_to_sign_in().expect("asked");
        for n in 0..30 {
            let forged = key.sign_with(&ask(), &Claims { flags: 0, ..Claims::default() });
            assert!(desk.engine.sign_in_with_passkey(&forged, Some(stranger)).await.expect("looked at").is_none(), "{n}");
        }
        let later = desk.engine.sign_in_with_passkey(&key.sign(&ask()), Some(stranger)).await;
        assert!(matches!(later, Err(Refusal::RateLimited { .. })), "not looked at");
        // As of passwords from there: it is one count.
        assert!(matches!(desk.engine.sign_in("x@desk.test", "wrong", Some(stranger)).await, Err(Refusal::RateLimited { .. })));
        for _ in 0..40 {
            assert!(sign_in(&desk, &key.sign(&ask())).await.expect("looked at").is_some(), "what is right is not counted");
        }
    }
}

on_both! {
    async fn a_desk_under_another_name_takes_none_that_were_made_before(desk: Desk) {
        let here = session(&desk, &desk.ann, 1).await;
        let (key, _) = added(&desk, &desk.ann, here).await;
        let me = desk.visitor(&desk.ann).await;
        desk.reload("public_url = \"https://desk.example\"", "");
        assert!(!desk.engine.has_passkey(desk.ann.id).await.expect("storage"));
        assert_eq!(desk.engine.own_passkeys(&me).await.expect("a list")[0].made_for.as_deref(), Some("localhost"));
        let claims = Claims { origin: "https://desk.example".to_owned(), ..Claims::default() };
        assert_eq!(sign_in(&desk, &key.sign_with(&desk.engine.ask_to_sign_in().expect("asked"), &claims)).await, Ok(None));
        desk.reload("public_url = \"http://desk.example\"", "");
        assert_eq!(desk.engine.ask_to_sign_in(), Err(Refusal::NotFound));
        assert_eq!(desk.engine.ask_passkey(&me, here, &Wanted::Add).await, Err(Refusal::NotFound));
    }
}

on_both! {
    /// What a token may do is another question; none does this.
    async fn no_token_changes_passkeys(desk: Desk) {
        let here = session(&desk, &desk.ann, 1).await;
        let (key, id) = added(&desk, &desk.ann, here).await;
        let me = desk.visitor(&desk.ann).await;
        let (_, token) = desk.engine.make_own_token(&me, model::Ability::ALL.to_vec(), None).await.expect("a token");
        let engine::Actor::Person(bearer) = desk.actor(token.reveal()).await else { panic!("a person") };
        assert_eq!(desk.engine.own_passkeys(&bearer).await, Err(Refusal::Denied));
        assert_eq!(desk.engine.ask_passkey(&bearer, here, &Wanted::Add).await, Err(Refusal::Denied));
        assert_eq!(desk.engine.remove_passkey(&bearer, here, id).await, Err(Refusal::Denied));
        assert_eq!(desk.engine.rename_passkey(&bearer, id, "x").await, Err(Refusal::Denied));
        let asked = desk.engine.ask_passkey(&me, here, &Wanted::Prove).await.expect("asked");
        assert_eq!(desk.engine.prove_with_passkey(&bearer, here, &key.sign(&asked)).await, Err(Refusal::Denied));
    }
}

on_both! {
    /// Each leaves a row behind for a while.
    async fn nobody_asks_again_and_again(desk: Desk) {
        let here = session(&desk, &desk.ann, 1).await;
        let me = desk.visitor(&desk.ann).await;
        for n in 0..60 {
            assert!(desk.engine.ask_passkey(&me, here, &Wanted::Add).await.is_ok(), "{n}");
        }
        let refused = desk.engine.ask_passkey(&me, here, &Wanted::Add).await;
        assert_eq!(refused, Err(Refusal::RateLimited { retry_after: 60 }));
        let (max, his) = (desk.visitor(&desk.max).await, session(&desk, &desk.max, 2).await);
        assert!(desk.engine.ask_passkey(&max, his, &Wanted::Add).await.is_ok(), "each by themselves");
        desk.pass(61);
        assert!(desk.engine.ask_passkey(&me, here, &Wanted::Add).await.is_ok());
    }
}

on_both! {
    async fn challenges_are_forgotten(desk: Desk) {
        let here = session(&desk, &desk.ann, 1).await;
        let (key, _) = added(&desk, &desk.ann, here).await;
        desk.engine.ask_passkey(&desk.visitor(&desk.ann).await, here, &Wanted::Prove).await.expect("asked");
        sign_in(&desk, &key.sign(&desk.engine.ask_to_sign_in().expect("asked"))).await.expect("taken").expect("right");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM passkey_challenges").await, 2);
        desk.engine.erase().await.expect("erased");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM passkey_challenges").await, 2);
        desk.pass(3_601);
        desk.engine.erase().await.expect("erased");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM passkey_challenges").await, 0);
    }
}
