//! The journal: ids and status only; for operators and admins.

use std::collections::HashMap;

use engine::account_event::AccountEvent;
use engine::store::EventDecider;
use engine::{Engine, EventFilter, PageAsked, PersonActor};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use leptos_router::params::ParamsMap;
use model::{AgentId, Event, EventId, EventType, PersonId, Refusal, Time};

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::filters::{Filter, filters};
use crate::parts::pager::turns;
use crate::parts::receipts::address;
use crate::parts::table::{Cell, cell, named_rows, table};
use crate::parts::{text, time};
use crate::visit::Reply;
use crate::words;

/// The names of the filters in the address.
const FILTERS: [&str; 3] = ["type", "agent", "action"];

/// The agents' names, by their ids.
type Names = HashMap<AgentId, String>;

/// Who did what a page of the journal tells of.
struct Doers {
    agents: Names,
    people: HashMap<PersonId, String>,
    deciders: Vec<EventDecider>,
}

impl Doers {
    async fn of(
        engine: &Engine,
        me: &PersonActor,
        agents: &Names,
        events: &[Event],
    ) -> Result<Self, Refusal> {
        let people = engine.people(me).await?.into_iter().map(|person| (person.id, person.name)).collect();
        let ids: Vec<EventId> = events.iter().map(|event| event.id).collect();
        Ok(Self { agents: agents.clone(), people, deciders: engine.event_deciders(me, &ids).await? })
    }

    /// Who did this: the person whom the line names, those who decided, or whoever asked.
    fn by(&self, event: &Event) -> AnyView {
        if let Some(id) = event.by {
            let name = self.people.get(&id).cloned().unwrap_or_else(|| id.to_string());
            return view! { <a href=format!("/people/{id}")>{text::line(&name)}</a> }.into_any();
        }
        let decided: Vec<String> =
            self.deciders.iter().filter(|one| one.event == event.id).map(decider).collect();
        if !decided.is_empty() {
            return text::line(&decided.join(", "));
        }
        match event.r#type {
            EventType::Expired | EventType::InDoubt | EventType::GrantEnded => "the desk".into_any(),
            EventType::Undone | EventType::Settled | EventType::Decided => "a person".into_any(),
            _ => self.asked(event),
        }
    }

    fn asked(&self, event: &Event) -> AnyView {
        let agent = event.agent_id.map(|id| self.agents.get(&id).cloned().unwrap_or_else(|| id.to_string()));
        let person = || event.person_id.and_then(|id| self.people.get(&id).cloned());
        agent.or_else(person).map_or_else(|| "nobody in particular".into_any(), |name| text::line(&name))
    }
}

fn decider(one: &EventDecider) -> String {
    match &one.r#for {
        Some(name) => format!("{} for {name}", one.name),
        None => one.name.clone(),
    }
}

/// The journal.
#[component]
pub(crate) fn Journal() -> impl IntoView {
    let query = use_query_map().get_untracked();
    let reply = use_context::<Reply>();
    page(Tab::Journal, move |visit, me| async move {
        let agents: Names =
            visit.engine.agents(&me).await?.into_iter().map(|agent| (agent.id, agent.name)).collect();
        let (filter, faults) = read(&query);
        let kept: Vec<_> = FILTERS.map(|name| (name, query.get(name).unwrap_or_default())).into();
        let is_filtered = kept.iter().any(|(_, value)| !value.is_empty());
        let list = if faults.is_empty() {
            let page =
                PageAsked { limit: None, cursor: query.get("cursor").filter(|cursor| !cursor.is_empty()) };
            let leaf = visit.engine.happenings(&me, &filter, &page).await?;
            let now = visit.engine.now();
            let rows = if leaf.items.is_empty() {
                none(is_filtered, leaf.looked_to.is_some(), me.person().is_operator())
            } else {
                let doers = Doers::of(&visit.engine, &me, &agents, &leaf.items).await?;
                let columns =
                    ["When", "What", "By", "Action", "Agent", "Came in by", "Answer", "Call", "Receipt"];
                let rows =
                    leaf.items.iter().map(|event| (event.id.to_string(), line(event, &doers, now))).collect();
                named_rows("Journal", &columns, rows)
            };
            // Only the newest page grows.
            let rows = if leaf.newer.is_none() && page.cursor.is_none() {
                view! { <div data-grows><p class="fresh" aria-live="polite"></p>{rows}</div> }.into_any()
            } else {
                rows
            };
            let looked = leaf.looked_to.map(|at| {
                let on = if leaf.older.is_some() { "Older" } else { "Newer" };
                view! { <p class="looked">"Looked back to " {time::full(at)} ". " {on} " goes on from there."</p> }
            });
            view! { {rows} {looked} {turns("/journal", &kept, leaf.newer.as_deref(), leaf.older.as_deref())} }
                .into_any()
        } else {
            if let Some(reply) = &reply {
                reply.set(|parts| parts.status = 422);
            }
            view! { <p class="nothing" role="alert">"Nothing is shown: not every filter could be read. Mend the ones that are marked."</p> }.into_any()
        };
        let is_first = !is_filtered && query.get("cursor").is_none_or(|cursor| cursor.is_empty());
        let accounts = if is_first { visit.engine.account_events(&me).await? } else { Vec::new() };
        let body = view! {
            <h1>"Journal"</h1>
            <p class="lead">"What happened to every call and by whom, and to people's names and passkeys. Ids and status, never what was in it."</p>
            {filters("Journal", "/journal", fields(&agents), |name| query.get(name).unwrap_or_default(), &faults, is_filtered)}
            {list}
            {of_accounts(&accounts, visit.engine.now())}
        };
        Ok(Sheet::new("Journal", Shape::Wide, body))
    })
}

