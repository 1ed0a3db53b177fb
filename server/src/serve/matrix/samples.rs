//! How each row is asked. A route that takes no body and is for nobody's object needs no arm here.

use serde_json::{Value, json};

use super::callers::{self, Kind};
use super::table::Row;
use super::world::{PASSWORD, World};
use crate::demo::testing::Told;

/// What is asked for, and the same for something that never existed.
pub(super) struct Sample {
    pub(super) here: Asked,
    pub(super) never: Option<Asked>,
}

/// One request, without who asks.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    method: String,
    pub(super) path: String,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    None,
    Json(Value),
    Form(Vec<(&'static str, String)>),
}

/// An id of this kind that was never given out.
fn never(prefix: &str) -> String {
    format!("{prefix}_01h455vb4pex5vsknk084sn02q")
}

impl Asked {
    pub(super) fn bare(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), body: Body::None }
    }

    pub(super) fn with_method(&self, method: &str) -> Self {
        Self { method: method.to_owned(), ..self.clone() }
    }

    /// Asks as this caller.
    pub(super) async fn ask(&self, world: &World, kind: Kind, caller: &str) -> Told {
        self.send(world, &callers::credentials(world, kind, caller), callers::origin(kind, caller)).await
    }

    /// Asks with these credentials, from where these headers say.
    pub(super) async fn send(
        &self,
        world: &World,
        credentials: &[(&'static str, String)],
        headers: &[(&str, &str)],
    ) -> Told {
        let method = if self.method == "ANY" { "GET" } else { &self.method };
        let mut ask = world.desk.ask(method, &self.path).header("host", "127.0.0.1:8087");
        for (name, value) in credentials {
            ask = ask.header(name, value);
        }
        for (name, value) in headers {
            ask = ask.header(name, value);
        }
        if self.path == "/mcp" {
            let both = "application/json, text/event-stream";
            ask = ask.header("accept", both).header("mcp-protocol-version", "2025-06-18");
        }
        match &self.body {
            Body::None if self.method == "POST" && self.path.starts_with("/do/") => {
                ask.urlencoded::<&str>(&[]).send().await
            }
            Body::None if self.path == "/live" => ask.head().await,
            Body::None => ask.send().await,
            Body::Json(body) => ask.json(body).send().await,
            Body::Form(fields) => ask.urlencoded(fields).send().await,
        }
    }
}

/// How a row is asked.
pub(super) async fn sample(world: &mut World, row: &Row) -> Sample {
    let (path, what) = (row.route.path.as_str(), row.what.as_str());
    let body = match path {
        "/v1/actions/{name}" => return action(row, what),
        "/v1/fetch" => Body::Json(fetched(world, what)),
        "/mcp" => Body::Json(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })),
        "/via/{*rest}" => return via(what),
        "/passkeys/ask" if !what.is_empty() => return asked_of_passkey(world, row).await,
        path if path.starts_with("/v1/") => return of_api(world, row).await,
        path if path.starts_with("/do/") => return form(world, row).await,
        _ => return page(world, row).await,
    };
    Sample { here: Asked { method: row.route.method.clone(), path: path.to_owned(), body }, never: None }
}

/// A call of an action; somebody who may not see it must not tell it from one that is not there.
fn action(row: &Row, what: &str) -> Sample {
    let (name, input) = match what {
        "read" => ("list_tickets", json!({})),
        "write" => ("move_ticket", json!({ "ticket": "T-101", "state": "waiting" })),
        "external" => ("send_mail", json!({ "to": "bo@customers.test", "subject": "s", "body": "b" })),
        "destructive" => ("wipe_customer", json!({ "customer": "C-04" })),
        "public" => ("open_tickets", json!({})),
        "denied" => ("denied", json!({})),
        other => (if other.is_empty() { "none" } else { "no_such_action" }, json!({})),
    };
    let asked = |name: &str| Asked {
        method: row.route.method.clone(),
        path: format!("/v1/actions/{name}"),
        body: Body::Json(input.clone()),
    };
    Sample { here: asked(name), never: Some(asked("never_was")) }
}

