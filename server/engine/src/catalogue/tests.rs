//! The catalogue as a whole, through its public face.

use model::{Effect, FieldError, Refusal, Surface, Time};
use serde_json::{Map, Value, json};

use super::rule::ROBOT;
use super::{Action, Catalogue, input};

/// The example of the manual.
const EXAMPLE: &str = include_str!("example.toml");

fn parse(text: &str) -> Catalogue {
    Catalogue::parse(text, "c.toml").unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn mistakes(text: &str) -> String {
    Catalogue::parse(text, "c.toml").err().map(|mistakes| mistakes.to_string()).unwrap_or_default()
}

/// An action with these lines in it.
fn action(lines: &str) -> String {
    let mut text = "[[action]]\nname = \"a\"\neffect = \"write\"\n".to_owned();
    text.push_str(lines);
    if !lines.contains("request =") {
        text.push_str("\nrequest = { method = \"POST\", url = \"https://a.example/x\" }");
    }
    text.push('\n');
    text
}

/// The one action with these lines in it.
fn only(lines: &str) -> Catalogue {
    parse(&action(lines))
}

fn a(catalogue: &Catalogue) -> &Action {
    catalogue.action("a").expect("the action")
}

fn map(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).expect("an object")
}

fn faults(faults: &[FieldError]) -> Vec<String> {
    faults.iter().map(|fault| format!("{}: {}", fault.field, fault.message)).collect()
}

fn told(refusal: &Refusal) -> Vec<String> {
    match refusal {
        Refusal::Invalid(errors) => faults(errors),
        other => panic!("not invalid: {other:?}"),
    }
}

