//! The binary itself: what it prints, how it exits, and that its commands work while the server runs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a catalogue that listens on a free port.
struct Place {
    folder: TempDir,
}

impl Place {
    fn fresh() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("countersign.toml"), "[server]\nlisten = \"127.0.0.1:0\"\n")
            .expect("written");
        Self { folder }
    }

    fn command(&self, line: &str) -> Command {
        command(self.folder.path(), line)
    }

    /// Runs a command with this on its standard input.
    fn run(&self, line: &str, input: &str) -> Output {
        let mut command = self.command(line);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("run");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
        child.wait_with_output().expect("an end")
    }

    fn json(&self, line: &str, input: &str) -> Value {
        let output = self.run(line, input);
        assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        assert_eq!(text.lines().count(), 1, "{line}: one line of JSON, not {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    fn failure(&self, line: &str, input: &str, code: i32) -> String {
        let output = self.run(line, input);
        assert_eq!(output.status.code(), Some(code), "{line}: {output:?}");
        String::from_utf8(output.stderr).expect("text")
    }
}

fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(line.split(' ')).current_dir(folder);
    command.env_remove("DATABASE_URL").env_remove("COUNTERSIGN_KEY").env_remove("RUST_LOG");
    command
}

/// A running server; killed when the test ends early.
struct Running(Child);

impl Running {
    /// Starts it and reads the line of JSON it prints when it is ready.
    fn start(mut command: Command) -> (Self, Value) {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("run");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        let told = serde_json::from_str(&line).expect("JSON");
        (Self(child), told)
    }

