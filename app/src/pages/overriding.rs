//! One held call that others decide, opened by an operator or admin to override them.

use engine::overriding::target_of;
use engine::{Item, PersonActor};
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use model::{CallId, Preview, Refusal, Time};

use crate::form;
use crate::frame::{Shape, Sheet, Tab, is_office, page};
use crate::parts::decide::Deciding;
use crate::parts::held_list::who;
use crate::parts::standing::decider;
use crate::parts::{alert, delegation, effect, overriding, passkey, pause, preview, text, time};
use crate::visit::Visit;

/// A held call that others decide. That it was opened is in the journal.
#[component]
pub(crate) fn Override() -> impl IntoView {
    let id = use_params_map().read_untracked().get("call").and_then(|id| id.parse::<CallId>().ok());
    page(Tab::Calls, move |visit, me| async move {
        let id = id.filter(|_| is_office(me.person())).ok_or(Refusal::NotFound)?;
        let opened = visit.engine.open_to_override(&me, id).await?;
        let now = visit.engine.now();
        let Some((item, shown)) = opened.and_then(|item| item.preview.clone().map(|shown| (item, shown)))
        else {
            return Ok(not_to_override(&visit, id));
        };
        let token = visit.engine.view_token(&me, id, &shown.version);
        let confirming = passkey::confirming(&visit.engine, &me, &item).await?;
        let script = passkey::script_of(&visit, &confirming);
        let title = format!("Override: {}", text::plain(&item.title));
        let body = body(&visit, &me, &item, &shown, Deciding { token, confirming }, now);
        Ok(Sheet::new(title, Shape::Column, view! { {body} {script} }))
    })
}

/// It is decided by now, or this person is one of those who decide it.
fn not_to_override(visit: &Visit, id: CallId) -> Sheet {
    let body = view! {
        <h1>"There is nothing to override"</h1>
        {alert::alert(visit.posted.as_ref())}
        <p class="lead">"This call does not wait any more, or you decide it as everybody does who may, or it is your own agent's and its owner may not approve it."</p>
        <p><a class="button" href=format!("/inbox/{id}")>"To the call"</a> " " <a class="button" href="/calls/held">"Held calls of others"</a></p>
    };
    Sheet::new("There is nothing to override", Shape::Column, body)
}

// No `id="item"`: the script asks for such a page again whenever its call changes, and each look at this one is written down.
fn body(
    visit: &Visit,
    me: &PersonActor,
    item: &Item,
    shown: &Preview,
    deciding: Deciding,
    now: Time,
) -> AnyView {
    let call = &item.call;
    let posted = visit.posted(form::OVERRIDE);
    let person = item.person.as_ref().filter(|_| item.agent.is_some());
    let voted: Vec<String> = item.decided_by.iter().map(|one| text::plain(&decider(one))).collect();
    let voted = (!voted.is_empty())
        .then(|| view! { <p>"Confirmed so far by " <bdi>{voted.join(", ")}</bdi> "."</p> });
    view! {
        <a class="back back-always" href="/calls/held">"← Held calls of others"</a>
        <header class="item-head">
            {effect::mark(call.effect)}
            <h1>"Override: " {text::line(&item.title)}</h1>
            <p class="item-facts">
                <span>{who(item)}</span>
                {person.map(|person| view! { " for " <span>{text::line(person)}</span> })}
                {call.session.as_ref().map(|session| view! { ", session " <code>{text::line(session)}</code> })}
                " · asked " {time::ago(call.created_at, now)}
                {call.expires_at.map(|at| view! { " · lapses " {time::ahead(at, now)} })}
                " · action " <code>{text::line(&call.action)}</code>
            </p>
        </header>
        {alert::alert(posted.as_ref())}
        <div class="override-note">
            {overriding::mark()}
            <p>"Others decide this call, and you are not one of them. An override sends it without them, whatever they have said so far. They are told: for a day it stands on top of their inboxes, and it goes out to whoever is told by mail, browser or webhook. Your name and your words stay with the receipt for ever. That you have opened it is in the journal."</p>
            {voted}
        </div>
        {delegation::on_call(&item.delegations, None, me.id())}
        {item.pause.as_ref().and_then(|stopped| pause::note(stopped, now))}
        {preview::preview(shown, None, false)}
        {preview::agent_words(shown, call.agent_id.is_some(), "")}
        {overriding::form(item, shown, target_of(shown).is_some(), deciding, posted.as_ref())}
    }
    .into_any()
}
