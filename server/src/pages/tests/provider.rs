//! Signing in through a provider, as a browser meets it on its way there and back.

use std::net::SocketAddr;

use axum::routing::get;
use tokio::net::TcpListener;

use super::*;

/// A provider that says what it is, and a key that nobody has the other half of.
async fn provider() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let document = json!({
        "issuer": format!("http://{address}"),
        "authorization_endpoint": format!("http://{address}/authorize"),
        "token_endpoint": format!("http://{address}/token"),
        "jwks_uri": format!("http://{address}/jwks"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
    });
    let key = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    let keys = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": "k", "x": key }] });
    let router = Router::new()
        .route("/.well-known/openid-configuration", get(async || axum::Json(document)))
        .route("/jwks", get(async || axum::Json(keys)));
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

fn catalogue(public_url: &str, passwords: bool, address: SocketAddr) -> Catalogue {
    let text = format!(
        "[server]\npublic_url = \"{public_url}\"\n[sign_in]\npasswords = {passwords}\n[sign_in.oidc]\nissuer = \"http://{address}\"\n\
         client_id = \"desk\"\nlabel = \"Sign in with <House>\"\nallow_http = true\nallow_private = true\n"
    );
    Catalogue::parse(&text, "countersign.toml").expect("a catalogue")
}

/// A parameter of the address that the browser is sent to.
fn asked(came: &Came, name: &str) -> String {
    let (_, query) = came.header("location").split_once('?').expect("a query");
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

#[tokio::test]
async fn the_way_there_keeps_a_sealed_cookie_and_the_way_back_takes_it() {
    let desk = Desk::open().await;
    let address = provider().await;
    desk.engine.replace_catalogue(catalogue(OWN, true, address));
    let page = desk.get("/sign-in?next=/done", "").await;
    assert!(page.text.contains("Sign in with &lt;House&gt;") && page.text.contains("name=\"password\""));
    assert!(page.text.contains("href=\"/sign-in/oidc?next=/done\""), "{}", page.text);
    let begun = desk.get("/sign-in/oidc?next=/done", "").await;
    assert_eq!(begun.status, StatusCode::SEE_OTHER);
    assert!(begun.header("location").starts_with(&format!("http://{address}/authorize?")));
    assert_eq!(asked(&begun, "redirect_uri"), format!("{OWN}/sign-in/oidc/callback"));
    assert_eq!(asked(&begun, "scope"), "openid email profile");
    let set = begun.header("set-cookie").to_owned();
    for part in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=600"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains("Secure"), "the address is plain http");
    let (state, nonce) = (asked(&begun, "state"), asked(&begun, "nonce"));
    assert!(!set.contains(&state) && !set.contains(&nonce), "it is sealed");
    // Whoever comes back says no. Where the person wanted to go is not forgotten, and the cookie is taken away.
    let back = format!("/sign-in/oidc/callback?error=access_denied&error_description=%3Cb%3E&state={state}");
    let elsewhere = desk.get(&back, "").await;
    assert_eq!(elsewhere.status, StatusCode::FORBIDDEN);
    assert!(elsewhere.text.contains("begun in another browser"), "{}", elsewhere.text);
    let came = desk.get(&back, &begun.cookie()).await;
    assert_eq!(came.status, StatusCode::FORBIDDEN);
    assert!(
        came.text.contains("did not let you in") && came.text.contains("href=\"/sign-in/oidc?next=/done\"")
    );
    assert!(
        !came.text.contains("&lt;b&gt;") && !came.text.contains(&state),
        "nothing of the address is repeated"
    );
    assert!(came.header("set-cookie").contains("Max-Age=0"), "{}", came.header("set-cookie"));
    let twice = desk.get(&format!("{back}&state={state}"), &begun.cookie()).await;
    assert!(twice.text.contains("begun in another browser"), "of two states, none came");
    let again = desk.get(&back, &begun.cookie()).await;
    assert!(again.text.contains("was used before"), "{}", again.text);
    assert_eq!(desk.get("/inbox", "").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn only_a_browser_that_follows_begins_and_it_ends_nowhere_else() {
    let desk = Desk::open().await;
    assert_eq!(desk.get("/sign-in/oidc", "").await.status, StatusCode::NOT_FOUND, "there is no provider");
    desk.engine.replace_catalogue(catalogue("https://desk.example", true, provider().await));
    for path in ["/sign-in/oidc", "/sign-in/oidc/callback?state=x"] {
        let head = desk.send(request(Method::HEAD, path, "", &[], String::new())).await;
        assert_eq!(head.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert!(head.headers.get("set-cookie").is_none());
    }
    for next in ["//evil.example", "https://evil.example", "/sign-in/oidc", "/sign-in", "/%5Cevil"] {
        let begun = desk.get(&format!("/sign-in/oidc?next={next}"), "").await;
        let set = begun.header("set-cookie");
        assert!(set.starts_with("__Host-countersign-sign-in-") && set.ends_with("; Secure"), "{set}");
        let back = format!("/sign-in/oidc/callback?error=access_denied&state={}", asked(&begun, "state"));
        let came = desk.get(&back, &begun.cookie()).await;
        let way = "href=\"/sign-in/oidc?next=/inbox\"";
        assert!(came.text.contains("did not let you in") && came.text.contains(way), "{next}: {}", came.text);
    }
}

#[tokio::test]
async fn where_passwords_are_off_no_page_has_a_box_for_one() {
    let desk = Desk::open().await;
    let cookie = desk.sign_in("ann@desk.test").await;
    let ada = desk.sign_in("ada@desk.test").await;
    let fields = [("email", "new@desk.test"), ("name", "New")];
    let invited = desk.post("/do/invite", &ada, &fields).await;
    let token = invited.text.split("/invitation/").nth(1).expect("a link");
    let token: String = token.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    desk.engine.replace_catalogue(catalogue(OWN, false, provider().await));
    for (path, cookie) in
        [("/sign-in", ""), ("/account", cookie.as_str()), (&format!("/invitation/{token}"), "")]
    {
        let page = desk.get(path, cookie).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(!page.text.contains("type=\"password\""), "{path}: {}", page.text);
    }
    assert!(desk.get(&format!("/invitation/{token}"), "").await.text.contains("Sign in with &lt;House&gt;"));
    let posted = desk.post("/do/sign-in", "", &[("email", "ann@desk.test"), ("password", PASSWORD)]).await;
    assert_eq!(posted.status, StatusCode::FORBIDDEN);
    assert!(posted.text.contains("Passwords are switched off"), "{}", posted.text);
    let fields = [("link", token.as_str()), ("password", "thrum-welkin-osier")];
    let joined = desk.post("/do/join", "", &fields).await;
    assert_eq!(joined.status, StatusCode::UNPROCESSABLE_ENTITY);
    let fields = [("present", PASSWORD), ("password", "thrum-welkin-osier")];
    assert_eq!(desk.post("/do/password", &cookie, &fields).await.status, StatusCode::UNPROCESSABLE_ENTITY);
}
