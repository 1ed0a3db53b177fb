//! What is paused, by whom, since when and why; and the way on.

use std::sync::Arc;

use engine::agent::AgentLine;
use engine::{Pause, PauseScope};
use leptos::prelude::*;
use model::{Person, Time};

use super::{alert, text, time};
use crate::form::{self, Posted};
use crate::frame::is_office;

/// What stands on every page while everything is paused.
pub(crate) fn banner(pause: &Pause, me: &Person, now: Time) -> AnyView {
    let resume = is_office(me).then(|| resume("everything", "agents", "Resume everything", ""));
    view! {
        <aside class="paused-all" aria-label="Everything is paused">
            <p>
                <strong>"Everything is paused. "</strong>
                {who(pause, now)}
                " No call is taken and nothing is sent until an operator resumes; what is held stays held."
            </p>
            {resume}
        </aside>
    }
    .into_any()
}

/// What stands on the page of a call that the pause of its agent keeps from going on. That everything is paused stands on
/// every page.
pub(crate) fn note(pause: &Pause, now: Time) -> Option<AnyView> {
    pause.scope.agent().map(|_| {
        view! {
            <p class="paused-note"><strong>"The agent is paused. "</strong>{who(pause, now)} " Nothing of it is sent until " {until(pause)} "."</p>
        }
        .into_any()
    })
}

/// Who can end it, and how: “an operator resumes it”.
pub(crate) const fn until(pause: &Pause) -> &'static str {
    match (pause.scope, pause.as_owner) {
        (PauseScope::Everything, _) => "an operator resumes",
        (PauseScope::Agent(_), true) => "its owner or an operator resumes it",
        (PauseScope::Agent(_), false) => "an operator resumes it",
    }
}

/// Who, when and why, as a sentence.
pub(crate) fn who(pause: &Pause, now: Time) -> AnyView {
    let by = match &pause.by {
        Some(name) => view! { {text::line(name)} " paused it " }.into_any(),
        None => "It was paused from the command line ".into_any(),
    };
    let why = pause.reason.as_ref().map(|reason| view! { " The reason: " <q>{text::body(reason)}</q> "." });
    view! { {by} {time::ago(pause.at, now)} "." {why} }.into_any()
}

/// How an agent stands: active, paused, or able to call no more.
pub(crate) fn state(agent: &AgentLine, now: Time) -> AnyView {
    if let Some(at) = agent.revoked_at {
        let what = if agent.is_revoked { "revoked " } else { "without a key since " };
        return view! { <span class="bad">{what} {time::ago(at, now)}</span> }.into_any();
    }
    match &agent.pause {
        None => "active".into_any(),
        Some(pause) => {
            let by = pause.by.as_ref().map_or_else(
                || "from the command line".into_any(),
                |name| view! { "by " {text::line(name)} }.into_any(),
            );
            let why = pause.reason.as_ref().map(|reason| view! { ": " <q>{text::line(reason)}</q> });
            view! { <span><strong class="paused">"paused"</strong> " " {by} " " {time::ago(pause.at, now)} {why}</span> }
                .into_any()
        }
    }
}

/// The button that pauses or resumes an agent, on the page `at`. `None`: there is nothing to press.
pub(crate) fn button(agent: &AgentLine, at: &'static str, is_office: bool) -> Option<AnyView> {
    let id = agent.id.to_string();
    if agent.is_revoked {
        return None;
    }
    match &agent.pause {
        None => Some(post(&id, "pause", at, "Pause", &agent.name)),
        Some(pause) if pause.as_owner || is_office => Some(resume(&id, at, "Resume", &agent.name)),
        Some(_) => Some(view! { <span class="hint">"Only operators can resume it."</span> }.into_any()),
    }
}

fn resume(scope: &str, at: &'static str, words: &'static str, name: &str) -> AnyView {
    post(scope, "resume", at, words, name)
}

fn post(scope: &str, act: &'static str, at: &'static str, words: &'static str, name: &str) -> AnyView {
    let unseen =
        (!name.is_empty()).then(|| view! { <span class="unseen">{format!(" {}", text::plain(name))}</span> });
    view! {
        <form method="post" action=form::PAUSE>
            {steering(scope, act, at)}
            <button class=if at == "agents" && name.is_empty() { "" } else { "quiet" }>{words}{unseen}</button>
        </form>
    }
    .into_any()
}

fn steering(scope: &str, act: &'static str, at: &'static str) -> AnyView {
    view! {
        <input type="hidden" name="scope" value=scope.to_owned()/>
        <input type="hidden" name="act" value=act/>
        <input type="hidden" name="at" value=at/>
    }
    .into_any()
}

/// The form that pauses with a reason. `words` stands on its button.
pub(crate) fn with_reason(
    scope: &str,
    at: &'static str,
    words: String,
    posted: Option<&Arc<Posted>>,
) -> AnyView {
    let posted = posted.filter(|posted| posted.typed("scope") == scope);
    let fault = alert::of_field(posted, "/reason");
    let typed = posted.map(|posted| posted.typed("reason")).unwrap_or_default();
    view! {
        <form class="stack" method="post" action=form::PAUSE autocomplete="off">
            {steering(scope, "pause", at)}
            <div class="field">
                <label for="reason">"Reason"</label>
                <p class="hint" id="reason-hint">"Optional. People on this desk read it, agents do not."</p>
                {alert::beside("reason-wrong".to_owned(), fault.clone())}
                <textarea id="reason" name="reason" rows="2" maxlength="2000"
                    aria-invalid=fault.is_some().then_some("true")
                    aria-describedby=alert::described("reason", fault.is_some()) inner_html=text::content(&typed)></textarea>
            </div>
            <button>{words}</button>
        </form>
    }
    .into_any()
}

/// Pauses, in force and ended, newest first. `None`: there was none.
pub(crate) fn history(title: &'static str, pauses: &[Pause], now: Time) -> Option<AnyView> {
    let lines: Vec<_> = pauses
        .iter()
        .map(|one| {
            let end = one.resumed_at.map(|at| {
                let by = match &one.resumed_by {
                    Some(name) => view! { {text::line(name)} " resumed it " }.into_any(),
                    None => "It was resumed from the command line ".into_any(),
                };
                view! { " " {by} {time::ago(at, now)} "." }
            });
            view! { <li>{who(one, now)} {end}</li> }
        })
        .collect();
    (!lines.is_empty()).then(|| {
        view! {
            <section class="circle" aria-labelledby="pauses">
                <h2 id="pauses">{title}</h2>
                <ul class="pauses">{lines}</ul>
            </section>
        }
        .into_any()
    })
}
