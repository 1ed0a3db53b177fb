//! Being told: who, when, how often, and never of what.

mod desk;
mod receivers;

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use desk::{Behaviour, Desk, arrival, decline, parsed, with_keys};
use engine::ambient::Ambient;
use engine::browser_session::{LONGEST, SessionWanted};
use engine::notice::{Choices, Outcome, Quiet};
use engine::registry::AgentWanted;
use engine::seal::Sealer;
use engine::{Actor, Engine, OpenOptions};
use model::{Ability, CallId, CallStatus, Person, Refusal};
use receivers::{Browser, MailServer, PushService};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};

/// Something that only the payload, the agent's words or a title can have brought along.
const CANARY: &str = "canary-4711";

/// A mail server that the desk sends through.
async fn mail_of(desk: &Desk) -> MailServer {
    let mail = MailServer::start().await;
    desk.reload_with(&mail_table(&mail));
    mail
}

fn mail_table(mail: &MailServer) -> String {
    format!(
        "[mail]\nsmtp = \"smtp://{}\"\nfrom = \"Countersign <desk@house.test>\"\nallow_plain = true\n",
        mail.address
    )
}

const PUSH: &str = "[notices]\nallow_http = true\nallow_private = true\n";

/// A call that waits for Ann.
async fn note(desk: &Desk, text: &str) -> CallId {
    desk.held(desk.careful("note", json!({ "text": text })).await).await
}

/// What the job does at each of its turns.
async fn turn(engine: &Engine) {
    engine.plan_notices().await.expect("planned");
    engine.send_notices().await.expect("sent");
}

/// The links of a mail.
fn links(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("http")).collect()
}

on_both! {
    async fn only_those_who_may_decide_are_told(desk: Desk) {
        let mail = mail_of(&desk).await;
        note(&desk, "x").await;
        desk.pass(61);
        turn(&desk.engine).await;
        assert_eq!(mail.recipients(), ["ann@desk.test"]);
        let two = desk.careful("two_people", json!({ "target": "x" })).await;
        desk.held(two).await;
        desk.pass(61);
        turn(&desk.engine).await;
        assert_eq!(mail.recipients(), ["ann@desk.test", "max@desk.test", "olga@desk.test"]);
    }
}

on_both! {
    async fn whoever_has_confirmed_is_not_told_and_whoever_is_gone_neither(desk: Desk) {
        let mail = mail_of(&desk).await;
        let two = desk.held(desk.careful("two_people", json!({ "target": "x" })).await).await;
        desk.confirms(&desk.max, two).await.expect("one of two");
        let other = desk.careful("two_people", json!({ "target": "y" })).await;
        desk.held(other).await;
        desk.engine.disable_person("max@desk.test").await.expect("disabled");
        desk.pass(61);
        turn(&desk.engine).await;
        assert_eq!(mail.recipients(), ["olga@desk.test"]);
    }
}

/// An action that waits for these.
fn asking(name: &str, approvers: &str) -> String {
    format!(
        "[[action]]\nname = \"{name}\"\ntitle = \"T\"\ndescription = \"D\"\neffect = \"write\"\napprovers = [{approvers}]\n\
         input = {{ type = \"object\", properties = {{}} }}\nrequest = {{ method = \"POST\", url = \"http://UPSTREAM/notes\" }}\n\
         credential = \"mail\"\n"
    )
}

/// A browser session of a person's, with their password set for it: what it is stored under.
async fn session_of(desk: &Desk, person: &Person) -> [u8; 32] {
    desk.engine.set_password(&person.email, "fetch-bexar-wantn").await.expect("set");
    let signed_in = desk.engine.sign_in(&person.email, "fetch-bexar-wantn", None).await.expect("looked at");
    let (epoch, expires) = (signed_in.expect("right").epoch, desk.engine.now().plus_seconds(LONGEST));
    let wanted =
        SessionWanted { person: person.id, epoch, browser: "B".to_owned(), expires, goes_on_since: None };
    assert!(desk.engine.session_create([7; 32], b"data", wanted).await.expect("stored"));
    [7; 32]
}

