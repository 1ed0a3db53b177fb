//! Who asks: callers of the API by their tokens, callers of pages by their cookies, and those who try one for the other.

use super::samples::Asked;
use super::world::World;
use crate::demo::testing::Told;

/// How a part of the server knows its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// By a bearer token: `/v1`, `/via`, `/mcp`.
    Bearer,
    /// By a cookie: pages and forms; and what needs neither.
    Cookie,
}

/// `k.…` are agents' keys of Ann's, each with one ability but the careful one, which made the calls of the samples and whose
/// writes wait for a person; `k.eve` is another person's agent with every ability. `a.…` are Ann's own tokens with one
/// ability each; max, olga, ada and eve have every ability a token can have.
const BEARER: [&str; 24] = [
    "nobody",
    "typo",
    "gone",
    "left",
    "cookie",
    "k.read",
    "k.write",
    "k.ext",
    "k.destr",
    "k.rcpts",
    "k.careful",
    "k.eve",
    "a.read",
    "a.write",
    "a.ext",
    "a.destr",
    "a.rcpts",
    "a.dec",
    "a.agents",
    "max",
    "olga",
    "ada",
    "eve",
    "twice",
];

/// Signed in but the first three; `bearer` shows Ann's token, `left` the session of somebody who is disabled, and `foreign`
/// is a signed-in browser that another site's page makes ask.
const COOKIE: [&str; 9] = ["nobody", "bearer", "left", "foreign", "ann", "eve", "max", "olga", "ada"];

/// What a page of another site makes a browser say.
const LIES: [(&str, &[(&str, &str)]); 4] = [
    ("another origin", &[("origin", "https://evil.test")]),
    ("no origin", &[]),
    ("another site", &[("origin", "http://127.0.0.1:8087"), ("sec-fetch-site", "cross-site")]),
    ("another port", &[("origin", "http://127.0.0.1:8088")]),
];

impl Kind {
    /// The kind of a part of the table.
    pub(super) fn named(word: &str) -> Option<Self> {
        match word {
            "bearer" => Some(Self::Bearer),
            "cookie" => Some(Self::Cookie),
            _ => None,
        }
    }

    /// How a new route most likely knows its callers.
    pub(super) fn of(path: &str) -> Self {
        if ["/v1/", "/via/", "/mcp"].iter().any(|start| path.starts_with(start)) {
            Self::Bearer
        } else {
            Self::Cookie
        }
    }

    /// The callers, in the order of the columns.
    pub(super) fn names(self) -> Vec<&'static str> {
        match self {
            Self::Bearer => BEARER.to_vec(),
            Self::Cookie => COOKIE.to_vec(),
        }
    }

    /// What a method that a route does not have is answered: who is not known learns nothing of methods.
    pub(super) const fn without_method(self) -> &'static [(&'static str, u16)] {
        match self {
            Self::Bearer => &[("nobody", 401), ("gone", 401), ("a.read", 405), ("k.careful", 405)],
            Self::Cookie => &[("nobody", 405), ("ann", 405)],
        }
    }
}

/// Asks without a body.
pub(super) async fn ask(world: &World, kind: Kind, caller: &str, method: &str, path: &str) -> Told {
    Asked::bare(method, path).ask(world, kind, caller).await
}

/// Sends this as every person who is signed in, with every lie: who, with which, and what came.
pub(super) async fn all_lies(world: &World, asked: &Asked) -> Vec<(&'static str, &'static str, u16)> {
    let mut came = Vec::new();
    for who in ["ann", "eve", "max", "olga", "ada"] {
        for (lie, headers) in LIES {
            let told = asked.send(world, &credentials(world, Kind::Cookie, who), headers).await;
            came.push((who, lie, told.status));
        }
    }
    came
}

/// What a caller shows, as headers.
pub(super) fn credentials(world: &World, kind: Kind, caller: &str) -> Vec<(&'static str, String)> {
    let bearer = |token: &str| ("authorization", format!("Bearer {token}"));
    let cookie = |cookie: &str| ("cookie", cookie.to_owned());
    match (kind, caller) {
        (_, "nobody") => Vec::new(),
        (Kind::Bearer, "cookie") | (Kind::Cookie, "foreign") => vec![cookie(world.cookie("ann"))],
        (Kind::Bearer, "twice") => vec![bearer(world.token("a.read")), bearer(world.token("a.read"))],
        (Kind::Bearer, caller) => vec![bearer(world.token(caller))],
        (Kind::Cookie, "bearer") => vec![bearer(world.token("ann"))],
        (Kind::Cookie, caller) => vec![cookie(world.cookie(caller))],
    }
}

/// What a browser says of where a request comes from.
pub(super) fn origin(kind: Kind, caller: &str) -> &'static [(&'static str, &'static str)] {
    match (kind, caller) {
        (Kind::Bearer, _) => &[],
        (Kind::Cookie, "foreign") => LIES[0].1,
        (Kind::Cookie, _) => &[("origin", "http://127.0.0.1:8087"), ("sec-fetch-site", "same-origin")],
    }
}
