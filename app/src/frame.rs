//! What stands around every page of somebody who is signed in, and who may see which page.

use std::future::Future;

use engine::PersonActor;
use leptos::prelude::*;
use model::{Person, Refusal, Role};

use crate::form;
use crate::parts::icon::Mark;
use crate::parts::pause;
use crate::parts::text;
use crate::visit::{Reply, Visit};
use crate::words;

/// A page's content.
pub(crate) struct Sheet {
    /// The title as plain text.
    pub(crate) title: String,
    /// The layout of the main part.
    pub(crate) shape: Shape,
    /// Seconds after which a browser without scripts asks again.
    pub(crate) refresh: Option<u32>,
    /// The main part.
    pub(crate) body: AnyView,
}

/// The layout of the main part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A text or a form: lines of a readable length.
    Column,
    /// A table.
    Wide,
    /// One thing that fills the page.
    Whole,
    /// List and detail side by side; on a phone the list.
    List,
    /// List and detail side by side; on a phone the detail.
    Detail,
}

impl Sheet {
    /// A page of this title.
    pub(crate) fn new(title: impl Into<String>, shape: Shape, body: impl IntoAny) -> Self {
        Self { title: title.into(), shape, refresh: None, body: body.into_any() }
    }
}

/// One entry of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Inbox,
    Done,
    Run,
    Calls,
    People,
    Agents,
    Actions,
    Credentials,
    Journal,
}

impl Tab {
    const EVERYBODY: [Self; 4] = [Self::Inbox, Self::Done, Self::Run, Self::Calls];
    const OFFICE: [Self; 5] = [Self::People, Self::Agents, Self::Actions, Self::Credentials, Self::Journal];

    const fn name_and_path(self) -> (&'static str, &'static str) {
        match self {
            Self::Inbox => ("Inbox", "/inbox"),
            Self::Done => ("Done", "/done"),
            Self::Run => ("Run", "/run"),
            Self::Calls => ("Calls", "/calls"),
            Self::People => ("People", "/people"),
            Self::Agents => ("Agents", "/agents"),
            Self::Actions => ("Actions", "/actions"),
            Self::Credentials => ("Credentials", "/credentials"),
            Self::Journal => ("Journal", "/journal"),
        }
    }

    const fn is_office(self) -> bool {
        !matches!(self, Self::Inbox | Self::Done | Self::Run | Self::Calls)
    }
}

/// Whether somebody sees the pages of operators and admins.
pub(crate) fn is_office(person: &Person) -> bool {
    person.roles.iter().any(|role| matches!(role, Role::Operator | Role::Admin))
}

/// A page for somebody who is signed in. Signed out: to the sign-in page. Not for this person: the same page as one
/// that does not exist.
pub(crate) fn page<F, Fut>(tab: impl Into<Option<Tab>>, build: F) -> AnyView
where
    F: FnOnce(Visit, PersonActor) -> Fut + Send + 'static,
    Fut: Future<Output = Result<Sheet, Refusal>> + Send + 'static,
{
    let tab = tab.into();
    let (Some(visit), Some(reply)) = (Visit::here(), use_context::<Reply>()) else {
        return ().into_any();
    };
    let Some(me) = visit.visitor.clone() else {
        reply.set(|parts| parts.redirect = Some(sign_in_first(&visit.address)));
        return ().into_any();
    };
    if let Some(posted) = &visit.posted {
        reply.set(|parts| parts.status = posted.fault.as_ref().map_or(200, |fault| fault.status));
    }
    Suspend::new(async move {
        // Looked up before the page is made: what happens meanwhile is told twice rather than never.
        let after = visit.engine.last_event().await.ok();
        let may_see = !tab.is_some_and(Tab::is_office) || is_office(me.person());
        let outcome = if may_see { build(visit.clone(), me.clone()).await } else { Err(Refusal::NotFound) };
        let sheet = outcome.unwrap_or_else(|refusal| refused(&refusal, &reply));
        let waiting = visit.engine.inbox_count(&me).await.unwrap_or(0);
        let paused = visit.engine.pause_of_everything().await.unwrap_or(None);
        let banner = paused.map(|pause| pause::banner(&pause, me.person(), visit.engine.now()));
        let after = after.map(|event| event.to_string());
        reply.set(|parts| {
            parts.title = if waiting > 0 {
                format!("({}) {}", words::count(waiting), sheet.title)
            } else {
                sheet.title.clone()
            };
            parts.refresh = sheet.refresh;
        });
        // Everything is there now, so it is rendered at once: as a stream it would cost half as much again.
        let body = frame(tab, me.person(), Around { waiting, after, banner }, sheet).to_html();
        reply.set(|parts| parts.body = Some(body));
    })
    .into_any()
}