fn fetched(world: &World, what: &str) -> Value {
    let (method, path) = if what == "write" { ("POST", "/answer/201") } else { ("GET", "/echo/x") };
    json!({ "credential": "odd", "method": method, "url": world.desk.odd_url(path) })
}

fn via(what: &str) -> Sample {
    let (method, tail) = if what == "write" { ("POST", "answer/201") } else { ("GET", "echo/x") };
    let asked = |credential: &str| Asked::bare(method, &format!("/via/{credential}/{tail}"));
    Sample { here: asked("odd"), never: Some(asked("never-was")) }
}

/// One asked for by an id, and the same by one that was never given out.
fn by_id(row: &Row, id: &str, never: &str, ask: impl Fn(&str) -> (String, Body)) -> Sample {
    let asked = |id: &str| {
        let (path, body) = ask(id);
        Asked { method: row.route.method.clone(), path, body }
    };
    Sample { here: asked(id), never: Some(asked(never)) }
}

async fn of_api(world: &mut World, row: &Row) -> Sample {
    let path = row.route.path.as_str();
    let (kind, prefix) = match (row.route.method.as_str(), path) {
        (_, "/v1/confirmations/{token}") => ("prompt", "cft"),
        (_, "/v1/receipts/{id}") => ("receipt", "rct"),
        (_, "/v1/calls/{id}/settlement") => ("in doubt", "call"),
        ("DELETE", "/v1/calls/{id}/decision") => ("approved", "call"),
        (_, path) if path.starts_with("/v1/calls/") => ("held", "call"),
        (_, "/v1/receipts") if row.what == "of Ann" => {
            world.thing("receipt").await;
            let path = format!("/v1/receipts?user_id={}", world.id_of("ann").await);
            return Sample { here: Asked::bare("GET", &path), never: None };
        }
        _ => return plain(row),
    };
    let (id, version) = world.thing(kind).await;
    let body = match (path, row.what.as_str()) {
        ("/v1/calls/{id}/settlement", _) => {
            Body::Json(json!({ "outcome": "did_not_happen", "reason": "looked" }))
        }
        ("/v1/calls/{id}/decision", "confirm") => {
            Body::Json(json!({ "decision": "confirm", "preview_version": version }))
        }
        ("/v1/calls/{id}/decision", "decline") => Body::Json(json!({ "decision": "decline" })),
        _ => Body::None,
    };
    by_id(row, &id, &never(prefix), |id| (path.replace("{id}", id).replace("{token}", id), body.clone()))
}

/// Its path with a word in the place of what varies.
fn plain(row: &Row) -> Sample {
    let mut path = row.route.path.clone();
    while let (Some(start), Some(end)) = (path.find('{'), path.find('}')) {
        path.replace_range(start..=end, "none");
    }
    Sample { here: Asked::bare(&row.route.method, &path), never: None }
}

/// What a page's script asks before it asks an authenticator. Nobody here has one.
async fn asked_of_passkey(world: &mut World, row: &Row) -> Sample {
    let fields = |call: &str| {
        let fields =
            [("for", row.what.as_str()), ("call", call), ("preview_version", ""), ("view_token", "")];
        Body::Form(fields.map(|(name, value)| (name, value.to_owned())).to_vec())
    };
    if row.what == "confirm" {
        let (id, _) = world.thing("held").await;
        return by_id(row, &id, &never("call"), |id| (row.route.path.clone(), fields(id)));
    }
    let here = Asked { method: row.route.method.clone(), path: row.route.path.clone(), body: fields("") };
    Sample { here, never: None }
}

