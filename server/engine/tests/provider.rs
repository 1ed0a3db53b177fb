//! Signing in through a provider: whose word is taken, for whom, and how often.

#[macro_use]
mod desk;
mod issuer;

use std::net::IpAddr;

use desk::{Desk, confirm};
use engine::invitation::InvitationWanted;
use engine::provider::{NotSignedIn, Return, SECRET_NAME};
use engine::sign_in::SignedIn;
use engine::store::IdentityChange;
use issuer::{Issuer, SECRET, Says, Signed};
use model::{CallStatus, Person, Role};
use serde_json::{Value, json};

const HOME: &str = "198.51.100.7";

/// A provider that this desk knows, with more in its table.
async fn provider(desk: &Desk, more: &str) -> Issuer {
    let issuer = Issuer::start().await;
    desk.reload_with(&issuer.table(more));
    desk.engine.set_secret(SECRET_NAME, SECRET).await.expect("kept");
    issuer
}

fn claims(said: Value) -> Says {
    let Value::Object(claims) = said else { panic!("claims are an object") };
    Says { claims, ..Says::default() }
}

async fn begin(desk: &Desk, issuer: &Issuer) -> Return {
    issuer.agrees(&desk.engine.begin_at_provider("/done").await.expect("it begins"))
}

async fn finish(desk: &Desk, came: Return) -> Result<SignedIn, NotSignedIn> {
    let from: IpAddr = HOME.parse().expect("an address");
    desk.engine.finish_at_provider(came, Some(from)).await.outcome
}

/// One sign-in from its beginning to its end.
async fn sign_in(desk: &Desk, issuer: &Issuer) -> Result<SignedIn, NotSignedIn> {
    finish(desk, begin(desk, issuer).await).await
}

async fn refused(desk: &Desk, issuer: &Issuer) -> NotSignedIn {
    sign_in(desk, issuer).await.expect_err("nobody is signed in")
}

async fn admin(desk: &Desk) -> Person {
    let wanted = engine::registry::PersonWanted {
        email: "ada@desk.test".to_owned(),
        name: "Ada".to_owned(),
        roles: vec![Role::Admin],
        password: None,
    };
    desk.engine.add_person(wanted).await.expect("added")
}

async fn groups(desk: &Desk, person: &Person) -> Vec<String> {
    let all = desk.engine.groups().await.expect("groups").into_iter();
    all.filter(|group| group.members.contains(&person.email)).map(|group| group.name).collect()
}

/// What signing in changed of an account, the oldest first.
async fn changes(desk: &Desk, person: &Person) -> Vec<(IdentityChange, Vec<String>, Vec<String>)> {
    let olga = desk.visitor(&desk.olga).await;
    let ways = desk.engine.ways_of(&olga, person.id).await.expect("an operator sees it");
    ways.changes.into_iter().rev().map(|line| (line.change, line.joined, line.parted)).collect()
}