#[test]
fn the_example_is_read() {
    let catalogue = parse(EXAMPLE);
    assert_eq!(catalogue.server, super::ServerSettings::default());
    assert!(catalogue.surfaces.is_on(Surface::Mcp));
    let credential = catalogue.credential("mail").expect("the credential");
    assert_eq!(credential.base_url.as_deref(), Some("https://api.mail.example"));
    let action = catalogue.action("send_mail").expect("the action");
    assert_eq!(action.effect, Effect::External);
    assert!(action.wants_queue());
    assert_eq!(action.undo_window.as_secs(), 5);

    let given = json!({ "to": " max@example.com ", "subject": "Hi", "body": "There" });
    let prepared = input::prepare(action, map(given));
    assert_eq!(prepared.faults, []);
    let prepared = Value::Object(prepared.input);
    assert_eq!(faults(&action.validate(&prepared)), Vec::<String>::new());
    let outgoing = action.render(&prepared).expect("rendered");
    assert_eq!(
        String::from_utf8_lossy(outgoing.body.as_deref().unwrap_or_default()),
        r#"{"to":"max@example.com","subject":"Hi","body":"There","from":"desk@example.com"}"#
    );
    let asked = action.render_dry_run(&prepared).expect("rendered").expect("a dry run");
    assert_eq!(asked.url.as_str(), "https://api.mail.example/v1/recipients/max%40example.com");

    let answer = json!({ "name": "Max", "quota": 3 });
    let preview = action.preview(&prepared, &outgoing, Some(&answer), None, Vec::new());
    insta::assert_snapshot!(serde_json::to_string_pretty(&preview).unwrap_or_default(), @r#"
    {
      "version": "",
      "title": "Mail to max@example.com",
      "summary": "Hi",
      "fields": [
        {
          "label": "Recipient",
          "value": "Max",
          "before": null
        },
        {
          "label": "Quota",
          "value": "",
          "before": "3"
        }
      ],
      "target": "max@example.com",
      "effect": "external",
      "request": {
        "method": "POST",
        "host": "api.mail.example",
        "path": "/v1/messages",
        "query": "",
        "headers": [
          {
            "name": "content-type",
            "value": "application/json"
          }
        ],
        "body": "{\"to\":\"max@example.com\",\"subject\":\"Hi\",\"body\":\"There\",\"from\":\"desk@example.com\"}",
        "credential": "mail"
      },
      "agent_words": null,
      "warnings": [],
      "checked": "dry_run"
    }
    "#);
    let output = action.project(&json!({ "id": 7, "queued_at": "now", "token": "t" }));
    assert_eq!(action.reply(&prepared, &output).as_deref(), Some("The mail is queued as 7."));
    assert_eq!(action.reply(&prepared, &json!({})), None);
    assert_eq!(action.refusal_for(404), Refusal::invalid("/to", "Nobody by that address."));
    let refused = |status, message: Option<&str>, upstream| Refusal::Refused {
        status,
        message: message.map(str::to_owned),
        upstream_status: Some(upstream),
    };
    assert_eq!(action.refusal_for(409), refused(409, Some("Already sent."), 409));
    assert_eq!(action.refusal_for(403), refused(409, None, 403));
}

#[test]
fn what_is_offered() {
    let catalogue = parse(EXAMPLE);
    let offered = catalogue.action("send_mail").expect("the action").offered();
    insta::assert_snapshot!(serde_json::to_string_pretty(&offered).unwrap_or_default(), @r#"
    {
      "name": "send_mail",
      "title": "Send a mail",
      "description": "Sends one mail to one recipient.",
      "effect": "external",
      "input_schema": {
        "type": "object",
        "required": [
          "to",
          "subject",
          "body"
        ],
        "additionalProperties": false,
        "properties": {
          "to": {
            "type": "string",
            "format": "email"
          },
          "subject": {
            "type": "string",
            "maxLength": 200
          },
          "body": {
            "type": "string"
          },
          "dry_run": {
            "type": "boolean",
            "description": "Only show what would be done, and do nothing."
          },
          "idempotency_key": {
            "type": "string",
            "minLength": 1,
            "maxLength": 128,
            "pattern": "^[\\x21-\\x7E]+$",
            "description": "Names this one request. A repeat with the same key and arguments is not done twice."
          },
          "confirm_token": {
            "type": "string",
            "description": "The token of the prompt that this call answers, with the same arguments as before."
          }
        }
      },
      "annotations": {
        "readOnlyHint": false,
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": true
      }
    }
    "#);
    let read =
        parse("[[action]]\nname = \"a\"\neffect = \"read\"\nrequest = { url = \"https://a.example/\" }");
    insta::assert_snapshot!(a(&read).offered().input_schema, @r#"
    {"type":"object","properties":{},"additionalProperties":false}
    "#);
}

#[test]
fn a_desk_without_a_file() {
    let catalogue = Catalogue::builtin();
    assert_eq!(catalogue.actions().count(), 0);
    assert_eq!(catalogue.server.public_url.as_str(), "http://127.0.0.1:8087/");
    assert!(Surface::ALL.iter().all(|surface| catalogue.surfaces.is_on(*surface)));
    assert_eq!(parse("").server, catalogue.server);
}

#[test]
fn broken_syntax_is_told_line_by_line() {
    let text = "[server]\nlisten = \"x\nmax_held = = 3\nleese = 3\n[[action]]\nnamme = 1_000\n";
    insta::assert_snapshot!(mistakes(text), @r#"
    c.toml:2:12: not TOML: invalid basic string, expected `"`
    c.toml:3:12: not TOML: extra `=`, expected nothing
    c.toml:3:14: not TOML: unexpected key or value, expected newline, `#`
    c.toml:4:1: “leese” is not a key of [server]; did you mean “lease”?
    c.toml:6:1: “namme” is not a key of an action; did you mean “name”?
    "#);
}

#[test]
fn mistakes_of_the_server() {
    let text = r#"
servr = 1
[server]
listen = "localhost"
public_url = "http://x/?q"
database_url = "mysql://x"
lease = "0s"
max_held = 0
via_wait = "soon"
store_limit = "64 KB"
result_ttl = "2d"
databse_url = "x"
[surfaces]
mpc = true
form = "yes"
[[upstream]]
name = "tickets"
"#;
    insta::assert_snapshot!(mistakes(text), @r#"
    c.toml:2:1: “servr” is not a key of the catalogue; did you mean “server”?
    c.toml:4:10: “listen” is no address; expected an address and a port such as "127.0.0.1:8087" or "[::1]:8087"
    c.toml:5:14: “public_url” cannot be used; expected an http or https address without query, fragment and user
    c.toml:6:16: “database_url” is no database that can be used; expected an address that begins with sqlite:, postgres:// or postgresql://
    c.toml:7:9: “lease” is too short; expected at least 1s
    c.toml:8:12: “max_held” is out of range; expected a whole number from 1 to 1000000
    c.toml:9:12: “via_wait” is no length of time; expected a number of seconds, or a string such as "5s", "10m", "24h" or "30d"
    c.toml:10:15: “store_limit” is no size; expected a number of bytes, or a string such as "64 KiB" or "1 MiB"
    c.toml:11:14: “result_ttl” is too long; expected at most 24h
    c.toml:12:1: “databse_url” is not a key of [server]; did you mean “database_url”?
    c.toml:14:1: “mpc” is not a key of [surfaces]; did you mean “mcp”?
    c.toml:15:8: “form” is a string; expected true or false
    c.toml:16:1: an upstream lacks “url”
    "#);
}

#[test]
fn mistakes_of_upstreams_and_tools() {
    let text = r#"
[[credential]]
name = "tickets"
hosts = ["tickets.example"]
methods = ["GET"]
header = "Authorization"
value = "Bearer {secret}"
secret = { env = "T" }
[[upstream]]
name = "Tickets"
url = "http://tickets.example/mcp"
credential = "tikets"
tool = ["x"]
[[upstream]]
name = "a"
url = "https://other.example/{{ input.x }}"
credential = "tickets"
tools = "all"
[[upstream]]
name = "a"
url = "nowhere"
[[action]]
name = "one"
effect = "write"
tool = { upstream = "b", nam = "x" }
request = { method = "POST", url = "https://x.example/" }
[[action]]
name = "two"
effect = "write"
credential = "tickets"
tool = { upstream = "a", name = "x", arguments = { id = "{{ input.id }}" } }
[[action]]
name = "three"
effect = "write"
tool = { upstream = "a", name = "x", arguments = 3 }
"#;
    insta::assert_snapshot!(mistakes(text), @r#"
    c.toml:10:8: the name of an upstream cannot be used; expected 1 to 32 of a-z, 0-9 and _, beginning with a letter
    c.toml:11:7: the request would go over plain http; expected https, or a credential with allow_http = true
    c.toml:12:14: there is no credential “tikets”; did you mean “tickets”?
    c.toml:13:1: “tool” is not a key of an upstream; did you mean “tools”?
    c.toml:16:7: the address of an upstream is fixed; expected an address without expressions
    c.toml:17:14: the credential may not be used for POST, and every message to an MCP server is one
    c.toml:18:9: “tools” is a string; expected an array
    c.toml:20:8: there are two of the upstream “a”; expected distinct names
    c.toml:21:7: this is no absolute http or https address; expected an address such as "https://api.example/v1/things/{{ input.id }}"
    c.toml:25:8: “tool” lacks “name”
    c.toml:25:21: there is no upstream “b”; did you mean “a”?
    c.toml:25:26: “nam” is not a key of “tool”; did you mean “name”?
    c.toml:26:11: “request” is for actions that send a request, and this one calls a tool
    c.toml:30:14: “credential” is for actions that send a request, and this one calls a tool
    c.toml:31:57: the input has no “id”
    c.toml:35:50: “arguments” is a number; expected a table, or an expression that is one
    "#);
}

#[test]
fn mistakes_of_what_an_upstream_passes_on() {
    let text = r#"
[[upstream]]
name = "a"
url = "https://a.example/mcp"
prompts = "all"
resources = ["tickets:", "", "tickets", "Tickets:", "/docs/", "file:///srv/docs/"]
"#;
    insta::assert_snapshot!(mistakes(text), @r#"
    c.toml:5:11: “prompts” is a string; expected true or false
    c.toml:6:26: this is no beginning of URIs; expected at least a scheme and its colon, such as “tickets:”
    c.toml:6:30: this is no beginning of URIs; expected at least a scheme and its colon, such as “tickets:”
    c.toml:6:41: this is no beginning of URIs; expected at least a scheme and its colon, such as “tickets:”
    c.toml:6:53: this is no beginning of URIs; expected at least a scheme and its colon, such as “tickets:”
    "#);
}

#[test]
fn mistakes_of_credentials() {
    let text = r#"
[[credential]]
name = "Mail"
hosts = ["API.mail.example", "a.example:99999", "*.example"]
base_url = "http://other.example"
methods = ["get", "CONNECT"]
path_prefixes = ["v1", "/a/../b"]
allow = ["agents:x"]
header = "Content-Length"
value = "Bearer SECRET"
secret = { enw = "X" }
in_doubt_on = [404]

[[credential]]
name = "b"
hosts = []

[[credential]]
name = "b"
hosts = "b.example"
secret = { store = true }
trusted = "no"
"#;
    insta::assert_snapshot!(mistakes(text), @r#"
    c.toml:3:8: the name of a credential cannot be used; expected 1 to 64 of a-z, 0-9, _ and -, beginning with a letter
    c.toml:4:10: this host is not written in its canonical form; expected "api.mail.example"
    c.toml:4:30: this is no host; expected a host or host:port such as "api.example" or "[::1]:8443"
    c.toml:4:49: a host cannot be a pattern; expected each host by its name
    c.toml:5:12: “base_url” is plain http; expected https, or allow_http = true
    c.toml:6:12: “get” is no method; expected an upper-case method such as GET or POST
    c.toml:6:19: CONNECT is never sent
    c.toml:7:18: this is no path prefix; expected a path that begins with / and has no dot segments, queries or encoded characters
    c.toml:7:24: this is no path prefix; expected a path that begins with / and has no dot segments, queries or encoded characters
    c.toml:8:10: “agents:x” allows nobody; expected *, agent:NAME, group:NAME or person:EMAIL
    c.toml:9:10: the header content-length cannot carry a secret
    c.toml:10:9: “value” has no one place for the secret; expected the header's value with {secret} once, such as "Bearer {secret}"
    c.toml:11:10: “secret” does not say where the secret is; expected { env = "NAME" } or { store = true }
    c.toml:11:12: “enw” is not a key of “secret”; did you mean “env”?
    c.toml:12:16: an entry of “in_doubt_on” is out of range; expected a whole number from 500 to 599
    c.toml:14:1: a credential lacks “secret”
    c.toml:16:9: “hosts” names no host; expected at least one, such as "api.example"
    c.toml:19:8: there are two of the credential “b”; expected distinct names
    c.toml:20:9: “hosts” is a string; expected an array
    c.toml:22:11: “trusted” is a string; expected true or false
    "#);
}

#[test]
fn mistakes_of_actions() {
    let text = r#"
[[action]]
name = "Send"
efect = "write"
expose = ["api", "web", "via"]
approvers = ["person:ann", "role:admin", "grup:x", "max"]
hold_ttl = "31d"
credential = "mial"
input = { type = "object", properties = { dry_run = { type = "boolean" }, to = { type = "strin" } } }
fixed = { confirm_token = "x" }
request = { method = "POST", url = "https://a.example/" }

[[action]]
name = "b"
effect = "wirte"
public = 1
quorum = 0
convert = { too = "trim", to = "trimm" }
input = { type = "object", properties = { to = { type = "string" } } }
rules = [ { when = "input.too == ''", field = "too", message = "x" }, { when = "caller.kind == ''", field = "to" } ]
refusals = [ { status = 200, message = "x" }, { status = 404, field = "t", as = 410, message = "x" } ]
request = { method = "POST", url = "https://a.example/{{ input.too }}", json = { a = "{{ inpt.to }}", b = ["{{ input.to | uper }}", "{{ input."] } }
preview = { title = "{{ input.too }}", sumary = "x", fields = [ { label = "", value = "{{ output.x }}" } ] }
fingerprint = ["name"]
reply = "{{ dry_run.x }}"

[[action]]
name = "b"
effect = "write"
input = { type = "array" }
request = "GET /"
"#;
    insta::assert_snapshot!(mistakes(text), @r#"
    c.toml:2:1: an action lacks “effect”
    c.toml:3:8: the name of an action cannot be used; expected 1 to 64 of a-z, 0-9 and _, beginning with a letter
    c.toml:4:1: “efect” is not a key of an action; did you mean “effect”?
    c.toml:5:18: “web” is no surface of an action; expected api, mcp, form, queue or code
    c.toml:5:25: “via” is no surface of an action; expected api, mcp, form, queue or code
    c.toml:6:14: “person:ann” is no approver; expected person:EMAIL, role:approver, role:operator or group:NAME
    c.toml:6:28: the role admin does not decide; expected role:approver
    c.toml:6:42: “grup:x” is no approver; expected person:EMAIL, role:approver, role:operator or group:NAME; did you mean “group”?
    c.toml:6:52: “max” is no approver; expected person:EMAIL, role:approver, role:operator or group:NAME
    c.toml:7:12: “hold_ttl” is out of range; expected 1s to 30d
    c.toml:8:14: there is no credential “mial”
    c.toml:9:89: “strin” is no type; expected object, array, string, number, integer, boolean or null; did you mean “string”?
    c.toml:10:11: “confirm_token” is the desk's own argument, an action cannot have one of that name
    c.toml:15:10: “wirte” is no effect; expected read, write, external or destructive; did you mean “write”?
    c.toml:16:10: “public” is a number; expected true or false
    c.toml:17:10: “quorum” is out of range; expected a whole number from 1 to 100
    c.toml:18:13: the input has no “too”; did you mean “to”?
    c.toml:18:32: “trimm” is no conversion; expected trim, number, integer, boolean, date, lowercase or uppercase; did you mean “trim”?
    c.toml:20:20: the input has no “too”; did you mean “to”?
    c.toml:20:47: the input has no “too”; did you mean “to”?
    c.toml:20:71: a rule lacks “message”
    c.toml:20:80: the rule uses “caller”, which is not known here; expected input
    c.toml:21:25: “status” is out of range; expected a whole number from 400 to 499
    c.toml:21:71: the input has no “t”; did you mean “to”?
    c.toml:21:81: a refusal on a field is always 422; expected “field” or “as”
    c.toml:22:36: the input has no “too”; did you mean “to”?
    c.toml:22:86: the template uses “inpt”, which is not known here; expected input; did you mean “input”?
    c.toml:22:108: the template cannot be read: filter uper is unknown
    c.toml:22:133: the template cannot be read: unexpected end of input, expected identifier or integer
    c.toml:23:21: the input has no “too”; did you mean “to”?
    c.toml:23:40: “sumary” is not a key of “preview”; did you mean “summary”?
    c.toml:23:75: “label” is empty
    c.toml:23:87: the template uses “output”, which is not known here; expected input or dry_run
    c.toml:24:15: “fingerprint” narrows the answer of a dry run, and the action has none; expected a “dry_run”
    c.toml:24:16: “name” is no JSON Pointer; expected a JSON Pointer such as "/name"
    c.toml:25:9: the template uses “dry_run”, which is not known here; expected input or output
    c.toml:28:8: there are two of the action “b”; expected distinct names
    c.toml:30:18: “input” is not the schema of an object; expected type = "object"
    c.toml:31:11: “request” is a string; expected a table
    "#);
}

#[test]
fn mistakes_of_schemas() {
    let schemas = [
        r#"{ type = "object", requird = ["a"], properties = { a = { type = "string", maxLenght = 3 }, items = { items = { formt = "email" } } } }"#,
        r#"{ type = "object", properties = { a = { type = "string", format = "emial" } } }"#,
        r#"{ type = "object", properties = { a = { type = "string", pattern = "(" } } }"#,
        r#"{ type = "object", properties = { a = { minimum = "3" } } }"#,
        r#"{ type = "object", properties = { a = { "$ref" = "https://evil.example/s.json" } } }"#,
        r##"{ type = "object", properties = { a = { "$ref" = "#/$defs/none" } } }"##,
        r#"{ type = "object", required = ["a", "bb"], properties = { a = {} } }"#,
        r#"{ type = "object", properties = { a = { "x-label" = "A", widget = "big" } } }"#,
    ];
    let told: Vec<String> =
        schemas.iter().map(|schema| mistakes(&action(&format!("input = {schema}")))).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    c.toml:4:28: “requird” is no keyword of JSON Schema; did you mean “required”?
    c.toml:4:83: “maxLenght” is no keyword of JSON Schema; did you mean “maxLength”?
    c.toml:4:120: “formt” is no keyword of JSON Schema; did you mean “format”?
    c.toml:4:75: “emial” is no format; expected date, date-time, time, duration, email, hostname, ipv4, ipv6, regex, uri or uuid; did you mean “email”?
    c.toml:4:76: this is no regular expression
    c.toml:4:59: “input” is no JSON Schema 2020-12: "3" is not of type "number"
    c.toml:4:9: a reference of “input” leads nowhere; expected references within the schema, such as #/$defs/name
    c.toml:4:9: a reference of “input” leads nowhere; expected references within the schema, such as #/$defs/name
    c.toml:4:45: “required” names “bb”, which is no property
    "#);
}

#[test]
fn mistakes_of_rules() {
    let text = action(
        r#"
input = { type = "object", properties = { to = { type = "string" } } }
register_when = "caller.kind = 'x'"
authorize = "input.to == ''"
authorize_input = "caller.knd == input.tu && isWeekend(now)"
hold_when = "nwo > timestamp('2026-01-01T00:00:00Z') && contains(input.to, 'x') && input.to.startWith('y')"
"#,
    );
    insta::assert_snapshot!(mistakes(&text), @r#"
    c.toml:6:17: not CEL at 1:13 of the rule: Syntax error: token recognition error at: '= '
    c.toml:6:17: not CEL at 1:15 of the rule: Syntax error: extraneous input ''x'' expecting <EOF>
    c.toml:7:13: the rule uses “input”, which is not known here; expected caller or now
    c.toml:8:19: “caller” has no “knd”; did you mean “kind”?
    c.toml:8:19: the input has no “tu”; did you mean “to”?
    c.toml:8:19: the rule calls “isWeekend”, which is no function here
    c.toml:9:13: the rule uses “nwo”, which is not known here; expected caller, now or input; did you mean “now”?
    c.toml:9:13: the rule calls “contains”, which is no function here
    c.toml:9:13: the rule calls “startWith”, which is no method here; did you mean “startsWith”?
    "#);
}

#[test]
fn nobody_could_decide() {
    let all = [
        "self_approval = false",
        "quorum = 2",
        "approvers = [\"person:a@b\", \"person:c@d\"]\nquorum = 3",
        "approvers = []",
        "approvers = [\"person:a@b\", \"person:A@B\"]",
    ];
    let told: Vec<String> = all.iter().map(|lines| mistakes(&action(lines))).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    c.toml:4:17: nobody could decide: without approvers the owner decides, and self_approval is false; expected “approvers” who can
    c.toml:4:10: nobody could decide: without approvers only the owner decides, and “quorum” is above 1; expected “approvers” who can
    c.toml:5:10: nobody could decide: “quorum” is 3, and “approvers” names 2; expected at most 2
    c.toml:4:13: “approvers” names nobody; expected person:EMAIL, role:approver, role:operator or group:NAME
    c.toml:4:28: this approver is named twice
    "#);
    for fine in ["approvers = [\"group:x\"]\nquorum = 3\nself_approval = false", "self_approval = true"] {
        assert_eq!(mistakes(&action(fine)), "", "{fine}");
    }
}

#[test]
fn mistakes_of_addresses() {
    let urls = [
        "https://{{ input.x }}/",
        "https://a.example{{ input.x }}",
        "https://a.example:{{ input.x }}/",
        "{{ input.x }}",
        "ftp://a.example/",
        "/v1",
        "http://a.example/",
        "https://u@a.example/",
        "https://A.example/",
        "https://a.example:443/",
        "https://a.example/../b",
        "https://a.example/a b",
        "https://a.example/#{{ input.x }}",
    ];
    let told: Vec<String> = urls
        .iter()
        .map(|url| {
            let lines = "input = { type = \"object\", properties = { x = {} } }\nrequest = { method = \"POST\", url = ";
            let text = action(&format!("{lines}\"{url}\" }}"));
            format!("{url}\n  {}", mistakes(&text))
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    https://{{ input.x }}/
      c.toml:5:36: the scheme and the host of an address may not come from an expression; expected an address such as "https://api.example/v1/things/{{ input.id }}"
    https://a.example{{ input.x }}
      c.toml:5:36: the scheme and the host of an address may not come from an expression; expected an address such as "https://api.example/v1/things/{{ input.id }}"
    https://a.example:{{ input.x }}/
      c.toml:5:36: the scheme and the host of an address may not come from an expression; expected an address such as "https://api.example/v1/things/{{ input.id }}"
    {{ input.x }}
      c.toml:5:36: the scheme and the host of an address may not come from an expression; expected an address such as "https://api.example/v1/things/{{ input.id }}"
    ftp://a.example/
      c.toml:5:36: this is no absolute http or https address; expected an address such as "https://api.example/v1/things/{{ input.id }}"
    /v1
      c.toml:5:36: this is no absolute http or https address; expected an address such as "https://api.example/v1/things/{{ input.id }}"
    http://a.example/
      c.toml:5:36: the request would go over plain http; expected https, or a credential with allow_http = true
    https://u@a.example/
      c.toml:5:36: an address may not name a user; expected a credential
    https://A.example/
      c.toml:5:36: the address is not written in its canonical form; expected one such as "https://a.example/"
    https://a.example:443/
      c.toml:5:36: the address is not written in its canonical form; expected one such as "https://a.example/"
    https://a.example/../b
      c.toml:5:36: the address is not written in its canonical form; expected one such as "https://a.example/b"
    https://a.example/a b
      c.toml:5:36: the address holds a character that has to be percent-encoded, or a fragment
    https://a.example/#{{ input.x }}
      c.toml:5:36: the address holds a character that has to be percent-encoded, or a fragment
    "#);
}

#[test]
fn the_credential_has_to_fit_the_request() {
    let credential = r#"
[[credential]]
name = "mail"
hosts = ["api.example", "api.example:8443"]
methods = ["POST"]
path_prefixes = ["/v1/"]
header = "X-Key"
value = "{secret}"
secret = { env = "X" }
"#;
    let with = |request: &str| {
        let text = action(&format!(
            "credential = \"mail\"\ninput = {{ type = \"object\", properties = {{ x = {{}} }} }}\nrequest = {{ {request} }}"
        ));
        mistakes(&format!("{credential}{text}"))
    };
    let wrong = [
        r#"method = "POST", url = "https://other.example/v1/a""#,
        r#"method = "POST", url = "https://api.example:9/v1/a""#,
        r#"method = "PUT", url = "https://api.example/v1/a""#,
        r#"method = "POST", url = "https://api.example/v1a""#,
        r#"method = "POST", url = "https://api.example/v2/{{ input.x }}""#,
        r#"method = "POST", url = "http://api.example/v1/a""#,
        r#"method = "POST", url = "https://api.example/v1/a", headers = { "x-key" = "a", Host = "b", "a b" = "c" }"#,
        r#"method = "POST", url = "https://api.example/v1/a", json = {}, form = {}"#,
    ];
    let told: Vec<String> = wrong.iter().map(|request| with(request)).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    c.toml:15:36: the credential “mail” may not be sent to this host; expected api.example or api.example:8443
    c.toml:15:36: the credential “mail” may not be sent to this host; expected api.example or api.example:8443
    c.toml:15:22: the credential may not be used for PUT; expected POST
    c.toml:15:36: the credential “mail” may not be used under this path; expected /v1/
    c.toml:15:36: the credential “mail” may not be used under this path; expected /v1/
    c.toml:15:36: the request would go over plain http; expected https, or a credential with allow_http = true
    c.toml:15:76: an action may not write the header x-key
    c.toml:15:91: an action may not write the header host
    c.toml:15:103: “a b” is no header name
    c.toml:15:82: a request has one body; expected “json” or “form”
    "#);
    for fine in [
        r#"method = "POST", url = "https://api.example:8443/v1/a""#,
        r#"method = "POST", url = "https://api.example/v1/{{ input.x }}?y={{ input.x }}""#,
        r#"method = "POST", url = "https://api.example/{{ input.x }}""#,
    ] {
        assert_eq!(with(fine), "", "{fine}");
    }
}

/// An action that puts `x` and `y` everywhere.
fn everywhere() -> Catalogue {
    only(
        r#"
input = { type = "object", properties = { x = {}, y = {}, list = {} } }
request = { method = "POST", url = "https://a.example/v1/{{ input.x }}/b?q={{ input.y }}", query = { l = "{{ input.list }}", k = "v" }, headers = { "X-Y" = "{{ input.y }}" }, json = { x = "{{ input.x }}", text = "x is {{ input.x }}", y = "{{ input.y }}", sum = "{{ [input.x] }}", list = ["{{ input.list }}", 1] } }
"#,
    )
}

#[test]
fn values_stay_in_their_place() {
    let catalogue = everywhere();
    let evil = [
        "a/b",
        "a?b=c",
        "a#b",
        "a&b=c",
        "//evil.example",
        "@evil.example",
        "{{ input.y }}",
        "a b",
        "ü",
        "\u{1}..\u{2}",
        "https://evil.example/",
    ];
    for value in evil {
        let input = json!({ "x": value, "y": "y", "list": ["a&b", 2] });
        let outgoing = a(&catalogue).render(&input).expect(value);
        assert_eq!(outgoing.url.host_str(), Some("a.example"), "{value}");
        let segments: Vec<&str> = outgoing.url.path_segments().map(Iterator::collect).unwrap_or_default();
        assert_eq!((segments.len(), segments[0], segments[2]), (3, "v1", "b"), "{value}");
        let decoded = percent_encoding::percent_decode_str(segments[1]).decode_utf8_lossy();
        assert_eq!(decoded, value);
        assert_eq!(outgoing.url.query(), Some("q=y&l=a%26b&l=2&k=v"), "{value}");
        let body: Value = serde_json::from_slice(outgoing.body.as_deref().unwrap_or_default()).expect("JSON");
        let wanted = json!({ "x": value, "text": format!("x is {value}"), "y": "y", "sum": [value], "list": [["a&b", 2], 1] });
        assert_eq!(body, wanted);
    }
}

#[test]
fn values_that_would_leave_their_place_are_refused() {
    let catalogue = everywhere();
    let render = |input: Value| {
        a(&catalogue)
            .render(&input)
            .map(|outgoing| outgoing.url.to_string())
            .map_err(|refusal| told(&refusal))
    };
    let cases = [
        json!({ "x": ".", "y": "y" }),
        json!({ "x": "..", "y": "y" }),
        json!({ "x": "", "y": "y" }),
        json!({ "x": null, "y": "y" }),
        json!({ "y": "y" }),
        json!({ "x": "x" }),
        json!({ "x": "x", "y": "a\r\nX-Evil: 1" }),
        json!({ "x": "x", "y": "a\u{0}" }),
        json!({ "x": "..", "y": "\n" }),
        json!({ "x": "a\\b", "y": "y" }),
        json!({ "x": "a/../b", "y": "y" }),
        json!({ "x": "%2e%2e", "y": "y" }),
        json!({ "x": "..;x", "y": "y" }),
        json!({ "x": "a/b.c d%", "y": "y" }),
    ];
    let told: Vec<String> =
        cases.iter().map(|case| format!("{case}\n  {:?}", render(case.clone()))).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    {"x":".","y":"y"}
      Err(["/x: This may not be a dot segment: it becomes a part of the address."])
    {"x":"..","y":"y"}
      Err(["/x: This may not be a dot segment: it becomes a part of the address."])
    {"x":"","y":"y"}
      Err(["/x: This may not be empty: it becomes a part of the address."])
    {"x":null,"y":"y"}
      Err(["/x: The request cannot be written without this."])
    {"y":"y"}
      Err(["/x: The request cannot be written without this."])
    {"x":"x"}
      Err(["/y: The request cannot be written without this."])
    {"x":"x","y":"a\r\nX-Evil: 1"}
      Err(["/y: This may not hold line breaks or control characters: it becomes a header."])
    {"x":"x","y":"a\u0000"}
      Err(["/y: This may not hold line breaks or control characters: it becomes a header."])
    {"x":"..","y":"\n"}
      Err(["/x: This may not be a dot segment: it becomes a part of the address.", "/y: This may not hold line breaks or control characters: it becomes a header."])
    {"x":"a\\b","y":"y"}
      Err(["/x: This may not hold a dot segment or a backslash, encoded or not: it becomes a part of the address."])
    {"x":"a/../b","y":"y"}
      Err(["/x: This may not hold a dot segment or a backslash, encoded or not: it becomes a part of the address."])
    {"x":"%2e%2e","y":"y"}
      Err(["/x: This may not hold a dot segment or a backslash, encoded or not: it becomes a part of the address."])
    {"x":"..;x","y":"y"}
      Err(["/x: This may not hold a dot segment or a backslash, encoded or not: it becomes a part of the address."])
    {"x":"a/b.c d%","y":"y"}
      Ok("https://a.example/v1/a%2Fb.c%20d%25/b?q=y&k=v")
    "#);
}

proptest::proptest! {
    #[test]
    fn no_value_leaves_its_place(x in "[^\u{0}]{0,12}", y in "[^\\p{Cc}]{0,12}") {
        let catalogue = everywhere();
        let input = json!({ "x": x, "y": y, "list": y });
        let outgoing = match a(&catalogue).render(&input) {
            Ok(outgoing) => outgoing,
            Err(faults) => {
                // As a server would see it that decodes before it splits, once or twice.
                let once = percent_encoding::percent_decode_str(&x).decode_utf8_lossy().into_owned();
                let dots = |text: &str| {
                    text.split('/').any(|part| [".", ".."].contains(&part.split(';').next().unwrap_or(part)))
                };
                let seen = [x.as_str(), once.as_str()];
                let disguised = seen.iter().any(|text| text.contains('\\') || dots(text));
                proptest::prop_assert!(x.is_empty() || disguised, "{faults:?}");
                return Ok(());
            }
        };
        proptest::prop_assert_eq!(outgoing.url.origin().ascii_serialization(), "https://a.example");
        let segments: Vec<&str> = outgoing.url.path().split('/').collect();
        proptest::prop_assert_eq!(segments.len(), 4);
        let decoded = percent_encoding::percent_decode_str(segments[2]).decode_utf8_lossy();
        proptest::prop_assert_eq!(decoded.as_ref(), x.as_str());
        let pairs: Vec<(String, String)> = outgoing.url.query_pairs().into_owned().collect();
        let wanted = [("q", y.as_str()), ("l", y.as_str()), ("k", "v")];
        proptest::prop_assert_eq!(pairs, wanted.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec());
    }
}

#[test]
fn a_dot_beside_an_expression_is_refused_too() {
    let catalogue = only(
        "input = { type = \"object\", properties = { x = {} } }\nrequest = { method = \"POST\", url = \"https://a.example/.{{ input.x }}/b\" }",
    );
    for value in [".", ""] {
        assert!(a(&catalogue).render(&json!({ "x": value })).is_err(), "{value}");
    }
    assert!(a(&catalogue).render(&json!({ "x": "well-known" })).is_ok());
}

#[test]
fn numbers_keep_their_digits_and_absent_arguments_leave_no_trace() {
    let catalogue = only(
        r#"
input = { type = "object", properties = { n = {}, o = {} } }
request = { method = "POST", url = "https://a.example/{{ input.n }}", json = { n = "{{ input.n }}", o = "{{ input.o }}", whole = "{{ input }}", fixed = 1 } }
"#,
    );
    for number in ["18446744073709551615", "-9223372036854775808", "0.1", "1.0", "9007199254740993"] {
        let input: Value = serde_json::from_str(&format!("{{\"n\":{number}}}")).expect("JSON");
        let outgoing = a(&catalogue).render(&input).expect("rendered");
        let body = String::from_utf8_lossy(outgoing.body.as_deref().unwrap_or_default()).into_owned();
        assert_eq!(body, format!("{{\"n\":{number},\"whole\":{{\"n\":{number}}},\"fixed\":1}}"));
        assert_eq!(outgoing.url.path(), format!("/{number}"));
    }
}

#[test]
fn forms_are_encoded() {
    let catalogue = only(
        r#"
input = { type = "object", properties = { a = {}, b = {} } }
request = { method = "POST", url = "https://a.example/", form = { a = "{{ input.a }}", "b c" = "x{{ input.b }}", d = 1 } }
"#,
    );
    let outgoing = a(&catalogue).render(&json!({ "a": "1&b=2", "b": "ü" })).expect("rendered");
    assert_eq!(outgoing.body.as_deref(), Some(&b"a=1%26b%3D2&b%20c=x%C3%BC&d=1"[..]));
    assert_eq!(outgoing.headers[0].1, "application/x-www-form-urlencoded");
}

#[test]
fn input_is_prepared() {
    let catalogue = only(
        r#"
fixed = { from = "desk" }
convert = { n = "integer", on = "boolean", t = ["trim", "lowercase"] }
input = { type = "object", required = ["n"], properties = { n = { type = "integer" }, on = { type = "boolean" }, t = { type = "string", default = "none" }, o = { type = "object", additionalProperties = false, properties = { k = { default = 1 } } } } }
"#,
    );
    let action = a(&catalogue);
    let prepared = input::prepare(action, map(json!({ "n": " 7 ", "on": "yes", "o": {} })));
    assert_eq!(prepared.faults, []);
    assert_eq!(
        Value::Object(prepared.input),
        json!({ "n": 7, "on": true, "o": { "k": 1 }, "t": "none", "from": "desk" })
    );
    let prepared = input::prepare(action, map(json!({ "n": "x", "on": "maybe", "from": "me" })));
    assert_eq!(Value::Object(prepared.input), json!({ "t": "none", "from": "desk" }));
    assert_eq!(
        faults(&prepared.faults),
        [
            "/n: This has to be a whole number.",
            "/on: This has to be true or false.",
            "/from: There is no such argument.",
        ]
    );

    let given = json!({ "n": 1, "from": "me", "dry_run": true, "confirm_token": "x", "idempotency_key": "k", "tt": 1, "o": { "k": 1, "z": 2 } });
    let unknown = input::unknown_arguments(action, &map(given.clone()));
    assert_eq!(
        faults(&unknown),
        [
            "/from: There is no such argument.",
            "/confirm_token: There is no such argument.",
            "/tt: There is no such argument. Did you mean “t”?",
        ]
    );
    let cut = input::cut_to_schema(action, map(given));
    assert_eq!(
        Value::Object(cut),
        json!({ "n": 1, "dry_run": true, "idempotency_key": "k", "o": { "k": 1 } })
    );

    let nul = input::unkeepable_fields(&map(
        json!({ "a": "x\u{0}", "b": [{ "c/d": "\u{0}", "e\u{0}": 1 }], "f": "fine" }),
    ));
    assert_eq!(
        faults(&nul),
        [
            "/a: This may not hold a NUL character.",
            "/b/0/c~1d: This may not hold a NUL character.",
            "/b/0: A field's name may not hold a NUL character.",
        ]
    );
}

#[test]
fn faults_are_told_all_at_once_and_never_with_the_value() {
    let catalogue = only(
        r#"
rules = [ { when = "input.text.startsWith('CANARY')", field = "text", message = "Not this text." }, { when = "input.small > 3", field = "big", message = "Too much together." } ]
input = { type = "object", required = ["text", "missing"], properties = { missing = {}, text = { type = "string" }, mail = { type = "string", format = "email" }, day = { format = "date" }, word = { enum = ["a", "b"] }, small = { type = "integer", maximum = 3 }, big = { type = "number", exclusiveMinimum = 10 }, short = { type = "string", maxLength = 3 }, like = { type = "string", pattern = "^[a-z]+$" }, one = { const = "one" }, list = { type = "array", items = { type = "integer" }, maxItems = 1, uniqueItems = true }, in = { type = "object", additionalProperties = false, properties = { a = { type = ["string", "null"] } } }, either = { anyOf = [ { type = "integer" }, { type = "string", maxLength = 2 } ] }, not = { not = { type = "string" } }, named = { propertyNames = { maxLength = 2 } }, never = false } }
"#,
    );
    let bad = json!({
        "text": "CANARY-1", "mail": "CANARY-2", "day": "CANARY-3", "word": "CANARY-4", "small": 7_777_777, "big": 7.777_777,
        "short": "CANARY-5", "like": "CANARY-6", "one": "CANARY-7", "list": ["CANARY-8", "CANARY-8"], "in": { "a": 7_777_777, "aa": "CANARY-9" },
        "either": "CANARY-10", "not": "CANARY-11", "named": { "key": "CANARY-12" }, "never": "CANARY-13", "txt": "CANARY-14",
    });
    let told = faults(&a(&catalogue).validate(&bad)).join("\n");
    insta::assert_snapshot!(told, @r#"
    /missing: This field is required.
    /mail: This has to be an e-mail address.
    /day: This has to be a date such as 2026-11-30.
    /word: This has to be “a” or “b”.
    /small: This may be at most 3.
    /big: This has to be more than 10.
    /short: This may be at most 3 characters long.
    /like: This has to match the pattern ^[a-z]+$.
    /one: This has to be "one".
    /list: This may have at most 1 entries.
    /list: The entries have to differ from each other.
    /list/0: This has to be a whole number.
    /list/1: This has to be a whole number.
    /in/a: This has to be null or a text.
    /in/aa: There is no such argument.
    /either: This fits none of the allowed forms.
    /not: This is not allowed here.
    /named: A field's name is not allowed.
    /never: This is not allowed here.
    /txt: There is no such argument.
    /text: Not this text.
    "#);
    assert!(!told.contains("CANARY") && !told.contains("777"), "{told}");
    assert_eq!(faults(&a(&catalogue).validate(&json!({ "text": "x", "missing": 1 }))), Vec::<String>::new());
    assert_eq!(faults(&a(&catalogue).validate(&json!([1]))), [": This has to be an object."]);
}

#[test]
fn a_rule_that_cannot_be_evaluated_is_broken_where_its_field_is_given() {
    let catalogue = only(
        r#"
input = { type = "object", properties = { kind = {}, limits = { type = "object" }, cc = {}, to = {} } }
rules = [ { when = "input.limits[input.kind] > 3", field = "kind", message = "Too much." }, { when = "input.cc == input.to", field = "cc", message = "The same." } ]
"#,
    );
    let told = |input: Value| faults(&a(&catalogue).validate(&input));
    assert_eq!(told(json!({ "kind": "a", "limits": { "a": 1 } })), Vec::<String>::new());
    assert_eq!(told(json!({ "kind": "b", "limits": { "a": 1 } })), ["/kind: Too much."]);
    assert_eq!(told(json!({ "cc": "a", "to": "a" })), ["/cc: The same."]);
    assert_eq!(told(json!({ "to": "a" })), Vec::<String>::new());
}

#[test]
fn rules_know_the_caller_the_time_and_the_input() {
    let catalogue = parse(EXAMPLE);
    let action = catalogue.action("send_mail").expect("the action");
    let now = Time::parse("2026-11-30T09:30:00Z").expect("a time");
    let holds = |rule: &Option<super::Rule>, input: Option<&Value>| {
        rule.as_ref().map(|rule| rule.evaluate(&ROBOT, now, input))
    };
    assert_eq!(holds(&action.register_when, None), Some(Ok(true)));
    assert_eq!(holds(&action.authorize, None), Some(Ok(true)));
    assert_eq!(holds(&action.authorize_input, Some(&json!({ "to": "x@example.com" }))), Some(Ok(true)));
    assert_eq!(holds(&action.authorize_input, Some(&json!({ "to": "x@evil.com" }))), Some(Ok(false)));
    assert_eq!(holds(&action.hold_when, Some(&json!({ "body": "x".repeat(2001) }))), Some(Ok(true)));
    assert_eq!(holds(&action.hold_when, Some(&json!({}))), Some(Err(super::RuleError::MissingField)));

    let rule = |text: &str| {
        let lines = format!(
            "input = {{ type = \"object\", properties = {{ n = {{}}, l = {{}} }} }}\nhold_when = \"{text}\""
        );
        let catalogue = only(&lines);
        let input = json!({ "n": 5, "l": [[1, 2], [3]] });
        a(&catalogue).hold_when.as_ref().map(|rule| rule.evaluate(&ROBOT, now, Some(&input)))
    };
    for (text, wanted) in [
        ("now > timestamp('2026-01-01T00:00:00Z') && now.getHours() == 9", Ok(true)),
        ("input.n + 1 == 6 && input.n > 4.5", Ok(true)),
        ("caller.tenant == '' && caller.role == 'approver' && 'member' in caller.roles", Ok(true)),
        (
            "caller.surface == 'mcp' && caller.agent == 'robot' && 'actions:read' in caller.abilities",
            Ok(true),
        ),
        ("input.l.all(x, x.all(y, y < 4)) && has(input.n)", Ok(true)),
        ("input.l.map(x, size(x)) == [2, 1]", Ok(true)),
        ("input.n.matches('a')", Err(super::RuleError::Failed)),
        ("input.n / 0 == 1", Err(super::RuleError::Failed)),
        ("input.n", Err(super::RuleError::NotBoolean)),
    ] {
        assert_eq!(rule(text), Some(wanted), "{text}");
    }
}

#[test]
fn loops_are_bounded() {
    let lines = "input = { type = \"object\", properties = { l = {} } }\nhold_when = \"input.l.all(x, input.l.all(y, x == y))\"";
    let catalogue = only(lines);
    let rule = a(&catalogue).hold_when.as_ref().expect("the rule");
    let large = json!({ "l": vec![1; 2_000] });
    let now = Time::from_micros(0);
    assert_eq!(rule.evaluate(&ROBOT, now, Some(&large)), Err(super::RuleError::TooCostly));
    assert_eq!(rule.evaluate(&ROBOT, now, Some(&json!({ "l": vec![1; 100] }))), Ok(true));
}

#[test]
fn without_a_preview_every_field_is_shown() {
    let catalogue = only(
        "title = \"Do it\"\ninput = { type = \"object\", properties = { a = { title = \"The A\" }, b = {} } }",
    );
    let input = json!({ "a": "x", "b": [1] });
    let outgoing = a(&catalogue).render(&input).expect("rendered");
    let preview =
        a(&catalogue).preview(&input, &outgoing, None, Some("because".to_owned()), vec!["look".to_owned()]);
    let fields: Vec<String> =
        preview.fields.iter().map(|field| format!("{}={}", field.label, field.value)).collect();
    assert_eq!((preview.title.as_str(), fields.join(",").as_str()), ("Do it", "The A=x,b=[1]"));
}

#[test]
fn a_catalogue_can_be_shared_between_tasks() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Catalogue>();
}

#[test]
fn every_part_of_an_answer_to_a_mistake_is_there_for_programs() {
    let Err(mistakes) = Catalogue::parse("servr = 1", "c.toml") else { panic!("a mistake") };
    let wanted = json!([{ "file": "c.toml", "line": 1, "column": 1, "message": "“servr” is not a key of the catalogue", "nearest": "server" }]);
    assert_eq!(serde_json::to_value(&mistakes).ok(), Some(wanted));
}

#[test]
fn a_misspelt_method_is_a_mistake_and_a_rare_one_is_not() {
    let credential = |method: &str| {
        format!(
            "[[credential]]\nname = \"m\"\nhosts = [\"a.example\"]\nsecret = {{ store = true }}\nmethods = [\"GET\",\n\"{method}\"]\n"
        )
    };
    assert_eq!(mistakes(&credential("POTS")), "c.toml:6:1: “POTS” is no method; did you mean “POST”?");
    for taken in ["PATCH", "PURGE", "MKCALENDAR"] {
        assert_eq!(mistakes(&credential(taken)), "");
    }
}

#[test]
fn what_is_given_has_to_fit_the_schema() {
    let text = r##"
[[action]]
name = "a"
effect = "read"
fixed = { from = 5, other = 5, into = "desk" }
input = { type = "object", properties = { from = { type = "string" }, into = { type = "string" }, count = { type = "integer", default = "x" }, kind = { "$ref" = "#/$defs/kind", default = "c" }, fine = { type = "integer", default = 1 } }, "$defs" = { kind = { enum = ["a", "b"] } } }
request = { url = "https://a.example/{{ input.other }}" }
"##;
    let told = Catalogue::parse(text, "c.toml").expect_err("mistakes").to_string();
    for expected in [
        "c.toml:5:18: the fixed value of “from” does not fit its schema; expected This has to be a text",
        "the default of “count” does not fit its schema; expected This has to be a whole number",
        "the default of “kind” does not fit its schema; expected This has to be “a” or “b”",
    ] {
        assert!(told.contains(expected), "{expected}\n{told}");
    }
    assert_eq!(told.matches("does not fit").count(), 3, "{told}");
}

#[test]
fn notices_mail_and_webhooks_are_read() {
    let catalogue = parse(
        r#"
        [notices]
        after = "2m"
        [mail]
        smtp = "smtps://desk%40house@mail.example"
        password = { env = "SMTP_PASSWORD" }
        from = "The desk <desk@house.example>"
        [[webhook]]
        name = "hook"
        url = "https://chat.example/hook"
        secret = { env = "HOOK_SECRET" }
        to = ["person:Ann@house.example", "role:operator"]
        [[webhook]]
        name = "chat"
        kind = "slack"
        url = { env = "SLACK_URL" }
        to = ["group:mailers"]
        "#,
    );
    assert_eq!((catalogue.notices.after.as_secs(), catalogue.notices.every.as_secs()), (120, 300));
    let mail = catalogue.mail.as_ref().expect("a mail server");
    assert_eq!(
        (mail.host.as_str(), mail.port, mail.user.as_deref()),
        ("mail.example", 465, Some("desk@house"))
    );
    assert_eq!((mail.from_name.as_deref(), mail.from.as_str()), (Some("The desk"), "desk@house.example"));
    let hook = catalogue.webhook("hook").expect("a webhook");
    assert_eq!(hook.to, ["person:ann@house.example", "role:operator"]);
    assert_eq!(hook.variables(), ["HOOK_SECRET"]);
    assert_eq!(catalogue.webhook("chat").expect("another").variables(), ["SLACK_URL"]);
}

#[test]
fn mistakes_in_notices_mail_and_webhooks_are_told_with_their_line() {
    for (text, told) in [
        ("[notices]\nafer = 1", "c.toml:2:1: “afer” is not a key of [notices]; did you mean “after”?"),
        ("[notices]\nafter = \"2d\"", "c.toml:2:9: “after” is too long; expected at most 24h"),
        ("[mail]\nsmtp = \"smtps://h\"", "c.toml:1:1: [mail] lacks “from”"),
        (
            "[mail]\nsmtp = \"smtps://u:p@h\"\nfrom = \"a@b.example\"\npassword = { env = \"P\" }",
            "c.toml:2:8: a password does not belong into the catalogue; expected password = { env = \"NAME\" }",
        ),
        ("[mail]\nsmtp = \"mail.example\"\nfrom = \"a@b.example\"", "c.toml:2:8: “smtp” is no mail server"),
        (
            "[mail]\nsmtp = \"smtps://u@h\"\nfrom = \"a@b.example\"",
            "c.toml:1:1: a mail server is signed in to with a user and a password",
        ),
        (
            "[mail]\nsmtp = \"smtps://h\"\nfrom = \"a@b.example\\r\\nBcc: c@d.example\"",
            "c.toml:3:8: “from” is no address",
        ),
        (
            "[[webhook]]\nname = \"x\"\nkind = \"slak\"",
            "c.toml:3:8: “slak” is no kind; expected standard or slack; did you mean “slack”?",
        ),
        ("[[webhook]]\nname = \"x\"", "c.toml:1:1: a webhook lacks “secret”"),
        (
            "[[webhook]]\nurl = \"http://chat.example/\"",
            "c.toml:2:7: “url” is plain http; expected https, or allow_http = true",
        ),
        (
            "[[webhook]]\nurl = \"https://CHAT.example/\"",
            "c.toml:2:7: “url” cannot be sent to: The URL is not in its canonical form",
        ),
        ("[[webhook]]\nto = [\"role:aprover\"]", "did you mean “approver”?"),
        ("[[webhook]]\nto = [\"grp:x\"]", "“grp:x” is nobody who could decide"),
        ("[[webhook]]\nto = []", "“to” names nobody"),
        ("[[webhook]]\nname = \"a\"\n[[webhook]]\nname = \"a\"", "there are two of the webhook “a”"),
        ("[[webhok]]", "did you mean “webhook”?"),
    ] {
        let mistakes = Catalogue::parse(text, "c.toml").expect_err(text).to_string();
        assert!(mistakes.contains(told), "{text}\n{mistakes}\nlacks: {told}");
    }
}
