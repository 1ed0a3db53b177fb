//! The sealing key is changed: before, half-way and afterwards everything that is sealed can be read.

mod desk;

use std::time::Duration;

use desk::{Desk, confirm, keyed, with_keys};
use engine::ambient::Ambient;
use engine::reseal::Resealed;
use engine::seal::Sealer;
use engine::{Engine, PageAsked};
use model::{Answer, CallStatus};
use serde_json::json;

/// Something of every kind: held calls (input, preview), a result and a stored answer, a secret and a session.
async fn fill(desk: &Desk) {
    for number in 0..60 {
        let call = desk.careful("note", json!({ "text": format!("held {number}") })).await;
        assert!(matches!(desk.engine.call(call, None).await, Ok(Answer::Waiting(_))));
    }
    let done = desk.engine.call(keyed(desk.quick("note", json!({ "text": "done" })).await, "k"), None).await;
    assert!(matches!(done, Ok(Answer::Done(_))), "{done:?}");
    let sealed = desk.engine.clone();
    let wanted = engine::browser_session::SessionWanted {
        person: desk.ann.id,
        epoch: 0,
        browser: String::new(),
        expires: desk.engine.now().plus_seconds(600),
        goes_on_since: None,
    };
    sealed.session_create([7; 32], b"a session", wanted).await.expect("stored");
}

/// Reads something of every kind, and confirms the newest held call.
async fn everything_is_read_by(desk: &Desk, engine: &Engine, held: usize) {
    let ann = desk.decider(&desk.ann).await;
    let page = PageAsked { limit: Some(100), ..PageAsked::default() };
    let list = engine.approvals(&ann, &page).await.expect("previews").items;
    assert_eq!(list.len(), held);
    let replay = engine.call(keyed(desk.quick("note", json!({ "text": "done" })).await, "k"), None).await;
    let Ok(Answer::Replayed(replay)) = replay else { panic!("no replay: {replay:?}") };
    assert_eq!(replay.result, Some(json!({ "id": "m1", "secret_note": "s" })), "the stored answer is read");
    assert_eq!(engine.session_load([7; 32]).await.expect("storage").as_deref(), Some(&b"a session"[..]));
    let id = list[0].call.id;
    engine.decide(&ann, id, confirm(&list[0].preview.version)).await.expect("the input is read");
    let actor = desk.actor(&desk.careful).await;
    let call = engine.call_status(&actor, id, Some(Duration::from_secs(10))).await.expect("a status");
    assert_eq!(call.status, CallStatus::Done);
    assert_eq!(call.result, Some(json!({ "id": "m1", "secret_note": "s" })));
}

fn fresh_key() -> String {
    Sealer::generate(&Ambient::system())
}

on_both! {
    async fn everything_is_sealed_again_and_the_old_key_is_needed_no_more(desk: Desk) {
        fill(&desk).await;
        let (old, new) = (desk.sealing_key.clone(), fresh_key());
        let both = with_keys(&desk, &format!("{new},{old}")).await;
        everything_is_read_by(&desk, &both, 60).await;

        // Interrupted after a first step.
        let mut resealing = both.reseal();
        let some = resealing.step().await.expect("a step").expect("something to do");
        assert!(some.done > 0 && some.unreadable == 0, "{some:?}");
        drop(resealing);
        let uses = both.key_uses().await.expect("uses");
        assert!(uses.iter().all(|key| key.known && key.seals > 0), "half-way both keys seal something: {uses:?}");
        everything_is_read_by(&desk, &both, 59).await;

        let rest = both.reseal().finish().await.expect("the rest");
        assert!(rest.done > 50 && rest.unreadable == 0, "{rest:?}");
        assert_eq!(both.reseal().finish().await.expect("nothing more"), Resealed::default());
        let uses = both.key_uses().await.expect("uses");
        assert_eq!((uses.len(), uses[1].seals), (2, 0), "{uses:?}");
        everything_is_read_by(&desk, &with_keys(&desk, &new).await, 58).await;
    }
}

on_both! {
    async fn what_no_key_opens_stays_and_is_counted_once(desk: Desk) {
        fill(&desk).await;
        let stranger = with_keys(&desk, &fresh_key()).await;
        let counted = desk.database.count("SELECT COUNT(*) FROM calls WHERE input IS NOT NULL").await;
        let resealed = stranger.reseal().finish().await.expect("it ends");
        assert!(resealed.done == 0 && resealed.unreadable >= counted.unsigned_abs() * 2, "{resealed:?}");
        let uses = stranger.key_uses().await.expect("uses");
        assert_eq!((uses[0].seals, uses[1].known), (0, false), "a key that is missing here still seals: {uses:?}");
        everything_is_read_by(&desk, &desk.engine, 60).await;
    }
}

on_both! {
    async fn what_changes_meanwhile_is_not_put_back(desk: Desk) {
        fill(&desk).await;
        let both = with_keys(&desk, &format!("{},{}", fresh_key(), desk.sealing_key)).await;
        // Withdrawn while everything is sealed again: what was erased stays erased.
        let agent = desk.engine.clone();
        let withdrawing = tokio::spawn(async move { agent.revoke_agent("careful").await });
        both.reseal().finish().await.expect("done");
        withdrawing.await.expect("no panic").expect("revoked");
        both.reseal().finish().await.expect("done");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM calls WHERE input IS NOT NULL OR preview IS NOT NULL").await, 0);
    }
}
