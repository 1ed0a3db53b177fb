//! One call: what would be sent, the decision, and how it ended.

use std::sync::Arc;

use engine::{Engine, GrantOffer, Item, PersonActor};
use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};
use model::{CallId, CallStatus, PersonId, Preview, Refusal, Time};

use crate::form::{self, Posted};
use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::decide::{Deciding, decide};
use crate::parts::held_list::{Waiting, others, who};
use crate::parts::inbox_query::InboxQuery;
use crate::parts::settle::settle;
use crate::parts::standing::{standing, vote_note};
use crate::parts::{alert, delegation, effect, grant, passkey, pause, preview, text, time};

/// One call.
#[component]
pub(crate) fn ItemPage() -> impl IntoView {
    let id = use_params_map().read_untracked().get("call").and_then(|id| id.parse::<CallId>().ok());
    let query = InboxQuery::of(use_query_map().get_untracked());
    page(Tab::Inbox, move |visit, me| async move {
        let id = id.ok_or(Refusal::NotFound)?;
        let item = visit.engine.item(&me, id).await?.ok_or(Refusal::NotFound)?;
        let list = query.text();
        let waiting = Waiting::of(&visit.engine, &me, query).await?;
        let beside = Beside::of(&visit.engine, &me, &item).await?;
        let now = visit.engine.now();
        let preview = item
            .preview
            .as_ref()
            .filter(|_| item.takes_word_of(me.id()) && item.call.status == CallStatus::Held);
        let token = preview.map(|preview| visit.engine.view_token(&me, id, &preview.version));
        let confirming = passkey::confirming(&visit.engine, &me, &item).await?;
        let script = passkey::script_of(&visit, &confirming);
        let granted = visit.engine.grant_about(&me, id).await?;
        let offer = match &token {
            Some(_) if item.pause.is_none() => visit.engine.grant_offer(&me, id).await?,
            _ => None,
        };
        let granted = granted.map(|line| grant::note(&line, id, me.id(), now));
        let beside = Beside { granted, offer, ..beside };
        let deciding = token.map(|token| Deciding { token, confirming });
        let body = view! {
            <section class="list" aria-label="Inbox" data-list="">
                <div class="list-head"><h2>"Inbox"</h2><div class="fresh" aria-live="polite"></div></div>
                {waiting.show(Some(id), None)}
            </section>
            {article(&item, beside, deciding, &list, visit.posted.as_ref(), now)}
            {script}
        };
        let mut sheet = Sheet::new(text::plain(&item.title), Shape::Detail, body);
        // Paused, it goes on when somebody resumes.
        let often = if item.pause.is_some() { 10 } else { 1 };
        sheet.refresh = is_moving(item.call.status).then_some(often);
        Ok(sheet)
    })
}

/// Whether the call's state changes by itself within moments.
const fn is_moving(status: CallStatus) -> bool {
    matches!(status, CallStatus::Queued | CallStatus::Approved | CallStatus::Sending | CallStatus::Running)
}

/// Whether nothing has been sent yet and something still may be.
const fn lies_ahead(status: CallStatus) -> bool {
    matches!(status, CallStatus::Queued | CallStatus::Held | CallStatus::Approved)
}

/// What is told of other calls beside one.
struct Beside {
    /// What the agent asked for before in this session.
    earlier: Vec<Item>,
    /// What the call looks like.
    alike: Vec<Item>,
    /// Who is shown it.
    me: PersonId,
    /// The standing grant that was made with it, or that let it through.
    granted: Option<AnyView>,
    /// What can be let through with it.
    offer: Option<GrantOffer>,
}

impl Beside {
    async fn of(engine: &Engine, me: &PersonActor, item: &Item) -> Result<Self, Refusal> {
        let looks = lies_ahead(item.call.status) && item.preview.is_some();
        Ok(Self {
            earlier: engine.earlier_in_session(me, item).await?,
            me: me.id(),
            alike: if looks { engine.alike(me, item.call.id).await? } else { Vec::new() },
            granted: None,
            offer: None,
        })
    }

    fn alike(&self, now: Time) -> Option<AnyView> {
        if self.alike.is_empty() {
            return None;
        }
        Some(
            view! {
                <section class="beside" aria-labelledby="alike">
                    <h2 id="alike">"It looks like"</h2>
                    <ul>{others(&self.alike, now)}</ul>
                </section>
            }
            .into_any(),
        )
    }

    fn earlier(&self, now: Time) -> Option<AnyView> {
        if self.earlier.is_empty() {
            return None;
        }
        Some(
            view! {
                <section class="beside" aria-labelledby="earlier">
                    <h2 id="earlier">"Earlier in this session"</h2>
                    <ul>{others(&self.earlier, now)}</ul>
                </section>
            }
            .into_any(),
        )
    }
}

