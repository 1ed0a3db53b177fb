//! A desk for tests: every route of the server over a real engine on a fresh SQLite file, in front of the demo's
//! upstream and of one that answers oddly.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::{any, post};
use engine::Engine;
use engine::ambient::Ambient;
use http_body_util::BodyExt;
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tower::ServiceExt;

use super::people::Cast;
use super::upstream::{Secrets, Upstream};
use super::{Places, filled_in, open};
use crate::{accept, serve};

/// How many calls of an agent may be open.
pub(crate) const MAX_HELD: usize = 5;

/// The secret of the credentials for the upstream that answers oddly.
pub(crate) const SECRET: &str = "odd-secret-0451";

/// The desk, its people and its agents.
pub(crate) struct Desk {
    pub(crate) engine: Engine,
    app: Router,
    upstream: Router,
    cast: Cast,
    odd: SocketAddr,
    folder: TempDir,
}

/// A request on its way.
pub(crate) struct Ask<'a> {
    desk: &'a Desk,
    method: String,
    path: String,
    request: http::request::Builder,
    body: Body,
}

/// The answer.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    pub(crate) bytes: Vec<u8>,
}

impl Desk {
    pub(crate) async fn open() -> Self {
        Self::with(&format!("max_held = {MAX_HELD}\nvia_wait = \"1s\""), "").await
    }

    /// The same with these lines in the `[server]` of its catalogue, and these at its end.
    pub(crate) async fn with(settings: &str, more: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let ambient = Ambient::system();
        let secrets = Secrets::fresh(&ambient);
        let (shop, odd) = (loopback().await, loopback().await);
        let at = |listener: &TcpListener| listener.local_addr().expect("an address");
        let places = Places { desk: SocketAddr::from((Ipv4Addr::LOCALHOST, 8087)), upstream: at(&shop) };
        let text = catalogue(places, at(&odd), settings, more);
        let upstream = Upstream::new(&secrets, ambient.clone());
        let router = upstream.clone().router();
        tokio::spawn(upstream.serve(shop));
        let address = at(&odd);
        tokio::spawn(async move { axum::serve(odd, odd_upstream()).await });
        let engine = open(folder.path(), text, &secrets).await.expect("an engine");
        for credential in ["odd", "guarded"] {
            engine.set_secret(credential, SECRET).await.expect("a secret");
        }
        let cast = Cast::assemble(&engine, &ambient).await.expect("people");
        Self { app: serve::app(&engine), engine, upstream: router, cast, odd: address, folder }
    }

    /// Runs a statement behind the desk's back.
    pub(crate) async fn execute(&self, sql: &'static str) {
        use sqlx::Connection as _;
        let file = format!("sqlite:{}", self.folder.path().join("countersign.db").display());
        let mut database = sqlx::SqliteConnection::connect(&file).await.expect("a connection");
        sqlx::query(sql).execute(&mut database).await.expect("it runs");
    }

    /// An address at the upstream that answers oddly.
    pub(crate) fn odd_url(&self, path: &str) -> String {
        format!("http://{}{path}", self.odd)
    }

    /// Serves the desk on a port of its own: its base URL.
    pub(crate) async fn serve(&self) -> String {
        format!("http://{}", self.listen().await)
    }

    /// The same: its address.
    pub(crate) async fn listen(&self) -> SocketAddr {
        let listener = loopback().await;
        let address = listener.local_addr().expect("an address");
        let app = self.app.clone();
        tokio::spawn(accept::serve(listener, app, std::future::pending(), accept::HEAD_TIME));
        address
    }

    pub(crate) fn careful(&self) -> &str {
        &self.cast.careful.key
    }

    pub(crate) fn quick(&self) -> &str {
        &self.cast.quick.key
    }

    /// Owns both agents.
    pub(crate) fn ann(&self) -> &str {
        &self.cast.people[0].token
    }

    /// An approver who owns nothing.
    pub(crate) fn max(&self) -> &str {
        &self.cast.people[1].token
    }

    /// An operator.
    pub(crate) fn olga(&self) -> &str {
        &self.cast.people[2].token
    }

    /// A browser session of Ann's: its cookie.
    pub(crate) async fn sign_in_as_ann(&self) -> String {
        let ann = &self.cast.people[0];
        self.sign_in(ann.email, &ann.password).await
    }

    /// A browser session: its cookie.
    pub(crate) async fn sign_in(&self, email: &str, password: &str) -> String {
        let form = [("email", email), ("password", password)];
        let told = self.ask("POST", "/do/sign-in").form(&form).ok(303).await;
        let set = told.headers["set-cookie"].to_str().expect("text");
        set.split(';').next().unwrap_or_default().to_owned()
    }

    /// Every route, and what goes around all of them.
    pub(crate) const fn app(&self) -> &Router {
        &self.app
    }

    pub(crate) fn ask(&self, method: &str, path: &str) -> Ask<'_> {
        Ask {
            desk: self,
            method: method.to_lowercase(),
            path: path.to_owned(),
            request: Request::builder().method(method).uri(path),
            body: Body::empty(),
        }
    }

    pub(crate) fn get(&self, path: &str, token: &str) -> Ask<'_> {
        self.ask("GET", path).token(token)
    }

    /// A call of an action.
    pub(crate) fn call(&self, action: &str, token: &str, input: &Value) -> Ask<'_> {
        self.ask("POST", &format!("/v1/actions/{action}")).token(token).json(input)
    }

    /// A call of the careful agent that is held: its id, and the version of its preview.
    pub(crate) async fn held(&self, action: &str, input: &Value) -> (String, String) {
        let told = self.call(action, self.careful(), input).send().await;
        assert_eq!((told.status, &told.body["status"]), (202, &Value::from("held")), "{told:?}");
        let id = told.body["call_id"].as_str().expect("an id").to_owned();
        let list = self.get("/v1/approvals", self.ann()).send().await;
        let items = list.body["items"].as_array().expect("items");
        let item = items.iter().find(|item| item["id"] == id.as_str()).expect("the call is listed");
        (id, item["preview"]["version"].as_str().expect("a version").to_owned())
    }

    /// What has happened upstream.
    pub(crate) async fn upstream(&self) -> Value {
        let request = Request::get("/state").body(Body::empty()).expect("a request");
        told(self.upstream.clone(), request).await.body
    }
}