on_both! {
    /// All that disabling somebody means, in one go: what they have ends, what is theirs is withdrawn, and what waited for
    /// them waits for others, who are told.
    async fn disabling_somebody_ends_what_is_theirs_and_hands_on_what_waited(desk: Desk) {
        let (engine, max) = (&desk.engine, &desk.max);
        let mail = MailServer::start().await;
        let alone = asking("ask_max", "\"person:max@desk.test\"");
        let either = asking("ask_either", "\"person:max@desk.test\", \"person:ann@desk.test\"");
        desk.reload_with(&(mail_table(&mail) + &alone + &either));
        let session = session_of(&desk, max).await;
        let (_, token) = engine.add_token(&max.email, Ability::ALL.to_vec()).await.expect("a token");
        let wanted = AgentWanted {
            name: "his".to_owned(),
            owner: max.email.clone(),
            requires_approval: true,
            abilities: Vec::new(),
            toolset: None,
            session: None,
        };
        let (_, key) = engine.add_agent(wanted).await.expect("an agent");
        let his = desk.actor(key.reveal()).await;
        let held = desk.held(arrival(his.clone(), "note", json!({ "text": "held" }))).await;
        let letter = json!({ "to": "a@b.test" });
        let confirmed = desk.held(arrival(his, "undoable", letter)).await;
        assert_eq!(desk.confirms(max, confirmed).await.expect("recorded").status, CallStatus::Approved);
        let waits_for_him = desk.held(desk.careful("ask_max", json!({})).await).await;
        let waits_for_two = desk.held(desk.careful("ask_either", json!({})).await).await;

        assert_eq!(engine.disable_person(&max.email).await, Ok(true));

        assert!(engine.session_load(session).await.expect("storage").is_none());
        assert_eq!(engine.session_person(session).await, Ok(None), "nor do streams go on");
        assert!(engine.visitor(max.id).await.expect("storage").is_none());
        assert_eq!(engine.authenticate(token.reveal()).await.err(), Some(Refusal::Unauthenticated));
        assert_eq!(engine.authenticate(key.reveal()).await.err(), Some(Refusal::Unauthenticated));
        assert!(engine.sign_in(&max.email, "fetch-bexar-wantn", None).await.expect("looked at").is_none());
        for call in [held, confirmed] {
            assert_eq!(desk.ended_for(&desk.olga, call).await.status, CallStatus::Withdrawn);
        }
        let may = async |person: &Person, call| {
            let item = engine.item(&desk.visitor(person).await, call).await.expect("storage");
            item.is_some_and(|item| item.may_decide)
        };
        assert!(may(&desk.olga, waits_for_him).await && !may(&desk.ann, waits_for_him).await);
        assert!(may(&desk.ann, waits_for_two).await && !may(&desk.olga, waits_for_two).await);
        desk.pass(61);
        turn(engine).await;
        assert_eq!(mail.recipients(), ["ann@desk.test", "olga@desk.test"]);
        desk.confirms(&desk.olga, waits_for_him).await.expect("an operator decides");
        assert_eq!(desk.ended(waits_for_him).await.status, CallStatus::Done);
        assert_eq!(desk.upstream.writes().len(), 1, "nothing of his was sent");
    }
}

on_both! {
    async fn nobody_is_told_before_the_minute_and_nobody_twice(desk: Desk) {
        let mail = mail_of(&desk).await;
        let call = note(&desk, "x").await;
        desk.pass(50);
        turn(&desk.engine).await;
        assert_eq!(mail.tries(), 0);
        desk.pass(11);
        for _ in 0..3 {
            turn(&desk.engine).await;
            desk.pass(400);
        }
        assert_eq!(mail.tries(), 1);
        let text = &mail.mails()[0].text;
        assert!(text.contains("Subject: A call waits for you\r\n"), "{text}");
        let desk_url = desk.engine.public_url();
        assert_eq!(links(text), [format!("{desk_url}/inbox/{call}"), format!("{desk_url}/account/notices")]);
    }
}

on_both! {
    async fn a_decided_call_owes_nothing(desk: Desk) {
        let mail = mail_of(&desk).await;
        let (first, second) = (note(&desk, "x").await, note(&desk, "y").await);
        let ann = desk.decider(&desk.ann).await;
        desk.engine.decide(&ann, first, decline("no")).await.expect("declined");
        desk.pass(61);
        desk.engine.plan_notices().await.expect("planned");
        assert_eq!(open(&desk).await, 1);
        // Decided after it was owed and before it was sent.
        desk.engine.decide(&ann, second, decline("no")).await.expect("declined");
        desk.engine.send_notices().await.expect("nothing to send");
        assert_eq!((mail.tries(), open(&desk).await), (0, 0));
    }
}

async fn open(desk: &Desk) -> i64 {
    desk.database.count("SELECT COUNT(*) FROM notices WHERE ended_at IS NULL").await
}

on_both! {
    async fn several_are_told_of_at_once_and_more_only_after_a_while(desk: Desk) {
        let mail = mail_of(&desk).await;
        for text in ["x", "y", "z"] {
            note(&desk, text).await;
        }
        desk.pass(61);
        turn(&desk.engine).await;
        assert_eq!(mail.tries(), 1);
        let text = mail.mails()[0].text.clone();
        assert!(text.contains("Subject: 3 calls wait for you\r\n"), "{text}");
        assert_eq!(links(&text)[0], format!("{}/inbox", desk.engine.public_url()));
        for text in ["v", "w"] {
            note(&desk, text).await;
        }
        desk.pass(120);
        turn(&desk.engine).await;
        assert_eq!(mail.tries(), 1, "not within five minutes");
        desk.pass(180);
        turn(&desk.engine).await;
        assert_eq!(mail.tries(), 2);
        assert!(mail.mails()[1].text.contains("Subject: 5 calls wait for you\r\n"));
    }
}