    /// Tells it to stop and waits until it has.
    fn stop(mut self) -> Option<i32> {
        let told = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status().expect("run");
        assert!(told.success());
        self.0.wait().expect("an end").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already; that is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The status and the body of a GET.
fn get(authority: &str, path: &str, token: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(authority).expect("a connection");
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("written");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, serde_json::from_str(body).unwrap_or_default())
}

/// How the doctor found each subject, in order; a subject may be told more than once.
fn findings(place: &Place, code: i32) -> Vec<(String, String)> {
    let output = place.run("doctor --json", "");
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(told["healthy"], code == 0);
    let text = |finding: &Value, name: &str| finding[name].as_str().expect("text").to_owned();
    let items = told["findings"].as_array().expect("findings");
    items.iter().map(|finding| (text(finding, "subject"), text(finding, "verdict"))).collect()
}

fn found(subject: &str, verdict: &str) -> (String, String) {
    (subject.to_owned(), verdict.to_owned())
}

#[test]
fn the_doctor_changes_nothing_and_tells_what_is_bad() {
    let place = Place::fresh();
    let new = findings(&place, 0);
    assert!(new.contains(&found("database", "mind")) && new.contains(&found("key", "mind")), "{new:?}");
    let left: Vec<_> = std::fs::read_dir(place.folder.path()).expect("a folder").collect();
    assert_eq!(left.len(), 1, "neither a database nor a key is made: {left:?}");

    let (running, told) = Running::start(place.command("serve --json"));
    let url = told["url"].as_str().expect("an address").to_owned();
    let listen = url.trim_start_matches("http://");
    let catalogue = format!("[server]\nlisten = \"{listen}\"\npublic_url = \"{url}\"\n");
    std::fs::write(place.folder.path().join("countersign.toml"), &catalogue).expect("written");
    let well = findings(&place, 0);
    for subject in ["catalogue", "database", "clock", "passkeys", "tls", "reach", "key"] {
        assert!(well.contains(&found(subject, "good")), "{subject} in {well:?}");
    }
    assert!(well.contains(&found("pause", "good")), "{well:?}");
    place.json("agent pause --all --reason Drill --json", "");
    assert!(findings(&place, 0).contains(&found("pause", "mind")), "it is paused on purpose");
    place.json("agent pause --all --resume --json", "");
    running.stop();
    assert!(findings(&place, 0).contains(&found("reach", "mind")), "nobody answers any more");

    let open =
        catalogue.replace(&format!("public_url = \"{url}\""), "public_url = \"http://desk.house.example\"");
    let lacking = "[[credential]]\nname = \"mail\"\nhosts = [\"api.mail.example\"]\nheader = \"Authorization\"\n\
        value = \"Bearer {secret}\"\nsecret = { env = \"NO_SUCH_VARIABLE\" }\n";
    std::fs::write(place.folder.path().join("countersign.toml"), open + lacking).expect("written");
    std::fs::rename(place.folder.path().join("countersign.key"), place.folder.path().join("lost"))
        .expect("moved");
    let ill = findings(&place, 1);
    for subject in ["public_url", "credential", "key"] {
        assert!(ill.contains(&found(subject, "bad")), "{subject} in {ill:?}");
    }
    assert!(ill.contains(&found("passkeys", "mind")), "plain http has none: {ill:?}");
    assert!(!place.folder.path().join("countersign.key").exists(), "no key is made in the lost one's place");
    std::fs::write(place.folder.path().join("countersign.toml"), "[server]\nlisen = 1\n").expect("written");
    assert_eq!(findings(&place, 1), [found("catalogue", "bad")]);
}

/// Whoever runs the desk is told of a provider that cannot be used, and that nobody could come back, before it happens.
#[test]
fn a_sign_in_provider_is_looked_at_before_it_is_relied_on() {
    let place = Place::fresh();
    let file = place.folder.path().join("countersign.toml");
    let text = "[server]\nlisten = \"127.0.0.1:0\"\n[sign_in]\npasswords = false\n[sign_in.oidc]\n\
        issuer = \"http://127.0.0.1:1\"\nclient_id = \"desk\"\nclient_secret = { store = true }\nallow_http = true\nallow_private = true\n";
    std::fs::write(&file, text).expect("written");
    let add = "person add --email ada@desk.test --name Ada --role admin --json";
    place.failure(add, "", 2);
    place.json(&format!("{add} --no-password"), "");
    let set = place.run("person set-password --email ada@desk.test --password-stdin", "thrum-welkin-osier");
    assert!(String::from_utf8_lossy(&set.stderr).contains("passwords are switched off"), "{set:?}");
    let told = place.json("check --json", "");
    let warnings = told["warnings"].to_string();
    assert!(warnings.contains("sign_in.oidc") && warnings.contains("no admin"), "{warnings}");
    let ill = findings(&place, 1);
    for finding in [found("sign_in", "bad"), found("sign_in", "mind"), found("credential", "bad")] {
        assert!(ill.contains(&finding), "{finding:?} in {ill:?}");
    }
    place.json("credential set sign_in.oidc --json", "hush");
    place.json("person link --email ada@desk.test --subject s1 --json", "");
    assert_eq!(place.json("check --json", "")["warnings"], json!([]));
    assert_eq!(place.json("person unlink --email ada@desk.test --json", "")["unlinked"], json!(true));
    assert_eq!(place.json("person unlink --email ada@desk.test --json", "")["unlinked"], json!(false));
    std::fs::write(&file, text.split("[sign_in.oidc]").next().expect("a part")).expect("written");
    let said = place.failure("check", "", 1);
    assert!(said.contains("nobody could sign in"), "{said}");
}

#[test]
fn the_log_can_be_read_by_a_machine() {
    let place = Place::fresh();
    let mut command = place.command("serve --json");
    command.env("COUNTERSIGN_LOG_FORMAT", "json").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("run");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    let told: Value = serde_json::from_str(&line).expect("JSON");
    let authority = told["url"].as_str().expect("an address").trim_start_matches("http://").to_owned();
    get(&authority, "/v1/receipts?sting", "csu_sting");
    child.kill().expect("told");
    let output = child.wait_with_output().expect("an end");
    let log = String::from_utf8(output.stderr).expect("text");
    // The link for the first admin is for whoever looks at the console, between the lines of the log.
    let lines = log.lines().filter(|line| line.starts_with('{'));
    let lines: Vec<Value> =
        lines.map(|line| serde_json::from_str(line).expect("one object a line")).collect();
    let asked = lines.iter().find(|line| line["path"] == "/v1/receipts").expect("the request is told");
    assert_eq!((&asked["method"], &asked["status"]), (&json!("GET"), &json!(401)));
    assert!(asked["span"]["id"].is_string(), "it is named by its request id: {asked}");
    assert!(asked["span"]["call"].is_null(), "it was about no call: {asked}");
    assert!(!log.contains("sting"), "neither query nor token: {log}");
}

#[test]
fn a_backup_is_made_beside_a_running_server() {
    let place = Place::fresh();
    let early = place.failure("backup a.db", "", 1);
    assert!(
        early.contains("no database yet") && !place.folder.path().join("countersign.db").exists(),
        "{early}"
    );
    let (_running, _) = Running::start(place.command("serve --json"));
    place.json(
        "person add --email ann@desk.test --name Ann --role member --password-stdin --json",
        "a long password",
    );
    let made = place.json("backup a.db --json", "");
    let file = place.folder.path().join("a.db");
    assert_eq!(made["bytes"], std::fs::metadata(&file).expect("there").len());
    assert!(place.failure("backup a.db", "", 1).contains("is there already"));
    std::fs::write(place.folder.path().join("copy.toml"), "[server]\ndatabase_url = \"sqlite:a.db\"\n")
        .expect("written");
    let people = place.json("--config copy.toml person list --json", "");
    assert_eq!(people["items"][0]["email"], "ann@desk.test");
}

#[test]
fn people_agents_and_tokens_are_made_while_the_server_runs() {
    let place = Place::fresh();
    let (server, told) = Running::start(place.command("serve --json"));
    let authority = told["listen"].as_str().expect("an address").to_owned();
    assert_eq!(told["url"], format!("http://{authority}"));
    let ann = place.json(
        "person add --email Ann@Desk.test --name Ann --role member --password-stdin --json",
        "correct horse\n",
    );
    assert_eq!((ann.as_object().expect("an object").len(), &ann["email"]), (2, &json!("ann@desk.test")));
    assert!(ann["id"].as_str().expect("an id").starts_with("per_"));
    let agent = place.json("agent add --name bot --owner ann@desk.test --requires-approval --json", "");
    assert_eq!((agent.as_object().expect("an object").len(), &agent["name"]), (3, &json!("bot")));
    let key = agent["key"].as_str().expect("a key");
    let token = place.json("token add --person ann@desk.test --json", "");
    assert_eq!(token.as_object().expect("an object").len(), 2);
    assert_eq!(get(&authority, "/v1/actions", key), (200, json!({ "items": [], "next_cursor": null })));
    assert_eq!(get(&authority, "/v1/receipts", token["token"].as_str().expect("a token")).0, 200);
    assert_eq!(place.json("person list --json", "")["items"][0]["email"], "ann@desk.test");
    let listed = place.json("agent list --json", "")["items"][0].clone();
    assert_eq!((&listed["requires_approval"], &listed["owner"]), (&json!(true), &json!("Ann")));
    assert_eq!(listed["owner_email"], "ann@desk.test");
    place.json("agent revoke bot --json", "");
    assert_eq!(get(&authority, "/v1/actions", key).0, 401);
    place.json(&format!("token revoke {} --json", token["id"].as_str().expect("an id")), "");
    assert_eq!(get(&authority, "/v1/receipts", token["token"].as_str().expect("a token")).0, 401);
    assert_eq!(place.json("migrate --json", ""), json!({ "up_to_date": true }));
    assert_eq!(server.stop(), Some(0));
}

/// Posts a form as a browser does: the status, and the head of the answer.
fn post(authority: &str, path: &str, fields: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(authority).expect("a connection");
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {authority}\r\nOrigin: http://{authority}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{fields}",
        fields.len()
    );
    stream.write_all(head.as_bytes()).expect("written");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let head = text.split("\r\n\r\n").next().unwrap_or_default().to_owned();
    (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), head)
}

