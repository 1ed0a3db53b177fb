//! What a page costs beside the same page written by hand as a string: the Done tab with 50 receipts.
//!
//! `cargo bench -p app --bench page`. Both ask the engine the same and come to the same text, byte for byte but for the
//! marks that the framework puts between pieces of text, which is checked before anything is measured. What stands around
//! the rows is one ready text in the hand-written page. What counts is processor time of the whole process, so the
//! database is in it. They run in turns, so that whatever else the machine does meets both.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use app::page::{self, Page};
use app::visit::{Assets, Visit};
use chrono_tz::Tz;
use engine::ambient::Ambient;
use engine::catalogue::Catalogue;
use engine::registry::{AgentWanted, PersonWanted};
use engine::seal::Sealer;
use engine::{Arrival, Engine, OpenOptions, PageAsked, PersonActor, ReceiptFilter};
use model::visible::{Chip, Piece, Place, visible};
use model::{Ability, Outcome, ReceiptFacts, Surface, Time};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

#[path = "../src/words.rs"]
#[allow(dead_code, unused_imports, reason = "the bench uses some of them, and none of their tests")]
mod words;

const ROWS: usize = 50;
const TURNS: usize = 20;
const PAGES_A_TURN: u32 = 50;

const ASSETS: Assets = Assets {
    style: "/style.css",
    script: "/countersign.js",
    icon: "/mark.svg",
    notices: "/notices.js",
    passkeys: "/passkeys.js",
};

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run());
}

async fn run() {
    let folder = tempfile::tempdir().expect("a folder");
    let (engine, ann) = desk(folder.path()).await;
    let framework = rendered(&engine, &ann).await;
    let frame = Frame::of(&framework);
    let by_hand = written(&engine, &ann, &frame).await;
    assert_eq!(plain(&framework), plain(&by_hand), "the hand-written page is another one");
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        ours.push(cost(async || drop(rendered(&engine, &ann).await)).await);
        theirs.push(cost(async || drop(written(&engine, &ann, &frame).await)).await);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!(
        "The Done tab with {ROWS} receipts, {} bytes, processor time a page (median of {TURNS} turns):",
        framework.len()
    );
    println!("  rendered        {:>6} µs", ours.as_micros());
    println!("  written by hand {:>6} µs", theirs.as_micros());
    println!("  ratio           {ratio:>6.2}   (mark: at most 1.50)");
}

/// Processor time of one page.
async fn cost(page: impl AsyncFn()) -> Duration {
    let begun = processor();
    for _ in 0..PAGES_A_TURN {
        page().await;
    }
    processor().saturating_sub(begun) / PAGES_A_TURN
}

fn processor() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec.unsigned_abs(), u32::try_from(spent.tv_nsec).unwrap_or(0))
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all[all.len() / 2]
}

/// The page as the desk makes it.
async fn rendered(engine: &Engine, ann: &PersonActor) -> String {
    let visit = Visit {
        engine: engine.clone(),
        visitor: Some(ann.clone()),
        session: None,
        from: None,
        address: "/done".to_owned(),
        posted: None,
        assets: ASSETS,
    };
    match page::render(visit).await {
        Page::Html { status: 200, html } => html,
        other => panic!("no page: {other:?}"),
    }
}

/// What stands around the rows.
struct Frame {
    before: String,
    after: String,
}

impl Frame {
    fn of(page: &str) -> Self {
        let (head, rest) = page.split_once("<tbody role=\"rowgroup\">").expect("a table");
        let (_, after) = rest.split_once("</tbody>").expect("its end");
        Self { before: format!("{head}<tbody role=\"rowgroup\">"), after: format!("</tbody>{after}") }
    }
}

/// The same page by hand.
async fn written(engine: &Engine, ann: &PersonActor, frame: &Frame) -> String {
    engine.last_event().await.expect("an event");
    let rows = engine.done(ann, &ReceiptFilter::default(), &PageAsked::default()).await.expect("receipts");
    engine.inbox_count(ann).await.expect("a count");
    engine.pause_of_everything().await.expect("no pause");
    let now = engine.now();
    let mut html = String::with_capacity(64 * 1024);
    html.push_str(&frame.before);
    for row in &rows.items {
        write_row(&mut html, row, now);
    }
    html.push_str(&frame.after);
    html
}

