//! Where a call stands, in words: the truth from the server.

use engine::store::DecidedBy;
use engine::{Item, Settled, Vote};
use leptos::prelude::*;
use model::{Call, CallStatus, Finding, PersonId, Time};

use super::{overriding, text, time};
use crate::{form, words};

/// The line that says where a call stands, to this person. Screen readers are told when it changes.
pub(crate) fn standing(item: &Item, me: PersonId, now: Time) -> AnyView {
    let call = &item.call;
    let class = match call.status {
        CallStatus::Failed | CallStatus::Refused | CallStatus::InDoubt => "standing standing-bad",
        CallStatus::Done => "standing standing-done",
        _ => "standing",
    };
    // A pause keeps the way back open: nothing is sent before its end.
    let is_open = |until: Time| until > now || item.pause.is_some();
    let undo_until =
        item.undo_until.filter(|until| is_open(*until) && item.call.status == CallStatus::Approved);
    let waits = matches!(
        call.status,
        CallStatus::Queued | CallStatus::Approved | CallStatus::Sending | CallStatus::Running
    );
    view! {
        <div class=class data-live=waits.then_some("")>
            <div class="standing-line">
                <p role="status">{sentence(item, me, undo_until)}</p>
                {undo_until.map(|until| undo(item, until, now))}
                {may_take_back(item, me).then(|| take_back(item))}
                {item.may_withdraw.then(|| withdraw(item))}
            </div>
            {details(item, now)}
        </div>
    }
    .into_any()
}

/// Contract section 11: the text begins with one of the known words.
fn sentence(item: &Item, me: PersonId, undo_until: Option<Time>) -> AnyView {
    let call = &item.call;
    let answered = |status: u16| format!("the service answered {}", words::answer(status));
    match call.status {
        CallStatus::Queued | CallStatus::Approved if item.pause.is_some() => {
            "Sending is paused. Nothing has been sent.".into_any()
        }
        CallStatus::Held => held(item, me),
        CallStatus::Queued => "Sending: it waits for its turn.".into_any(),
        CallStatus::Approved if undo_until.is_some() => "Sending soon. Nothing has been sent yet.".into_any(),
        CallStatus::Approved => "Sending: it is on its way.".into_any(),
        CallStatus::Sending | CallStatus::Running => "Sending: the service has not answered yet.".into_any(),
        CallStatus::Done if item.settled.is_some() => "Sent: it happened, as somebody has settled.".into_any(),
        CallStatus::Failed if item.settled.is_some() => "Failed: it did not happen, as somebody has settled.".into_any(),
        CallStatus::Done => match item.upstream_status {
            Some(status) => format!("Sent: {}.", answered(status)).into_any(),
            None => "Sent: it was done.".into_any(),
        },
        CallStatus::Refused => match item.upstream_status {
            Some(status) => format!("Refused: {}.", answered(status)).into_any(),
            None => "Refused: nothing was changed.".into_any(),
        },
        CallStatus::Declined => "Declined: nothing was sent.".into_any(),
        CallStatus::Expired => "Expired: nobody decided in time. Nothing was sent.".into_any(),
        CallStatus::Withdrawn => "Withdrawn: it was taken back. Nothing was sent.".into_any(),
        CallStatus::Failed => failed(call, item.upstream_status).into_any(),
        CallStatus::InDoubt if item.may_settle => {
            "Not known: it was sent and its answer was lost. It may or may not have happened. It is never sent again by itself."
                .into_any()
        }
        CallStatus::InDoubt => {
            "Not known: it was sent and its answer was lost. It may or may not have happened. Somebody has to settle it."
                .into_any()
        }
    }
}

