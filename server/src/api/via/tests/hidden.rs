//! A credential that a caller may not use is told like one that is not there, byte for byte.

use engine::catalogue::Catalogue;

use crate::demo::testing::{Ask, Desk};

/// What a request carries beside its method and path.
type Carrying<'a> = &'a dyn Fn(Ask<'_>) -> Ask<'_>;

/// A desk with a credential whose key goes into a header of its own, and that nobody here may use.
async fn desk() -> Desk {
    let desk = Desk::open().await;
    let text = "[[credential]]\nname = \"hidden\"\nhosts = [\"a.example\"]\nbase_url = \"https://a.example\"\n\
                header = \"X-Api-Key\"\nvalue = \"{secret}\"\nsecret = { store = true }\nallow = [\"agent:another\"]\n\
                path_prefixes = [\"/v1/\"]\nmethods = [\"GET\"]\n";
    desk.engine.replace_catalogue(Catalogue::parse(text, "c.toml").expect("a catalogue"));
    desk
}

#[tokio::test]
async fn a_credential_one_may_not_use_is_told_like_none() {
    let desk = desk().await;
    let bearer = format!("Bearer {}", desk.quick());
    let large = vec![b'x'; (1 << 20) + 1];
    let cases: [(&str, &str, Carrying<'_>, u16); 9] = [
        ("GET", "/v1/x", &|ask| ask.header("authorization", &bearer), 404),
        ("GET", "", &|ask| ask.header("authorization", &bearer), 404),
        ("DELETE", "/x/%2e%2e/y%2F", &|ask| ask.header("authorization", &bearer), 404),
        (
            "GET",
            "/v1/x",
            &|ask| ask.header("authorization", &bearer).header("countersign-session", "a b"),
            422,
        ),
        (
            "GET",
            "/v1/x",
            &|ask| ask.header("authorization", &bearer).header("countersign-tenant", "none"),
            404,
        ),
        ("GET", "/v1/x", &|ask| ask.header("authorization", &bearer).header("idempotency-key", "a b"), 404),
        ("POST", "/v1/x", &|ask| ask.header("authorization", &bearer).raw(large.clone()), 413),
        ("POST", "/v1/x", &|ask| ask.header("x-api-key", desk.quick()).raw(large.clone()), 401),
        ("GET", "/v1/x", &|ask| ask, 401),
    ];
    for (method, tail, prepare, status) in cases {
        let told = async |credential: &str| {
            let told = prepare(desk.ask(method, &format!("/via/{credential}{tail}"))).send().await;
            let headers: Vec<_> = told
                .headers
                .iter()
                .filter(|(name, _)| *name != "x-request-id")
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            (told.status, headers, told.bytes)
        };
        let (hidden, none) = (told("hidden").await, told("absent").await);
        assert_eq!(hidden.0, status, "{method} {tail}");
        assert_eq!(hidden, none, "{method} {tail}");
    }
    for key in ["csk_wrong", desk.quick()] {
        let told = desk
            .ask("GET", "/via/hidden/v1/x")
            .header("x-api-key", key)
            .refused(401, "unauthenticated")
            .await;
        let none = desk
            .ask("GET", "/via/absent/v1/x")
            .header("x-api-key", key)
            .refused(401, "unauthenticated")
            .await;
        assert_eq!(told.bytes, none.bytes);
    }
}
