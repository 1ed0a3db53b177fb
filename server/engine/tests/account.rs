//! One's own account: password, sessions and tokens; and what ends them.

#[macro_use]
mod desk;

use desk::Desk;
use engine::browser_session::{IDLE, LONGEST, SessionWanted};
use engine::{Actor, Engine};
use model::{Ability, BrowserSessionId, Person, Refusal};

const PASSWORD: &str = "fetch-bexar-wantn";
const OTHER: &str = "sherd-knapt-fower";

/// The person signs in: the hash that their session is stored under.
async fn signed_in(engine: &Engine, person: &Person, password: &str, mark: u8) -> [u8; 32] {
    let signed_in = engine.sign_in(&person.email, password, None).await.expect("looked at").expect("right");
    begun(engine, person, signed_in.epoch, mark).await
}

async fn begun(engine: &Engine, person: &Person, epoch: i64, mark: u8) -> [u8; 32] {
    let expires = engine.now().plus_seconds(LONGEST);
    let wanted = SessionWanted {
        person: person.id,
        epoch,
        browser: format!("Browser {mark}"),
        expires,
        goes_on_since: None,
    };
    assert!(engine.session_create([mark; 32], b"data", wanted).await.expect("stored"));
    [mark; 32]
}

async fn counts(engine: &Engine, session: [u8; 32]) -> bool {
    engine.session_load(session).await.expect("storage").is_some()
}

on_both! {
    async fn a_new_password_ends_every_other_session(desk: Desk) {
        let engine = &desk.engine;
        engine.set_password("ann@desk.test", PASSWORD).await.expect("set");
        let (here, there) = (signed_in(engine, &desk.ann, PASSWORD, 1).await, signed_in(engine, &desk.ann, PASSWORD, 2).await);
        let me = desk.visitor(&desk.ann).await;
        let refused = engine.change_password(&me, "wrong horse battery", OTHER, Some(here)).await;
        assert_eq!(refused, Err(Refusal::invalid("/present", "This is not your present password.")));
        assert!(matches!(engine.change_password(&me, PASSWORD, "short", Some(here)).await, Err(Refusal::Invalid(_))));
        assert!(matches!(engine.change_password(&me, PASSWORD, PASSWORD, Some(here)).await, Err(Refusal::Invalid(_))));
        assert!(counts(engine, there).await, "nothing was changed");
        // Somebody signs in with the old password at that very moment.
        let late = engine.sign_in("ann@desk.test", PASSWORD, None).await.expect("looked at").expect("right");
        engine.change_password(&me, PASSWORD, OTHER, Some(here)).await.expect("changed");
        let late = begun(engine, &desk.ann, late.epoch, 3).await;
        assert!(!counts(engine, late).await, "what was proved with the old password is worth nothing");
        assert!(counts(engine, here).await && !counts(engine, there).await);
        let (begun_at, epoch) = engine.session_replaced(here).await.expect("storage").expect("it counts");
        let wanted = SessionWanted { person: desk.ann.id, epoch, browser: String::new(), expires: engine.now().plus_seconds(LONGEST), goes_on_since: Some(begun_at) };
        assert!(engine.session_create([4; 32], b"data", wanted).await.expect("stored"));
        assert!(counts(engine, [4; 32]).await, "what takes its place counts as it does");
        assert!(engine.sign_in("ann@desk.test", PASSWORD, None).await.expect("looked at").is_none());
        assert!(engine.sign_in("ann@desk.test", OTHER, None).await.expect("looked at").is_some());
        // The command line ends this one too.
        engine.set_password("ANN@desk.test", PASSWORD).await.expect("set");
        assert!(!counts(engine, here).await);
        assert_eq!(engine.set_password("nobody@desk.test", PASSWORD).await, Err(Refusal::NotFound));
        assert!(matches!(engine.set_password("ann@desk.test", "").await, Err(Refusal::Invalid(_))));
    }
}

on_both! {
    async fn of_two_new_passwords_at_once_one_is_told_that_it_does_not_count(desk: Desk) {
        let engine = &desk.engine;
        engine.set_password("ann@desk.test", PASSWORD).await.expect("set");
        let me = desk.visitor(&desk.ann).await;
        let (one, two) = tokio::join!(
            engine.change_password(&me, PASSWORD, OTHER, None),
            engine.change_password(&me, PASSWORD, "thrum-welkin-osier", None),
        );
        let counting = if one.is_ok() { OTHER } else { "thrum-welkin-osier" };
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
        assert!(engine.sign_in("ann@desk.test", counting, None).await.expect("looked at").is_some());
    }
}