on_both! {
    async fn a_person_is_linked_once_and_is_the_subject_from_then_on(desk: Desk) {
        let issuer = provider(&desk, "").await;
        let came = begin(&desk, &issuer).await;
        let finished = desk.engine.finish_at_provider(came, None).await;
        assert_eq!(finished.next, "/done");
        assert_eq!(finished.outcome.expect("signed in").person.id(), desk.ann.id);
        // Whatever their address is there by now, and if nobody vouches for it.
        issuer.says(claims(json!({ "email": "max@desk.test", "email_verified": null })));
        assert_eq!(sign_in(&desk, &issuer).await.expect("signed in").person.id(), desk.ann.id);
        assert_eq!(changes(&desk, &desk.ann).await, [(IdentityChange::Linked, vec![], vec![])]);
        // Another subject with Ann's address is nobody, and so is one whose address is verified by nobody.
        for said in [
            json!({ "sub": "subject-2" }),
            json!({ "sub": "subject-3", "email": "max@desk.test", "email_verified": false }),
            json!({ "sub": "subject-4", "email": "max@desk.test", "email_verified": null }),
            json!({ "sub": "subject-5", "email": null }),
            json!({ "sub": "subject-6", "email": "stranger@desk.test" }),
        ] {
            issuer.says(claims(said.clone()));
            assert_eq!(refused(&desk, &issuer).await, NotSignedIn::Nobody, "{said}");
        }
        assert!(changes(&desk, &desk.max).await.is_empty());
        // A link that was taken away is made anew by the address.
        assert_eq!(desk.engine.unlink("ann@desk.test").await.expect("unlinked"), 1);
        issuer.says(claims(json!({ "sub": "subject-2", "email": "Ann@Desk.test", "email_verified": "true" })));
        assert_eq!(sign_in(&desk, &issuer).await.expect("signed in").person.id(), desk.ann.id);
        // Where nobody verifies addresses, whoever runs the desk links by hand; a subject and an account once each.
        issuer.says(claims(json!({ "sub": "subject-8", "email": null })));
        desk.engine.link("max@desk.test", "subject-8").await.expect("linked");
        assert_eq!(sign_in(&desk, &issuer).await.expect("signed in").person.id(), desk.max.id);
        for (email, subject) in [("olga@desk.test", "subject-8"), ("max@desk.test", "subject-9"), ("olga@desk.test", "")] {
            desk.engine.link(email, subject).await.expect_err("taken, or none");
        }
        assert_eq!(desk.engine.unlink("max@desk.test").await.expect("unlinked"), 1);
        issuer.says(claims(json!({ "sub": "subject-2" })));
        // Whoever is disabled is refused like somebody who does not exist.
        desk.engine.disable_person("ann@desk.test").await.expect("disabled");
        assert_eq!(refused(&desk, &issuer).await, NotSignedIn::Nobody);
        desk.engine.disable_person("max@desk.test").await.expect("disabled");
        issuer.says(claims(json!({ "sub": "subject-7", "email": "max@desk.test" })));
        assert_eq!(refused(&desk, &issuer).await, NotSignedIn::Nobody);
        assert_eq!(changes(&desk, &desk.max).await.len(), 2, "nor linked");
    }
}

on_both! {
    /// OpenID Connect Core 1.0, section 3.1.3.7: each of these is one check that a provider never fails by itself.
    async fn a_word_that_is_not_the_providers_or_not_for_this_is_not_taken(desk: Desk) {
        let issuer = provider(&desk, "").await;
        let wrong = |signed, said: Value| Says { signed, ..claims(said) };
        let now = desk.engine.now().micros() / 1_000_000;
        for (what, says, why) in [
            ("another audience", claims(json!({ "aud": "other" })), NotSignedIn::Unproven),
            ("one audience more", claims(json!({ "aud": ["desk", "other"] })), NotSignedIn::Unproven),
            ("another nonce", claims(json!({ "nonce": "other" })), NotSignedIn::Unproven),
            ("no nonce", claims(json!({ "nonce": null })), NotSignedIn::Unproven),
            ("another issuer", claims(json!({ "iss": "https://login.example" })), NotSignedIn::Unproven),
            ("another party", claims(json!({ "azp": "other" })), NotSignedIn::Unproven),
            ("another access token", claims(json!({ "at_hash": "AAAAAAAAAAAAAAAAAAAAAA" })), NotSignedIn::Unproven),
            ("no subject", claims(json!({ "sub": "" })), NotSignedIn::Unproven),
            ("a NUL", claims(json!({ "sub": "a\0b" })), NotSignedIn::Unproven),
            ("run out", claims(json!({ "iat": now - 500, "exp": now - 200 })), NotSignedIn::Clock),
            ("of the future", claims(json!({ "iat": now + 500, "exp": now + 900 })), NotSignedIn::Clock),
            ("another key", wrong(Signed::ByAnother, json!({})), NotSignedIn::Unproven),
            ("an unnamed key", wrong(Signed::ByUnnamed, json!({})), NotSignedIn::Unproven),
            ("no signature", wrong(Signed::NotAtAll, json!({})), NotSignedIn::Unproven),
            ("the public key as a secret", wrong(Signed::WithPublicKey, json!({})), NotSignedIn::Unproven),
            ("the shared secret", wrong(Signed::WithClientSecret, json!({})), NotSignedIn::Unproven),
        ] {
            issuer.says(says);
            assert_eq!(refused(&desk, &issuer).await, why, "{what}");
        }
        assert!(changes(&desk, &desk.ann).await.is_empty());
        // The same machinery with nothing wrong, and with clocks that are a little apart.
        issuer.says(claims(json!({ "iat": now + 30, "exp": now - 10, "azp": "desk" })));
        sign_in(&desk, &issuer).await.expect("signed in");
    }
}

