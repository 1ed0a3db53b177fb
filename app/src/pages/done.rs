//! The Done tab: receipts, newest first.

use chrono::{NaiveDate, NaiveTime};
use engine::{Engine, PersonActor, ReceiptFilter};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use leptos_router::params::ParamsMap;
use model::{Listing, Outcome, PersonId, Refusal, Time};

use super::page_asked;
use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::pager::pager;
use crate::parts::receipts::receipts;
use crate::parts::text;
use crate::words;

/// The names of the filters in the address.
const FILTERS: [&str; 7] = ["person", "agent", "action", "host", "outcome", "from", "to"];

/// The Done tab.
#[component]
pub(crate) fn DonePage() -> impl IntoView {
    let query = use_query_map().get_untracked();
    page(Tab::Done, move |visit, me| async move {
        let sees_everyone = me.person().is_operator();
        let rows = match filter(&query) {
            Some(filter) => visit.engine.done(&me, &filter, &page_asked(&query)).await?,
            None => Listing { items: Vec::new(), next_cursor: None },
        };
        let kept: Vec<_> = FILTERS.map(|name| (name, query.get(name).unwrap_or_default())).into();
        let is_filtered = kept.iter().any(|(_, value)| !value.is_empty());
        let lead = if sees_everyone {
            "What was sent, for everybody. Never what was in it."
        } else {
            "What was sent on your behalf. Never what was in it."
        };
        let table = if rows.items.is_empty() {
            none(is_filtered)
        } else {
            receipts(&rows.items, me.id(), sees_everyone, visit.engine.now())
        };
        let body = view! {
            <h1>"Done"</h1>
            <p class="lead">{lead}</p>
            {filters(&visit.engine, &me, &query, is_filtered).await?}
            {table}
            {pager("/done", &query, &kept, rows.next_cursor.as_deref())}
        };
        Ok(Sheet::new("Done", Shape::Wide, body))
    })
}

fn none(is_filtered: bool) -> AnyView {
    if is_filtered {
        return view! { <p class="nothing">"No receipt fits these filters. " <a href="/done">"Show all"</a></p> }.into_any();
    }
    view! { <p class="nothing">"Nothing has been sent yet. Once a call is confirmed and sent, its receipt stands here: when, where to, what was answered, and who approved it."</p> }
        .into_any()
}

/// The filter that the address asks for; `None`: for somebody who cannot be anybody. Otherwise what cannot be read
/// narrows nothing.
fn filter(query: &ParamsMap) -> Option<ReceiptFilter> {
    let text =
        |name: &str| query.get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    Some(ReceiptFilter {
        person: text("person").map(|id| id.parse()).transpose().ok()?,
        agent: text("agent"),
        action: text("action"),
        host: text("host"),
        outcome: text("outcome").and_then(|word| word.parse().ok()),
        from: text("from").and_then(|day| midnight(&day, 0)),
        to: text("to").and_then(|day| midnight(&day, 1)),
    })
}

/// The beginning of a day, or of the day after it, in UTC.
fn midnight(day: &str, days_on: i64) -> Option<Time> {
    let day: NaiveDate = day.parse().ok()?;
    Some(Time::from(day.and_time(NaiveTime::MIN).and_utc()).plus_seconds(days_on * 86_400))
}

async fn filters(
    engine: &Engine,
    me: &PersonActor,
    query: &ParamsMap,
    is_filtered: bool,
) -> Result<AnyView, Refusal> {
    let value = |name: &str| query.get(name).unwrap_or_default();
    let person =
        if me.person().is_operator() { Some(person(engine, me, &value("person")).await?) } else { None };
    let chosen = value("outcome");
    let outcomes: Vec<_> = Outcome::ALL
        .iter()
        .map(|one| view! { <option value=one.as_str() selected=chosen == one.as_str()>{words::outcome(*one)}</option> })
        .collect();
    Ok(view! {
        <form class="filters" method="get" action="/done" role="search" aria-label="Receipts">
            {person}
            <label>"Agent" <input name="agent" size="12" value=value("agent")/></label>
            <label>"Action" <input name="action" size="12" value=value("action")/></label>
            <label>"Host" <input name="host" size="16" value=value("host")/></label>
            <label>"Outcome" <select name="outcome"><option value="">"Any"</option>{outcomes}</select></label>
            <label>"From" <input name="from" type="date" value=value("from")/></label>
            <label>"To" <input name="to" type="date" value=value("to")/></label>
            <div class="filters-end">
                <button>"Show"</button>
                {is_filtered.then(|| view! { <a class="quiet" href="/done">"Show all"</a> })}
            </div>
        </form>
    }
    .into_any())
}

/// The operator's choice of a person.
async fn person(engine: &Engine, me: &PersonActor, chosen: &str) -> Result<AnyView, Refusal> {
    let chosen: Option<PersonId> = chosen.parse().ok();
    let people = engine.people(me).await?;
    let options: Vec<_> = people
        .iter()
        .map(|person| view! { <option value=person.id.to_string() selected=chosen == Some(person.id)>{text::plain(&person.name)}</option> })
        .collect();
    Ok(view! { <label>"Person" <select name="person"><option value="">"Everyone"</option>{options}</select></label> }.into_any())
}

#[cfg(test)]
mod tests {
    use super::midnight;

    #[test]
    fn whole_days() {
        assert_eq!(
            midnight("2026-11-30", 0).map(|time| time.to_string()).as_deref(),
            Some("2026-11-30T00:00:00.000000Z")
        );
        assert_eq!(
            midnight("2026-11-30", 1).map(|time| time.to_string()).as_deref(),
            Some("2026-12-01T00:00:00.000000Z")
        );
        assert_eq!(midnight("30.11.2026", 0), None);
    }
}
