//! One person's account, for operators to read and for admins to change.

mod ways;

use engine::office::Disabling;
use engine::{CircleKind, PersonActor};
use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};
use model::{Person, PersonId, Refusal, Role, Time};

use crate::form;
use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::roles::roles;
use crate::parts::{alert, text, time};
use crate::visit::Visit;
use crate::words;

/// One person's account.
#[component]
pub(crate) fn PersonPage() -> impl IntoView {
    let id = use_params_map().read_untracked().get("person").and_then(|id| id.parse::<PersonId>().ok());
    let done = use_query_map().read_untracked().get("done").unwrap_or_default();
    page(Tab::People, move |visit, me| async move {
        let person = visit.engine.person(&me, id.ok_or(Refusal::NotFound)?).await?;
        let (groups, tenants) = visit.engine.circles_of(&me, person.id).await?;
        let ways = visit.engine.ways_of(&me, person.id).await?;
        let now = visit.engine.now();
        let may_change = me.person().roles.contains(&Role::Admin);
        let doing = match person.disabled_at {
            None if may_change => Some(visit.engine.disabling(&me, person.id).await?),
            _ => None,
        };
        let beside = match doing {
            Some(_) => Beside::of(&visit, &me, person.id).await?,
            None => Beside::default(),
        };
        let title = text::plain(&person.name);
        let body = view! {
            <a class="back back-always" href="/people">"← People"</a>
            <h1>{text::line(&person.name)}</h1>
            <p class="lead">{text::line(&person.email)} ", " {words::roles(&person.roles)}</p>
            {was_done(&done).filter(|_| visit.posted.is_none()).map(|said| view! { <p class="done" role="status">{said}</p> })}
            {alert::alert(changed(&visit).as_ref())}
            {facts(&person, now, [("Groups", circles(&groups, CircleKind::Group, may_change)), ("Tenants", circles(&tenants, CircleKind::Tenant, may_change))])}
            {ways::ways(&ways, now)}
            {may_change.then(|| change_roles(&person))}
            {doing.map(|doing| disable(&person, doing, &beside))}
            {(may_change && person.disabled_at.is_some()).then(|| enable(&person))}
        };
        Ok(Sheet::new(title, Shape::Column, body))
    })
}

/// Whatever form of this page was posted.
fn changed(visit: &Visit) -> Option<std::sync::Arc<form::Posted>> {
    [form::ROLES, form::DISABLE, form::ENABLE].iter().find_map(|path| visit.posted(path))
}

/// What was done just before, in the words of this page alone.
fn was_done(what: &str) -> Option<&'static str> {
    Some(match what {
        "roles" => "The roles were changed. They count from now on.",
        "disabled" => "The account was disabled.",
        "enabled" => "The account can be used again.",
        _ => return None,
    })
}

/// The names of what somebody is in, for admins each with the way to where it is changed; `None`: nothing.
fn circles(names: &[String], kind: CircleKind, may_change: bool) -> Option<AnyView> {
    let page = form::circles_page(kind);
    let one = |(place, name): (usize, &String)| {
        let comma = (place > 0).then_some(", ");
        let name_shown = text::line(name);
        if may_change {
            view! { {comma}<a href=format!("{page}#{name}")>{name_shown}</a> }.into_any()
        } else {
            view! { {comma}{name_shown} }.into_any()
        }
    };
    (!names.is_empty()).then(|| names.iter().enumerate().map(one).collect_view().into_any())
}