/// What the address narrows the journal to, and what of it cannot be read.
fn read(query: &ParamsMap) -> (EventFilter, Vec<(&'static str, &'static str)>) {
    let text =
        |name: &str| query.get(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let (kind, agent) = (text("type"), text("agent"));
    let filter = EventFilter {
        kind: kind.as_ref().and_then(|word| word.parse().ok()),
        agent: agent.as_ref().and_then(|id| id.parse().ok()),
        action: text("action"),
    };
    let mut faults = Vec::new();
    if kind.is_some() && filter.kind.is_none() {
        faults.push(("type", "Nothing of this kind happens. Choose one."));
    }
    if agent.is_some() && filter.agent.is_none() {
        faults.push(("agent", "There is no agent with this id. Choose one."));
    }
    (filter, faults)
}

fn fields(agents: &Names) -> Vec<Filter> {
    let kinds = EventType::ALL.iter().map(|kind| (kind.as_str().to_owned(), words::event(*kind).to_owned()));
    let mut agents: Vec<_> = agents.iter().map(|(id, name)| (id.to_string(), text::plain(name))).collect();
    agents.sort_by(|one, other| one.1.cmp(&other.1));
    vec![
        Filter::choice("type", "What", "Anything", kinds.collect()),
        Filter::choice("agent", "Agent", "Any", agents),
        Filter::text("action", "Action"),
    ]
}

fn none(is_filtered: bool, was_left: bool, is_operator: bool) -> AnyView {
    match (is_filtered, was_left) {
        _ if !is_operator => view! { <p class="nothing">"Operators see the calls here."</p> }.into_any(),
        (_, true) => view! { <p class="nothing">"Nothing fits so far."</p> }.into_any(),
        (true, _) => {
            view! { <p class="nothing">"Nothing fits these filters. " <a href="/journal">"Show all"</a></p> }
                .into_any()
        }
        (false, _) => view! { <p class="nothing">"Nothing has happened yet."</p> }.into_any(),
    }
}

fn line(event: &Event, doers: &Doers, now: Time) -> Vec<Cell> {
    let id = event.call_id.to_string();
    let call = has_page(event).then(|| format!("/inbox/{id}"));
    let agent = event.agent_id.map(|id| doers.agents.get(&id).cloned().unwrap_or_else(|| id.to_string()));
    let receipt = event.receipt_id.map_or_else(
        || "none".into_any(),
        |id| view! { <a href=address(id)>{short(&id.to_string())}</a> }.into_any(),
    );
    vec![
        cell("When", time::ago(event.at, now)),
        cell("What", what(event)),
        cell("By", doers.by(event)),
        cell("Action", text::line(&event.action)),
        cell("Agent", agent.map_or_else(|| "none".into_any(), |name| text::line(&name))),
        cell("Came in by", event.surface.as_str()),
        cell("Answer", event.upstream_status.map_or_else(|| "none".to_owned(), words::answer)),
        cell(
            "Call",
            match call {
                Some(address) => view! { <a href=address>{short(&id)}</a> }.into_any(),
                None => short(&id),
            },
        ),
        cell("Receipt", receipt),
    ]
}

/// The end of an id, where it differs from others of its time; the whole of it on hover.
fn short(id: &str) -> AnyView {
    let end = id.len().saturating_sub(8);
    let shown = format!("…{}", id.get(end..).unwrap_or(id));
    view! { <code class="id" title=id.to_owned()>{shown}</code> }.into_any()
}

/// What happened to people's names and passkeys lately.
fn of_accounts(events: &[AccountEvent], now: Time) -> Option<AnyView> {
    let line = |event: &AccountEvent| {
        let about = event.about.as_ref().map(|about| view! { " " {text::line(about)} });
        vec![
            cell("When", time::ago(event.at, now)),
            cell("Whose", text::line(&event.name)),
            cell("What", view! { <span>{words::account_event(event.r#type)} {about}</span> }),
        ]
    };
    (!events.is_empty()).then(|| {
        let rows = events.iter().map(line).collect();
        view! { <h2>"Names and passkeys"</h2> {table("Names and passkeys", &["When", "Whose", "What"], rows)} }.into_any()
    })
}

/// What happened and with what.
fn what(event: &Event) -> AnyView {
    let with = event.proof.map(|_| ", with a passkey");
    view! { <span>{words::event(event.r#type)} {with}</span> }.into_any()
}

/// Whether the call has a page: one that was held or sent. A read, a repeat and a call that was refused at once have none.
const fn has_page(event: &Event) -> bool {
    let is_passing = matches!(
        event.r#type,
        EventType::Completed | EventType::Refused | EventType::Failed | EventType::Replayed
    );
    !is_passing || event.receipt_id.is_some()
}
