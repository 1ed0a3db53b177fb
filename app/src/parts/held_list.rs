//! The list of held calls.

use engine::{Choices, Engine, Item, PersonActor, Vote};
use leptos::prelude::*;
use model::{CallId, CallStatus, Refusal, Time};

use super::inbox_query::{InboxQuery, LAPSING};
use super::pager::pager;
use super::{effect, text, time};
use crate::form::{self, Posted};
use crate::words;

/// How many calls of a page are told how they ended at most: as many as it shows.
const MOST_ENDED: usize = 100;

/// What waits for somebody, as far as an address asks for it.
pub(crate) struct Waiting {
    doubts: Vec<Item>,
    held: Vec<Item>,
    next: Option<String>,
    choices: Choices,
    /// Of those that a page shows already: those that do not wait any more.
    ended: Vec<Item>,
    query: InboxQuery,
    now: Time,
}

impl Waiting {
    /// Asks for it.
    ///
    /// # Errors
    /// `Invalid` when the address names a page that this list does not have.
    pub(crate) async fn of(engine: &Engine, me: &PersonActor, query: InboxQuery) -> Result<Self, Refusal> {
        let held = engine.inbox(me, &query.filter(), &query.page()).await?;
        Ok(Self {
            doubts: engine.in_doubt(me).await?,
            held: held.items,
            next: held.next_cursor,
            choices: engine.inbox_choices(me).await?,
            ended: ended(engine, me, &query.value("ended")).await?,
            query,
            now: engine.now(),
        })
    }

    /// Whether nothing waits, however the list is narrowed, and nothing of it is asked about.
    pub(crate) fn is_empty(&self) -> bool {
        let nothing = self.held.is_empty() && self.doubts.is_empty() && self.ended.is_empty();
        nothing && !self.query.is_narrowed()
    }

    /// The list with its head, its choices and what can be done with many. `open` is the call that stands beside it.
    pub(crate) fn show(&self, open: Option<CallId>, posted: Option<&Posted>) -> AnyView {
        view! {
            {self.narrow()}
            <form id="many" method="post" action=form::MANY>
                // The first button of a form is pressed by Enter in a box. This one does nothing.
                <button disabled hidden aria-hidden="true" tabindex="-1"></button>
                <input type="hidden" name="list" value=self.query.text()/>
            </form>
            <div class="waiting">
                {self.pinned(open)}
                {self.lines(open, posted)}
                {(!self.ended.is_empty()).then(|| self.marks())}
            </div>
            {pager("/inbox", self.query.params(), &self.query.kept(), self.next.as_deref())}
            {(!self.held.is_empty()).then(many)}
        }
        .into_any()
    }

    /// Calls whose outcome is not known, until somebody settles them.
    fn pinned(&self, open: Option<CallId>) -> Option<AnyView> {
        if self.doubts.is_empty() {
            return None;
        }
        let lines: Vec<_> = self.doubts.iter().map(|item| self.entry(item, open, None)).collect();
        Some(
            view! {
                <h2 class="pinned" id="pinned">"Not known: somebody has to settle it"</h2>
                <ul class="held held-pinned" aria-labelledby="pinned">{lines}</ul>
            }
            .into_any(),
        )
    }

    /// Held calls: what would happen to whom, effect, agent, how long it has waited, when it lapses.
    fn lines(&self, open: Option<CallId>, posted: Option<&Posted>) -> AnyView {
        if self.held.is_empty() && self.query.is_narrowed() {
            return view! { <p class="held-none">"No held call fits. " <a href="/inbox">"Show all"</a></p> }
                .into_any();
        }
        if self.held.is_empty() && self.doubts.is_empty() {
            return view! { <p class="held-none">"Nothing is held for you."</p> }.into_any();
        }
        let picked = |item: &Item| posted.is_some_and(|posted| form::picks(posted, item.call.id));
        let line = |item: &Item| self.entry(item, open, Some(picked(item)));
        let lines: Vec<_> = self.held.iter().map(line).collect();
        view! { <ul class="held" aria-label="Held calls">{lines}</ul> }.into_any()
    }

    /// One line; `picked` says whether its box is ticked, where it has one.
    fn entry(&self, item: &Item, open: Option<CallId>, picked: Option<bool>) -> AnyView {
        let call = &item.call;
        let id = call.id.to_string();
        let is_open = open == Some(call.id);
        let name = format!("Select: {}", text::plain(&item.title));
        let lapses = call.expires_at.filter(|_| call.status == CallStatus::Held);
        view! {
            <li>
                {picked.map(|picked| view! {
                    <label class="pick-box"><input class="pick" type="checkbox" name="call" form="many" value=id.clone() checked=picked aria-label=name/></label>
                })}
                <a class="held-call" href=self.query.beside(&format!("/inbox/{id}")) aria-current=is_open.then_some("page") data-key=id.clone()>
                    <strong class="held-title">{text::line(&item.title)}</strong>
                    <span class="held-row">
                        {effect::mark(call.effect)}
                        <span>{time::ago(call.created_at, self.now)}</span>
                    </span>
                    <span class="held-row">
                        <span>{who(item)}</span>
                        {lapses.map(|at| view! { <span>"lapses " {time::ahead(at, self.now)}</span> })}
                    </span>
                    {item.stands_in_for.as_ref().map(|one| view! { <span class="held-row"><span>"You decide for " {text::line(&one.delegator_name)}</span></span> })}
                </a>
            </li>
        }
        .into_any()
    }