/// The page that says no.
pub(crate) fn refused(refusal: &Refusal, reply: &Reply) -> Sheet {
    let problem = refusal.problem();
    reply.set(|parts| parts.status = problem.status);
    match refusal {
        Refusal::NotFound => {
            said("There is no such page", "It does not exist, or it is not for you.".to_owned())
        }
        Refusal::Unavailable => {
            no("The desk cannot show this now. Nothing was changed. Try again in a moment.".to_owned())
        }
        _ => no(problem.detail),
    }
}

/// A page that says only why something was not done.
pub(crate) fn no(detail: String) -> Sheet {
    said("That did not work", detail)
}

fn said(title: &'static str, detail: String) -> Sheet {
    let body = view! {
        <h1>{title}</h1>
        <p class="lead">{detail}</p>
        <p><a class="button" href="/inbox">"To the inbox"</a></p>
    };
    Sheet::new(title, Shape::Column, body)
}

/// Where somebody signs in who wanted to go elsewhere.
fn sign_in_first(address: &str) -> String {
    if address == "/" {
        return "/sign-in".to_owned();
    }
    format!("/sign-in?next={}", crate::parts::link::encode(address))
}

/// What a page says beside its content.
#[derive(Default)]
pub(crate) struct Around {
    /// How many calls wait for this person.
    pub(crate) waiting: u64,
    /// The last event that the page was made after.
    pub(crate) after: Option<String>,
    /// That everything is paused.
    pub(crate) banner: Option<AnyView>,
}

/// What stands around a page.
pub(crate) fn frame(tab: Option<Tab>, me: &Person, around: Around, sheet: Sheet) -> AnyView {
    let class = match sheet.shape {
        Shape::Column => "main main-column",
        Shape::Wide => "main main-wide",
        Shape::Whole => "main",
        Shape::List => "main main-split main-list",
        Shape::Detail => "main main-split main-detail",
    };
    let office = is_office(me).then_some(Tab::OFFICE);
    let Around { waiting, after, banner } = around;
    view! {
        <a class="skip" href="#main">"Skip to the page"</a>
        {banner}
        <div class="desk" data-after=after.unwrap_or_default()>
            <header class="rail">
                <a class="mark" href="/inbox"><Mark/><span>"Countersign"</span></a>
                <nav class="nav" aria-label="Main">
                    <ul>{Tab::EVERYBODY.into_iter().map(|one| entry(one, tab, waiting)).collect_view()}</ul>
                    {office.map(|office| view! {
                        <ul class="office">{office.into_iter().map(|one| entry(one, tab, 0)).collect_view()}</ul>
                    })}
                    <p class="live" aria-live="polite"></p>
                    <form class="account" method="post" action=form::SIGN_OUT>
                        <a class="account-name" href="/account" title=me.email.clone()><span class="unseen">"Account of "</span>{text::line(&me.name)}</a>
                        <button class="quiet">"Sign out"</button>
                    </form>
                </nav>
            </header>
            <main id="main" class=class tabindex="-1">{sheet.body}</main>
        </div>
    }
    .into_any()
}

fn entry(tab: Tab, current: Option<Tab>, waiting: u64) -> AnyView {
    let (name, path) = tab.name_and_path();
    let count = (tab == Tab::Inbox && waiting > 0)
        .then(|| view! { " " <span class="count">{words::count(waiting)}</span> });
    view! { <li><a href=path aria-current=(Some(tab) == current).then_some("page")>{name}{count}</a></li> }
        .into_any()
}