/// Held: for whom it waits, and how many have confirmed where it takes more than one.
fn held(item: &Item, me: PersonId) -> AnyView {
    let waits = match item.vote(me) {
        _ if item.pause.is_some() => "it is paused and cannot be confirmed now",
        _ if !item.may_decide => "it waits for somebody's decision",
        Vote::Cast(_) | Vote::Spoken(_) => "it waits for others",
        Vote::Open | Vote::CastForThem(_) => "it waits for your decision",
    };
    view! { "Held: " {waits} ". Nothing has been sent. " {votes(item, me)} }.into_any()
}

/// How far a quorum is.
fn votes(item: &Item, me: PersonId) -> Option<AnyView> {
    let (said, quorum) = (item.decided_by.len(), item.quorum);
    if quorum < 2 {
        return None;
    }
    if said == 0 {
        let alone = if item.may_decide { "; yours alone sends nothing" } else { "" };
        return Some(format!("{} people have to confirm{alone}.", words::number(quorum)).into_any());
    }
    let has = if said == 1 { "has" } else { "have" };
    let names = item.decided_by.iter().map(|one| voter(one, me)).collect::<Vec<_>>().join(", ");
    Some(view! { {format!("{said} of {quorum} {has} confirmed: ")} {text::line(&names)} "." }.into_any())
}

/// Who voted, and in whose place, as this person reads it.
pub(crate) fn voter(one: &DecidedBy, me: PersonId) -> String {
    let own = if one.person == me { " (you)" } else { "" };
    let voice = match &one.r#for {
        Some(_) if one.voice == me => " for you".to_owned(),
        Some(name) => format!(" for {name}"),
        None => String::new(),
    };
    format!("{}{own}{voice}", one.name)
}

/// Whether this person's vote can be taken back while the call waits for others.
fn may_take_back(item: &Item, me: PersonId) -> bool {
    item.call.status == CallStatus::Held && item.may_decide && matches!(item.vote(me), Vote::Cast(_))
}

/// The way back for somebody who has voted.
fn take_back(item: &Item) -> AnyView {
    view! {
        <form method="post" action=form::UNDO>
            <input type="hidden" name="call" value=item.call.id.to_string()/>
            <button>"Take it back"</button>
        </form>
    }
    .into_any()
}

/// What somebody is told before they decide: that a vote was cast in their place, or by the one in whose place they would.
pub(crate) fn vote_note(item: &Item, me: PersonId) -> Option<AnyView> {
    if item.call.status != CallStatus::Held || !item.may_decide {
        return None;
    }
    match item.vote(me) {
        Vote::CastForThem(one) => Some(view! {
            <p class="stand-in-note"><strong>{text::line(&one.name)} " confirmed it for you."</strong> " If you decide it yourself, your own word replaces theirs."</p>
        }
        .into_any()),
        Vote::Spoken(one) => {
            let voice = one.r#for.as_ref().unwrap_or(&one.name);
            let by = one.r#for.as_ref().map(|_| view! { ", by " {text::line(&one.name)} });
            Some(view! {
                <p class="stand-in-note">"Confirmed for " <strong>{text::line(voice)}</strong> " already" {by} ". You decide it only in that place, so there is nothing left for you to say."</p>
            }
            .into_any())
        }
        Vote::Open | Vote::Cast(_) => None,
    }
}

fn failed(call: &Call, upstream_status: Option<u16>) -> String {
    match (upstream_status, &call.problem) {
        (Some(status), _) => format!("Failed: the service answered {}.", words::answer(status)),
        (None, Some(problem)) => format!("Failed: {}", problem.detail),
        (None, None) => "Failed: the service could not be reached. Nothing was sent.".to_owned(),
    }
}

fn undo(item: &Item, until: Time, now: Time) -> AnyView {
    let seconds = until.seconds_since(now).max(1);
    let rest = item.pause.is_none().then(|| {
        view! { <span class="undo-rest" aria-hidden="true" data-seconds=seconds.to_string()>{seconds} " s"</span> }
    });
    view! {
        <form method="post" action=form::UNDO class="undo">
            <input type="hidden" name="call" value=item.call.id.to_string()/>
            <button class="button-strong" data-undo="">"Undo"</button>
            {rest}
        </form>
    }
    .into_any()
}