on_both! {
    async fn a_disabled_person_is_signed_out_at_once(desk: Desk) {
        let engine = &desk.engine;
        engine.set_password("ann@desk.test", PASSWORD).await.expect("set");
        let session = signed_in(engine, &desk.ann, PASSWORD, 1).await;
        let late = engine.sign_in("ann@desk.test", PASSWORD, None).await.expect("looked at").expect("right");
        engine.disable_person("ann@desk.test").await.expect("disabled");
        assert!(!counts(engine, session).await);
        let late = begun(engine, &desk.ann, late.epoch, 2).await;
        assert!(!counts(engine, late).await);
        assert!(engine.sign_in("ann@desk.test", PASSWORD, None).await.expect("looked at").is_none());
    }
}

on_both! {
    async fn a_session_ends_when_it_is_not_used_and_in_the_end_in_any_case(desk: Desk) {
        let engine = &desk.engine;
        engine.set_password("ann@desk.test", PASSWORD).await.expect("set");
        let (idle, used) = (signed_in(engine, &desk.ann, PASSWORD, 1).await, signed_in(engine, &desk.ann, PASSWORD, 2).await);
        let mut passed = 0;
        while passed + IDLE / 2 < LONGEST {
            desk.pass(IDLE / 2);
            passed += IDLE / 2;
            assert!(counts(engine, used).await, "after {passed} s");
        }
        assert!(!counts(engine, idle).await);
        desk.pass(LONGEST - passed);
        assert!(!counts(engine, used).await);
        engine.erase().await.expect("erased");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM sessions").await, 0);
    }
}

on_both! {
    async fn people_see_and_end_their_own_sessions_alone(desk: Desk) {
        let engine = &desk.engine;
        for email in ["ann@desk.test", "max@desk.test"] {
            engine.set_password(email, PASSWORD).await.expect("set");
        }
        let here = signed_in(engine, &desk.ann, PASSWORD, 1).await;
        desk.pass(60);
        let there = signed_in(engine, &desk.ann, PASSWORD, 2).await;
        let of_max = signed_in(engine, &desk.max, PASSWORD, 3).await;
        let (ann, max) = (desk.visitor(&desk.ann).await, desk.visitor(&desk.max).await);
        let own = engine.own_sessions(&ann, Some(here)).await.expect("sessions");
        let told: Vec<_> = own.iter().map(|one| (one.browser.as_str(), one.is_this)).collect();
        assert_eq!(told, [("Browser 2", false), ("Browser 1", true)]);
        assert_eq!(engine.end_own_session(&max, own[0].id).await, Ok(false), "it is none of Max's");
        assert!(counts(engine, there).await);
        assert_eq!(engine.end_own_session(&ann, own[0].id).await, Ok(true));
        assert_eq!(engine.end_own_session(&ann, own[0].id).await, Ok(false));
        assert!(!counts(engine, there).await);
        assert_eq!(engine.end_own_session(&ann, BrowserSessionId::from_uuid(uuid::Uuid::nil())).await, Ok(false));
        signed_in(engine, &desk.ann, PASSWORD, 4).await;
        assert_eq!(engine.end_other_sessions(&ann, here).await, Ok(1));
        assert!(counts(engine, here).await && counts(engine, of_max).await);
        // A use is noted.
        desk.pass(120);
        let before = engine.own_sessions(&ann, Some(here)).await.expect("sessions")[0].seen_at;
        assert!(counts(engine, here).await);
        let after = engine.own_sessions(&ann, Some(here)).await.expect("sessions")[0].seen_at;
        assert!(after.seconds_since(before) >= 120);
    }
}

on_both! {
    /// A page that stays open asks again and again whether its session lasts.
    async fn to_ask_whose_a_session_is_does_not_keep_it_going(desk: Desk) {
        let engine = &desk.engine;
        engine.set_password("ann@desk.test", PASSWORD).await.expect("set");
        let session = signed_in(engine, &desk.ann, PASSWORD, 1).await;
        let me = desk.visitor(&desk.ann).await;
        let seen = || async { engine.own_sessions(&me, None).await.expect("sessions")[0].seen_at };
        let before = seen().await;
        desk.pass(IDLE - 1);
        assert_eq!(engine.session_person(session).await, Ok(Some(desk.ann.id)));
        assert_eq!(seen().await, before);
        desk.pass(1);
        assert_eq!(engine.session_person(session).await, Ok(None));
        let other = signed_in(engine, &desk.ann, PASSWORD, 2).await;
        engine.session_delete(other).await.expect("ended");
        assert_eq!(engine.session_person(other).await, Ok(None));
    }
}