on_both! {
    async fn what_was_begun_comes_back_once_here_and_soon(desk: Desk) {
        let issuer = provider(&desk, "").await;
        let came = begin(&desk, &issuer).await;
        finish(&desk, came.clone()).await.expect("signed in");
        assert_eq!(finish(&desk, came.clone()).await.expect_err("again"), NotSignedIn::Stale);
        // The code of a sign-in before, brought to one that is new: the provider says so.
        let fresh = Return { code: came.code.clone(), ..begin(&desk, &issuer).await };
        assert_eq!(finish(&desk, fresh).await.expect_err("an old code"), NotSignedIn::Stale);
        // Another sign-in's code, which is good: whoever began this one cannot prove that they began that one.
        let (mine, theirs) = (begin(&desk, &issuer).await, begin(&desk, &issuer).await);
        let mixed = Return { code: theirs.code.clone(), ..mine };
        assert_eq!(finish(&desk, mixed).await.expect_err("another's code"), NotSignedIn::Stale);
        for (what, came) in [
            ("no pass", Return { pass: None, ..begin(&desk, &issuer).await }),
            ("another's pass", Return { pass: begin(&desk, &issuer).await.pass, ..begin(&desk, &issuer).await }),
            ("no state", Return { state: None, ..begin(&desk, &issuer).await }),
            ("an altered pass", Return { pass: Some("AAAA".to_owned()), ..begin(&desk, &issuer).await }),
        ] {
            assert_eq!(finish(&desk, came).await.expect_err(what), NotSignedIn::Stale, "{what}");
        }
        let late = begin(&desk, &issuer).await;
        desk.pass(599);
        let slow = desk.engine.begin_at_provider("/").await.expect("it begins");
        desk.pass(1);
        assert_eq!(finish(&desk, late).await.expect_err("ten minutes"), NotSignedIn::Stale);
        let now = desk.engine.now().micros() / 1_000_000;
        issuer.says(claims(json!({ "iat": now, "exp": now + 60 })));
        finish(&desk, issuer.agrees(&slow)).await.expect("in time");
        desk.pass(3_700);
        desk.engine.erase().await.expect("erased");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM sign_in_returns").await, 0, "and is forgotten");
    }
}

on_both! {
    async fn a_no_is_a_no_and_an_answer_of_another_provider_none(desk: Desk) {
        let issuer = provider(&desk, "").await;
        for (error, why) in [
            ("access_denied", NotSignedIn::Denied),
            ("temporarily_unavailable", NotSignedIn::Unreachable),
            ("<script>", NotSignedIn::NotAClient),
        ] {
            let came = Return { error: Some(error.to_owned()), code: None, ..begin(&desk, &issuer).await };
            assert_eq!(finish(&desk, came).await.expect_err(error), why);
        }
        let other = Return { issuer: Some("https://evil.example".to_owned()), ..begin(&desk, &issuer).await };
        assert_eq!(finish(&desk, other).await.expect_err("another provider"), NotSignedIn::Unproven);
        issuer.name_itself();
        desk.pass(601);
        let unnamed = begin(&desk, &issuer).await;
        assert_eq!(finish(&desk, unnamed).await.expect_err("no name"), NotSignedIn::Unproven);
    }
}