on_both! {
    async fn nobody_is_told_in_their_quiet_hours(desk: Desk) {
        let mail = mail_of(&desk).await;
        let ann = desk.visitor(&desk.ann).await;
        let minute = |ahead: i64| {
            let then = desk.engine.now().plus_seconds(ahead * 60).to_chrono();
            then.format("%H:%M").to_string()
        };
        let quiet = Quiet::parse(&minute(-1), &minute(120));
        assert!(quiet.is_some());
        desk.engine.set_notice_choices(&ann, Choices { mail: true, quiet }).await.expect("kept");
        note(&desk, "x").await;
        desk.pass(61);
        turn(&desk.engine).await;
        desk.pass(3_600);
        turn(&desk.engine).await;
        assert_eq!((mail.tries(), open(&desk).await), (0, 1));
        desk.pass(3_600);
        turn(&desk.engine).await;
        assert_eq!((mail.tries(), open(&desk).await), (1, 0));
        // Chosen while it is owed, it counts too; and a test is sent whenever it is asked for.
        desk.engine.set_notice_choices(&ann, Choices { mail: true, quiet: None }).await.expect("kept");
        note(&desk, "y").await;
        desk.pass(400);
        desk.engine.plan_notices().await.expect("planned");
        let quiet = Quiet::parse(&minute(-1), &minute(120));
        desk.engine.set_notice_choices(&ann, Choices { mail: true, quiet }).await.expect("kept");
        desk.engine.send_notices().await.expect("put back");
        assert_eq!((mail.tries(), open(&desk).await), (1, 1));
        assert!(desk.engine.test_notices(&ann).await.expect("tested"));
        assert_eq!(mail.tries(), 2);
        assert!(mail.mails()[1].text.contains("Subject: A test notice from Countersign\r\n"));
    }
}

on_both! {
    async fn whoever_wants_no_mail_gets_none(desk: Desk) {
        let mail = mail_of(&desk).await;
        let ann = desk.visitor(&desk.ann).await;
        desk.engine.set_notice_choices(&ann, Choices { mail: false, quiet: None }).await.expect("kept");
        note(&desk, "x").await;
        desk.pass(61);
        turn(&desk.engine).await;
        assert!(!desk.engine.test_notices(&ann).await.expect("no way"));
        assert_eq!((mail.tries(), open(&desk).await), (0, 0));
        // What waited before they chose otherwise is told.
        desk.engine.set_notice_choices(&ann, Choices::default()).await.expect("kept");
        turn(&desk.engine).await;
        assert_eq!(mail.tries(), 1);
    }
}

on_both! {
    async fn no_token_changes_how_its_person_is_told(desk: Desk) {
        desk.reload_with(PUSH);
        let engine = &desk.engine;
        let service = PushService::start().await;
        browser_of(&desk, &desk.ann, &service, "one").await;
        let ann = desk.visitor(&desk.ann).await;
        let abilities = vec![Ability::ActionsRead, Ability::ApprovalsDecide];
        let (_, token) = engine.make_own_token(&ann, abilities, None).await.expect("a token");
        let Ok(Actor::Person(bearer)) = engine.authenticate(token.reveal()).await else { panic!("a person") };
        let id = engine.notice_sheet(&ann).await.expect("a sheet").browsers[0].id;
        let new = Browser::new().subscription(service.endpoint("two"));
        assert_eq!(engine.add_browser(&bearer, new).await, Err(Refusal::Denied));
        assert_eq!(engine.remove_browser(&bearer, id).await, Err(Refusal::Denied));
        let choices = Choices { mail: false, quiet: None };
        assert_eq!(engine.set_notice_choices(&bearer, choices).await, Err(Refusal::Denied));
        assert_eq!(engine.test_notices(&bearer).await, Err(Refusal::Denied));
        let sheet = engine.notice_sheet(&ann).await.expect("a sheet");
        assert_eq!((sheet.browsers.len(), sheet.choices.mail, service.pushed().len()), (1, true, 0));
    }
}

on_both! {
    async fn three_tests_a_minute_are_sent(desk: Desk) {
        let mail = mail_of(&desk).await;
        let ann = desk.visitor(&desk.ann).await;
        for _ in 0..3 {
            assert_eq!(desk.engine.test_notices(&ann).await, Ok(true));
        }
        let refused = desk.engine.test_notices(&ann).await;
        assert!(matches!(refused, Err(Refusal::RateLimited { retry_after: 1..=60 })), "{refused:?}");
        let max = desk.visitor(&desk.max).await;
        assert_eq!(desk.engine.test_notices(&max).await, Ok(true), "everybody has their own");
        assert_eq!((mail.tries(), open(&desk).await), (4, 0));
        desk.pass(61);
        // One that is still on its way is not joined by another.
        mail.refuse(Some("451 later"));
        for _ in 0..4 {
            assert_eq!(desk.engine.test_notices(&ann).await, Ok(true));
        }
        assert_eq!((mail.tries(), open(&desk).await), (5, 1));
    }
}

on_both! {
    async fn two_nodes_send_one(desk: Desk) {
        let mail = mail_of(&desk).await;
        let second = desk.second_node().await;
        second.replace_catalogue(desk.engine.catalogue().as_ref().clone());
        for round in 1..=5 {
            note(&desk, &format!("x{round}")).await;
            desk.pass(400);
            tokio::join!(turn(&desk.engine), turn(&second));
            tokio::join!(turn(&second), turn(&desk.engine));
            assert_eq!(mail.tries(), round);
        }
    }
}

