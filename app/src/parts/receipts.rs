//! The table of receipts.

use leptos::prelude::*;
use model::{ApprovalKind, Outcome, PersonId, ReceiptFacts, ReceiptId, Time};

use super::table::{Cell, cell, table};
use super::{icon, overriding, text, time};
use crate::words;

/// The table “Receipts”. `with_person` adds the column for those who see more than their own.
pub(crate) fn receipts(rows: &[ReceiptFacts], me: PersonId, with_person: bool, now: Time) -> AnyView {
    let mut columns = vec!["When", "Method", "Host and path", "Answer", "Agent", "Approved by"];
    if with_person {
        columns.push("Person");
    }
    table("Receipts", &columns, rows.iter().map(|row| line(row, me, with_person, now)).collect())
}

fn line(row: &ReceiptFacts, me: PersonId, with_person: bool, now: Time) -> Vec<Cell> {
    let agent = row.agent.as_ref().map_or_else(|| "none".into_any(), |agent| text::line(agent));
    let mut cells = vec![
        cell("When", view! { <a href=address(row.id)>{time::ago(row.at, now)}</a> }),
        cell("Method", text::line(&row.method)),
        cell("Host and path", view! { <code>{text::line(row.host_and_path())}</code> }),
        cell("Answer", answer(row)),
        cell("Agent", agent),
        cell("Approved by", approved_by(row, me)),
    ];
    if with_person {
        let person = row.person_id.zip(row.person.as_ref()).map_or_else(
            || "nobody in particular".into_any(),
            |(id, name)| view! { <a href=format!("/people/{id}/receipts")>{text::line(name)}</a> }.into_any(),
        );
        cells.push(cell("Person", person));
    }
    cells
}

/// Where a receipt has its page.
pub(crate) fn address(id: ReceiptId) -> String {
    format!("/done/{id}")
}

/// What was answered, in a number and a word; or that nobody knows.
pub(crate) fn answer(row: &ReceiptFacts) -> AnyView {
    let status = row.upstream_status.map(words::answer);
    match (row.outcome, status) {
        (Outcome::Done, Some(said)) => {
            let is_bad = row.upstream_status.is_some_and(|status| status >= 400);
            view! { <span class=is_bad.then_some("bad")>{said}</span> }.into_any()
        }
        (Outcome::Done, None) => "done".into_any(),
        (Outcome::InDoubt, _) => view! { <strong class="bad">"Not known"</strong> }.into_any(),
        (outcome, said) => {
            let said = said.map(|said| format!(" ({said})"));
            view! { {words::outcome(outcome)} {said} }.into_any()
        }
    }
}

/// Who approved it, if anybody had to.
pub(crate) fn approved_by(row: &ReceiptFacts, me: PersonId) -> AnyView {
    if row.approved_by.is_empty() {
        return words::approval(row.approval.kind).into_any();
    }
    let is_override = row.approval.kind == ApprovalKind::Override;
    let you = if is_override { "you" } else { "You" };
    let mut r#for = row.approval.r#for.iter().zip(&row.approved_for);
    let names: Vec<String> = (row.approval.by.iter().zip(&row.approved_by))
        .map(|(id, name)| {
            let who = if *id == me { you.to_owned() } else { text::plain(name) };
            match r#for.next() {
                Some((Some(voice), _)) if *voice == me => format!("{who} for you"),
                Some((Some(_), Some(name))) => format!("{who} for {}", text::plain(name)),
                _ => who,
            }
        })
        .collect();
    let names = view! { <bdi>{names.join(", ")}</bdi> };
    if is_override {
        return view! { {overriding::mark()} " by " {names} }.into_any();
    }
    if row.approval.kind == ApprovalKind::Grant {
        return view! { <span class="by-grant">{icon::clock()}{names} ", by a standing grant"</span> }
            .into_any();
    }
    names.into_any()
}