/// The call itself. With a view token it can be decided.
fn article(
    item: &Item,
    mut beside: Beside,
    deciding: Option<Deciding>,
    list: &str,
    posted: Option<&Arc<Posted>>,
    now: Time,
) -> AnyView {
    let decided = posted.filter(|posted| posted.form == form::DECIDE);
    let settling = posted.filter(|posted| posted.form == form::SETTLE);
    let granting = posted.filter(|posted| posted.form == form::GRANT);
    let granted = beside.granted.take();
    let shown = decided
        .or(granting)
        .and_then(|posted| posted.fault.as_ref())
        .and_then(|fault| fault.shown.as_deref());
    let content = item.preview.as_ref().map(|preview| {
        let decision = deciding.map(|deciding| {
            let shown = (item.call.id, preview, deciding.token.clone());
            let more = beside.offer.as_ref().map(|offer| grant::offer(offer, shown, list, granting));
            decide(item, preview, &deciding, list, decided, more)
        });
        view! {
            {preview::preview(preview, shown, !lies_ahead(item.call.status))}
            {preview::agent_words(preview, item.call.agent_id.is_some(), "")}
            {beside.earlier(now)}
            {decision}
        }
    });
    let erased = (item.preview.is_none()).then(|| view! {
        <p class="erased">{if item.call.status.is_ended() && item.call.status != CallStatus::InDoubt { "The preview is erased: what was in the call is not kept after its end." } else { "What is in this call is shown to those who may decide it." }}</p>
    });
    let receipt = item
        .call
        .receipt_id
        .map(|id| view! { <p><a class="button" href=format!("/done/{id}")>"The receipt stands under Done"</a></p> });
    view! {
        <article class="item" id="item" data-call=item.call.id.to_string() data-address=format!("/inbox/{}{list}", item.call.id)>
            <a class="back" href=format!("/inbox{list}")>"← Inbox"</a>
            {head(item, shown, now)}
            {alert::alert(posted)}
            {standing(item, beside.me, now)}
            {item.stands_in_for.as_ref().filter(|_| item.takes_word_of(beside.me)).map(delegation::in_place_of)}
            {vote_note(item, beside.me)}
            {item.for_too_few.then(|| for_too_few(item))}
            {delegation::on_call(&item.delegations, item.stands_in_for.as_ref(), beside.me)}
            {item.may_override.then(|| to_override(item))}
            {item.pause.as_ref().and_then(|stopped| pause::note(stopped, now))}
            {granted}
            {item.may_settle.then(|| settle(item, settling))}
            {beside.alike(now)}
            {content}
            {erased}
            {item.preview.is_none().then(|| beside.earlier(now))}
            {receipt}
        </article>
    }
    .into_any()
}

/// Why an operator is asked whom the action does not name.
fn for_too_few(item: &Item) -> AnyView {
    let why = match item.quorum {
        0 | 1 => "nobody else may decide this.".to_owned(),
        quorum => format!("fewer than {quorum} people may decide this without the operators."),
    };
    view! { <p class="stand-in-note"><strong>"You stand in:"</strong> " " {why}</p> }.into_any()
}

/// The way for an operator who is none of those who decide it.
fn to_override(item: &Item) -> AnyView {
    view! { <p class="to-override"><a href=format!("/inbox/{}/override", item.call.id)>"Open it to override"</a> " Others decide it. What you open is written to the journal."</p> }
        .into_any()
}

/// What it does and to what. `shown` is the preview that was on the screen before.
fn head(item: &Item, shown: Option<&Preview>, now: Time) -> AnyView {
    let call = &item.call;
    let other_effect = shown.is_some_and(|shown| shown.effect != call.effect);
    let other_title = shown.is_some_and(|shown| shown.title != item.title);
    let person = item.person.as_ref().filter(|_| item.agent.is_some());
    view! {
        <header class="item-head">
            {effect::mark(call.effect)}
            {preview::changed(other_effect)}
            <h1 tabindex="-1" data-focus="">{text::line(&item.title)}</h1>
            {preview::changed(other_title)}
            <p class="item-facts">
                <span>{who(item)}</span>
                {person.map(|person| view! { " for " <span>{text::line(person)}</span> })}
                {item.tenant.as_ref().map(|tenant| view! { ", tenant " <strong>{text::line(tenant)}</strong> })}
                {call.session.as_ref().map(|session| view! { ", session " <code>{text::line(session)}</code> })}
                " · asked " {time::ago(call.created_at, now)}
                {call.expires_at.filter(|_| call.status == CallStatus::Held).map(|at| view! { " · lapses " {time::ahead(at, now)} })}
                " · action " <code>{text::line(&call.action)}</code>
            </p>
        </header>
    }
    .into_any()
}