#[test]
fn the_first_admin_is_made_with_the_link_that_the_console_shows() {
    let place = Place::fresh();
    let mut command = place.command("serve --json");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("run");
    // Kept open: a server whose console is gone is another matter.
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let link = lines.by_ref().find(|line| line.contains("/set-up/")).expect("a link").trim().to_owned();
    let server = Running(child);
    let (authority, token) = link.trim_start_matches("http://").split_once("/set-up/").expect("an address");
    assert_eq!(get(authority, &format!("/set-up/{token}"), "").0, 200);
    let fields = format!("link={token}&name=Ada&email=Ada%40desk.test&password=");
    assert_eq!(post(authority, "/do/set-up", &format!("{fields}short")).0, 422);
    let (status, head) = post(authority, "/do/set-up", &format!("{fields}thrum-welkin-osier"));
    assert_eq!(status, 303, "{head}");
    assert!(head.contains("location: /inbox") && head.contains("set-cookie: "), "{head}");
    let people = place.json("person list --json", "");
    assert_eq!(people["items"][0]["email"], "ada@desk.test");
    assert_eq!(people["items"][0]["roles"], json!(["member", "admin"]));
    assert_eq!(people["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(get(authority, &format!("/set-up/{token}"), "").0, 404, "it was used");
    assert_eq!(post(authority, "/do/set-up", &format!("{fields}thrum-welkin-osier")).0, 404);
    drop((server, lines));
    // Somebody is there: the next start shows no link.
    let mut child =
        place.command("serve").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("run");
    let mut ready = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut ready).expect("a line");
    let mut stderr = child.stderr.take().expect("a pipe");
    assert_eq!(Running(child).stop(), Some(0));
    let mut told = String::new();
    stderr.read_to_string(&mut told).expect("text");
    assert!(!told.contains("/set-up/"), "{told}");
}

#[test]
fn a_password_is_set_anew_through_a_pipe() {
    let place = Place::fresh();
    place.json("person add --email ann@desk.test --name Ann --password-stdin --json", "correct horse\n");
    let (server, told) = Running::start(place.command("serve --json"));
    let authority = told["listen"].as_str().expect("an address").to_owned();
    let sign_in = |password: &str| {
        post(&authority, "/do/sign-in", &format!("email=ann%40desk.test&password={password}"))
    };
    let (status, head) = sign_in("correct+horse");
    assert_eq!(status, 303);
    let cookie =
        head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie").to_owned();
    let cookie = cookie.split(';').next().expect("its value");
    // A header of its own stands where the other helper puts the token.
    let with_cookie = format!("x\r\nCookie: {cookie}");
    assert_eq!(get(&authority, "/inbox", &with_cookie).0, 200);
    let set = place
        .json("person set-password --email ann@desk.test --password-stdin --json", "thrum-welkin-osier\n");
    assert_eq!(set["email"], "ann@desk.test");
    assert!(set["id"].as_str().expect("an id").starts_with("per_"));
    assert_eq!(get(&authority, "/inbox", &with_cookie).0, 303, "every session has ended");
    assert_eq!((sign_in("correct+horse").0, sign_in("thrum-welkin-osier").0), (422, 303));
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn roles_are_changed_and_accounts_disabled_and_enabled_but_for_the_last_admin() {
    let place = Place::fresh();
    let add = |email: &str, role: &str| {
        let line = format!("person add --email {email} --name N --role {role} --password-stdin --json");
        place.json(&line, "correct horse");
    };
    add("ada@desk.test", "admin");
    add("ann@desk.test", "member");
    let person = |email: &str| {
        let people = place.json("person list --json", "");
        let items = people["items"].as_array().expect("items").clone();
        items.into_iter().find(|person| person["email"] == email).expect("listed")
    };
    for line in ["person disable --email ada@desk.test", "person role --email ada@desk.test --role member"] {
        let told = place.failure(line, "", 1);
        assert!(told.contains("Nobody else who can sign in is an admin"), "{line}: {told}");
    }
    assert_eq!(person("ada@desk.test")["disabled_at"], Value::Null);
    let set = place.json("person role --email Ann@desk.test --role admin --role operator --json", "");
    assert_eq!(set["roles"], json!(["member", "operator", "admin"]));
    assert_eq!(person("ann@desk.test")["roles"], set["roles"]);
    let disabled = place.json("person disable --email ada@desk.test --json", "");
    assert_eq!(disabled, json!({ "email": "ada@desk.test", "disabled": true }));
    assert!(person("ada@desk.test")["disabled_at"].is_string());
    for changed in [true, false] {
        let enabled = place.json("person enable --email ada@desk.test --json", "");
        assert_eq!((&enabled["disabled"], &enabled["changed"]), (&json!(false), &json!(changed)));
    }
    assert_eq!(person("ada@desk.test")["disabled_at"], Value::Null);
    for line in ["disable", "enable", "role --role member"] {
        let told = place.failure(&format!("person {line} --email nobody@desk.test"), "", 1);
        assert!(told.contains("There is nobody with this address."), "{line}: {told}");
    }
}

#[test]
fn what_fails_says_what_happened_what_was_not_done_and_what_to_do() {
    let place = Place::fresh();
    let add = "person add --email ann@desk.test --name Ann --role member --password-stdin";
    place.json(&format!("{add} --json"), "correct horse");
    for (line, input, words) in [
        (add, "correct horse", "Nobody was added."),
        ("person add --email ann --name Ann --password-stdin", "short", "Nobody was added."),
        ("person add --email <b@desk.test> --name B --password-stdin", "short", "name@example.com"),
        ("person add --email b@desk.test --name B\u{200b} --password-stdin", "short", "cannot be seen"),
        ("person add --email b@desk.test --name B --password-stdin", "\n", "Nobody was added."),
        (
            "person set-password --email b@desk.test --password-stdin",
            "correct horse",
            "No password was changed.",
        ),
        ("agent add --name bot --owner nobody@desk.test", "", "No agent was added."),
        ("agent add --name bot --owner ann@desk.test --toolset fetchh", "", "Did you mean “fetch”?"),
        ("agent add --name bot --owner ann@desk.test --toolset fetch:none", "", "no action “fetch:none”"),
        ("agent revoke nobody", "", "No agent was revoked."),
        ("token add --person nobody@desk.test", "", "No token was made."),
        ("token revoke key_01h455vb4pex5vsknk084sn02q", "", "No token was revoked."),
        ("--config none.toml serve", "", "Nothing was opened or changed."),
    ] {
        let told = place.failure(line, input, 1);
        assert!(told.contains(words), "{line}: {told}");
        assert!(!told.contains("correct horse"), "{line}: {told}");
    }
    let weak = place.run("person set-password --email ann@desk.test --password-stdin", "password1234");
    let told = String::from_utf8(weak.stderr).expect("text");
    assert_eq!(weak.status.code(), Some(0), "whoever runs the desk may choose it");
    assert!(told.contains("accepted, but weak") && !told.contains("password1234"), "{told}");
    assert_eq!(place.json("person list --json", "")["items"].as_array().map(Vec::len), Some(1));
}

#[test]
fn wrong_usage_exits_with_2() {
    let place = Place::fresh();
    for line in ["fly", "person", "person add --email x", "token revoke x", "serve --port 1", "--config"] {
        place.failure(line, "", 2);
    }
    assert!(!place.folder.path().join("countersign.db").exists());
}

#[test]
fn every_mistake_of_a_catalogue_is_told() {
    let place = Place::fresh();
    assert_eq!(place.json("check --json", "")["valid"], true);
    std::fs::write(place.folder.path().join("bad.toml"), "[server]\nlisten = \"x\"\nlitsen = 1\n")
        .expect("written");
    let told = place.failure("--config bad.toml check", "", 1);
    assert!(
        told.contains("bad.toml:2:") && told.contains("bad.toml:3:") && told.contains("listen"),
        "{told}"
    );
    let output = place.run("--config bad.toml check --json", "");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&told["valid"], told["mistakes"].as_array().map(Vec::len)), (&json!(false), Some(2)));
    place.failure("--config bad.toml serve", "", 1);
    assert!(
        !place.folder.path().join("countersign.db").exists(),
        "a mistake is found before anything is made"
    );
}

