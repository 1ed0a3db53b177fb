//! The body of a service's answer comes as it arrives, without the secret, and the receipt does not wait for it.

use std::net::SocketAddr;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use super::{RAW_SECRET, desk_in_front_of};
use crate::demo::testing::Desk;

/// A service that answers one request with what it is told to write, when it is told to.
struct Script {
    address: SocketAddr,
    write: Option<mpsc::UnboundedSender<Vec<u8>>>,
    closed: oneshot::Receiver<()>,
}

impl Script {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (write, mut told) = mpsc::unbounded_channel::<Vec<u8>>();
        let (tell, closed) = oneshot::channel();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let mut heard = Vec::new();
            while !heard.windows(4).any(|window| window == b"\r\n\r\n") {
                assert!(stream.read_buf(&mut heard).await.expect("read") > 0);
            }
            let (mut hear, mut say) = stream.split();
            let mut rest = [0; 64];
            loop {
                tokio::select! {
                    bytes = told.recv() => match bytes {
                        Some(bytes) => drop(say.write_all(&bytes).await),
                        None => break,
                    },
                    count = hear.read(&mut rest) => if !matches!(count, Ok(1..)) { break },
                }
            }
            tell.send(()).unwrap_or_default();
        });
        Self { address, write: Some(write), closed }
    }

    fn say(&self, text: impl AsRef<[u8]>) {
        self.write.as_ref().expect("open").send(text.as_ref().to_vec()).expect("heard");
    }

    /// One chunk of a chunked body.
    fn chunk(&self, text: &str) {
        self.say(format!("{:x}\r\n{text}\r\n", text.len()));
    }

    fn hang_up(&mut self) {
        self.write = None;
    }
}

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n";

/// The next piece of the body; `None`: that was all.
async fn next(body: &mut Body) -> Option<Result<Bytes, String>> {
    let frame = body.frame().await?;
    Some(frame.map(|frame| frame.into_data().expect("data")).map_err(|error| error.to_string()))
}

async fn post(desk: &Desk) -> Response {
    desk.ask("POST", "/via/raw/stream")
        .token(desk.quick())
        .header("idempotency-key", "k")
        .raw(Vec::new())
        .open()
        .await
}

async fn receipts(desk: &Desk) -> usize {
    desk.get("/v1/receipts", desk.ann()).ok(200).await.body["items"].as_array().map_or(0, Vec::len)
}

#[tokio::test]
async fn events_come_one_by_one_and_the_receipt_is_there_before_the_end() {
    let script = Script::start().await;
    let desk = desk_in_front_of(script.address).await;
    script.say(format!("{HEAD}Set-Cookie: a=b\r\n\r\n"));
    let answer = post(&desk).await;
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["content-type"]),
        (200, &"text/event-stream".parse().expect("text"))
    );
    assert!(!answer.headers().contains_key("set-cookie"));
    let receipt = answer.headers()["countersign-receipt"].to_str().expect("text").to_owned();
    let told = desk.get(&format!("/v1/receipts/{receipt}"), desk.ann()).ok(200).await;
    assert_eq!((&told.body["outcome"], &told.body["upstream_status"]), (&"done".into(), &200.into()));
    let mut body = answer.into_body();
    for event in ["data: one\n\n", "data: two\n\n", "data: three\n\n"] {
        // Each is written only after the one before it has come.
        script.chunk(event);
        assert_eq!(next(&mut body).await, Some(Ok(Bytes::from(event))));
    }
    script.say("0\r\n\r\n");
    assert_eq!(next(&mut body).await, None);
    let again = post(&desk).await;
    assert_eq!(
        (again.status().as_u16(), &again.headers()["countersign-replayed"]),
        (200, &"true".parse().expect("text"))
    );
}

#[tokio::test]
async fn a_policy_of_the_services_own_stays_beside_the_desks() {
    let script = Script::start().await;
    let desk = desk_in_front_of(script.address).await;
    script.say(format!("{HEAD}Content-Security-Policy: sandbox allow-scripts\r\n\r\n"));
    let answer = post(&desk).await;
    let policies: Vec<_> = answer.headers().get_all("content-security-policy").iter().collect();
    assert_eq!(policies, ["sandbox allow-scripts", "sandbox"], "a browser keeps to both");
}

