//! How somebody is told that calls wait for them: by mail, in browsers, and when not.

use std::sync::Arc;

use engine::notice::{BrowserLine, Channel, Kind, NoticeLine, NoticeSheet, Outcome};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use model::{Person, Time};

use crate::form::{self, Posted};
use crate::frame::{Shape, Sheet, page};
use crate::parts::table::{Cell, cell, table};
use crate::parts::{alert, text, time};
use crate::words;

/// How somebody is told.
#[component]
pub(crate) fn Notices() -> impl IntoView {
    let done = use_query_map().read_untracked().get("done");
    page(None, |visit, me| async move {
        let sheet = visit.engine.notice_sheet(&me).await?;
        let now = visit.engine.now();
        let posted = visit.posted(form::NOTICES).or_else(|| visit.posted(form::BROWSER));
        let done = done.filter(|_| posted.is_none()).and_then(|done| said(&done));
        let body = view! {
            <a class="back back-always" href="/account">"← Your account"</a>
            <h1>"Notices"</h1>
            <p class="lead">{lead(&sheet)}</p>
            {alert::alert(posted.as_ref())}
            {done.map(|done| view! { <p class="heard" role="status">{done}</p> })}
            {choices(&sheet, me.person(), posted.as_ref())}
            {browsers(&sheet, now)}
            {latest(&sheet.latest, now)}
            <script type="module" src=visit.assets.notices></script>
        };
        Ok(Sheet::new("Notices", Shape::Column, body))
    })
}

/// What tells them: nothing yet, or what a notice is.
fn lead(sheet: &NoticeSheet) -> String {
    if sheet.browsers.is_empty() && !(sheet.has_mail && sheet.choices.mail) {
        return "You are told by nothing yet: what waits for you stands in the inbox alone.".to_owned();
    }
    let after = sheet.after;
    let after = match i64::try_from(after.as_secs()).unwrap_or(i64::MAX) {
        60 => "a minute".to_owned(),
        seconds => words::span(seconds),
    };
    format!(
        "You are told when a call has waited for you for {after}. A notice says how many wait and where to look, never what is in them."
    )
}

/// What was done just before.
fn said(done: &str) -> Option<&'static str> {
    match done {
        "saved" => Some("Saved."),
        "told" => Some("You are told in this browser from now on."),
        "removed" => Some("You are told in that browser no more."),
        "tested" => Some("A test was made. How it ended stands below."),
        _ => None,
    }
}

fn choices(sheet: &NoticeSheet, me: &Person, posted: Option<&Arc<Posted>>) -> AnyView {
    let posted = posted.filter(|posted| posted.typed("act") == "save");
    let (from, to) = sheet.choices.quiet.map(engine::notice::Quiet::written).unwrap_or_default();
    let typed = |name: &str, kept: String| posted.map_or(kept, |posted| posted.typed(name));
    let mail = posted.map_or(sheet.choices.mail, |posted| posted.has("mail").is_some());
    let fault = alert::of_field(posted, "/quiet");
    let is_wrong = fault.is_some();
    let hint = if sheet.has_mail {
        me.email.clone()
    } else {
        "This desk sends no mail: its catalogue has no mail server.".to_owned()
    };
    let described = alert::described("quiet", is_wrong);
    let clock = |id: &'static str, label: &'static str, value: String, autofocus: bool| {
        view! {
            <div class="field">
                <label for=id>{label}</label>
                <input id=id name=id type="time" value=value autofocus=autofocus
                    aria-invalid=is_wrong.then_some("true") aria-describedby=described.clone()/>
            </div>
        }
    };
    view! {
        <section class="circle" aria-labelledby="ways">
            <h2 id="ways">"How and when"</h2>
            <form class="stack" method="post" action=form::NOTICES autocomplete="off" novalidate>
                <input type="hidden" name="act" value="save"/>
                <div class="field field-tick">
                    <input id="mail" name="mail" type="checkbox" checked=mail disabled=!sheet.has_mail aria-describedby="mail-hint"/>
                    // What is disabled is not sent: the choice is kept for the day on which there is a mail server.
                    {(!sheet.has_mail && mail).then(|| view! { <input type="hidden" name="mail" value="on"/> })}
                    <label for="mail">"By mail"</label>
                    <p class="hint" id="mail-hint">{text::line(&hint)}</p>
                </div>
                <fieldset class="group">
                    <legend>"Quiet hours"<span class="optional">" optional"</span></legend>
                    <p class="hint" id="quiet-hint">"You are told when they are over, of what waits then. By your own clock: " <a href="/account">"your time zone"</a> " is under Account."</p>
                    {alert::beside("quiet-wrong".to_owned(), fault)}
                    <div class="clocks">
                        {clock("quiet_from", "From", typed("quiet_from", from), is_wrong)}
                        {clock("quiet_to", "Until", typed("quiet_to", to), false)}
                    </div>
                </fieldset>
                <button class="button-strong">"Save"</button>
            </form>
        </section>
    }
    .into_any()
}