#[test]
fn the_database_and_the_key_stand_beside_the_catalogue() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::fresh();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let config = place.folder.path().join("countersign.toml");
    let output = command(elsewhere.path(), &format!("--config {} migrate --json", config.display()))
        .output()
        .expect("run");
    assert!(output.status.success(), "{output:?}");
    assert!(place.folder.path().join("countersign.db").exists());
    let key = std::fs::metadata(place.folder.path().join("countersign.key")).expect("a key");
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(elsewhere.path()).expect("a folder").count(), 0);
}

#[test]
fn on_postgresql_no_key_is_made_silently() {
    let place = Place::fresh();
    let output =
        place.command("migrate").env("DATABASE_URL", "postgres://localhost:1/none").output().expect("run");
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).expect("text");
    assert!(told.contains("COUNTERSIGN_KEY"), "{told}");
    assert!(!place.folder.path().join("countersign.key").exists());
}

#[test]
fn the_demo_has_something_to_confirm_within_seconds() {
    let place = Place::fresh();
    let (demo, told) = Running::start(place.command("demo --json --port 0"));
    let people = told["people"].as_array().expect("people");
    let emails: Vec<_> = people.iter().filter_map(|person| person["email"].as_str()).collect();
    assert_eq!(emails, ["ann@demo.test", "max@demo.test", "olga@demo.test"]);
    assert!(people.iter().all(|person| person["password"].is_string() && person["token"].is_string()));
    let kinds: Vec<_> =
        told["agents"].as_array().expect("agents").iter().map(|a| a["requires_approval"].clone()).collect();
    assert_eq!(kinds, [true, false]);
    let authority =
        |field: &str| told[field].as_str().expect("an address").trim_start_matches("http://").to_owned();
    let mut effects = Vec::new();
    for _ in 0..100 {
        let (_, list) =
            get(&authority("url"), "/v1/approvals", people[0]["token"].as_str().expect("a token"));
        effects =
            list["items"].as_array().expect("items").iter().map(|item| item["effect"].clone()).collect();
        if effects.len() == 4 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(effects, ["external", "external", "write", "destructive"]);
    let state = get(&authority("upstream_url"), "/state", "").1;
    assert_eq!((&state["writes_received"], &state["writes_done"]), (&json!(2), &json!(2)));
    assert_eq!(demo.stop(), Some(0));
    assert_eq!(
        std::fs::read_dir(place.folder.path()).expect("a folder").count(),
        1,
        "nothing is left behind"
    );
}

#[test]
fn a_quiet_demo_holds_nothing() {
    let place = Place::fresh();
    let (demo, told) = Running::start(place.command("demo --json --port 0 --quiet-agent"));
    std::thread::sleep(std::time::Duration::from_millis(500));
    let authority = told["url"].as_str().expect("an address").trim_start_matches("http://").to_owned();
    let (_, list) = get(&authority, "/v1/events", told["people"][2]["token"].as_str().expect("a token"));
    assert_eq!(list["items"], json!([]));
    assert_eq!(demo.stop(), Some(0));
}

/// An action that anybody's key may see.
const ACTION: &str = r#"
[[action]]
name = "look"
title = "Look"
description = "Looks."
effect = "read"
input = { type = "object", properties = {} }
request = { method = "GET", url = "https://api.example/x" }
preview = { title = "Look" }
"#;

#[test]
fn a_hang_up_reads_the_catalogue_again_and_keeps_it_when_there_are_mistakes() {
    let place = Place::fresh();
    let (server, told) = Running::start(place.command("serve --json"));
    let authority = told["listen"].as_str().expect("an address").to_owned();
    place.json("person add --email ann@desk.test --name Ann --password-stdin --json", "correct horse\n");
    let agent = place.json("agent add --name bot --owner ann@desk.test --json", "");
    let key = agent["key"].as_str().expect("a key").to_owned();
    let offered = || get(&authority, "/v1/actions", &key).1["items"].as_array().map_or(0, Vec::len);
    let file = place.folder.path().join("countersign.toml");
    let hang_up = |text: &str| {
        std::fs::write(&file, format!("[server]\nlisten = \"127.0.0.1:0\"\n{text}")).expect("written");
        let told = Command::new("kill").args(["-HUP", &server.0.id().to_string()]).status().expect("run");
        assert!(told.success());
    };
    let until = |count: usize| {
        for _ in 0..200 {
            if offered() == count {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        panic!("{} actions are offered, {count} were awaited", offered());
    };
    assert_eq!(offered(), 0);
    hang_up(ACTION);
    until(1);
    hang_up("[[action]]\nname = 3\n");
    hang_up(&format!("{ACTION}{}", ACTION.replace("\"look\"", "\"look_again\"")));
    until(2);
    assert_eq!(server.stop(), Some(0));
}

/// Two credentials: one of the sealed store, one of a variable that nobody sets.
const CREDENTIALS: &str = r#"[server]
listen = "127.0.0.1:0"

[[credential]]
name = "mail"
hosts = ["api.mail.example"]
secret = { store = true }

[[credential]]
name = "tickets"
hosts = ["api.tickets.example"]
secret = { env = "COUNTERSIGN_TEST_NEVER_SET" }
"#;

#[test]
fn a_secret_is_set_through_a_pipe_while_the_server_runs_and_is_never_shown() {
    let place = Place::fresh();
    std::fs::write(place.folder.path().join("countersign.toml"), CREDENTIALS).expect("written");
    let warnings = |line: &str| place.json(line, "")["warnings"].clone();
    let told = warnings("check --json").to_string();
    assert!(told.contains("credential set mail") && told.contains("COUNTERSIGN_TEST_NEVER_SET"), "{told}");
    assert!(!place.folder.path().join("countersign.db").exists(), "looking makes nothing");

    let (server, _) = Running::start(place.command("serve --json"));
    let secret = "s3cr3t-through-a-pipe";
    let set = place.run("credential set mail --json", &format!("{secret}\n"));
    let list = place.run("credential list --json", "");
    let table = place.run("credential list", "");
    for output in [&set, &list, &table] {
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(!format!("{:?}", String::from_utf8_lossy(&output.stdout)).contains(secret));
        assert!(!format!("{:?}", String::from_utf8_lossy(&output.stderr)).contains(secret));
    }
    let list: Value = serde_json::from_slice(&list.stdout).expect("JSON");
    let standing: Vec<_> =
        list["items"].as_array().expect("items").iter().map(|item| &item["secret"]).collect();
    assert_eq!(standing, ["usable", "missing"]);
    assert_eq!(warnings("check --json").as_array().map(Vec::len), Some(1));
    for (line, input) in [
        ("credential set nobody", secret),
        ("credential set tickets", secret),
        ("credential set mail", ""),
        ("credential set mail", "s3cr3t-of\ntwo lines"),
    ] {
        let told = place.failure(line, input, 1);
        assert!(told.contains("No secret was kept.") && !told.contains("s3cr3t"), "{line}: {told}");
    }
    place.failure("credential set mail s3cr3t", "", 2);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_server_says_which_credentials_have_no_secret_and_starts() {
    let place = Place::fresh();
    std::fs::write(place.folder.path().join("countersign.toml"), CREDENTIALS).expect("written");
    let mut command = place.command("serve --json");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("run");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("it is ready");
    let mut log = child.stderr.take().expect("a pipe");
    assert_eq!(Running(child).stop(), Some(0));
    let mut told = String::new();
    log.read_to_string(&mut told).expect("a log");
    assert!(
        told.contains("“mail” has no usable secret") && told.contains("“tickets” has no usable secret"),
        "{told}"
    );
}

/// Whoever reads that it listens may end it at once: it has to hear that already.
#[test]
fn a_server_hears_its_end_as_soon_as_it_says_that_it_listens() {
    let place = Place::fresh();
    for _ in 0..8 {
        let (server, _) = Running::start(place.command("serve --json"));
        assert_eq!(server.stop(), Some(0));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_leaves_no_core_dump() {
    let place = Place::fresh();
    let (server, _) = Running::start(place.command("serve --json"));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.0.id())).expect("limits");
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).expect("a line");
    assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{core}");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn the_sealing_key_is_rotated_while_the_server_runs() {
    let place = Place::fresh();
    std::fs::write(place.folder.path().join("countersign.toml"), CREDENTIALS).expect("written");
    let file = place.folder.path().join("countersign.key");
    let keys = || -> Vec<String> {
        std::fs::read_to_string(&file).expect("a key").trim().split(',').map(str::to_owned).collect()
    };
    let (server, _) = Running::start(place.command("serve --json"));
    place.json("credential set mail --json", "s3cr3t");
    let old = keys();
    let told = place.json("keys rotate --json", "");
    assert_eq!((&told["rotated"], &told["unreadable"]), (&json!(true), &json!(0)));
    // The secret, and the keys for web push and for checkpoints, which the server makes soon after its start.
    assert!((1..=3).contains(&told["resealed"].as_u64().expect("a number")), "{told}");
    assert_eq!(told["may_be_removed"].as_array().map(Vec::len), Some(1));
    let both = keys();
    assert_eq!((both.len(), &both[1]), (2, &old[0]));
    assert!(!told.to_string().contains(&both[0]), "a key is never printed");
    let seals = || -> Vec<Value> {
        let list = place.json("keys list --json", "");
        list["items"].as_array().expect("items").iter().map(|key| key["seals"].clone()).collect()
    };
    for _ in 0..100 {
        if seals() == [3, 0] {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(seals(), [3, 0]);

    // Without the old key everything is still read.
    std::fs::write(&file, &both[0]).expect("written");
    assert_eq!(place.json("credential list --json", "")["items"][0]["secret"], "usable");
    // With the old one alone nothing is, and that is told.
    std::fs::write(&file, &old[0]).expect("written");
    assert_eq!(place.json("credential list --json", "")["items"][0]["secret"], "unusable");
    assert_eq!(place.json("keys list --json", "")["items"][1]["known"], false);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_key_of_the_environment_is_changed_by_hand_and_then_everything_is_sealed_with_it() {
    let place = Place::fresh();
    std::fs::write(place.folder.path().join("countersign.toml"), CREDENTIALS).expect("written");
    let (old, new) =
        ("b2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xkb2w=", "bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmU=");
    let with = |keys: &str, line: &str, input: &str| {
        let mut command = place.command(line);
        command
            .env("COUNTERSIGN_KEY", keys)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("run");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
        child.wait_with_output().expect("an end")
    };
    assert_eq!(with(old, "credential set mail", "s3cr3t").status.code(), Some(0));
    let refused = with(old, "keys rotate", "");
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8(refused.stderr).expect("text");
    assert!(
        told.contains("COUNTERSIGN_KEY") && told.contains("was not changed") && !told.contains(old),
        "{told}"
    );

    let done = with(&format!("{new},{old}"), "keys rotate --json", "");
    let told: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!((&told["rotated"], &told["resealed"]), (&json!(false), &json!(1)));
    let list = with(new, "credential list --json", "");
    let told: Value = serde_json::from_slice(&list.stdout).expect("JSON");
    assert_eq!(told["items"][0]["secret"], "usable", "the new key alone is enough");
    assert!(!place.folder.path().join("countersign.key").exists());
}

#[test]
fn a_key_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::fresh();
    place.json("migrate --json", "");
    let file = place.folder.path().join("countersign.key");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("set");
    for line in ["serve", "keys rotate", "keys list"] {
        let told = place.failure(line, "", 1);
        assert!(told.contains("countersign.key") && told.contains("chmod 600"), "{line}: {told}");
    }
}

/// A service that answers every request with 200, for as long as the test runs.
fn service() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
            // Whoever asked may have gone.
            let _ = (&stream).write_all(answer);
        }
    });
    address
}

/// Calls an action that needs no input.
fn call(authority: &str, action: &str, token: &str) -> u16 {
    let mut stream = TcpStream::connect(authority).expect("a connection");
    let head = format!(
        "POST /v1/actions/{action} HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
    );
    stream.write_all(head.as_bytes()).expect("written");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status")
}

#[test]
fn an_auditor_needs_nothing_but_the_export_two_checkpoints_and_the_key() {
    let place = Place::fresh();
    let service = service();
    let catalogue = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\npublic_url = \"https://desk.house.example\"\n\
         [ledger]\ncheckpoint_file = \"published\"\n\
         [[credential]]\nname = \"service\"\nhosts = [\"{service}\"]\nheader = \"Authorization\"\nvalue = \"{{secret}}\"\n\
         secret = {{ store = true }}\nallow_http = true\nallow_private = true\n\
         [[action]]\nname = \"tick\"\ntitle = \"Tick\"\ndescription = \"Ticks.\"\neffect = \"write\"\ncredential = \"service\"\n\
         input = {{ type = \"object\", properties = {{}} }}\nrequest = {{ method = \"POST\", url = \"http://{service}/tick\" }}\n\
         preview = {{ title = \"Tick\" }}\n"
    );
    std::fs::write(place.folder.path().join("countersign.toml"), catalogue).expect("written");
    place.json("credential set service --json", "s3cr3t");
    place.json(
        "person add --email ann@house.example --name Ann --role member --password-stdin --json",
        "a long enough one",
    );
    let agent = place.json("agent add --name bot --owner ann@house.example --json", "");
    let key = agent["key"].as_str().expect("a key");
    let (running, told) = Running::start(place.command("serve --json"));
    let listen = told["listen"]
        .as_str()
        .or(told["url"].as_str())
        .expect("an address")
        .trim_start_matches("http://")
        .to_owned();
    let kept = |name: &str, size: u64| {
        let signed = place.json("checkpoint --json", "");
        assert_eq!(signed["size"], size, "{signed}");
        std::fs::write(place.folder.path().join(name), signed["checkpoint"].as_str().expect("a note"))
            .expect("written");
        signed["key"].as_str().expect("a key").to_owned()
    };
    assert_eq!(call(&listen, "tick", key), 200);
    let verifier = kept("old", 1);
    assert!(verifier.starts_with("desk.house.example+"), "{verifier}");
    for _ in 0..4 {
        assert_eq!(call(&listen, "tick", key), 200);
    }
    kept("new", 5);
    let published = std::fs::read(place.folder.path().join("published")).expect("a file");
    assert_eq!(published, std::fs::read(place.folder.path().join("new")).expect("a file"));
    let exported = place.json("receipts export --proofs --checkpoint old --out all.jsonl --json", "");
    assert_eq!(exported["leaves"], 5);
    place.json("receipts export --proofs --person ann@house.example --checkpoint old --checkpoint new --out anns.jsonl --json", "");
    assert_eq!(running.stop(), Some(0));

    // Somewhere else: no desk, no database, no catalogue.
    let elsewhere = Place::fresh();
    std::fs::write(elsewhere.folder.path().join("countersign.toml"), "no catalogue").expect("written");
    for file in ["old", "new", "all.jsonl", "anns.jsonl"] {
        std::fs::copy(place.folder.path().join(file), elsewhere.folder.path().join(file)).expect("copied");
    }
    let judge = |file: &str, code: i32| -> Value {
        let line =
            format!("receipts verify {file} --checkpoint old --checkpoint new --key {verifier} --json");
        let output = elsewhere.run(&line, "");
        assert_eq!(output.status.code(), Some(code), "{line}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    };
    let report = judge("all.jsonl", 0);
    assert_eq!(
        (&report["verdict"], &report["records"], &report["confirmed"]),
        (&json!("verified"), &json!(5), &json!([1, 5]))
    );
    assert_eq!(judge("anns.jsonl", 0)["records"], 5);
    let text = std::fs::read_to_string(elsewhere.folder.path().join("all.jsonl")).expect("a text");
    let lines: Vec<&str> = text.lines().collect();
    let erased = lines[2].split_once(",\"salt\"").expect("a salt").0.to_owned() + "}";
    for (name, word, code, altered) in [
        ("pruned", "pruned", 3, text.replace(lines[2], &erased)),
        ("altered", "altered", 4, text.replacen("\"upstream_status\":200", "\"upstream_status\":500", 1)),
        ("missing", "missing", 5, text.replace(&format!("{}\n", lines[3]), "")),
        (
            "reordered",
            "reordered",
            6,
            [lines[0], lines[2], lines[1], lines[3], lines[4], lines[5]].join("\n"),
        ),
    ] {
        std::fs::write(elsewhere.folder.path().join(name), altered).expect("written");
        assert_eq!(judge(name, code)["verdict"], word);
    }
    let broken = std::fs::read_to_string(elsewhere.folder.path().join("new"))
        .expect("a note")
        .replacen("\n5\n", "\n6\n", 1);
    std::fs::write(elsewhere.folder.path().join("new"), broken).expect("written");
    assert_eq!(judge("all.jsonl", 8)["verdict"], "bad_signature");
    judge("old", 1);
}