fn write_row(html: &mut String, row: &ReceiptFacts, now: Time) {
    html.push_str("<tr role=\"row\">");
    cell(html, "When", |html| {
        let full = words::moment(row.at, Tz::UTC);
        let said = words::ago(row.at, now, Tz::UTC);
        let _ = write!(
            html,
            "<a href=\"/done/{}\"><time datetime=\"{}\" title=\"{full}\">{said}<span class=\"unseen\">, {full}</span></time></a>",
            row.id, row.at
        );
    });
    cell(html, "Method", |html| line(html, &row.method));
    cell(html, "Host and path", |html| {
        html.push_str("<code>");
        line(html, row.host_and_path());
        html.push_str("</code>");
    });
    cell(html, "Answer", |html| answer(html, row));
    cell(html, "Agent", |html| match &row.agent {
        Some(agent) => line(html, agent),
        None => html.push_str("none"),
    });
    cell(html, "Approved by", |html| html.push_str(words::approval(row.approval.kind)));
    html.push_str("</tr>");
}

fn cell(html: &mut String, column: &str, content: impl FnOnce(&mut String)) {
    let _ = write!(html, "<td role=\"cell\" data-column=\"{column}\">");
    content(html);
    html.push_str("</td>");
}

fn answer(html: &mut String, row: &ReceiptFacts) {
    match (row.outcome, row.upstream_status) {
        (Outcome::Done, Some(status)) => {
            let class = if status >= 400 { "bad" } else { "" };
            let _ = write!(html, "<span class=\"{class}\">{}</span>", words::answer(status));
        }
        _ => html.push_str("done"),
    }
}

/// A text of somebody else's, with what hides in it made visible.
fn line(html: &mut String, text: &str) {
    html.push_str("<bdi>");
    for piece in visible(text, Place::Line) {
        match piece {
            Piece::Plain(plain) => escape(html, plain),
            Piece::Chip(Chip { label, .. }) => {
                let _ = write!(html, "<mark class=\"chip\">{label}</mark>");
            }
        }
    }
    html.push_str("</bdi>");
}

fn escape(html: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            other => html.push(other),
        }
    }
}

/// The text without the framework's marks, and without what differs by the second.
fn plain(page: &str) -> String {
    let mut text = page.replace("<!>", "");
    for second in 0..60 {
        text = text.replace(&format!(">{second} s ago<"), ">now<");
    }
    text
}

const CATALOGUE: &str = r#"
[[credential]]
name = "notes"
hosts = ["UPSTREAM"]
header = "Authorization"
value = "Bearer {secret}"
secret = { store = true }
allow_http = true
allow_private = true

[[action]]
name = "note"
title = "Write a note"
description = "Writes a note."
effect = "write"
credential = "notes"
input = { type = "object", properties = { text = { type = "string" } } }
request = { method = "POST", url = "http://UPSTREAM/notes/of/somebody", json = "{{ input }}" }
preview = { title = "Note" }
"#;

/// A desk on which Ann's agent has done as much as stands on a page.
async fn desk(folder: &std::path::Path) -> (Engine, PersonActor) {
    let upstream = upstream();
    let ambient = Ambient::system();
    let engine = Engine::open(OpenOptions {
        catalogue: Catalogue::parse(&CATALOGUE.replace("UPSTREAM", &upstream), "page.toml")
            .expect("a catalogue"),
        database_url: "sqlite:page.db".to_owned(),
        base: folder.to_owned(),
        sealer: Sealer::parse(&Sealer::generate(&ambient), ambient.clone()).expect("a key"),
        ambient,
        roots: None,
    })
    .await
    .expect("an engine");
    engine.set_secret("notes", "secret").await.expect("a secret");
    let wanted = PersonWanted {
        email: "ann@desk.test".to_owned(),
        name: "Ann".to_owned(),
        roles: vec![],
        password: None,
    };
    let ann = engine.add_person(wanted).await.expect("a person");
    let wanted = AgentWanted {
        name: "quick".to_owned(),
        owner: "ann@desk.test".to_owned(),
        requires_approval: false,
        abilities: Ability::AGENT_DEFAULT.to_vec(),
        toolset: None,
        session: None,
    };
    let key = engine.add_agent(wanted).await.expect("an agent").1.reveal().to_owned();
    for n in 0..ROWS {
        let arrival = Arrival {
            actor: engine.authenticate(&key).await.expect("a known key"),
            surface: Surface::Api,
            action: "note".to_owned(),
            input: json!({ "text": n.to_string() }).as_object().expect("an object").clone(),
            key_header: Vec::new(),
            session: None,
            tenant: None,
            reason: None,
        };
        engine.call(arrival, None).await.expect("done");
    }
    let ann = engine.visitor(ann.id).await.expect("storage").expect("an account");
    (engine, ann)
}

/// A service that takes every note: its host and port.
fn upstream() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = [0; 4096];
            let read = stream.read(&mut request).expect("a request");
            assert!(read > 0, "a request");
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
                .expect("answered");
        }
    });
    address
}
