//! One request and its answer.

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout_at};

use super::Limits;
use super::connection::Link;
use super::headers;
use super::rest::{AnswerBody, Rest};
use super::scrub::{Running, Scrubber};
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
    let deadline = Instant::now() + limits.answer;
    let head_only = *request.method() == Method::HEAD;
    let Opening { status, headers, mut rest } = match begin(link, request, deadline).await {
        Ok(opening) => opening,
        Err(sent) => return sent,
    };
    let body = timeout_at(deadline, rest.whole(limits.response_body)).await.unwrap_or(BodyRead::Cut);
    Sent::Answered(fit_to_pass_on(Answer { status, headers, body }, head_only, scrubber))
}

/// Sends the request, and gives the answer as soon as its head has come; its body goes on from there.
pub(super) async fn open(
    link: Link,
    request: Request<Full<Bytes>>,
    limits: &Limits,
    scrubber: Option<Arc<Scrubber>>,
) -> Result<(Response, AnswerBody), Sent> {
    let head_only = *request.method() == Method::HEAD;
    let opening = begin(link, request, Instant::now() + limits.answer).await?;
    let Opening { status, headers, rest } = opening;
    let withheld = scrubber.is_some() && headers::is_encoded(&headers);
    let answer = Answer { status, headers, body: BodyRead::Streamed };
    let mut response = fit_to_pass_on(answer, head_only, scrubber.as_deref());
    if withheld {
        response.headers.remove(CONTENT_ENCODING);
    }
    let body = AnswerBody::new(rest, limits, scrubber.map(Running::new), withheld);
    Ok((response, body))
}

/// An answer whose head has come.
struct Opening {
    status: StatusCode,
    headers: HeaderMap,
    rest: Rest,
}

/// An answer as it came.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: BodyRead,
}

/// Speaks HTTP over the connection until the head of the answer is there or the time is up.
async fn begin(link: Link, request: Request<Full<Bytes>>, deadline: Instant) -> Result<Opening, Sent> {
    let trace = link.trace.clone();
    // When this is an error the connection is closed, so nothing more can leave and the notes are final.
    let heard = head(link, request, deadline).await;
    if !trace.may_have_left() {
        let in_time = !matches!(heard, Err(Unknown::TimedOut));
        return Err(Sent::NeverLeft(if in_time { NeverLeft::Closed } else { NeverLeft::TimedOut }));
    }
    match (heard, trace.final_status()) {
        (Ok(opening), _) if matches!(opening.status.as_u16(), 200..=599) => Ok(opening),
        // The status line came, and what follows it is lost or cannot be read.
        (Err(_), Some(status)) => {
            Err(Sent::Answered(Response { status, headers: HeaderMap::new(), body: BodyRead::Cut }))
        }
        (Err(why), None) => Err(Sent::Unknown(why)),
        // 101: the other side now speaks a protocol nobody asked for. 600 and above: no status of HTTP.
        (Ok(_), _) => Err(Sent::Unknown(Unknown::Unreadable)),
    }
}

async fn head(link: Link, request: Request<Full<Bytes>>, deadline: Instant) -> Result<Opening, Unknown> {
    let mut builder = http1::Builder::new();
    builder.max_headers(HEADERS);
    let (mut sender, connection) =
        builder.handshake(TokioIo::new(link.stream)).await.map_err(|_| Unknown::Cut)?;
    let mut connection = Some(Box::pin(connection));
    let answer = {
        let mut answer = pin!(timeout_at(deadline, sender.send_request(request)));
        let early = match &mut connection {
            Some(driving) => tokio::select! {
                answer = &mut answer => Some(answer),
                _ = driving => None,
            },
            None => None,
        };
        if let Some(answer) = early {
            answer
        } else {
            // A connection that has ended has handed over all it knows.
            connection = None;
            answer.await
        }
    };
    let (parts, body) = answer.map_err(|_| Unknown::TimedOut)?.map_err(|error| why(&error))?.into_parts();
    let rest = Rest { body, connection, _sender: sender };
    Ok(Opening { status: parts.status, headers: parts.headers, rest })
}

/// What kind of failure the HTTP library met.
fn why(error: &hyper::Error) -> Unknown {
    if error.is_parse() { Unknown::Unreadable } else { Unknown::Cut }
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
