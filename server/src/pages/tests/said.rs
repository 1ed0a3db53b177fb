//! What pages say of votes, and of what is not there.

use axum::http::StatusCode;

use super::{Came, Desk};

/// This person confirms the call as its page shows it.
async fn confirms(desk: &Desk, page: &Came, id: &str, cookie: &str) -> Came {
    desk.pass(1_000);
    let (version, token) = (page.hidden("preview_version"), page.hidden("view_token"));
    let fields = [
        ("call", id),
        ("preview_version", version.as_str()),
        ("view_token", token.as_str()),
        ("decision", "confirm"),
    ];
    desk.post("/do/decide", cookie, &fields).await
}

#[tokio::test]
async fn a_quorum_is_told_before_and_after_a_vote() {
    let desk = Desk::open().await;
    let id = desk.hold("pair_note", "hello").await.to_string();
    let (ann, ben) = (desk.sign_in("ann@desk.test").await, desk.sign_in("ben@desk.test").await);
    let address = format!("/inbox/{id}");
    let before = desk.get(&address, &ben).await;
    assert!(
        before.text.contains("Two people have to confirm; yours alone sends nothing."),
        "{}",
        before.text
    );
    assert!(before.text.contains("data-guard"));
    assert_eq!(confirms(&desk, &before, &id, &ben).await.status, StatusCode::SEE_OTHER);
    let after = desk.get(&address, &ben).await.text;
    assert!(after.contains("1 of 2 has confirmed: ") && after.contains("Ben (you)"), "{after}");
    assert!(after.contains("Take it back") && !after.contains("data-guard"), "{after}");
    assert!(desk.get("/inbox", &ben).await.text.contains("Nothing waits for you."));
    let calls = desk.get("/calls", &ben).await.text;
    assert!(calls.contains("Waiting for others") && calls.contains(&address), "{calls}");
    let hers = desk.get(&address, &ann).await.text;
    assert!(hers.contains("1 of 2 has confirmed: ") && hers.contains("data-guard"), "{hers}");
    let undone = desk.post("/do/undo", &ben, &[("call", id.as_str())]).await;
    assert_eq!(undone.status, StatusCode::SEE_OTHER);
    assert!(desk.get(&address, &ben).await.text.contains("data-guard"));
}

#[tokio::test]
async fn a_second_invitation_says_that_the_first_counts_no_more() {
    let desk = Desk::open().await;
    let ada = desk.sign_in("ada@desk.test").await;
    let fields = [("name", "Eve"), ("email", "Eve@desk.test")];
    let said = "The link before counts no more.";
    assert!(!desk.post("/do/invite", &ada, &fields).await.text.contains(said));
    assert!(desk.post("/do/invite", &ada, &fields).await.text.contains(said));
}

/// Sentences that stand where there is nothing else, each on its page for its person.
#[tokio::test]
async fn pages_say_what_is_not_there() {
    let desk = Desk::open().await;
    desk.hold("post_note", "hello").await;
    let pages = [
        ("ada@desk.test", "/journal", "Operators see the calls here."),
        ("ben@desk.test", "/done", "Nothing of yours has been sent yet."),
        ("ben@desk.test", "/calls", "Nothing of yours has been asked for yet."),
        ("ben@desk.test", "/calls", "href=\"/grants\""),
        ("ben@desk.test", "/account", "href=\"/grants\""),
        ("ben@desk.test", "/account/notices", "You are told by nothing yet"),
        ("olga@desk.test", "/journal", "data-column=\"By\""),
    ];
    for (who, page, said) in pages {
        let cookie = desk.sign_in(who).await;
        let came = desk.get(page, &cookie).await;
        assert!(came.text.contains(said), "{page}: {}", came.text);
    }
    let ada = desk.sign_in("ada@desk.test").await;
    let page = desk.get("/account/notices", &ada).await.text;
    let box_ = page.split("id=\"mail\"").nth(1).and_then(|rest| rest.split('>').next()).unwrap_or_default();
    assert!(box_.contains("disabled"), "{page}");
}
