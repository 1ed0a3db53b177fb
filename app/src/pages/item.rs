//! One call: what would be sent, the decision, and how it ended.

use std::sync::Arc;

use engine::{Engine, Item, PersonActor};
use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};
use model::{CallId, CallStatus, Preview, Refusal, Time};

use crate::form::{self, Posted};
use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::decide::{Deciding, decide};
use crate::parts::held_list::{Waiting, others, who};
use crate::parts::inbox_query::InboxQuery;
use crate::parts::passkey::{self, Confirming};
use crate::parts::settle::settle;
use crate::parts::standing::standing;
use crate::parts::{alert, effect, pause, preview, text, time};

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
        let preview =
            item.preview.as_ref().filter(|_| item.may_decide && item.call.status == CallStatus::Held);
        let token = preview.map(|preview| visit.engine.view_token(&me, id, &preview.version));
        let confirming = confirming(&visit.engine, &me, &item).await?;
        let script = match &confirming {
            Confirming::WithPasskey(party) => Some(passkey::script(&visit, party)),
            _ => None,
        };
        let body = view! {
            <section class="list" aria-label="Inbox" data-list="">
                <div class="list-head"><h2>"Inbox"</h2><div class="fresh" aria-live="polite"></div></div>
                {waiting.show(Some(id), None)}
            </section>
            {article(&item, &beside, token.map(|token| (token, confirming)), &list, visit.posted.as_ref(), now)}
            {script}
        };
        let mut sheet = Sheet::new(text::plain(&item.title), Shape::Detail, body);
        // Paused, it goes on when somebody resumes.
        let often = if item.pause.is_some() { 10 } else { 1 };
        sheet.refresh = is_moving(item.call.status).then_some(often);
        Ok(sheet)
    })
}

/// How this person confirms the call, if they may.
async fn confirming(engine: &Engine, me: &PersonActor, item: &Item) -> Result<Confirming, Refusal> {
    if !item.step_up || !item.may_decide {
        return Ok(Confirming::Plain);
    }
    Ok(match engine.party() {
        Err(why) => Confirming::Impossible(why),
        Ok(party) if engine.has_passkey(me.id()).await? => Confirming::WithPasskey(party),
        Ok(_) => Confirming::NoPasskey,
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
}

impl Beside {
    async fn of(engine: &Engine, me: &PersonActor, item: &Item) -> Result<Self, Refusal> {
        let looks = lies_ahead(item.call.status) && item.preview.is_some();
        Ok(Self {
            earlier: engine.earlier_in_session(me, item).await?,
            alike: if looks { engine.alike(me, item.call.id).await? } else { Vec::new() },
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
    beside: &Beside,
    token: Option<(String, Confirming)>,
    list: &str,
    posted: Option<&Arc<Posted>>,
    now: Time,
) -> AnyView {
    let decided = posted.filter(|posted| posted.form == form::DECIDE);
    let settling = posted.filter(|posted| posted.form == form::SETTLE);
    let shown = decided.and_then(|posted| posted.fault.as_ref()).and_then(|fault| fault.shown.as_deref());
    let content = item.preview.as_ref().map(|preview| {
        view! {
            {preview::preview(preview, shown, !lies_ahead(item.call.status))}
            {preview::agent_words(preview, item.call.agent_id.is_some(), "")}
            {beside.earlier(now)}
            {token.map(|(token, confirming)| decide(item, preview, &Deciding { token, confirming }, list, decided))}
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
            {standing(item, now)}
            {item.pause.as_ref().and_then(|stopped| pause::note(stopped, now))}
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
            <h1>{text::line(&item.title)}</h1>
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