on_both! {
    async fn what_is_owed_while_another_node_sends_is_told_too(desk: Desk) {
        desk.reload_with(&slack("to = [\"role:member\"]"));
        let second = desk.second_node().await;
        second.replace_catalogue(desk.engine.catalogue().as_ref().clone());
        note(&desk, "x").await;
        desk.pass(61);
        desk.engine.plan_notices().await.expect("planned");
        desk.upstream.behave(Behaviour::Wait);
        let first = desk.engine.clone();
        let sending = tokio::spawn(async move { first.send_notices().await });
        desk.upstream.until_writes(1).await;
        // The first node has read what waits; this call it has not read.
        note(&desk, "y").await;
        desk.pass(61);
        second.plan_notices().await.expect("planned");
        desk.upstream.release();
        sending.await.expect("no panic").expect("sent");
        desk.upstream.behave(Behaviour::Answer(200, String::new()));
        turn(&desk.engine).await;
        assert_eq!(desk.upstream.writes().len(), 1, "not within five minutes");
        desk.pass(301);
        turn(&second).await;
        turn(&desk.engine).await;
        let writes = desk.upstream.writes();
        assert_eq!((writes.len(), open(&desk).await), (2, 0));
        assert!(writes[1].body.contains("2 calls wait for a person"), "{}", writes[1].body);
    }
}

on_both! {
    async fn servers_that_do_not_answer_keep_nobody_else_waiting(desk: Desk) {
        let mail = MailServer::start().await;
        let chats: String = (0..20)
            .map(|index| slack("to = [\"role:member\"]").replace("\"chat\"", &format!("\"chat{index}\"")))
            .collect();
        desk.reload_with(&format!("[notices]\nevery = \"30s\"\n{}{chats}", mail_table(&mail)));
        desk.upstream.behave(Behaviour::Wait);
        note(&desk, "x").await;
        desk.pass(61);
        let jobs = desk.engine.start_jobs();
        // As many as there are places; none of them is answered, and four more are due.
        desk.upstream.until_writes(16).await;
        until_mails(&mail, 1).await;
        note(&desk, "y").await;
        desk.pass(61);
        desk.engine.plan_notices().await.expect("planned");
        until_mails(&mail, 2).await;
        assert_eq!(desk.upstream.writes().len(), 16);
        desk.upstream.behave(Behaviour::Answer(200, String::new()));
        desk.upstream.release();
        jobs.stop().await;
    }
}

/// Waits until that many mails were offered.
async fn until_mails(mail: &MailServer, count: usize) {
    for _ in 0..2_000 {
        if mail.tries() >= count {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{} mails came, {count} were awaited", mail.tries());
}

on_both! {
    async fn a_crash_between_the_sending_and_its_mark_repeats_it_under_the_same_id(desk: Desk) {
        desk.reload_with(&slack("to = [\"role:member\"]"));
        note(&desk, "x").await;
        desk.pass(61);
        turn(&desk.engine).await;
        assert_eq!(desk.upstream.writes().len(), 1);
        // As a process leaves it that dies there: taken, sent, and not marked.
        let until = desk.engine.now().plus_seconds(120).micros();
        let taken = format!("UPDATE notices SET outcome = NULL, ended_at = NULL, lease_owner = 'dead', lease_until = {until}");
        desk.database.run(&taken).await.expect("taken");
        turn(&desk.engine).await;
        assert_eq!(desk.upstream.writes().len(), 1, "the lease of the other process holds");
        desk.pass(121);
        turn(&desk.engine).await;
        turn(&desk.engine).await;
        let ids: Vec<String> = desk.upstream.writes().iter().map(|seen| header(&seen.head, "webhook-id")).collect();
        assert_eq!(ids.len(), 2);
        assert_eq!(ids[0], ids[1]);
        assert!(ids[0].starts_with("ntc_"), "{ids:?}");
    }
}

fn slack(to: &str) -> String {
    format!(
        "[[webhook]]\nname = \"chat\"\nkind = \"slack\"\nurl = \"http://UPSTREAM/chat\"\nallow_http = true\nallow_private = true\n{to}\n"
    )
}

fn header(head: &str, name: &str) -> String {
    let line = head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    });
    line.unwrap_or_default()
}

on_both! {
    async fn a_webhook_is_told_of_what_its_people_may_decide(desk: Desk) {
        desk.reload_with(&slack("to = [\"group:mailers\"]"));
        desk.engine.add_to_group("mailers", "max@desk.test").await.expect("in");
        note(&desk, "x").await;
        desk.pass(61);
        turn(&desk.engine).await;
        assert!(desk.upstream.writes().is_empty(), "Ann's own calls are nothing to the mailers");
        let grouped = desk.careful("grouped", json!({ "to": CANARY })).await;
        desk.held(grouped).await;
        desk.pass(61);
        turn(&desk.engine).await;
        turn(&desk.engine).await;
        let writes = desk.upstream.writes();
        assert_eq!(writes.len(), 1);
        let body: Value = serde_json::from_str(&writes[0].body).expect("JSON");
        let text = body["text"].as_str().expect("a text");
        assert!(text.starts_with("A call waits for a person. It has waited since ") && text.contains("/inbox/call_"), "{text}");
        assert!(!text.contains(CANARY));
    }
}

on_both! {
    async fn a_redirect_is_not_followed_and_no_answer_is_a_failure(desk: Desk) {
        desk.reload_with(&slack("to = [\"role:member\"]"));
        note(&desk, "x").await;
        for behaviour in [Behaviour::Answer(302, String::new()), Behaviour::Cut, Behaviour::Answer(500, String::new())] {
            desk.upstream.behave(behaviour);
            desk.pass(3_601);
            turn(&desk.engine).await;
            assert_eq!(open(&desk).await, 1);
        }
        assert_eq!(desk.upstream.requests(), 3);
    }
}