on_both! {
    async fn many_at_once_are_one(desk: Desk) {
        let issuer = provider(&desk, "").await;
        let other = desk.second_node().await;
        other.replace_catalogue(desk.engine.catalogue().as_ref().clone());
        // One return, brought back many times: one is taken.
        let came = begin(&desk, &issuer).await;
        let tries = (0..8).map(|n| {
            let (engine, came) = (if n % 2 == 0 { desk.engine.clone() } else { other.clone() }, came.clone());
            tokio::spawn(async move { engine.finish_at_provider(came, None).await.outcome })
        });
        let ended = futures::future::join_all(tries.collect::<Vec<_>>()).await;
        let (taken, rest): (Vec<_>, Vec<_>) = ended.into_iter().map(|one| one.expect("no panic")).partition(Result::is_ok);
        assert_eq!((taken.len(), rest.len()), (1, 7));
        for one in rest {
            assert_eq!(one.expect_err("not taken"), NotSignedIn::Stale);
        }
    }
}

on_both! {
    async fn of_many_subjects_with_one_address_one_is_linked(desk: Desk) {
        let issuer = provider(&desk, "").await;
        let other = desk.second_node().await;
        other.replace_catalogue(desk.engine.catalogue().as_ref().clone());
        let mut tries = Vec::new();
        for n in 0..6 {
            issuer.says(claims(json!({ "sub": format!("subject-{n}") })));
            let came = begin(&desk, &issuer).await;
            let engine = if n % 2 == 0 { desk.engine.clone() } else { other.clone() };
            tries.push((engine, came));
        }
        let tries = tries.into_iter();
        let tries = tries.map(|(engine, came)| tokio::spawn(async move { engine.finish_at_provider(came, None).await.outcome }));
        let ended = futures::future::join_all(tries.collect::<Vec<_>>()).await;
        assert_eq!(ended.into_iter().filter(|one| one.as_ref().expect("no panic").is_ok()).count(), 1);
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM person_identities").await, 1);
        assert_eq!(changes(&desk, &desk.ann).await.len(), 1);
    }
}

const GUARDED: &str = r#"
[[action]]
name = "guarded"
title = "Guarded"
description = "Two mailers decide."
effect = "external"
credential = "mail"
undo_window = "0s"
approvers = ["group:mailers", "person:olga@desk.test"]
quorum = 2
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "POST", url = "http://UPSTREAM/messages" }
preview = { title = "Guarded" }
"#;

on_both! {
    async fn mapped_groups_follow_the_provider_and_others_stay(desk: Desk) {
        let table = format!("groups_claim = \"teams\"\ngroups = {{ post = \"mailers\", letters = \"mailers\", boss = \"heads\" }}\n{GUARDED}");
        let issuer = provider(&desk, &table).await;
        desk.engine.add_to_group("gardeners", "ann@desk.test").await.expect("added");
        desk.engine.add_to_group("heads", "ann@desk.test").await.expect("added");
        desk.engine.add_to_group("mailers", "max@desk.test").await.expect("added");
        issuer.says(claims(json!({ "teams": ["letters", "gardeners", "admin"] })));
        sign_in(&desk, &issuer).await.expect("signed in");
        assert_eq!(groups(&desk, &desk.ann).await, ["gardeners", "mailers"]);
        let held = desk.held(desk.careful("guarded", json!({})).await).await;
        assert_eq!(desk.confirms(&desk.ann, held).await.expect("a vote").status, CallStatus::Held);
        // Nothing changed: nothing is written.
        sign_in(&desk, &issuer).await.expect("signed in");
        // She leaves the team, says nothing of teams, or something that is no list: her vote goes with the group.
        issuer.says(claims(json!({ "teams": 7 })));
        sign_in(&desk, &issuer).await.expect("signed in");
        assert_eq!(groups(&desk, &desk.ann).await, ["gardeners"]);
        let said = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(changes(&desk, &desk.ann).await, [
            (IdentityChange::Linked, vec![], vec![]),
            (IdentityChange::Groups, said(&["mailers"]), said(&["heads"])),
            (IdentityChange::Groups, vec![], said(&["mailers"])),
        ]);
        let version = desk.preview(&desk.max, held).await.version;
        let max = desk.decider(&desk.max).await;
        let call = desk.engine.decide(&max, held, confirm(&version)).await.expect("a vote");
        assert_eq!(call.status, CallStatus::Held, "Ann's vote counts no more");
        assert!(desk.upstream.writes().is_empty());
        desk.confirms(&desk.olga, held).await.expect("a vote");
        assert_eq!(desk.ended(held).await.status, CallStatus::Done);
        assert_eq!(desk.receipts().await[0].approval.by, [desk.max.id, desk.olga.id]);
    }
}

