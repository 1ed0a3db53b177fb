//! Groups and tenants, and who is in them: for admins.

use std::collections::HashMap;
use std::sync::Arc;

use engine::{Circle, CircleKind};
use leptos::prelude::*;
use model::Person;

use crate::form::{self, Posted};
use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::{alert, people_nav, text};

/// The tenants.
#[component]
pub(crate) fn Tenants() -> impl IntoView {
    circles(CircleKind::Tenant)
}

/// The groups.
#[component]
pub(crate) fn Groups() -> impl IntoView {
    circles(CircleKind::Group)
}

/// What a page says about one kind.
struct Words {
    kind: &'static str,
    title: &'static str,
    lead: &'static str,
    none: &'static str,
    add: &'static str,
    name_hint: &'static str,
    remove: &'static str,
    remove_means: &'static str,
    /// What its end does to one held call, and to several.
    held: [&'static str; 2],
    /// What stands before the actions that name it.
    named: &'static str,
}

const fn words(kind: CircleKind) -> Words {
    match kind {
        CircleKind::Tenant => Words {
            kind: "tenant",
            title: "Tenants",
            lead: "People and actions that belong together. A call names its tenant; only members can make one there.",
            none: "There is no tenant yet. Actions for certain tenants name them in the catalogue: tenants = [\"acme\"].",
            add: "Add a tenant",
            name_hint: "As the catalogue and agents write it: letters, digits, “.”, “-” and “_”.",
            remove: "Remove this tenant",
            remove_means: "Its members can call nothing in it any more. What is held in it is refused when somebody confirms it. Receipts stay.",
            held: ["held call is in it", "held calls are in it"],
            named: "Actions that name it",
        },
        CircleKind::Group => Words {
            kind: "group",
            title: "Groups",
            lead: "People whom rules and approvers name together, as group:NAME. A group is there as long as somebody is in it.",
            none: "There is no group yet. Approvers name one as approvers = [\"group:mailers\"].",
            add: "Add a group",
            name_hint: "As the catalogue writes it: letters, digits, “.”, “-” and “_”.",
            remove: "Remove this group",
            remove_means: "Nobody will be in it any more. Held calls that its members alone could decide go to the operators, and stay with them.",
            held: ["held call goes to the operators", "held calls go to the operators"],
            named: "Its members decide",
        },
    }
}

fn circles(kind: CircleKind) -> AnyView {
    page(Tab::People, move |visit, me| async move {
        let circles = visit.engine.circles(&me, kind).await?;
        let people = visit.engine.people(&me).await?;
        let posted = visit.posted(form::CIRCLE);
        let words = words(kind);
        let names: HashMap<&str, &Person> =
            people.iter().map(|person| (person.email.as_str(), person)).collect();
        let fault_of = |name: &str| {
            posted.as_ref().filter(|posted| posted.typed("at") == name && posted.typed("act") == "add")
        };
        let list: Vec<_> =
            circles.iter().map(|circle| section(&words, circle, &names, fault_of(&circle.name))).collect();
        let none = list.is_empty().then(|| view! { <p class="nothing">{words.none}</p> });
        let addresses: Vec<_> = people
            .iter()
            .filter(|person| person.disabled_at.is_none())
            .map(|person| view! { <option value=person.email.clone()>{text::plain(&person.name)}</option> })
            .collect();
        let body = view! {
            <h1>{words.title}</h1>
            {people_nav::people_nav(me.person(), form::circles_page(kind))}
            <p class="lead">{words.lead}</p>
            {alert::alert(posted.as_ref())}
            {none}
            {list}
            {fresh(&words, kind, fault_of(""))}
            <datalist id="people">{addresses}</datalist>
        };
        Ok(Sheet::new(words.title, Shape::Column, body))
    })
}

/// One circle: its members, a way in, and the way to remove it.
fn section(
    words: &Words,
    circle: &Circle,
    names: &HashMap<&str, &Person>,
    posted: Option<&Arc<Posted>>,
) -> AnyView {
    let Words { kind, .. } = words;
    let head = format!("{kind}-{}", circle.name);
    let members: Vec<_> = circle.members.iter().map(|email| member(kind, circle, email, names)).collect();
    let nobody = members.is_empty().then(|| view! { <p class="hint">"Nobody is in it yet."</p> });
    view! {
        <section class="circle" id=circle.name.clone() aria-labelledby=head.clone()>
            <h2 id=head.clone()>{text::line(&circle.name)}</h2>
            {nobody}
            <ul class="members">{members}</ul>
            <form class="inline" method="post" action=form::CIRCLE autocomplete="off" novalidate>
                {steering(kind, "add", &circle.name)}
                <input type="hidden" name="name" value=circle.name.clone()/>
                {email(&format!("email-{}", circle.name), &circle.name, true, posted)}
                <button>"Add"<span class="unseen">{format!(" to {}", circle.name)}</span></button>
            </form>
            <details class="away">
                <summary>{words.remove}<span class="unseen">{format!(": {}", circle.name)}</span></summary>
                <form method="post" action=form::CIRCLE>
                    {steering(kind, "remove", &circle.name)}
                    <input type="hidden" name="name" value=circle.name.clone()/>
                    <p>{words.remove_means}</p>
                    {touched(words, circle)}
                    <button class="button-final">{format!("Remove {}", circle.name)}</button>
                </form>
            </details>
        </section>
    }
    .into_any()
}

/// What removing it touches now, a line each; what there is none of is not said.
fn touched(words: &Words, circle: &Circle) -> Option<AnyView> {
    let [one, many] = words.held;
    let counted = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        more => Some(format!("{more} {many}")),
    };
    let held = usize::try_from(circle.held).unwrap_or(usize::MAX);
    let named =
        (!circle.actions.is_empty()).then(|| format!("{}: {}", words.named, circle.actions.join(", ")));
    let lines = [
        counted(circle.members.len(), "person is in it", "people are in it"),
        counted(held, one, many),
        named,
    ];
    let lines: Vec<_> =
        lines.into_iter().flatten().map(|line| view! { <li>{text::line(&line)}</li> }).collect();
    (!lines.is_empty()).then(|| view! { <ul class="plain">{lines}</ul> }.into_any())
}