on_both! {
    async fn pauses_grow_and_after_a_day_it_is_given_up(desk: Desk) {
        let mail = mail_of(&desk).await;
        mail.refuse(Some("451 later"));
        note(&desk, "x").await;
        desk.pass(61);
        turn(&desk.engine).await;
        assert_eq!(mail.tries(), 1);
        desk.pass(20);
        turn(&desk.engine).await;
        assert_eq!(mail.tries(), 1, "half a minute first");
        desk.pass(11);
        turn(&desk.engine).await;
        assert_eq!(mail.tries(), 2);
        desk.pass(31);
        turn(&desk.engine).await;
        assert_eq!(mail.tries(), 2, "then a minute");
        for _ in 0..30 {
            desk.pass(3_601);
            turn(&desk.engine).await;
        }
        let tries = mail.tries();
        assert!((20..=30).contains(&tries), "{tries}");
        let ann = desk.visitor(&desk.ann).await;
        let latest = desk.engine.notice_sheet(&ann).await.expect("a sheet").latest;
        assert_eq!((latest.len(), latest[0].outcome), (1, Some(Outcome::GivenUp)));
        assert_eq!(latest[0].problem.as_deref(), Some("The mail server did not take it (451)."));
    }
}

on_both! {
    async fn what_was_told_is_cleaned(desk: Desk) {
        let mail = mail_of(&desk).await;
        let call = note(&desk, "x").await;
        desk.pass(61);
        turn(&desk.engine).await;
        desk.pass(80_000);
        desk.engine.erase().await.expect("erased");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM notices").await, 1);
        desk.pass(10_000);
        desk.engine.erase().await.expect("erased");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM notices").await, 0);
        // It lapses; until then it is not told of again.
        assert_eq!(mail.tries(), 1);
        desk.engine.expire_calls().await.expect("lapsed");
        assert_eq!(desk.ended(call).await.status, CallStatus::Expired);
        desk.engine.erase().await.expect("erased");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM notice_told").await, 0);
    }
}

/// A browser of this person's at that service.
async fn browser_of(desk: &Desk, person: &Person, service: &PushService, name: &str) -> Browser {
    let browser = Browser::new();
    let subscription = browser.subscription(service.endpoint(name));
    desk.engine.add_browser(&desk.visitor(person).await, subscription).await.expect("a browser");
    browser
}

on_both! {
    async fn a_browser_alone_can_read_what_it_is_pushed(desk: Desk) {
        desk.reload_with(PUSH);
        let service = PushService::start().await;
        let browser = browser_of(&desk, &desk.ann, &service, "one").await;
        let call = note(&desk, CANARY).await;
        desk.pass(61);
        turn(&desk.engine).await;
        turn(&desk.engine).await;
        let pushed = service.pushed();
        assert_eq!(pushed.len(), 1);
        assert!(pushed[0].head.starts_with("POST /push/one HTTP/1.1\r\n"), "{}", pushed[0].head);
        assert_eq!(pushed[0].header("content-encoding"), "aes128gcm");
        assert_eq!(pushed[0].header("ttl"), "43200");
        check_vapid(&desk, &pushed[0].header("authorization"), &format!("http://{}", service.address)).await;
        let message: Value = serde_json::from_str(&browser.read(&pushed[0].body)).expect("JSON");
        assert_eq!(message["title"], "A call waits for you");
        assert_eq!(message["path"], format!("/inbox/{call}"));
        assert!(!message.to_string().contains(CANARY));
        if let Some(bytes) = desk.file_bytes() {
            let endpoint = service.endpoint("one");
            assert!(!bytes.windows(endpoint.len()).any(|window| window == endpoint.as_bytes()), "endpoints are sealed");
        }
    }
}

/// Whether the header is a signature of the desk's key for that push service (RFC 8292).
async fn check_vapid(desk: &Desk, header: &str, audience: &str) {
    let (token, key) =
        header.strip_prefix("vapid t=").and_then(|rest| rest.split_once(", k=")).expect("vapid");
    let ann = desk.visitor(&desk.ann).await;
    assert_eq!(Some(key.to_owned()), desk.engine.notice_sheet(&ann).await.expect("a sheet").push_key);
    let (signed, signature) = token.rsplit_once('.').expect("a signature");
    let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).expect("base64url");
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decoded(key))
        .verify(signed.as_bytes(), &decoded(signature))
        .expect("the desk's signature");
    let claims: Value =
        serde_json::from_slice(&decoded(signed.split('.').nth(1).expect("claims"))).expect("JSON");
    assert_eq!(claims["aud"], audience);
    let left = claims["exp"].as_i64().expect("a time") - desk.engine.now().micros() / 1_000_000;
    assert!((1..=86_400).contains(&left), "{left}");
}