on_both! {
    async fn tokens_are_made_and_revoked_by_their_own_person_alone(desk: Desk) {
        let engine = &desk.engine;
        let (ann, max) = (desk.visitor(&desk.ann).await, desk.visitor(&desk.max).await);
        for (abilities, days, field) in [
            (vec![], None, "/abilities"),
            (vec![Ability::ReceiptsRead], Some(0), "/days"),
            (vec![Ability::ReceiptsRead], Some(4_000), "/days"),
        ] {
            let Err(Refusal::Invalid(errors)) = engine.make_own_token(&ann, abilities, days).await else { panic!("{field}") };
            assert_eq!(errors[0].field, field);
        }
        let (id, token) = engine.make_own_token(&ann, vec![Ability::ReceiptsRead], Some(30)).await.expect("a token");
        let Ok(Actor::Person(bearer)) = engine.authenticate(token.reveal()).await else { panic!("a person") };
        assert_eq!(bearer.id(), desk.ann.id);
        let own = engine.own_tokens(&ann).await.expect("tokens");
        assert_eq!((own.len(), own[0].id, own[0].abilities.as_slice()), (1, id, &[Ability::ReceiptsRead][..]));
        let lasts = own[0].expires_at.map(|at| at.seconds_since(own[0].created_at));
        assert!(lasts.is_some_and(|lasts| (30 * 86_400 - 60..=30 * 86_400).contains(&lasts)), "{lasts:?}");
        assert_eq!(engine.own_tokens(&max).await.expect("tokens"), []);
        // A token cannot make another, nor look at sessions, nor change the account.
        assert_eq!(engine.make_own_token(&bearer, vec![Ability::ActionsRead], None).await.err(), Some(Refusal::Denied));
        assert_eq!(engine.own_sessions(&bearer, None).await, Err(Refusal::Denied));
        assert_eq!(engine.change_password(&bearer, PASSWORD, OTHER, None).await, Err(Refusal::Denied));
        assert_eq!(engine.change_account(&bearer, "Eve", None).await, Err(Refusal::Denied));
        assert_eq!(engine.revoke_own_token(&max, id).await, Ok(false));
        assert!(engine.authenticate(token.reveal()).await.is_ok());
        assert_eq!(engine.revoke_own_token(&ann, id).await, Ok(true));
        assert_eq!(engine.revoke_own_token(&ann, id).await, Ok(false));
        assert!(engine.authenticate(token.reveal()).await.is_err());
        assert_eq!(engine.own_tokens(&ann).await.expect("tokens"), []);
        // Nor is an agent's key one of one's tokens.
        let key = desk.database.texts("SELECT id FROM keys WHERE agent_id IS NOT NULL").await[0].parse().expect("an id");
        assert_eq!(engine.revoke_own_token(&ann, key).await, Ok(false));
        let (_, short) = engine.make_own_token(&ann, vec![Ability::ReceiptsRead], Some(1)).await.expect("a token");
        desk.pass(86_400);
        assert!(engine.authenticate(short.reveal()).await.is_err());
    }
}

on_both! {
    async fn name_and_time_zone_are_ones_own(desk: Desk) {
        let engine = &desk.engine;
        let ann = desk.visitor(&desk.ann).await;
        let Err(Refusal::Invalid(errors)) = engine.change_account(&ann, " ", Some("Europe/Nowhere")).await else { panic!("invalid") };
        assert_eq!(errors.iter().map(|error| error.field.as_str()).collect::<Vec<_>>(), ["/name", "/time_zone"]);
        engine.change_account(&ann, " Ann Ahrens ", Some("Europe/Berlin")).await.expect("changed");
        let changed = desk.visitor(&desk.ann).await.person().clone();
        assert_eq!((changed.name.as_str(), changed.time_zone.as_deref()), ("Ann Ahrens", Some("Europe/Berlin")));
        engine.change_account(&ann, "Ann", None).await.expect("changed");
        assert_eq!(desk.visitor(&desk.ann).await.person().time_zone, None);
        assert_eq!(desk.visitor(&desk.max).await.person().name, "Max");
    }
}

on_both! {
    /// Receipts name people as they are called: nobody calls themselves what somebody else is called, and what they were called
    /// before stays to be found.
    async fn nobody_takes_a_name_that_reads_like_anothers(desk: Desk) {
        let engine = &desk.engine;
        let ann = desk.visitor(&desk.ann).await;
        for name in ["Max", "max", "M\u{430}x", "Olga, Max", "Ann for Max"] {
            let Err(Refusal::Invalid(errors)) = engine.change_account(&ann, name, None).await else { panic!("{name} was taken") };
            assert_eq!(errors[0].field, "/name");
        }
        assert_eq!(desk.visitor(&desk.ann).await.person().name, "Ann");
        assert!(engine.own_account_events(&ann).await.expect("events").is_empty());
        engine.change_account(&ann, "Ann Max", None).await.expect("changed");
        let events = engine.account_events(&desk.visitor(&desk.olga).await).await.expect("events");
        assert_eq!((events.len(), events[0].person, events[0].about.as_deref()), (1, desk.ann.id, Some("Ann")));
        let ann = desk.visitor(&desk.ann).await;
        engine.change_account(&ann, "Ann Max", Some("Europe/Berlin")).await.expect("changed");
        assert_eq!(engine.own_account_events(&ann).await.expect("events").len(), 1, "the same name is no news");
    }
}
