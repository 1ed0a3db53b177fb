//! The least HTTP client that a test needs: one request, one connection.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) body: Value,
}

impl Answer {
    /// The status, and the code of a problem or the status word of anything else.
    pub(crate) fn told(&self) -> (u16, String) {
        let replayed = self.body["replayed"].as_bool().filter(|replayed| *replayed).map(|_| "replayed");
        let word = replayed.or(self.body["code"].as_str()).or(self.body["status"].as_str());
        (self.status, word.unwrap_or("?").to_owned())
    }
}

/// `None`: the connection ended without an answer.
pub(crate) async fn request(
    authority: &str,
    token: &str,
    line: &str,
    headers: &[(&str, &str)],
    body: Option<&Value>,
) -> Option<Answer> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut text = format!(
        "{line} HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        text.extend([*name, ": ", *value, "\r\n"]);
    }
    let mut stream = TcpStream::connect(authority).await.ok()?;
    stream.write_all(format!("{text}\r\n{body}").as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    let answer = String::from_utf8(answer).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().expect("a status");
    let location = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("location").then(|| value.to_owned())
    });
    Some(Answer { status, location, body: serde_json::from_str(body).unwrap_or_default() })
}