/// A way back for the person the call is for.
fn withdraw(item: &Item) -> AnyView {
    view! {
        <form method="post" action=form::WITHDRAW>
            <input type="hidden" name="call" value=item.call.id.to_string()/>
            <button class="quiet">"Withdraw"</button>
        </form>
    }
    .into_any()
}

/// What somebody found out about a call that was in doubt, and how they know.
fn settled(settled: &Settled, now: Time) -> AnyView {
    let by = settled.by.as_deref().unwrap_or("somebody");
    let found = match settled.finding {
        Finding::Happened => "that it happened",
        Finding::DidNotHappen => "that it did not happen",
    };
    let words =
        settled.reason.as_ref().map(|reason| view! { ", with the words: " <q>{text::body(reason)}</q> });
    view! { <p>"Its answer was lost. " {text::line(by)} " settled " {time::ago(settled.at, now)} " " {found} {words}</p> }
        .into_any()
}

/// Who decided, and in whose place.
pub(crate) fn decider(one: &DecidedBy) -> String {
    match &one.r#for {
        Some(name) => format!("{} for {name}", one.name),
        None => one.name.clone(),
    }
}

/// That somebody overrode those who decide it.
fn overrode(one: &DecidedBy, now: Time) -> AnyView {
    let (at, words) = one.overrode.clone().unwrap_or_else(|| (now, String::new()));
    view! {
        <p>{overriding::mark()} " by " {text::line(&one.name)} " " {time::ago(at, now)} ", who is none of those who decide it. The reason: " <q>{text::body(&words)}</q></p>
    }
    .into_any()
}

/// Who decided and when, the words, the answer, the receipt.
fn details(item: &Item, now: Time) -> Option<AnyView> {
    let call = &item.call;
    let decided = call.decided_at.map(|at| {
        if let Some(one) = item.decided_by.iter().find(|one| one.overrode.is_some()) {
            return overrode(one, now);
        }
        let by = item.decided_by.iter().map(decider).collect::<Vec<_>>().join(", ");
        let by = if by.is_empty() { "somebody".to_owned() } else { by };
        let what = if call.status == CallStatus::Declined { "Declined by " } else { "Confirmed by " };
        view! { <p>{what} {text::line(&by)} " " {time::ago(at, now)}</p> }.into_any()
    });
    let words = call
        .decline_reason
        .as_ref()
        .map(|words| view! { <p>"With the words: " <q>{text::body(words)}</q></p> });
    let problem = call.problem.as_ref().filter(|_| call.status == CallStatus::Refused);
    let problem = problem.map(|problem| view! { <p>{text::line(&problem.detail)}</p> });
    let told = if item.agent.is_some() { "The agent was told: " } else { "The answer: " };
    let reply = call.reply.as_ref().map(|reply| view! { <p>{told} <q>{text::body(reply)}</q></p> });
    // The try that was settled as not happened is told by the settlement.
    let told =
        usize::from(item.settled.as_ref().is_some_and(|settled| settled.finding == Finding::DidNotHappen));
    let tries: Vec<_> = call.attempts[..call.attempts.len().saturating_sub(told)]
        .iter()
        .map(|attempt| {
            let how = attempt.upstream_status.map_or_else(|| "not reached".to_owned(), words::answer);
            view! { <p>"An earlier try " {time::ago(attempt.at, now)} ": " {how} ". Nothing was done then."</p> }
        })
        .collect();
    let settled = item.settled.as_ref().map(|found| settled(found, now));
    let has_any = settled.is_some()
        || decided.is_some()
        || words.is_some()
        || problem.is_some()
        || reply.is_some()
        || !tries.is_empty();
    has_any.then(|| {
        view! { <div class="standing-more">{decided}{settled}{words}{problem}{reply}{tries}</div> }.into_any()
    })
}