on_both! {
    /// OpenID Connect Core 1.0, section 5.4: what a scope asks for may be told elsewhere.
    async fn what_the_token_does_not_say_is_asked_for(desk: Desk) {
        let issuer = provider(&desk, "groups = { post = \"mailers\" }").await;
        let Value::Object(info) = json!({ "sub": "subject-1", "email": "max@desk.test", "email_verified": true, "groups": "post" }) else { panic!() };
        let silent = claims(json!({ "email": null, "email_verified": null }));
        issuer.says(Says { user_info: info.clone(), ..silent.clone() });
        let signed_in = sign_in(&desk, &issuer).await.expect("signed in").person;
        assert_eq!((signed_in.id(), groups(&desk, &desk.max).await), (desk.max.id, vec!["mailers".to_owned()]));
        // What is said of another subject is of another.
        let mut others = info;
        others.insert("sub".to_owned(), json!("subject-9"));
        issuer.says(Says { user_info: others, ..silent });
        assert_eq!(refused(&desk, &issuer).await, NotSignedIn::Unproven);
    }
}

on_both! {
    async fn whoever_is_invited_joins_and_nobody_else_unless_the_catalogue_says_so(desk: Desk) {
        let issuer = provider(&desk, "").await;
        let ada = admin(&desk).await;
        let ada = desk.visitor(&ada).await;
        let wanted = InvitationWanted { email: "new@desk.test".to_owned(), name: "New".to_owned(), roles: vec![Role::Approver] };
        let (_, link) = desk.engine.invite(&ada, wanted).await.expect("invited");
        issuer.says(claims(json!({ "sub": "n", "email": "new@desk.test", "email_verified": false })));
        assert_eq!(refused(&desk, &issuer).await, NotSignedIn::Nobody);
        issuer.says(claims(json!({ "sub": "n", "email": "new@desk.test", "name": "Other" })));
        let joined = sign_in(&desk, &issuer).await.expect("signed in").person;
        assert_eq!((joined.person().name.as_str(), &joined.person().roles), ("New", &vec![Role::Member, Role::Approver]));
        assert_eq!(changes(&desk, joined.person()).await, [(IdentityChange::Joined, vec![], vec![])]);
        assert!(desk.engine.accept_invitation(link.reveal(), "fetch-bexar-wantn").await.is_err(), "it is used up");
        issuer.says(claims(json!({ "sub": "p", "email": "passer@desk.test", "name": " Passer By " })));
        assert_eq!(refused(&desk, &issuer).await, NotSignedIn::Nobody);
        desk.reload_with(&issuer.table("provision = true"));
        let made = sign_in(&desk, &issuer).await.expect("signed in").person;
        assert_eq!((made.person().name.as_str(), &made.person().roles), ("Passer By", &vec![Role::Member]));
        assert_eq!(changes(&desk, made.person()).await, [(IdentityChange::Provisioned, vec![], vec![])]);
        issuer.says(claims(json!({ "sub": "q", "email": "quiet@desk.test", "email_verified": false })));
        assert_eq!(refused(&desk, &issuer).await, NotSignedIn::Nobody);
    }
}

