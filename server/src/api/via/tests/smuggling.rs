//! Requests that mean two things at once, and headers that try to be more than headers. Raw bytes on both sides: what a
//! client writes to the desk's listener, and what the desk writes to the service. Whatever comes in, what goes out is
//! nothing, or exactly one clean request.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::{RAW_SECRET, desk_in_front_of};

/// What has to become of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    /// The service sees nothing of it.
    Refused,
    /// The service sees it once, with this body.
    Once(&'static str),
}

use Fate::{Once, Refused};

/// Raw requests. `@KEY@` is an agent's key, `@PATH@` a path of the case's own behind `/via/raw`, `@DESK@` and `@RAW@`
/// the addresses of the desk and of the service.
const CORPUS: &[(&str, Fate)] = &[
    // The plain form, so that the corpus shows what it would miss.
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        Once("hello"),
    ),
    // CL.TE and TE.CL: the rest of either reading is no second request.
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 300\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nPOST /via/raw/smuggled HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 0\r\n\r\n",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5\r\nhello\r\n0\r\n\r\nPOST /via/raw/smuggled HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 0\r\n\r\n",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding: chunked, identity\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding:\x0bchunked\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer_Encoding: chunked\r\nContent_Length: 2\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.0\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        Refused,
    ),
    // Lengths that are not one length.
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5, 6\r\n\r\nhello!",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: +5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: -1\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 0x5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length:\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 99999999999999999999\r\n\r\nhello",
        Refused,
    ),
    // Chunks with extensions, trailers, and sizes that are none.
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b;c=\"d\"\r\nhello\r\n0\r\n\r\n",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding: chunked\r\nTrailer: Host, X-Trailing\r\n\r\n5\r\nhello\r\n0\r\nHost: evil.example\r\nX-Trailing: leaked\r\n\r\n",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding: chunked\r\n\r\n5;a\nhello\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n",
        Refused,
    ),
    // Line ends and folds.
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nX-Fold: a\r\n Content-Length: 40\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nX-Fold: a\r\n\tb\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\nHost: @DESK@\nAuthorization: Bearer @KEY@\nContent-Length: 5\n\nhello",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nX-Cr: a\rX-Leaked: b\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nX-Nul: a\0b\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@?a=%0d%0aX-Leaked:%20b HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@\tx HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ x HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nCountersign-Reason: a%0d%0aX-Leaked: b\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    // Names that are no names.
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nX-Le aked: b\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\n: b\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nX-Leaked\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nX-L\u{e9}aked: b\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    // Who is meant.
    (
        "POST http://evil.example/via/raw@PATH@ HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: evil.example\r\nHost: other.example\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: a@b:c\r\nX-Forwarded-Host: evil.example\r\nX-Host: evil.example\r\nX_Forwarded_Host: evil.example\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    (
        "POST //evil.example/via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@evil.example@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw:80@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw\\@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw/..@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw/%2e%2E@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    (
        "POST /via/raw@PATH@%2f..%2fx HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Refused,
    ),
    ("CONNECT @RAW@ HTTP/1.1\r\nHost: @RAW@\r\nAuthorization: Bearer @KEY@\r\n\r\n", Refused),
    ("TRACE /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\n\r\n", Refused),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Refused),
    // What belongs to this connection alone, or would change what was checked.
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nConnection: close, X-Leaked, Host, Content-Length, X-Secret\r\nX-Leaked: b\r\nX_Leaked: b\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nKeep-Alive: timeout=9\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\nTE: trailers\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    (
        "GET /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        Once(""),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nX-HTTP-Method-Override: DELETE\r\nX-HTTP-Method: DELETE\r\nX_Method_Override: DELETE\r\nX-Original-URL: /leaked\r\nX-Rewrite-URL: /leaked\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    (
        "POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nCookie: leaked=1\r\nX-Secret: leaked\r\nx_secret: leaked\r\nIdempotency_Key: leaked\r\nCountersign-Session: run\r\nAccept-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    // A body on a read, and none where one is expected.
    (
        "GET /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\nContent-Length: 5\r\n\r\nhello",
        Once("hello"),
    ),
    ("POST /via/raw@PATH@ HTTP/1.1\r\nHost: @DESK@\r\nAuthorization: Bearer @KEY@\r\n\r\n", Once("")),
];

/// Headers that must not reach the service, whatever was sent.
const NEVER: &[&str] = &[
    "connection",
    "cookie",
    "expect",
    "http2-settings",
    "idempotency-key",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-forwarded-host",
    "x-host",
    "x-http-method",
    "x-http-method-override",
    "x-leaked",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
    "x-trailing",
];

/// A service that keeps every byte it is sent, connection by connection.
struct Recorder {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Recorder {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let heard = Arc::<Mutex<Vec<Vec<u8>>>>::default();
        let kept = heard.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(record(stream, kept.clone()));
            }
        });
        Self { address, heard }
    }

    fn heard(&self) -> Vec<Vec<u8>> {
        self.heard.lock().expect("lock").clone()
    }
}

/// Answers once a whole request has come, and goes on listening until the other side closes.
async fn record(mut stream: TcpStream, heard: Arc<Mutex<Vec<Vec<u8>>>>) {
    let place = {
        let mut all = heard.lock().expect("lock");
        all.push(Vec::new());
        all.len() - 1
    };
    let mut answered = false;
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let whole = {
            let mut all = heard.lock().expect("lock");
            all[place].extend_from_slice(&buffer[..count]);
            Received::of(&all[place]).is_some_and(|request| request.body.len() >= request.length)
        };
        if whole && !answered {
            answered = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.is_ok();
        }
    }
}

