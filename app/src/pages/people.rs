//! Everybody with an account, for operators and admins; and who is invited, for admins.

mod invited;

pub(super) use invited::field;

use leptos::prelude::*;
use model::{Person, Role, Time};

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::people_nav::people_nav;
use crate::parts::table::{Cell, cell, table};
use crate::parts::{delegation, text, time};
use crate::words;

/// Everybody with an account.
#[component]
pub(crate) fn People() -> impl IntoView {
    page(Tab::People, |visit, me| async move {
        let people = visit.engine.people(&me).await?;
        let delegations = visit.engine.delegations(&me).await?;
        let now = visit.engine.now();
        let rows = people.iter().map(|person| line(person, now)).collect();
        let invited = if me.person().roles.contains(&Role::Admin) {
            let invitations = visit.engine.invitations(&me).await?;
            Some(invited::invited(&visit, &invitations, now))
        } else {
            None
        };
        let body = view! {
            <h1>"People"</h1>
            {people_nav(me.person(), "/people")}
            <p class="lead">"Everybody with an account here."</p>
            {table("People", &["Name", "Email", "Roles", "Since", "Last sign-in", "Receipts"], rows)}
            {delegation::all(&delegations, now)}
            {invited}
        };
        Ok(Sheet::new("People", Shape::Wide, body))
    })
}

fn line(person: &Person, now: Time) -> Vec<Cell> {
    let disabled =
        person.disabled_at.map(|at| view! { " " <span class="bad">"disabled " {time::ago(at, now)}</span> });
    let signed_in = person.signed_in_at.map_or_else(|| "never".into_any(), |at| time::ago(at, now));
    vec![
        cell(
            "Name",
            view! { <a href=format!("/people/{}", person.id)>{text::line(&person.name)}</a> {disabled} },
        ),
        cell("Email", text::line(&person.email)),
        cell("Roles", words::roles(&person.roles)),
        cell("Since", time::ago(person.created_at, now)),
        cell("Last sign-in", signed_in),
        cell(
            "Receipts",
            view! {
                <a href=format!("/people/{}/receipts", person.id)>"Receipts" <span class="unseen">" of " {text::line(&person.name)}</span></a>
            },
        ),
    ]
}