#[tokio::test]
async fn the_secret_is_found_across_the_borders_of_pieces() {
    let script = Script::start().await;
    let desk = desk_in_front_of(script.address).await;
    script.say(format!("{HEAD}X-Echo: {RAW_SECRET}\r\n\r\n"));
    let answer = post(&desk).await;
    assert!(!answer.headers().contains_key("x-echo"));
    let mut body = answer.into_body();
    let (first, second) = RAW_SECRET.split_at(7);
    script.chunk(&format!("key={first}"));
    assert_eq!(next(&mut body).await, Some(Ok(Bytes::from("key="))), "what may be the secret waits");
    script.chunk(&format!("{second}\n"));
    assert_eq!(next(&mut body).await, Some(Ok(Bytes::from("[redacted]\n"))));
    script.chunk("raw-sec");
    script.say("0\r\n\r\n");
    assert_eq!(next(&mut body).await, Some(Ok(Bytes::from("raw-sec"))), "and comes when nothing follows");
    assert_eq!(next(&mut body).await, None);
}

#[tokio::test]
async fn a_coded_body_that_nobody_can_look_into_is_withheld() {
    let script = Script::start().await;
    let desk = desk_in_front_of(script.address).await;
    script.say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd");
    let answer = post(&desk).await;
    assert!(
        !answer.headers().contains_key("content-encoding")
            && answer.headers().contains_key("countersign-receipt")
    );
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    assert_eq!(body, "[redacted]");
}

#[tokio::test]
async fn a_caller_that_hangs_up_loses_no_receipt_and_the_service_is_let_go() {
    let script = Script::start().await;
    let desk = desk_in_front_of(script.address).await;
    script.say(format!("{HEAD}\r\n"));
    script.chunk("data: one\n\n");
    let mut answer = post(&desk).await.into_body();
    assert!(next(&mut answer).await.is_some());
    drop(answer);
    script.closed.await.expect("the connection to the service is closed");
    assert_eq!(receipts(&desk).await, 1);
    assert_eq!(post(&desk).await.headers()["countersign-replayed"], "true", "its key is used");
}

#[tokio::test]
async fn a_body_that_breaks_off_ends_with_an_error_and_the_outcome_stands() {
    let mut script = Script::start().await;
    let desk = desk_in_front_of(script.address).await;
    script.say(format!("{HEAD}\r\n"));
    script.chunk("half");
    let answer = post(&desk).await;
    let receipt = answer.headers()["countersign-receipt"].to_str().expect("text").to_owned();
    let mut body = answer.into_body();
    assert_eq!(next(&mut body).await, Some(Ok(Bytes::from("half"))));
    script.hang_up();
    assert!(matches!(next(&mut body).await, Some(Err(_))), "no ending that looks like a whole answer");
    let told = desk.get(&format!("/v1/receipts/{receipt}"), desk.ann()).ok(200).await;
    assert_eq!(told.body["outcome"], "done", "the status line was seen");
}

#[tokio::test]
async fn a_body_over_the_limit_is_cut_off() {
    let script = Script::start().await;
    let desk = desk_in_front_of(script.address).await;
    script.say(format!("{HEAD}\r\n"));
    let answer = post(&desk).await;
    let mut body = answer.into_body();
    let mebibyte = ".".repeat(1 << 20);
    let mut came = 0;
    let end = loop {
        if came < 11 << 20 {
            script.chunk(&mebibyte);
        }
        // A chunk comes in several pieces.
        let mut of_this = 0;
        let end = loop {
            match next(&mut body).await {
                Some(Ok(piece)) => of_this += piece.len(),
                end => break Some(end),
            }
            if of_this >= mebibyte.len() {
                break None;
            }
        };
        came += of_this;
        if let Some(end) = end {
            break end;
        }
    };
    assert!(matches!(&end, Some(Err(why)) if why.contains("larger than 10485760 bytes")), "{end:?}");
    assert!((9 << 20..=10 << 20).contains(&came), "{came}");
    assert_eq!(receipts(&desk).await, 1);
}

#[tokio::test]
async fn a_failure_of_the_service_comes_in_its_own_words_and_frees_the_key() {
    let script = Script::start().await;
    let desk = desk_in_front_of(script.address).await;
    script.say("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nbusy");
    let answer = post(&desk).await;
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["retry-after"]),
        (503, &"7".parse().expect("text"))
    );
    assert!(!answer.headers().contains_key("countersign-receipt"));
    assert_eq!(answer.into_body().collect().await.expect("a body").to_bytes(), "busy");
    assert_eq!(receipts(&desk).await, 0);
}