fn facts(person: &Person, now: Time, circles: [(&'static str, Option<AnyView>); 2]) -> AnyView {
    let signed_in = person.signed_in_at.map_or_else(|| "never".into_any(), |at| time::ago(at, now));
    view! {
        <dl class="facts sheet">
            <dt>"Since"</dt><dd>{time::ago(person.created_at, now)}</dd>
            <dt>"Last sign-in"</dt><dd>{signed_in}</dd>
            {person.disabled_at.map(|at| view! { <dt>"Disabled"</dt><dd class="bad">{time::ago(at, now)}</dd> })}
            {circles.map(|(title, names)| names.map(|names| view! { <dt>{title}</dt><dd>{names}</dd> }))}
            <dt>"Receipts"</dt><dd><a href=format!("/people/{}/receipts", person.id)>"What was sent for this person"</a></dd>
        </dl>
    }
    .into_any()
}

fn change_roles(person: &Person) -> AnyView {
    view! {
        <section class="circle" aria-labelledby="roles-head">
            <h2 id="roles-head">"What this person may do"</h2>
            <form class="stack" method="post" action=form::ROLES autocomplete="off">
                <input type="hidden" name="person" value=person.id.to_string()/>
                {roles(&person.roles)}
                <button class="button-strong">"Change the roles"</button>
            </form>
        </section>
    }
    .into_any()
}

/// What ends with an account beside what is counted of it.
#[derive(Default)]
struct Beside {
    delegations: u64,
    grants: u64,
}

impl Beside {
    async fn of(visit: &Visit, me: &PersonActor, person: PersonId) -> Result<Self, Refusal> {
        let delegations = visit.engine.delegations(me).await?;
        let of_them = delegations.iter().filter(|one| one.delegator == person || one.delegate == person);
        Ok(Self {
            delegations: of_them.count() as u64,
            grants: visit.engine.count_grants_with(me, person).await?,
        })
    }
}

/// The step before an account is disabled: what happens.
fn disable(person: &Person, doing: Disabling, beside: &Beside) -> AnyView {
    let name = text::plain(&person.name);
    view! {
        <section class="circle" aria-labelledby="disable-head">
            <h2 id="disable-head">"Disable this account"</h2>
            <details class="away">
                <summary>"What happens then"</summary>
                <form method="post" action=form::DISABLE>
                    <input type="hidden" name="person" value=person.id.to_string()/>
                    <p>{text::line(&person.name)} " can no longer sign in or decide anything. At once:"</p>
                    <ul class="plain">{happens(doing, beside).into_iter().map(|line| view! { <li>{line}</li> }).collect_view()}</ul>
                    <p>"Receipts stay. The account can be enabled again: tokens and keys that were not revoked are then taken again; sessions and calls do not come back."</p>
                    <button class="button-final">{format!("Disable {name}")}</button>
                </form>
            </details>
        </section>
    }
    .into_any()
}

/// What disabling does, a line each; what there is none of is not said.
fn happens(doing: Disabling, beside: &Beside) -> Vec<String> {
    let lines = [
        (doing.sessions, "session ends", "sessions end"),
        (doing.tokens, "token is refused", "tokens are refused"),
        (doing.agents, "agent's key is refused", "agents' keys are refused"),
        (doing.withdrawn, "call that waits is withdrawn", "calls that wait are withdrawn"),
        (
            doing.handed_over,
            "held call that only this person could decide goes to the operators",
            "held calls that only this person could decide go to the operators",
        ),
        (
            beside.delegations,
            "delegation, given or received, ends and does not come back",
            "delegations, given or received, end and do not come back",
        ),
        (
            beside.grants,
            "standing grant, made by them or for their agents, ends and does not come back",
            "standing grants, made by them or for their agents, end and do not come back",
        ),
    ];
    let said: Vec<String> = lines
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
        .collect();
    if said.is_empty() { vec!["nothing of theirs is under way".to_owned()] } else { said }
}

fn enable(person: &Person) -> AnyView {
    view! {
        <section class="circle" aria-labelledby="enable-head">
            <h2 id="enable-head">"Enable this account"</h2>
            <p class="hint">"They can sign in again as before. Tokens and agents' keys that were not revoked are taken again."</p>
            <form method="post" action=form::ENABLE>
                <input type="hidden" name="person" value=person.id.to_string()/>
                <button class="button-strong">{format!("Enable {}", text::plain(&person.name))}</button>
            </form>
        </section>
    }
    .into_any()
}