fn member(kind: &'static str, circle: &Circle, email: &str, names: &HashMap<&str, &Person>) -> AnyView {
    let person = names.get(email);
    let name = person.map_or(email, |person| person.name.as_str());
    let out = format!(" {} from {}", text::plain(name), circle.name);
    let disabled = person.is_some_and(|person| person.disabled_at.is_some());
    view! {
        <li class="member">
            <span><strong>{text::line(name)}</strong> " " <span class="hint">{text::line(email)}</span>{disabled.then(|| view! { " " <span class="bad">"disabled"</span> })}</span>
            <form method="post" action=form::CIRCLE>
                {steering(kind, "remove", &circle.name)}
                <input type="hidden" name="name" value=circle.name.clone()/>
                <input type="hidden" name="email" value=email.to_owned()/>
                <button class="quiet">"Remove"<span class="unseen">{out}</span></button>
            </form>
        </li>
    }
    .into_any()
}

/// The form for one that is not there yet.
fn fresh(words: &Words, kind: CircleKind, posted: Option<&Arc<Posted>>) -> AnyView {
    let fault = alert::of_field(posted, "/name");
    let typed = posted.map(|posted| posted.typed("name")).unwrap_or_default();
    view! {
        <section class="circle circle-new" aria-labelledby="new">
            <h2 id="new">{words.add}</h2>
            <form class="stack" method="post" action=form::CIRCLE autocomplete="off" novalidate>
                {steering(words.kind, "add", "")}
                <div class="field">
                    <label for="name">"Name"</label>
                    <p class="hint" id="name-hint">{words.name_hint}</p>
                    {alert::beside("name-wrong".to_owned(), fault.clone())}
                    <input id="name" name="name" type="text" value=typed autocapitalize="none" spellcheck="false"
                        autofocus=fault.is_some()
                        aria-invalid=fault.is_some().then_some("true") aria-describedby=alert::described("name", fault.is_some())/>
                </div>
                {email("email", "", kind == CircleKind::Group, posted)}
                <button class="button-strong">{words.add}</button>
            </form>
        </section>
    }
    .into_any()
}

/// Somebody's address. `to`: the name of what they are put into, for whoever does not see where the field stands.
fn email(id: &str, to: &str, is_required: bool, posted: Option<&Arc<Posted>>) -> AnyView {
    let fault = alert::of_field(posted, "/person");
    let typed = posted.map(|posted| posted.typed("email")).unwrap_or_default();
    let is_first = fault.is_some() && alert::of_field(posted, "/name").is_none();
    let wrong = format!("{id}-wrong");
    let unseen =
        (!to.is_empty()).then(|| view! { <span class="unseen">{format!(" of a new member of {to}")}</span> });
    view! {
        <div class="field">
            <label for=id.to_owned()>{if to.is_empty() { "Email of the first member" } else { "Email" }}{unseen}</label>
            {(!is_required).then(|| view! { <span class="optional">"optional"</span> })}
            {alert::beside(wrong.clone(), fault.clone())}
            <input id=id.to_owned() name="email" type="email" list="people" value=typed autocapitalize="none" spellcheck="false"
                autofocus=is_first
                aria-invalid=fault.is_some().then_some("true") aria-describedby=fault.is_some().then_some(wrong)/>
        </div>
    }
    .into_any()
}

/// What the form changes, and on which part of the page it stands.
fn steering(kind: &'static str, change: &'static str, at: &str) -> AnyView {
    view! {
        <input type="hidden" name="kind" value=kind/>
        <input type="hidden" name="act" value=change/>
        <input type="hidden" name="at" value=at.to_owned()/>
    }
    .into_any()
}