impl Ask<'_> {
    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.bytes(body.to_string().into_bytes())
    }

    /// A form of one of the desk's own pages.
    pub(crate) fn form(self, fields: &[(&str, &str)]) -> Self {
        self.header("origin", "http://127.0.0.1:8087").urlencoded(fields)
    }

    /// A form, from wherever the headers say.
    pub(crate) fn urlencoded<V: AsRef<str>>(self, fields: &[(&str, V)]) -> Self {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.header("content-type", "application/x-www-form-urlencoded").raw(body.into_bytes())
    }

    /// Bytes that say they are JSON.
    pub(crate) fn bytes(self, body: Vec<u8>) -> Self {
        self.header("content-type", "application/json").raw(body)
    }

    pub(crate) fn raw(mut self, body: Vec<u8>) -> Self {
        self.body = Body::from(body);
        self
    }

    /// The answer before its body has been read, for one that goes on.
    pub(crate) async fn open(self) -> Response {
        let request = self.request.body(self.body).expect("a request");
        self.desk.app.clone().oneshot(request).await.expect("an answer")
    }

    pub(crate) async fn send(self) -> Told {
        told(self.desk.app.clone(), self.request.body(self.body).expect("a request")).await
    }

    /// Sends it, and leaves a body that goes on unread.
    pub(crate) async fn head(self) -> Told {
        let (parts, _) = self.open().await.into_parts();
        Told { status: parts.status.as_u16(), headers: parts.headers, body: Value::Null, bytes: Vec::new() }
    }

    /// Sends it and expects a problem.
    pub(crate) async fn refused(self, status: u16, code: &str) -> Told {
        let (method, path) = (self.method.clone(), self.path.clone());
        let told = self.send().await;
        assert_eq!((told.status, &told.body["code"]), (status, &Value::from(code)), "{told:?}");
        assert!(is_documented(&method, &path, &told), "{method} {path}: {code} is not in the document");
        assert_eq!(told.headers["content-type"], "application/problem+json");
        assert_eq!(told.body["status"], status);
        told
    }

    /// Sends it and expects success.
    pub(crate) async fn ok(self, status: u16) -> Told {
        let told = self.send().await;
        assert_eq!(told.status, status, "{told:?}");
        told
    }
}

/// Whether the `OpenAPI` document says that this may be answered there. It says nothing of what is not there.
fn is_documented(method: &str, path: &str, told: &Told) -> bool {
    static DOCUMENT: LazyLock<Value> =
        LazyLock::new(|| serde_json::from_slice(&crate::api::document()).expect("JSON"));
    let segments = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
    let asked = segments(path.split('?').next().unwrap_or(path));
    let fits = |template: &str| {
        let template = segments(template);
        template.len() == asked.len()
            && template.iter().zip(&asked).all(|(t, a)| t == a || t.starts_with('{'))
    };
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    let operation = paths.iter().find(|(template, _)| fits(template)).and_then(|(_, item)| item.get(method));
    operation.is_none_or(|operation| {
        let answer = &operation["responses"][told.status.to_string()];
        let code = told.body["code"].as_str().unwrap_or_default();
        answer["description"].as_str().is_some_and(|codes| codes.contains(&format!("`{code}`")))
    })
}

async fn told(router: Router, request: Request<Body>) -> Told {
    let response = router.oneshot(request).await.expect("an answer");
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.expect("a body").to_bytes().to_vec();
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    Told { status: parts.status.as_u16(), headers: parts.headers, body, bytes }
}

/// The demo's catalogue and what tests need beside it.
fn catalogue(places: Places, odd: SocketAddr, settings: &str, end: &str) -> String {
    let more = [include_str!("testing.toml"), end]
        .concat()
        .replace("@ODD_HOST@", &odd.to_string())
        .replace("@ODD@", &format!("http://{odd}"))
        .replace("@UPSTREAM@", &places.upstream_url());
    filled_in(places).replace("[server]", &format!("[server]\n{settings}")) + &more
}

async fn loopback() -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port")
}

/// An upstream that answers as it is asked to.
fn odd_upstream() -> Router {
    async fn answer(Path(status): Path<u16>) -> StatusCode {
        StatusCode::from_u16(status).expect("a status")
    }
    async fn echo(request: Request<Body>) -> Response {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        let headers: Vec<_> = parts
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap_or("?")))
            .collect();
        let told = serde_json::json!({
            "method": parts.method.as_str(),
            "uri": parts.uri.to_string(),
            "headers": headers,
            "body": String::from_utf8_lossy(&body),
            "bytes": body.len(),
        });
        let set = [("x-twice", "1"), ("x-twice", "2"), ("set-cookie", "a=b"), ("cache-control", "max-age=9")];
        (StatusCode::IM_A_TEAPOT, AppendHeaders(set), axum::Json(told)).into_response()
    }
    async fn hang_up() -> StatusCode {
        panic!("the connection ends without an answer")
    }
    Router::new()
        .route("/answer/{status}", any(answer))
        .route("/hang-up", post(hang_up))
        .route("/echo/{*rest}", any(echo))
}
