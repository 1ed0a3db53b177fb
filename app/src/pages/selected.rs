//! Several calls at once: each shown whole before they are confirmed, and what came of each.

use std::sync::Arc;

use engine::{Engine, Item, ManyFault, PersonActor};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use model::{CallId, Preview, Refusal};

use crate::form::{self, Posted, Told};
use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::held_list::who;
use crate::parts::inbox_query::{InboxQuery, beside};
use crate::parts::{alert, effect, preview, text, time};
use crate::words;

/// The calls that an address names, to be read and confirmed together; after a decision, what came of each.
#[component]
pub(crate) fn Selected() -> impl IntoView {
    let query = use_query_map().get_untracked();
    page(Tab::Inbox, move |visit, me| async move {
        if let Some(posted) = visit.posted.as_ref().filter(|posted| !posted.told.is_empty()) {
            return Ok(Sheet::new("What came of it", Shape::Column, told(posted)));
        }
        let named = query.get("calls").unwrap_or_default();
        let ids: Vec<CallId> = named.split(',').filter_map(|id| id.parse().ok()).collect();
        let list = InboxQuery::of(query);
        let may = visit.engine.may_confirm_many(&me.decider()?, &ids).await;
        if let Err(fault) = may {
            return refused(fault, &list);
        }
        let shown = shown(&visit.engine, &me, &ids).await?;
        let body = review(&visit.engine, &me, &shown, &list, visit.posted.as_ref());
        Ok(Sheet::new(format!("Confirm {}", shown.len()), Shape::Whole, body))
    })
}

/// The calls that can still be confirmed, each with its preview.
async fn shown(engine: &Engine, me: &PersonActor, ids: &[CallId]) -> Result<Vec<(Item, Preview)>, Refusal> {
    let mut all = Vec::new();
    for id in ids {
        let Some(mut item) = engine.item(me, *id).await?.filter(|item| item.takes_word_of(me.id())) else {
            continue;
        };
        if let Some(preview) = item.preview.take() {
            all.push((item, preview));
        }
    }
    Ok(all)
}

/// Nothing that could be confirmed together: says why.
fn refused(fault: ManyFault, list: &InboxQuery) -> Result<Sheet, Refusal> {
    let fault = form::many_fault(fault)?;
    let body = view! {
        <h1>"These are not confirmed together"</h1>
        <p class="lead">{fault.message}</p>
        <p><a class="button" href=list.beside("/inbox")>"To the inbox"</a></p>
    };
    Ok(Sheet::new("Not together", Shape::Column, body))
}

fn review(
    engine: &Engine,
    me: &PersonActor,
    shown: &[(Item, Preview)],
    list: &InboxQuery,
    posted: Option<&Arc<Posted>>,
) -> AnyView {
    let Some((first, _)) = shown.first() else {
        return view! {
            <section class="item">
                <h1>"None of these waits any more"</h1>
                <p>"They were decided, lapsed or were taken back meanwhile. Nothing was done."</p>
                <p><a class="button" href=list.beside("/inbox")>"To the inbox"</a></p>
            </section>
        }
        .into_any();
    };
    let count = shown.len();
    let title = first.action_title.clone();
    let one =
        |(at, (item, preview)): (usize, &(Item, Preview))| call(engine, me, item, preview, at + 1, count);
    view! {
        <section class="item review" id="selected" aria-label="The selected calls">
            <a class="back back-always" href=list.beside("/inbox")>"← Inbox"</a>
            <h1>{count} " × " {text::line(&title)}</h1>
            {alert::alert(posted)}
            <p>"Each of them is shown whole. Read them; they are sent one after the other when you confirm, and one that has changed meanwhile is not sent."</p>
            <form id="confirm-many" method="post" action=form::MANY autocomplete="off">
                // The first button of a form is pressed by Enter in a text box. This one does nothing.
                <button disabled hidden aria-hidden="true" tabindex="-1"></button>
                <input type="hidden" name="list" value=list.text()/>
            </form>
            {shown.iter().enumerate().map(one).collect_view()}
            <div class="bar" data-guard="">
                <p class="guard-hint" aria-live="polite">"Read first: it can be pressed in a moment."</p>
                <a class="button" href=list.beside("/inbox")>"Back, confirm none"</a>
                <button form="confirm-many" name="decision" value="confirm" class="confirm">
                    <span>"Confirm: " {count} " × " {text::line(&title)}</span>
                </button>
            </div>
        </section>
    }
    .into_any()
}

/// One of them, whole, with the proof that it was shown.
fn call(engine: &Engine, me: &PersonActor, item: &Item, shown: &Preview, at: usize, count: usize) -> AnyView {
    let now = engine.now();
    let of = format!(" {at} of {count}");
    let token = engine.view_token(me, item.call.id, &shown.version);
    let (heading, labelled) = (format!("selected-{at}"), format!("selected-{at}"));
    view! {
        <article class="review-call" aria-labelledby=labelled>
            <p class="review-at">{at} " of " {count}</p>
            {effect::mark(shown.effect)}
            <h2 id=heading>{text::line(&shown.title)}</h2>
            <p class="item-facts">{who(item)} " · asked " {time::ago(item.call.created_at, now)}</p>
            <input type="hidden" name="call" form="confirm-many" value=item.call.id.to_string()/>
            <input type="hidden" name="preview_version" form="confirm-many" value=shown.version.clone()/>
            <input type="hidden" name="view_token" form="confirm-many" value=token/>
            {preview::one_of(shown, &of)}
            {preview::agent_words(shown, item.call.agent_id.is_some(), &of)}
        </article>
    }
    .into_any()
}

/// What came of each, none left out.
fn told(posted: &Posted) -> AnyView {
    let line = |told: &Told| {
        let class = if told.is_done { "told" } else { "told told-not" };
        let title = told.title.clone();
        view! {
            <li class=class>
                <a href=format!("/inbox/{}", told.call)>{title.as_ref().map_or_else(|| "A call".into_any(), |title| text::line(title))}</a>
                <span>{told.words.clone()}</span>
            </li>
        }
    };
    view! {
        <h1>"What came of it"</h1>
        <p class="lead" role="status">{words::counted(posted.told.iter().map(|told| told.words.as_str()))} "."</p>
        <ul class="tolds">{posted.told.iter().map(line).collect_view()}</ul>
        <p><a class="button" href=beside("/inbox", &posted.typed("list"))>"To the inbox"</a></p>
    }
    .into_any()
}