    /// What became of calls that a page shows as held: the script puts it on their lines.
    fn marks(&self) -> AnyView {
        let mark = |item: &Item| {
            let by = item.decided_by.iter().map(|one| text::plain(&one.name)).collect::<Vec<_>>().join(", ");
            let is_override = item.decided_by.iter().any(|one| one.overrode.is_some());
            let by = (!by.is_empty())
                .then(|| if is_override { format!(": override by {by}") } else { format!(" by {by}") });
            // Of a call that waits for others, what was said so far.
            let said = if item.call.status == CallStatus::Held && !item.decided_by.is_empty() {
                "Confirmed"
            } else {
                words::status(item.call.status)
            };
            view! { <li data-ended=item.call.id.to_string()><span class="held-mark">{said}{by}</span></li> }
        };
        view! { <ul hidden>{self.ended.iter().map(mark).collect_view()}</ul> }.into_any()
    }

    /// By what the list can be narrowed, and how it is ordered.
    fn narrow(&self) -> AnyView {
        let query = &self.query;
        let (agent, action) = (query.value("agent"), query.value("action"));
        let (effect, order) = (query.value("effect"), query.value("order"));
        // What is asked for stays in its list of choices, also when nothing of it waits any more.
        let mut agents = self.choices.agents.clone();
        if !agent.is_empty() && !agents.contains(&agent) {
            agents.push(agent.clone());
        }
        let mut actions = self.choices.actions.clone();
        if !action.is_empty() && !actions.iter().any(|(name, _)| *name == action) {
            actions.push((action.clone(), words::action(&action)));
        }
        let agents: Vec<_> = agents.iter().map(|name| option(name, &text::plain(name), &agent)).collect();
        let actions: Vec<_> =
            actions.iter().map(|(name, title)| option(name, &text::plain(title), &action)).collect();
        let effects: Vec<_> =
            model::Effect::ALL.iter().map(|one| option(one.as_str(), words::effect(*one), &effect)).collect();
        let said = if order == LAPSING { "soonest to lapse" } else { "newest first" };
        let said = if query.is_narrowed() { format!("narrowed, {said}") } else { said.to_owned() };
        view! {
            <details class="narrow" open=query.is_narrowed()>
                <summary><span class="unseen">"Narrow and order the list: "</span>{said}</summary>
                <form method="get" action="/inbox" role="search" aria-label="Held calls">
                    <label>"Agent" <select name="agent">{option("", "Any", &agent)}{agents}</select></label>
                    <label>"Action" <select name="action">{option("", "Any", &action)}{actions}</select></label>
                    <label>"Effect" <select name="effect">{option("", "Any", &effect)}{effects}</select></label>
                    <label>"Order" <select name="order">{option("", "Newest first", &order)}{option(LAPSING, "Soonest to lapse", &order)}</select></label>
                    <p class="narrow-end">
                        <button class="small">"Show"</button>
                        {query.is_narrowed().then(|| view! { <a class="quiet" href="/inbox">"Show all"</a> })}
                    </p>
                </form>
            </details>
        }
        .into_any()
    }
}

/// Of the calls that an address names, those that do not wait for this person any more.
async fn ended(engine: &Engine, me: &PersonActor, named: &str) -> Result<Vec<Item>, Refusal> {
    let ids: Vec<CallId> = named.split(',').filter_map(|id| id.parse().ok()).take(MOST_ENDED).collect();
    let lines = engine.inbox_lines(me, &ids).await?;
    Ok(lines.into_iter().filter(|item| !waits(item, me)).collect())
}

/// Whether it still waits for this person's word: who or whose delegate has voted is asked no more.
fn waits(item: &Item, me: &PersonActor) -> bool {
    item.may_settle || item.may_decide && item.vote(me.id()) == Vote::Open
}

fn option(value: &str, name: &str, chosen: &str) -> AnyView {
    view! { <option value=value.to_owned() selected=value == chosen>{name.to_owned()}</option> }.into_any()
}

/// What can be done with those that are ticked. It appears with the first tick.
fn many() -> AnyView {
    view! {
        <div class="many" role="group" aria-label="The selected calls">
            <label for="many-reason">"Words for the agent" <span class="optional">"optional"</span></label>
            <input id="many-reason" name="reason" form="many" maxlength="2000" autocomplete="off"/>
            <div class="many-buttons">
                <button form="many" name="decision" value="decline">"Decline selected"</button>
                <button form="many" name="decision" value="review">"Confirm selected…"</button>
            </div>
        </div>
    }
    .into_any()
}

/// Who asks: the agent, or the person whose form it was.
pub(crate) fn who(item: &Item) -> AnyView {
    match (&item.agent, &item.person) {
        (Some(agent), _) => text::line(agent),
        (None, Some(person)) => view! { {text::line(person)} ", by form" }.into_any(),
        (None, None) => "Nobody in particular".into_any(),
    }
}

/// Other calls, named beside one: title, where it stands, when.
pub(crate) fn others(items: &[Item], now: Time) -> Vec<AnyView> {
    let other = |item: &Item| {
        view! {
            <li>
                <a href=format!("/inbox/{}", item.call.id)>{text::line(&item.title)}</a>
                <span>{words::status(item.call.status)} ", " {time::ago(item.call.created_at, now)}</span>
            </li>
        }
        .into_any()
    };
    items.iter().map(other).collect()
}