/// A request as the service received it.
struct Received<'b> {
    line: &'b str,
    headers: Vec<(String, &'b str)>,
    length: usize,
    body: &'b [u8],
}

impl<'b> Received<'b> {
    fn of(bytes: &'b [u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let mut lines = std::str::from_utf8(&bytes[..end]).ok()?.split("\r\n");
        let line = lines.next()?;
        let headers = lines.map(|line| line.split_once(": ")).collect::<Option<Vec<_>>>()?;
        let headers: Vec<_> = headers.into_iter().map(|(n, v)| (n.to_ascii_lowercase(), v)).collect();
        let length = headers
            .iter()
            .find(|(name, _)| name == "content-length")
            .map_or(Some(0), |(_, v)| v.parse().ok())?;
        Some(Self { line, headers, length, body: &bytes[end + 4..] })
    }

    fn count(&self, name: &str) -> usize {
        self.headers.iter().filter(|(given, _)| given.replace('_', "-") == name).count()
    }
}

/// One clean request, and nothing else on its connection.
fn is_clean(bytes: &[u8], service: SocketAddr, key: &str) -> Result<(), String> {
    let shown = String::from_utf8_lossy(bytes).into_owned();
    let wrong = |what: &str| Err(format!("{what}: {shown:?}"));
    let Some(request) = Received::of(bytes) else { return wrong("no request") };
    let line: Vec<_> = request.line.split(' ').collect();
    if line.len() != 3 || !line[1].starts_with('/') || line[2] != "HTTP/1.1" {
        return wrong("the request line");
    }
    if request.line.contains(['\r', '\n', '\0', '\t']) || shown.contains('\0') || shown.contains(key) {
        return wrong("something that must not be there");
    }
    let head = &bytes[..bytes.len() - request.body.len()];
    let bare = head.iter().enumerate().any(|(at, byte)| match byte {
        b'\n' => at == 0 || head[at - 1] != b'\r',
        b'\r' => head.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    if bare {
        return wrong("a bare line end");
    }
    if request.body.len() != request.length {
        return wrong("bytes beside the body");
    }
    if let Some(name) = NEVER.iter().find(|name| request.count(name) > 0) {
        return wrong(name);
    }
    for (name, most) in [("host", 1), ("content-length", 1), ("authorization", 0), ("x-secret", 1)] {
        if request.count(name) > most {
            return wrong(name);
        }
    }
    let value = |name: &str| request.headers.iter().find(|(given, _)| given == name).map(|(_, value)| *value);
    if value("host") != Some(service.to_string().as_str()) || value("x-secret") != Some(RAW_SECRET) {
        return wrong("host or secret");
    }
    let leaked =
        request.headers.iter().any(|(_, value)| value.contains("leaked") || value.contains("evil.example"));
    if leaked || request.headers.iter().any(|(name, _)| name.starts_with("countersign-")) {
        return wrong("a leak");
    }
    Ok(())
}

/// Writes the bytes and waits for the answer's status line; then listens a little longer. What was answered.
async fn say(desk: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(desk).await.expect("a connection");
    stream.write_all(bytes).await.expect("written");
    let mut answer = Vec::new();
    let mut patience = Duration::from_mins(1);
    while let Ok(Ok(1..)) = timeout(patience, stream.read_buf(&mut answer)).await {
        let informational = answer.starts_with(b"HTTP/1.1 100 Continue\r\n\r\n") && answer.len() < 30;
        if !informational {
            patience = Duration::from_millis(300);
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_or_exactly_one_clean_request_goes_out() {
    let recorder = Recorder::start().await;
    let desk = desk_in_front_of(recorder.address).await;
    let listen = desk.listen().await;
    let cases = CORPUS.iter().enumerate().map(|(number, (text, _))| {
        let text = text
            .replace("@KEY@", desk.quick())
            .replace("@PATH@", &format!("/case-{number}-"))
            .replace("@DESK@", &listen.to_string())
            .replace("@RAW@", &recorder.address.to_string());
        async move { say(listen, text.as_bytes()).await }
    });
    let answers = join_all(cases).await;
    let heard = recorder.heard();
    for bytes in &heard {
        assert_eq!(is_clean(bytes, recorder.address, desk.quick()), Ok(()));
        assert!(
            !bytes.windows(8).any(|window| window == b"smuggled"),
            "{:?}",
            String::from_utf8_lossy(bytes)
        );
    }
    let mut wrong = Vec::new();
    for (number, (text, fate)) in CORPUS.iter().enumerate() {
        let mark = format!("/case-{number}-");
        let is_its = |bytes: &&Vec<u8>| bytes.windows(mark.len()).any(|window| window == mark.as_bytes());
        let its: Vec<_> = heard.iter().filter(is_its).collect();
        let bodies: Vec<_> =
            its.iter().filter_map(|bytes| Received::of(bytes)).map(|request| request.body).collect();
        let answer = &answers[number];
        let successes = answer.matches("HTTP/1.1 2").count();
        let fits = match fate {
            Once(body) => bodies == [body.as_bytes()] && successes == 1,
            Refused => its.is_empty() && successes == 0,
        };
        if !fits {
            wrong.push(format!("{text:?} came out as {} and was answered {answer:?}", its.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let expected = CORPUS.iter().filter(|(_, fate)| *fate != Refused).count();
    assert_eq!(heard.len(), expected, "no connection but theirs");
}
