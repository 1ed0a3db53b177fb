//! What became of a call, as a line of time.

use engine::{Happened, Right, Story, StoryStep};
use leptos::prelude::*;
use model::{ApprovalKind, Finding, PersonId, ReceiptFacts, Role};

use super::{overriding, text, time};
use crate::words;

/// What happened, in its order.
pub(crate) fn time_line(story: &Story, me: PersonId) -> AnyView {
    let steps: Vec<_> = story.steps.iter().map(|step| line(step, &story.receipt, me)).collect();
    view! { <ol class="story">{steps}</ol> }.into_any()
}

fn line(step: &StoryStep, receipt: &ReceiptFacts, me: PersonId) -> AnyView {
    let when = match step.at {
        Some(at) => time::to_the_milli(at),
        None => view! { <span class="story-when">"not written down"</span> }.into_any(),
    };
    view! { <li class=class(&step.happened)>{when} <div>{what(&step.happened, receipt, me)}</div></li> }
        .into_any()
}

/// What stands out: that nobody knows, and that a person said yes.
const fn class(happened: &Happened) -> Option<&'static str> {
    match happened {
        Happened::Unanswered => Some("story-bad"),
        Happened::Overridden { voided: false, .. } => Some("story-override"),
        Happened::Confirmed { voided: false, .. } | Happened::Granted { .. } => Some("story-seal"),
        _ => None,
    }
}

fn what(happened: &Happened, receipt: &ReceiptFacts, me: PersonId) -> AnyView {
    match happened {
        Happened::Asked => asked(receipt),
        Happened::Held => view! { <strong>"Held"</strong> " and shown to those who may decide it. Nothing had been sent." }.into_any(),
        Happened::Confirmed { by, name, r#for, rights, voided, replaced, with_passkey } => {
            let void = if *replaced { Void::Replaced } else if *voided { Void::TakenBack } else { Void::Not };
            let said = confirmed(*by == me, name, r#for.as_deref(), rights, void);
            view! { {said} {with_passkey.then_some(", with a passkey")} }.into_any()
        }
        Happened::Overridden { by, name, reason, voided, with_passkey } => {
            let said = overridden(*by == me, name, reason, *voided);
            view! { {said} {with_passkey.then_some(", with a passkey")} }.into_any()
        }
        Happened::Granted { by, name, made_at, .. } => {
            let whose = if *by == Some(me) { "You".into_any() } else { text::line(name) };
            let made = made_at.map(|at| view! { ", made " {time::full(at)} });
            view! { "Let through by a " <a href="/grants">"standing grant"</a> " of " <strong>{whose}</strong> {made} ". Nobody was asked for this call" }.into_any()
        }
        Happened::Passed(kind) => passed(*kind).into_any(),
        Happened::Sent => {
            let with = receipt.credential.as_ref().map(|name| view! { " with the credential " <code>{text::line(name)}</code> });
            view! { <strong>"Sent"</strong> ", once: " <code>{text::line(&receipt.method)} " " {text::line(receipt.host_and_path())}</code> {with} }.into_any()
        }
        Happened::Answered(Some(status)) => view! { <strong>"Answered"</strong> " " {words::answer(*status)} }.into_any(),
        Happened::Answered(None) => view! { <strong>"Done"</strong> }.into_any(),
        Happened::Unanswered => view! { <strong>"Not known:"</strong> " no answer was seen that tells whether it happened. It was not sent again." }.into_any(),
        Happened::Settled { by, finding, reason } => settled(by.as_deref(), *finding, reason.as_deref()),
        Happened::AnsweredLate(status) => {
            let said = status.map_or_else(String::new, |status| format!(": {}", words::answer(status)));
            view! { <strong>"Answered late"</strong> {said} ". It counts before what anybody settled." }.into_any()
        }
    }
}

fn asked(receipt: &ReceiptFacts) -> AnyView {
    let by = match (&receipt.agent, &receipt.person) {
        (Some(agent), Some(person)) => {
            view! { " by " {text::line(agent)} " for " {text::line(person)} }.into_any()
        }
        (Some(agent), None) => view! { " by " {text::line(agent)} }.into_any(),
        (None, Some(person)) => view! { " by " {text::line(person)} }.into_any(),
        (None, None) => " by nobody in particular".into_any(),
    };
    let session =
        receipt.session.as_ref().map(|session| view! { ", session " <code>{text::line(session)}</code> });
    view! { <strong>"Asked"</strong> {by} {session} ", " {words::surface(receipt.surface)} }.into_any()
}

fn overridden(is_me: bool, name: &str, reason: &str, voided: bool) -> AnyView {
    let who = if is_me { "You".into_any() } else { text::line(name) };
    let what = if voided {
        " overrode those who decide it, and that was taken back. The reason: "
    } else {
        " overrode those who decide it. The reason: "
    };
    view! { {overriding::mark()} " " <strong>{who}</strong> {what} <q>{text::body(reason)}</q> }.into_any()
}

/// Whether a vote counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Void {
    /// It did.
    Not,
    /// It was taken back, or the preview changed.
    TakenBack,
    /// The one in whose place it was cast spoke for themselves.
    Replaced,
}

fn confirmed(is_me: bool, name: &str, r#for: Option<&str>, rights: &[Right], void: Void) -> AnyView {
    let who = if is_me { "You".into_any() } else { text::line(name) };
    let rights: Vec<String> = rights.iter().map(|one| right(one, is_me && r#for.is_none())).collect();
    if let Some(voice) = r#for {
        let voided = match void {
            Void::Not => String::new(),
            Void::TakenBack => ", and that was taken back or void".to_owned(),
            Void::Replaced => format!(", and that was replaced by {}'s own", text::plain(voice)),
        };
        let right = if rights.is_empty() { String::new() } else { format!(", {}", rights.join(" and ")) };
        return view! { <strong>{who}</strong> " confirmed it for " <strong>{text::line(voice)}</strong> {text::plain(&format!("{right}{voided}"))} }
            .into_any();
    }
    let right = if rights.is_empty() {
        "with a right that is theirs no more".to_owned()
    } else {
        format!("as {}", rights.join(" and "))
    };
    let what = if void == Void::Not {
        " confirmed it, "
    } else {
        " confirmed it, and that was taken back or void: "
    };
    view! { <strong>{who}</strong> {what} {text::plain(&right)} }.into_any()
}

fn right(right: &Right, is_me: bool) -> String {
    match right {
        Right::Owner if is_me => "the one whose call it is".to_owned(),
        Right::Owner => "the one whose call it was".to_owned(),
        Right::Named => "one whom the action names".to_owned(),
        Right::Role(role) => format!("{} {}", if *role == Role::Member { "a" } else { "an" }, role.as_str()),
        Right::Group(name) => format!("one of the group {name}"),
    }
}

const fn passed(kind: ApprovalKind) -> &'static str {
    match kind {
        ApprovalKind::ConfirmToken => "Confirmed by the agent itself, with the token of its prompt",
        ApprovalKind::Grant => "Let through by a standing grant",
        ApprovalKind::Override => "Let through by an operator's override",
        ApprovalKind::Person => "Confirmed by a person",
        ApprovalKind::None => "Nobody was asked: not needed",
    }
}

fn settled(by: Option<&str>, finding: Finding, reason: Option<&str>) -> AnyView {
    let found = match finding {
        Finding::Happened => " settled that it happened",
        Finding::DidNotHappen => " settled that it did not happen",
    };
    let words = reason.map(|reason| view! { ", with the words: " <q>{text::body(reason)}</q> });
    view! { <strong>{text::line(by.unwrap_or("Somebody"))}</strong> {found} {words} }.into_any()
}