/// A page, or what else is read with GET.
async fn page(world: &mut World, row: &Row) -> Sample {
    let (thing, prefix) = match row.route.path.as_str() {
        "/inbox/{call}" => ("held", "call"),
        "/inbox/selected" => {
            let (id, _) = world.thing("held").await;
            return by_id(row, &id, &never("call"), |id| (format!("/inbox/selected?calls={id}"), Body::None));
        }
        "/inbox/{call}/override" => {
            let (id, _) = world.thing("held").await;
            return by_id(row, &id, &never("call"), |id| (format!("/inbox/{id}/override"), Body::None));
        }
        "/done/{receipt}" => ("receipt", "rct"),
        "/agents/{agent}" => ("agent", "agt"),
        "/invitation/{link}" => {
            let (_, link) = world.thing("invitation").await;
            return by_id(row, &link, "cin_nonsense", |link| (format!("/invitation/{link}"), Body::None));
        }
        "/people/{person}" | "/people/{person}/receipts" => {
            let ann = world.id_of("ann").await;
            return by_id(row, &ann, &never("per"), |id| {
                (row.route.path.replace("{person}", id), Body::None)
            });
        }
        "/run/{action}" => {
            let path = |action: &str| (format!("/run/{action}"), Body::None);
            return by_id(row, "send_mail", "never_was", path);
        }
        "/style/{file}" => {
            let page = world.desk.ask("GET", "/sign-in").send().await;
            let text = String::from_utf8_lossy(&page.bytes).into_owned();
            let file = text.split("href=\"/style/").nth(1).and_then(|rest| rest.split('"').next());
            return Sample {
                here: Asked::bare("GET", &format!("/style/{}", file.expect("a file"))),
                never: None,
            };
        }
        _ => return plain(row),
    };
    let (id, _) = world.thing(thing).await;
    by_id(row, &id, &never(prefix), |id| {
        let path = row.route.path.as_str();
        let start = path.find('{').unwrap_or(path.len());
        (format!("{}{id}", &path[..start]), Body::None)
    })
}

/// A form as its page sends it.
async fn form(world: &mut World, row: &Row) -> Sample {
    let path = row.route.path.as_str();
    let what = row.what.as_str();
    // Nobody takes a name that somebody else has.
    let name = format!("Somebody {}", world.another());
    let fields: Vec<(&'static str, &str)> = match (path, what) {
        ("/do/sign-in", _) => vec![("email", "eve@demo.test"), ("password", PASSWORD)],
        ("/do/set-up", _) => {
            vec![("link", "cin_nonsense"), ("email", "e@f.test"), ("name", "E"), ("password", PASSWORD)]
        }
        ("/do/run", _) => {
            vec![("action", "move_ticket"), ("input/ticket", "T-101"), ("input/state", "waiting")]
        }
        ("/do/circle", "add") => {
            vec![("kind", "group"), ("act", "add"), ("name", "crew"), ("email", "eve@demo.test")]
        }
        ("/do/pause", "everything") => vec![("scope", "everything"), ("act", "pause")],
        ("/do/agent", "new") => {
            vec![("name", "a"), ("owner", "nobody@demo.test"), ("abilities", "actions:read")]
        }
        ("/do/notices", _) => vec![("act", "save"), ("mail", "on")],
        ("/do/browser", _) => {
            vec![("endpoint", "https://push.test/x"), ("p256dh", "x"), ("auth", "x"), ("label", "x")]
        }
        ("/do/account", _) => vec![("name", &name), ("time_zone", "")],
        ("/do/password", _) => vec![("present", PASSWORD), ("password", "short")],
        ("/do/passkey-sign-in", _) => vec![("passkey", "nonsense")],
        ("/do/passkey", _) => {
            vec![("act", "rename"), ("which", "pky_01h455vb4pex5vsknk084sn02q"), ("name", "X")]
        }
        ("/do/prove", _) => vec![("proof", PASSWORD)],
        ("/do/token", _) => vec![("ability", "receipts:read"), ("days", "30")],
        ("/do/delegate", _) => vec![("to", "nobody@demo.test"), ("from", ""), ("until", "")],
        ("/do/invite", _) => vec![("email", "no address"), ("name", "X")],
        _ => return form_of_object(world, row).await,
    };
    let fields = fields.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
    let here = Asked { method: row.route.method.clone(), path: path.to_owned(), body: Body::Form(fields) };
    Sample { here, never: None }
}

