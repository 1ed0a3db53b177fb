//! Everybody with an account, for operators and admins.

use leptos::prelude::*;
use model::{Person, Time};

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::people_nav::people_nav;
use crate::parts::table::{cell, table};
use crate::parts::{text, time};

/// Everybody with an account.
#[component]
pub(crate) fn People() -> impl IntoView {
    page(Tab::People, |visit, me| async move {
        let people = visit.engine.people(&me).await?;
        let now = visit.engine.now();
        let rows = people.iter().map(|person| line(person, now)).collect();
        let body = view! {
            <h1>"People"</h1>
            {people_nav(me.person(), "/people")}
            <p class="lead">"Everybody with an account here."</p>
            {table("People", &["Name", "Email", "Roles", "Since", "Receipts"], rows)}
        };
        Ok(Sheet::new("People", Shape::Wide, body))
    })
}

fn line(person: &Person, now: Time) -> Vec<AnyView> {
    let roles: Vec<&str> = person.roles.iter().map(|role| role.as_str()).collect();
    let disabled =
        person.disabled_at.map(|at| view! { " " <span class="bad">"disabled " {time::ago(at, now)}</span> });
    vec![
        cell("Name", view! { {text::line(&person.name)} {disabled} }),
        cell("Email", text::line(&person.email)),
        cell("Roles", roles.join(", ")),
        cell("Since", time::ago(person.created_at, now)),
        cell(
            "Receipts",
            view! {
                <a href=format!("/people/{}/receipts", person.id)>"Receipts" <span class="unseen">" of " {text::line(&person.name)}</span></a>
            },
        ),
    ]
}
