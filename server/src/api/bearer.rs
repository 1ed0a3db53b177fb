//! Who is calling: the bearer token of a request, and nothing else. Cookies are not looked at.

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use engine::{Actor, Decider, Engine, PersonActor};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, Method};
use model::{Ability, Refusal};
use percent_encoding::percent_decode_str;

use super::call_headers;
use crate::problem::Rejected;

/// Lets a request in when its token is known, or when it has none and calls a public action or may have a prompt of one
/// to reject. Everything else is the same 401, whatever the path.
pub(crate) async fn authenticate(
    State(engine): State<Engine>,
    mut request: Request,
    next: Next,
) -> Result<Response, Rejected> {
    let actor = match token(request.headers()) {
        Presented::Token(token) => engine.authenticate(token).await?,
        Presented::Nothing if calls_public_action(&engine, &request) || may_reject(&request) => {
            Actor::Public { client: call_headers::client(request.headers())? }
        }
        Presented::Nothing | Presented::Garbled => return Err(Refusal::Unauthenticated.into()),
    };
    request.extensions_mut().insert(actor);
    Ok(next.run(request).await)
}

/// What a request shows.
#[derive(Debug, PartialEq, Eq)]
enum Presented<'a> {
    Nothing,
    Garbled,
    Token(&'a str),
}

/// The token of `Authorization: Bearer …` (RFC 6750, section 2.1), given once.
fn token(headers: &HeaderMap) -> Presented<'_> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Presented::Nothing };
    if values.next().is_some() {
        return Presented::Garbled;
    }
    let Some((scheme, token)) = value.to_str().ok().and_then(|text| text.split_once(' ')) else {
        return Presented::Garbled;
    };
    let token = token.trim_matches(' ');
    let plain = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte));
    if scheme.eq_ignore_ascii_case("bearer") && plain && !token.is_empty() {
        Presented::Token(token)
    } else {
        Presented::Garbled
    }
}

/// Whether this is `POST /actions/{name}` (below `/v1`) of an action that needs no token.
fn calls_public_action(engine: &Engine, request: &Request) -> bool {
    request.method() == Method::POST
        && action_of(request.uri().path()).is_some_and(|name| is_public(engine, &name))
}

fn is_public(engine: &Engine, name: &str) -> bool {
    engine.catalogue().action(name).is_some_and(|action| action.public)
}

/// The action that a path below `/v1` calls.
fn action_of(path: &str) -> Option<String> {
    let name = last_segment(path, "/actions/")?;
    percent_decode_str(name).decode_utf8().ok().map(Into::into)
}

/// Whether this is `DELETE /confirmations/{token}` (below `/v1`): a public action asks its caller back too.
fn may_reject(request: &Request) -> bool {
    request.method() == Method::DELETE && last_segment(request.uri().path(), "/confirmations/").is_some()
}

/// The one segment of a path behind this.
fn last_segment<'a>(path: &'a str, before: &str) -> Option<&'a str> {
    path.strip_prefix(before).filter(|segment| !segment.is_empty() && !segment.contains('/'))
}

/// Whoever is calling.
pub(crate) struct Caller(pub(crate) Actor);

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Rejected;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Rejected> {
        let actor = parts.extensions.get::<Actor>().cloned();
        actor.map(Self).ok_or(Rejected(Refusal::Unauthenticated))
    }
}

/// A person who may read receipts and events with this token.
pub(crate) struct Reader(pub(crate) PersonActor);

impl<S: Sync> FromRequestParts<S> for Reader {
    type Rejection = Rejected;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Rejected> {
        match Caller::from_request_parts(parts, state).await?.0 {
            Actor::Person(person) if person.has(Ability::ReceiptsRead) => Ok(Self(person)),
            _ => Err(Refusal::Denied.into()),
        }
    }
}

/// A person who may decide with this token.
pub(crate) struct Deciding(pub(crate) Decider);

impl<S: Sync> FromRequestParts<S> for Deciding {
    type Rejection = Rejected;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Rejected> {
        match Caller::from_request_parts(parts, state).await?.0 {
            Actor::Person(person) => Ok(Self(person.decider()?)),
            _ => Err(Refusal::Denied.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (AUTHORIZATION, HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_token_is_found() {
        assert_eq!(token(&headers(&["Bearer csk_abc"])), Presented::Token("csk_abc"));
        assert_eq!(token(&headers(&["bearer   csk_abc "])), Presented::Token("csk_abc"));
        assert_eq!(token(&headers(&[])), Presented::Nothing);
    }

    #[test]
    fn anything_else_is_garbled() {
        for value in
            ["", "Bearer", "Bearer ", "csk_abc", "Basic csk_abc", "Bearer a b", "Bearer \"a\"", "Bearer a,b"]
        {
            assert_eq!(token(&headers(&[value])), Presented::Garbled, "{value}");
        }
        assert_eq!(token(&headers(&["Bearer a", "Bearer a"])), Presented::Garbled);
    }

    #[test]
    fn an_action_is_read_from_its_path() {
        assert_eq!(action_of("/actions/send_mail").as_deref(), Some("send_mail"));
        assert_eq!(action_of("/actions/send%5Fmail").as_deref(), Some("send_mail"));
        assert_eq!(action_of("/actions/"), None);
        assert_eq!(action_of("/actions/a/b"), None);
        assert_eq!(action_of("/actions/%ff"), None);
        assert_eq!(action_of("/calls/x"), None);
    }
}