on_both! {
    async fn where_passwords_are_off_none_is_looked_at(desk: Desk) {
        let issuer = provider(&desk, "").await;
        desk.engine.set_password("ann@desk.test", "fetch-bexar-wantn").await.expect("set");
        let ada = admin(&desk).await;
        let wanted = InvitationWanted { email: "new@desk.test".to_owned(), name: "New".to_owned(), roles: vec![] };
        let (_, link) = desk.engine.invite(&desk.visitor(&ada).await, wanted).await.expect("invited");
        assert!(desk.engine.sign_in("ann@desk.test", "fetch-bexar-wantn", None).await.expect("looked at").is_some());
        desk.reload_with(&format!("[sign_in]\npasswords = false\n{}", issuer.table("")));
        let looked_at = desk.engine.passwords_verified();
        assert!(desk.engine.sign_in("ann@desk.test", "fetch-bexar-wantn", None).await.expect("refused").is_none());
        let ann = desk.visitor(&desk.ann).await;
        assert!(desk.engine.change_password(&ann, "fetch-bexar-wantn", "another-long-word", None).await.is_err());
        assert!(desk.engine.accept_invitation(link.reveal(), "fetch-bexar-wantn").await.is_err());
        assert!(desk.engine.prove_with_password(&ann, "fetch-bexar-wantn").await.is_err());
        assert_eq!(desk.engine.passwords_verified(), looked_at);
        assert!(desk.engine.locked_out().await.expect("looked").is_some_and(|said| said.contains("no admin")));
        issuer.says(claims(json!({ "sub": "a", "email": "ada@desk.test" })));
        sign_in(&desk, &issuer).await.expect("signed in");
        assert_eq!(desk.engine.locked_out().await.expect("looked"), None);
    }
}

on_both! {
    async fn who_fails_often_waits_and_who_is_let_down_does_not(desk: Desk) {
        let issuer = provider(&desk, "").await;
        // A provider that is away, and a person who does not agree, are no guesses.
        for _ in 0..32 {
            let came = Return { error: Some("access_denied".to_owned()), ..begin(&desk, &issuer).await };
            assert_eq!(finish(&desk, came).await.expect_err("denied"), NotSignedIn::Denied);
        }
        for _ in 0..30 {
            let came = Return { state: Some("guess".to_owned()), ..Return::default() };
            assert_eq!(finish(&desk, came).await.expect_err("a guess"), NotSignedIn::Stale);
        }
        let asked = issuer.seen().len();
        assert!(matches!(refused(&desk, &issuer).await, NotSignedIn::Later(1..=30)));
        assert_eq!(issuer.seen().len(), asked, "not looked at");
        let came = begin(&desk, &issuer).await;
        let elsewhere = "203.0.113.9".parse().expect("an address");
        desk.engine.finish_at_provider(came, Some(elsewhere)).await.outcome.expect("elsewhere nobody waits");
    }
}

on_both! {
    async fn a_provider_that_is_away_or_changed_its_key_is_asked_again(desk: Desk) {
        let issuer = provider(&desk, "").await;
        issuer.says(Says { down: Some(503), ..Says::default() });
        assert_eq!(desk.engine.begin_at_provider("/").await.expect_err("away"), NotSignedIn::Unreachable);
        let asked = issuer.seen().len();
        for _ in 0..5 {
            assert_eq!(desk.engine.begin_at_provider("/").await.expect_err("away"), NotSignedIn::Unreachable);
        }
        assert_eq!(issuer.seen().len(), asked, "left alone for a moment");
        desk.pass(5);
        issuer.says(Says::default());
        sign_in(&desk, &issuer).await.expect("signed in");
        let documents = issuer.seen().len();
        let came = begin(&desk, &issuer).await;
        assert_eq!(issuer.seen().len(), documents, "what it said is kept");
        issuer.rotate();
        desk.pass(5);
        finish(&desk, came).await.expect("by the new key");
        // It went away while its person was there.
        let came = begin(&desk, &issuer).await;
        issuer.says(Says { down: Some(500), ..Says::default() });
        assert!(matches!(finish(&desk, came).await.expect_err("away"), NotSignedIn::Unreachable | NotSignedIn::NotAClient));
        issuer.says(Says::default());
        desk.engine.set_secret(SECRET_NAME, "another").await.expect("kept");
        assert_eq!(refused(&desk, &issuer).await, NotSignedIn::NotAClient);
        // Nowhere but where it was checked to lead: plain http and loopback need the catalogue's word.
        desk.reload_with(&issuer.table("").replace("allow_private = true", ""));
        assert_eq!(desk.engine.begin_at_provider("/").await.expect_err("blocked"), NotSignedIn::Unreachable);
    }
}
