//! One request and its answer.

use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout_at};

use super::Limits;
use super::connection::Link;
use super::headers;
use super::scrub::Scrubber;
use super::sent::{BodyRead, NeverLeft, Response, Sent, Unknown};

/// Enough for every server that means it well; each may be as long as the parser's buffer.
const HEADERS: usize = 256;

/// Sends the request, reads the answer, and tells how it ended.
pub(super) async fn run(
    link: Link,
    request: Request<Full<Bytes>>,
    limits: &Limits,
    scrubber: Option<&Scrubber>,
) -> Sent {
    let trace = link.trace.clone();
    let head_only = *request.method() == Method::HEAD;
    // When this returns the connection is closed, so nothing more can leave and the notes are final.
    let heard = speak(link, request, limits).await;

    if !trace.may_have_left() {
        let in_time = !matches!(heard, Err(Unknown::TimedOut));
        return Sent::NeverLeft(if in_time { NeverLeft::Closed } else { NeverLeft::TimedOut });
    }
    match (heard, trace.final_status()) {
        (Ok(answer), _) if !answer.status.is_informational() => {
            Sent::Answered(fit_to_pass_on(answer, head_only, scrubber))
        }
        // The status line came, and what follows it is lost or cannot be read.
        (Err(_), Some(status)) => {
            Sent::Answered(Response { status, headers: HeaderMap::new(), body: BodyRead::Cut })
        }
        (Err(why), None) => Sent::Unknown(why),
        // 101: the other side now speaks a protocol nobody asked for.
        (Ok(_), _) => Sent::Unknown(Unknown::Unreadable),
    }
}

/// An answer as it came.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: BodyRead,
}

/// Speaks HTTP over the connection until the answer is there or the time is up, and closes it.
async fn speak(link: Link, request: Request<Full<Bytes>>, limits: &Limits) -> Result<Answer, Unknown> {
    let deadline = Instant::now() + limits.answer;
    let mut builder = http1::Builder::new();
    builder.max_headers(HEADERS);
    let (mut sender, connection) =
        builder.handshake(TokioIo::new(link.stream)).await.map_err(|_| Unknown::Cut)?;
    let mut exchange = pin!(async {
        let answer = timeout_at(deadline, sender.send_request(request)).await;
        let (parts, body) = answer.map_err(|_| Unknown::TimedOut)?.map_err(|error| why(&error))?.into_parts();
        let body = timeout_at(deadline, read(body, limits.response_body)).await.unwrap_or(BodyRead::Cut);
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    });
    let driven = async {
        let mut connection = pin!(connection);
        tokio::select! {
            answer = &mut exchange => return Some(answer),
            _ = &mut connection => {}
        }
        None
    };
    // A connection that has ended has handed over all it knows.
    match driven.await {
        Some(answer) => answer,
        None => exchange.await,
    }
}

/// What kind of failure the HTTP library met.
fn why(error: &hyper::Error) -> Unknown {
    if error.is_parse() { Unknown::Unreadable } else { Unknown::Cut }
}

/// Reads a body up to the limit.
async fn read(mut body: Incoming, limit: usize) -> BodyRead {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return BodyRead::Cut };
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > limit {
            return BodyRead::TooLarge { limit };
        }
        whole.extend_from_slice(&data);
    }
    BodyRead::Whole(whole.freeze())
}

/// The answer without what must not come back.
fn fit_to_pass_on(answer: Answer, head_only: bool, scrubber: Option<&Scrubber>) -> Response {
    let status = answer.status;
    let opaque = headers::is_encoded(&answer.headers);
    let mut headers =
        headers::keep_for_answer(&answer.headers, head_only || status == StatusCode::NOT_MODIFIED);
    let mut body = answer.body;
    if let Some(scrubber) = scrubber {
        headers = scrubber.headers(headers);
        if let BodyRead::Whole(bytes) = body {
            body = BodyRead::Whole(scrubber.body(bytes, opaque, &mut headers));
        }
    }
    Response { status: status.as_u16(), headers, body }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::Full;
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};

    use super::super::trace::{Tap, Trace, Wire};
    use super::*;

    async fn send_over(ours: DuplexStream) -> Sent {
        let trace = Trace::default();
        let stream = Box::new(Tap::new(Wire::new(ours, trace.clone()), trace.clone()));
        trace.open();
        let limits = Limits { answer: Duration::from_secs(30), ..Limits::default() };
        run(Link { stream, trace }, Request::new(Full::default()), &limits, None).await
    }

    #[tokio::test]
    async fn a_connection_that_ends_before_the_request_begins() {
        let (ours, theirs) = duplex(1024);
        drop(theirs);
        let sent = send_over(ours).await;
        assert!(matches!(sent, Sent::NeverLeft(NeverLeft::Closed)), "{sent:?}");
    }

    /// Some servers say this to a connection that was idle too long. It answers nothing of ours.
    #[tokio::test]
    async fn an_answer_before_the_request_begins() {
        let (ours, mut theirs) = duplex(1024);
        theirs.write_all(b"HTTP/1.1 408 Timeout\r\ncontent-length: 0\r\n\r\n").await.expect("written");
        let sent = send_over(ours).await;
        assert!(matches!(sent, Sent::NeverLeft(NeverLeft::Closed)), "{sent:?}");
    }
}