/// A form about something that is somebody's.
async fn form_of_object(world: &mut World, row: &Row) -> Sample {
    let path = row.route.path.as_str();
    let (thing, prefix, name, rest): (&'static str, &str, &'static str, Vec<(&'static str, &str)>) =
        match (path, row.what.as_str()) {
            ("/do/decide", _) => {
                let rest = vec![("decision", "decline"), ("preview_version", ""), ("view_token", "")];
                ("held", "call", "call", rest)
            }
            ("/do/override", _) => {
                let rest = vec![("preview_version", ""), ("view_token", ""), ("reason", "It has to go.")];
                ("held", "call", "call", rest)
            }
            ("/do/grant", _) => {
                let rest =
                    vec![("preview_version", ""), ("view_token", ""), ("uses", "5"), ("minutes", "60")];
                ("held", "call", "call", rest)
            }
            ("/do/revoke-grant", _) => ("grant", "apr", "grant", vec![]),
            ("/do/end-delegation", _) => ("delegation", "dlg", "delegation", vec![]),
            ("/do/many", _) => ("held", "call", "call", vec![("decision", "decline")]),
            ("/do/undo", _) => ("approved", "call", "call", vec![]),
            ("/do/withdraw", _) => ("held", "call", "call", vec![]),
            ("/do/settle", _) => {
                ("in doubt", "call", "call", vec![("outcome", "did_not_happen"), ("reason", "looked")])
            }
            ("/do/circle", "take out") => {
                let (_, email) = world.thing("member").await;
                let fields = |email: &str| {
                    let fields = [("kind", "group"), ("act", "remove"), ("name", "crew"), ("email", email)];
                    Body::Form(fields.map(|(name, value)| (name, value.to_owned())).to_vec())
                };
                return by_id(row, &email, "nobody@demo.test", |email| (path.to_owned(), fields(email)));
            }
            ("/do/pause", _) => ("agent", "agt", "scope", vec![("act", "pause"), ("at", "agents")]),
            ("/do/revoke", "key") => return revoked_key(world, row).await,
            ("/do/revoke", _) => ("agent", "agt", "agent", vec![]),
            ("/do/agent", _) => ("agent", "agt", "agent", vec![("abilities", "actions:read")]),
            ("/do/session", "one") => ("session", "ses", "session", vec![]),
            ("/do/revoke-token", _) => ("token", "key", "token", vec![]),
            ("/do/withdraw-invitation", _) => ("invitation", "inv", "invitation", vec![]),
            ("/do/join", _) => {
                let (_, link) = world.thing("invitation").await;
                let fields = |link: &str| {
                    Body::Form(vec![("link", link.to_owned()), ("password", "thrum-welkin-osier".to_owned())])
                };
                return by_id(row, &link, "cin_nonsense", |link| (path.to_owned(), fields(link)));
            }
            ("/do/roles", _) => ("person", "per", "person", vec![("role", "approver")]),
            ("/do/disable", _) => ("person", "per", "person", vec![]),
            ("/do/enable", _) => ("disabled", "per", "person", vec![]),
            _ => return plain(row),
        };
    let (id, _) = world.thing(thing).await;
    by_id(row, &id, &never(prefix), |id| {
        let mut fields = vec![(name, id.to_owned())];
        fields.extend(rest.iter().map(|(name, value)| (*name, (*value).to_owned())));
        (path.to_owned(), Body::Form(fields))
    })
}

async fn revoked_key(world: &mut World, row: &Row) -> Sample {
    let (key, agent) = world.thing("key").await;
    by_id(row, &key, &never("key"), |key| {
        let fields = vec![("agent", agent.clone()), ("key", key.to_owned())];
        (row.route.path.clone(), Body::Form(fields))
    })
}
