//! Accounts as a browser meets them.

use super::*;

#[tokio::test]
async fn after_too_many_failures_a_try_is_answered_429_and_when_to_come_again() {
    let desk = Desk::open().await;
    for email in ["ann@desk.test", "nobody@desk.test"] {
        let fields = [("email", email), ("password", "wrong")];
        for _ in 0..5 {
            assert_eq!(desk.post("/do/sign-in", "", &fields).await.status, StatusCode::UNPROCESSABLE_ENTITY);
        }
        let came = desk.post("/do/sign-in", "", &[("email", email), ("password", PASSWORD)]).await;
        assert_eq!(came.status, StatusCode::TOO_MANY_REQUESTS, "{email}");
        let seconds: u32 = came.header("retry-after").parse().expect("seconds");
        assert!((1..=30).contains(&seconds), "{seconds}");
        assert!(
            came.text.contains("was not looked at") && came.text.contains("Try again in"),
            "{}",
            came.text
        );
        assert!(came.headers.get("set-cookie").is_none());
    }
    desk.pass(31_000);
    desk.sign_in("ann@desk.test").await;
}

#[tokio::test]
async fn a_session_that_was_disabled_or_given_another_password_is_over_at_once() {
    let desk = Desk::open().await;
    let (ann, ben) = (desk.sign_in("ann@desk.test").await, desk.sign_in("ben@desk.test").await);
    desk.engine.disable_person("ben@desk.test").await.expect("disabled");
    assert_eq!(desk.get("/account", &ben).await.status, StatusCode::SEE_OTHER);
    assert_eq!(desk.get("/account", &ann).await.status, StatusCode::OK);
    desk.engine.set_password("ann@desk.test", "thrum-welkin-osier").await.expect("set");
    assert_eq!(desk.get("/account", &ann).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_hostile_browser_name_is_text() {
    let desk = Desk::open().await;
    let fields = encoded(&[("email", "ann@desk.test"), ("password", PASSWORD)]);
    let headers = [("origin", OWN), ("user-agent", "<script>x</script> \u{202e}\u{feff}")];
    let came = desk.send(request(Method::POST, "/do/sign-in", "", &headers, fields)).await;
    let page = desk.get("/account", &came.cookie()).await;
    assert!(
        page.text.contains("&lt;script&gt;x&lt;/script&gt;") && !page.text.contains("<script>x"),
        "{}",
        page.text
    );
    assert!(page.text.contains("U+202E") && !page.text.contains('\u{202e}'));
}

#[tokio::test]
async fn every_moment_of_a_page_is_in_the_zone_of_its_reader() {
    let desk = Desk::open().await;
    let cookie = desk.sign_in("olga@desk.test").await;
    let fields = [("name", "Olga"), ("time_zone", "Asia/Kathmandu")];
    assert_eq!(desk.post("/do/account", &cookie, &fields).await.header("location"), "/account?done=account");
    for path in ["/account", "/people", &format!("/people/{}", desk.ann.id)] {
        let page = desk.get(path, &cookie).await.text;
        assert!(page.contains(" +0545\"") && !page.contains(" UTC\""), "{path}: {page}");
    }
    let other = desk.sign_in("ann@desk.test").await;
    assert!(desk.get("/account", &other).await.text.contains(" UTC\""));
}

#[tokio::test]
async fn a_token_and_a_link_are_shown_on_the_answer_alone() {
    let desk = Desk::open().await;
    let cookie = desk.sign_in("ada@desk.test").await;
    let token = desk.post("/do/token", &cookie, &[("ability", "receipts:read"), ("days", "30")]).await;
    assert!(token.status == StatusCode::OK && token.text.contains("csu_"), "{}", token.text);
    let fields = [("email", "eve@desk.test"), ("name", "Eve"), ("role", "approver"), ("role", "operator")];
    let link = desk.post("/do/invite", &cookie, &fields).await;
    assert!(link.status == StatusCode::OK && link.text.contains("/invitation/cin_"), "{}", link.text);
    assert_eq!(link.header("cache-control"), "no-store");
    for path in ["/account", "/people"] {
        let page = desk.get(path, &cookie).await.text;
        assert!(!page.contains("csu_") && !page.contains("cin_"), "{path}");
    }
    // The link's page is looked at as often as anybody likes, and used once.
    let at = link.text.find("/invitation/").expect("a link");
    let path = link.text[at..].split('<').next().expect("its end");
    for method in [Method::HEAD, Method::GET, Method::GET] {
        let came = desk.send(request(method, path, "", &[], String::new())).await;
        assert_eq!(came.status, StatusCode::OK);
    }
    let token = path.trim_start_matches("/invitation/");
    let weak = desk.post("/do/join", "", &[("link", token), ("password", "short")]).await;
    assert_eq!(weak.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(weak.text.contains("Welcome, ") && weak.text.contains("at least 12 characters"), "{}", weak.text);
    let joined = desk.post("/do/join", "", &[("link", token), ("password", "thrum-welkin-osier")]).await;
    assert_eq!((joined.status, joined.header("location")), (StatusCode::SEE_OTHER, "/inbox"));
    assert_eq!(desk.get("/people", &joined.cookie()).await.status, StatusCode::OK, "she is an operator");
    let again = desk.post("/do/join", "", &[("link", token), ("password", "thrum-welkin-osier")]).await;
    let unknown = desk.get("/invitation/cin_nonsense", "").await;
    let used = desk.get(path, "").await;
    assert_eq!(
        (again.status, used.status, unknown.status),
        (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND, StatusCode::NOT_FOUND)
    );
    assert_eq!(main_part(&used.text), main_part(&unknown.text), "it tells no more");
    assert!(!again.text.contains("Eve"));
}

#[tokio::test]
async fn members_and_operators_change_nobody() {
    let desk = Desk::open().await;
    let id = desk.ann.id.to_string();
    for email in ["ben@desk.test", "olga@desk.test"] {
        let cookie = desk.sign_in(email).await;
        for (path, fields) in [
            ("/do/roles", vec![("person", id.as_str()), ("role", "admin")]),
            ("/do/disable", vec![("person", id.as_str())]),
            ("/do/enable", vec![("person", id.as_str())]),
            ("/do/invite", vec![("email", "eve@desk.test"), ("name", "Eve")]),
            ("/do/withdraw-invitation", vec![("invitation", "inv_01h455vb4pex5vsknk084sn02q")]),
        ] {
            assert_eq!(
                desk.post(path, &cookie, &fields).await.status,
                StatusCode::NOT_FOUND,
                "{email} {path}"
            );
            assert_eq!(
                desk.post(path, "", &fields).await.status,
                StatusCode::SEE_OTHER,
                "{path}, signed out"
            );
        }
        let page = desk.get(&format!("/people/{id}"), &cookie).await;
        let expected = if email.starts_with("olga") { StatusCode::OK } else { StatusCode::NOT_FOUND };
        assert_eq!(page.status, expected);
        assert!(!page.text.contains("/do/roles") && !page.text.contains("/do/disable"));
    }
    let ann = desk.engine.visitor(desk.ann.id).await.expect("storage").expect("Ann");
    assert_eq!(ann.person().roles, [Role::Member]);
}