on_both! {
    async fn a_browser_that_has_ended_it_is_removed(desk: Desk) {
        desk.reload_with(PUSH);
        let service = PushService::start().await;
        let ann = desk.visitor(&desk.ann).await;
        for status in [404, 410] {
            browser_of(&desk, &desk.ann, &service, "one").await;
            service.answer(status);
            desk.engine.test_notices(&ann).await.expect("tested");
            let sheet = desk.engine.notice_sheet(&ann).await.expect("a sheet");
            assert!(sheet.browsers.is_empty(), "{status}");
            assert_eq!(sheet.latest[0].outcome, Some(Outcome::GivenUp));
        }
        service.answer(503);
        browser_of(&desk, &desk.ann, &service, "one").await;
        desk.engine.test_notices(&ann).await.expect("tested");
        let sheet = desk.engine.notice_sheet(&ann).await.expect("a sheet");
        assert_eq!((sheet.browsers.len(), sheet.latest[0].outcome), (1, None));
    }
}

on_both! {
    async fn a_browser_is_one_persons_and_can_be_taken_away(desk: Desk) {
        desk.reload_with(PUSH);
        let service = PushService::start().await;
        browser_of(&desk, &desk.ann, &service, "one").await;
        let (ann, max) = (desk.visitor(&desk.ann).await, desk.visitor(&desk.max).await);
        let id = desk.engine.notice_sheet(&ann).await.expect("a sheet").browsers[0].id;
        assert!(!desk.engine.remove_browser(&max, id).await.expect("not theirs"));
        // Max signs in there: from then on it is his.
        browser_of(&desk, &desk.max, &service, "one").await;
        assert!(desk.engine.notice_sheet(&ann).await.expect("a sheet").browsers.is_empty());
        let id = desk.engine.notice_sheet(&max).await.expect("a sheet").browsers[0].id;
        assert!(desk.engine.remove_browser(&max, id).await.expect("removed"));
        assert!(desk.engine.notice_sheet(&max).await.expect("a sheet").browsers.is_empty());
    }
}

on_both! {
    async fn a_browser_that_was_taken_away_is_owed_nothing(desk: Desk) {
        desk.reload_with(PUSH);
        let service = PushService::start().await;
        browser_of(&desk, &desk.ann, &service, "one").await;
        note(&desk, "x").await;
        desk.pass(61);
        desk.engine.plan_notices().await.expect("planned");
        let ann = desk.visitor(&desk.ann).await;
        let id = desk.engine.notice_sheet(&ann).await.expect("a sheet").browsers[0].id;
        desk.engine.remove_browser(&ann, id).await.expect("removed");
        desk.engine.send_notices().await.expect("nothing to send");
        assert_eq!((service.pushed().len(), open(&desk).await), (0, 0));
        assert!(desk.engine.notice_sheet(&ann).await.expect("a sheet").latest.is_empty());
    }
}

/// What `check` and the log say.
#[test]
fn variables_that_are_not_set_are_told() {
    let text = "[mail]\nsmtp = \"smtps://u@mail.test\"\nfrom = \"a@b.test\"\npassword = { env = \"NOT_SET_1\" }\n\
                [[webhook]]\nname = \"a\"\nurl = { env = \"NOT_SET_2\" }\nsecret = { env = \"PATH\" }\nto = [\"role:approver\"]";
    let told = engine::notice::warnings(&parsed(text));
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("the mail server needs the environment variable NOT_SET_1"), "{told:?}");
    assert!(told[1].starts_with("the webhook “a” needs the environment variable NOT_SET_2"), "{told:?}");
}

on_both! {
    async fn only_push_services_that_may_be_reached_are_taken(desk: Desk) {
        let ann = desk.visitor(&desk.ann).await;
        for endpoint in [
            "http://push.example/x", "https://127.0.0.1/x", "https://[::1]/x", "https://10.0.0.1/x", "https://169.254.169.254/x",
            "https://localhost/x", "https://PUSH.example/x", "https://u@push.example/x", "ftp://push.example/x", "",
        ] {
            let refused = desk.engine.add_browser(&ann, Browser::new().subscription(endpoint.to_owned())).await;
            assert!(matches!(refused, Err(Refusal::Invalid(_))), "{endpoint}: {refused:?}");
        }
        let mut broken = Browser::new().subscription("https://push.example/x".to_owned());
        broken.p256dh.truncate(40);
        assert!(desk.engine.add_browser(&ann, broken).await.is_err());
        let good = Browser::new().subscription("https://push.example/x".to_owned());
        desk.engine.add_browser(&ann, good).await.expect("taken");
    }
}

on_both! {
    async fn browsers_and_the_push_key_are_sealed_again_with_a_new_key(desk: Desk) {
        desk.reload_with(PUSH);
        let service = PushService::start().await;
        let ann = desk.visitor(&desk.ann).await;
        let browser = browser_of(&desk, &desk.ann, &service, "one").await;
        let before = desk.engine.notice_sheet(&ann).await.expect("a sheet").push_key;
        let fresh = Sealer::generate(&Ambient::system());
        let both = with_keys(&desk, &format!("{fresh},{}", desk.sealing_key)).await;
        both.reseal().finish().await.expect("sealed again");
        let node = with_keys(&desk, &fresh).await;
        node.replace_catalogue(desk.engine.catalogue().as_ref().clone());
        assert_eq!(node.notice_sheet(&ann).await.expect("a sheet").push_key, before);
        node.test_notices(&ann).await.expect("tested");
        assert!(browser.read(&service.pushed()[0].body).contains("A test notice"));
    }
}