fn browsers(sheet: &NoticeSheet, now: Time) -> AnyView {
    let none = sheet.browsers.is_empty().then(|| view! { <p class="hint">"No browser is told yet."</p> });
    let here = match sheet.push_key.clone() {
        Some(key) => view! {
            <div class="stack" data-push-key=key data-tell=form::BROWSER data-change=form::NOTICES>
                <button type="button" hidden=true>"Tell me in this browser"</button>
                <p class="push-status" role="status">"To be told in a browser, open this page in one that runs scripts. Push needs that; nothing else here does."</p>
            </div>
        }
        .into_any(),
        None => view! { <p class="wrong">"Browsers cannot be told now: the desk's key for push services cannot be read."</p> }.into_any(),
    };
    let list: Vec<_> = sheet.browsers.iter().map(|browser| browser_line(browser, now)).collect();
    view! {
        <section class="circle" aria-labelledby="browsers">
            <h2 id="browsers">"Browsers"</h2>
            {none}
            <ul class="members">{list}</ul>
            {here}
        </section>
    }
    .into_any()
}

fn browser_line(browser: &BrowserLine, now: Time) -> AnyView {
    let name = text::plain(&browser.label);
    view! {
        <li class="member" data-mark=browser.mark.clone() data-browser=browser.id.to_string()>
            <span><strong>{text::line(&browser.label)}</strong> " " <span class="hint">"since " {time::ago(browser.since, now)}</span></span>
            <form method="post" action=form::NOTICES>
                <input type="hidden" name="act" value="remove"/>
                <input type="hidden" name="browser" value=browser.id.to_string()/>
                <button class="quiet">"Remove"<span class="unseen">{format!(" {name}")}</span></button>
            </form>
        </li>
    }
    .into_any()
}

fn latest(lines: &[NoticeLine], now: Time) -> AnyView {
    let rows: Vec<_> = lines.iter().map(|line| row(line, now)).collect();
    let list = if rows.is_empty() {
        view! { <p class="hint">"You were told of nothing in the last day."</p> }.into_any()
    } else {
        table("Latest notices", &["When", "Way", "About", "How it ended"], rows)
    };
    view! {
        <section class="circle" aria-labelledby="latest">
            <h2 id="latest">"Latest notices"</h2>
            <form method="post" action=form::NOTICES>
                <input type="hidden" name="act" value="test"/>
                <button>"Send a test notice"</button>
            </form>
            {list}
        </section>
    }
    .into_any()
}

fn row(line: &NoticeLine, now: Time) -> Vec<Cell> {
    let way = match (line.channel, &line.browser) {
        (Channel::Mail, _) => "mail".into_any(),
        (Channel::Push, Some(label)) => text::line(label),
        (Channel::Push, None) => "a browser that was removed".into_any(),
        (Channel::Webhook, _) => "webhook".into_any(),
    };
    let about = match line.kind {
        Kind::Waiting => "calls that wait",
        Kind::Overridden => "calls that were overridden",
        Kind::Test => "a test",
    };
    let (word, is_bad) = match line.outcome {
        Some(Outcome::Sent) => ("Handed over", false),
        Some(Outcome::GivenUp) => ("Given up.", true),
        Some(Outcome::Moot) => ("Not needed", false),
        None if line.problem.is_some() => ("Is tried again.", true),
        None => ("On its way", false),
    };
    let problem = line.problem.as_deref().map(|problem| view! { " " {text::line(problem)} });
    vec![
        cell("When", time::ago(line.at, now)),
        cell("Way", way),
        cell("About", about),
        cell(
            "How it ended",
            view! { <span><span class=is_bad.then_some("bad")>{word}</span> {problem}</span> },
        ),
    ]
}