on_both! {
    async fn the_push_key_is_made_at_the_start_and_not_by_looking(desk: Desk) {
        let ann = desk.visitor(&desk.ann).await;
        assert_eq!(desk.engine.notice_sheet(&ann).await.expect("a sheet").push_key, None);
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM push_keys").await, 0);
        let jobs = desk.engine.start_jobs();
        until_rows(&desk, "push_keys", 1).await;
        jobs.stop().await;
        let key = desk.engine.notice_sheet(&ann).await.expect("a sheet").push_key;
        assert!(key.is_some());
        desk.engine.prepare_push().await.expect("as it was");
        assert_eq!(desk.engine.notice_sheet(&ann).await.expect("a sheet").push_key, key);
    }
}

/// Waits until a table has that many rows.
async fn until_rows(desk: &Desk, table: &str, count: i64) {
    for _ in 0..400 {
        if desk.database.count(&format!("SELECT COUNT(*) FROM {table}")).await == count {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{table} never had {count} rows");
}

on_both! {
    async fn a_push_key_that_nothing_opens_is_replaced_and_its_browsers_are_dropped(desk: Desk) {
        desk.reload_with(PUSH);
        let service = PushService::start().await;
        let ann = desk.visitor(&desk.ann).await;
        browser_of(&desk, &desk.ann, &service, "one").await;
        let lost = desk.engine.notice_sheet(&ann).await.expect("a sheet").push_key;
        let node = with_keys(&desk, &Sealer::generate(&Ambient::system())).await;
        node.replace_catalogue(desk.engine.catalogue().as_ref().clone());
        assert_eq!(node.notice_sheet(&ann).await.expect("a sheet").push_key, None);
        node.prepare_push().await.expect("a new one");
        let sheet = node.notice_sheet(&ann).await.expect("a sheet");
        assert!(sheet.browsers.is_empty() && sheet.push_key.is_some() && sheet.push_key != lost);
        // Turned on again, it is told.
        let browser = Browser::new();
        node.add_browser(&ann, browser.subscription(service.endpoint("two"))).await.expect("a browser");
        assert_eq!(node.test_notices(&ann).await, Ok(true));
        assert!(browser.read(&service.pushed()[0].body).contains("A test notice"));
    }
}

on_both! {
    async fn no_notice_has_anything_of_the_payload(desk: Desk) {
        let (mail, service) = (MailServer::start().await, PushService::start().await);
        let chat = slack("to = [\"role:member\"]");
        desk.reload_with(&format!("{PUSH}{}{chat}", mail_table(&mail)));
        let browser = browser_of(&desk, &desk.ann, &service, "one").await;
        let mut call = arrival(desk.actor(&desk.careful).await, "send_mail", json!({ "to": CANARY, "body": CANARY }));
        call.reason = Some(CANARY.to_owned());
        desk.held(call).await;
        desk.pass(61);
        turn(&desk.engine).await;
        assert_eq!((mail.tries(), service.pushed().len(), desk.upstream.writes().len()), (1, 1, 1));
        let pushed = service.pushed().remove(0);
        let chat = desk.upstream.writes().remove(0);
        let told = [mail.mails()[0].text.clone(), pushed.head.clone(), browser.read(&pushed.body), chat.head, chat.body];
        for text in told {
            // Nor the title, the action or the agent.
            for word in [CANARY, "Mail to", "send_mail", "careful", "Send a mail"] {
                assert!(!text.contains(word), "{word} in {text}");
            }
        }
    }
}

/// Over TLS, and signed in.
#[tokio::test(flavor = "multi_thread")]
async fn a_mail_server_is_trusted_and_signed_in_to() {
    let (mail, pem) = MailServer::start_tls().await;
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "[notices]\nafter = \"0s\"\n[mail]\nsmtp = \"smtps://desk%40house@{}\"\npassword = {{ env = \"PATH\" }}\nfrom = \"desk@house.test\"",
        mail.address
    );
    for (roots, arrives) in [(None, false), (Some(pem.into_bytes()), true)] {
        let ambient = Ambient::system();
        let engine = Engine::open(OpenOptions {
            catalogue: parsed(&text),
            database_url: format!("sqlite:{arrives}.db"),
            base: PathBuf::from(folder.path()),
            sealer: Sealer::parse(&Sealer::generate(&ambient), ambient.clone()).expect("a key"),
            ambient,
            roots,
        })
        .await
        .expect("an engine");
        let wanted = engine::registry::PersonWanted {
            email: "ann@house.test".to_owned(),
            name: "Ann".to_owned(),
            roles: vec![],
            password: None,
        };
        let ann = engine.add_person(wanted).await.expect("a person");
        let ann = engine.visitor(ann.id).await.expect("storage").expect("an account");
        engine.test_notices(&ann).await.expect("tested");
        assert_eq!(mail.mails().len(), usize::from(arrives));
        let latest = engine.notice_sheet(&ann).await.expect("a sheet").latest;
        assert_eq!(latest[0].outcome, arrives.then_some(Outcome::Sent), "{latest:?}");
    }
    let password = std::env::var("PATH").expect("a variable");
    assert_eq!(mail.mails()[0].signed_in, Some(("desk@house".to_owned(), password)));
}

on_both! {
    /// Whoever stands in for somebody is told as they are; and whose word is there already, for neither.
    async fn a_delegate_is_told_as_the_delegator_is(desk: Desk) {
        let mail = mail_of(&desk).await;
        let until = (desk.engine.now().to_chrono() + chrono::TimeDelta::hours(1)).format("%Y-%m-%dT%H:%M").to_string();
        let wanted = engine::DelegationWanted { to: "max@desk.test", from: "", until: &until };
        desk.engine.delegate(&desk.visitor(&desk.ann).await, wanted).await.expect("a delegation");
        note(&desk, "x").await;
        desk.pass(61);
        turn(&desk.engine).await;
        assert_eq!(mail.recipients(), ["ann@desk.test", "max@desk.test"]);
        // A call of a quorum that Olga alone is left to confirm, for whom Ann's stand-in is none.
        let two = desk.held(desk.careful("two_people", json!({ "target": "x" })).await).await;
        desk.confirms(&desk.max, two).await.expect("one of two");
        desk.pass(61);
        turn(&desk.engine).await;
        assert_eq!(mail.recipients(), ["ann@desk.test", "max@desk.test", "olga@desk.test"]);
    }
}

on_both! {
    /// Those who decide a call are told once that somebody overrode it; whoever did is not, and what was taken back is not told.
    async fn those_who_decide_are_told_of_an_override(desk: Desk) {
        let mail = mail_of(&desk).await;
        let olga = desk.visitor(&desk.olga).await;
        for (text, is_undone) in [("x", false), ("y", true)] {
            let id = desk.held(desk.careful("undoable", json!({ "to": text })).await).await;
            let item = desk.engine.open_to_override(&olga, id).await.expect("opened").expect("it waits");
            let version = item.preview.expect("a preview").version;
            let token = desk.engine.view_token(&olga, id, &version);
            desk.pass(1);
            let title = desk.preview(&desk.ann, id).await.title;
            let wanted = engine::OverrideWanted { version: &version, view_token: &token, target: &title, reason: CANARY, proof: None };
            desk.engine.override_call(&olga, id, wanted).await.expect("recorded");
            if is_undone {
                desk.engine.undo(&desk.decider(&desk.olga).await, id).await.expect("undone");
                desk.engine.decide(&desk.decider(&desk.ann).await, id, decline("no")).await.expect("declined");
            }
            for _ in 0..2 {
                turn(&desk.engine).await;
            }
        }
        assert_eq!(mail.recipients(), ["ann@desk.test"]);
        let text = &mail.mails()[0].text;
        assert!(text.contains("Subject: An operator overrode a call that you decide\r\n"), "{text}");
        assert!(!text.contains(CANARY), "{text}");
    }
}

on_both! {
    /// Whoever decides no more when the word goes out is not told.
    async fn of_an_override_nobody_is_told_who_decides_no_more(desk: Desk) {
        let mail = mail_of(&desk).await;
        desk.engine.add_to_group("mailers", "max@desk.test").await.expect("in");
        desk.engine.add_to_group("mailers", "ann@desk.test").await.expect("in");
        let olga = desk.visitor(&desk.olga).await;
        let id = desk.held(desk.careful("grouped", json!({ "to": CANARY })).await).await;
        let version = desk.engine.open_to_override(&olga, id).await.expect("opened").and_then(|item| item.preview).expect("a preview").version;
        let token = desk.engine.view_token(&olga, id, &version);
        desk.pass(1);
        let wanted = engine::OverrideWanted { version: &version, view_token: &token, target: "", reason: "Away.", proof: None };
        desk.engine.override_call(&olga, id, wanted).await.expect("recorded");
        desk.engine.plan_notices().await.expect("planned");
        desk.engine.remove_from_group("mailers", Some("max@desk.test")).await.expect("out");
        for _ in 0..2 {
            turn(&desk.engine).await;
        }
        assert_eq!(mail.recipients(), ["ann@desk.test"]);
    }
}

on_both! {
    /// A webhook is told when those whom it is for were overridden, by a name of its own.
    async fn a_webhook_is_told_when_its_people_were_overridden(desk: Desk) {
        desk.reload_with(&slack("to = [\"group:mailers\"]"));
        desk.engine.add_to_group("mailers", "max@desk.test").await.expect("in");
        let olga = desk.visitor(&desk.olga).await;
        let id = desk.held(desk.careful("grouped", json!({ "to": CANARY })).await).await;
        let version = desk.engine.open_to_override(&olga, id).await.expect("opened").and_then(|item| item.preview).expect("a preview").version;
        let token = desk.engine.view_token(&olga, id, &version);
        desk.pass(1);
        let wanted = engine::OverrideWanted { version: &version, view_token: &token, target: "", reason: CANARY, proof: None };
        desk.engine.override_call(&olga, id, wanted).await.expect("recorded");
        desk.upstream.until_writes(1).await;
        for _ in 0..2 {
            turn(&desk.engine).await;
        }
        let writes = desk.upstream.writes();
        assert_eq!(writes.len(), 2, "the mail, and one word of it");
        let body: Value = serde_json::from_str(&writes[1].body).expect("JSON");
        let text = body["text"].as_str().expect("a text");
        assert!(text.starts_with("An operator overrode a call that other people decide. That was on "), "{text}");
        assert!(text.contains(&id.to_string()) && !text.contains(CANARY), "{text}");
    }
}
