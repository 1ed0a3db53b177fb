//! The inbox: held calls that this person may decide, and calls in doubt that they may settle.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use model::Person;

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::held_list::Waiting;
use crate::parts::inbox_query::InboxQuery;
use crate::parts::{alert, delegation, grant, overriding};

/// The inbox: held calls that this person may decide.
#[component]
pub(crate) fn Inbox() -> impl IntoView {
    let query = InboxQuery::of(use_query_map().get_untracked());
    page(Tab::Inbox, move |visit, me| async move {
        let waiting = Waiting::of(&visit.engine, &me, query).await?;
        let alert = alert::alert(visit.posted.as_ref());
        let delegations = visit.engine.own_delegations(&me).await?;
        let away = delegation::running(&delegations, me.id(), visit.engine.now());
        let grants = grant::link(visit.engine.count_grants(&me).await?);
        let overridden = overriding::lately(&visit.engine.overridden_lately(&me).await?, visit.engine.now());
        if waiting.is_empty() {
            let body = view! {
                <div class="list-head" data-list=""><h1>"Inbox"</h1><div class="fresh" aria-live="polite"></div></div>
                {alert}
                {overridden}
                {away}
                {grants}
                {empty(me.person(), &visit.engine.public_url())}
            };
            return Ok(Sheet::new("Inbox", Shape::Column, body));
        }
        let body = view! {
            <section class="list" data-list="">
                <div class="list-head"><h1>"Inbox"</h1><div class="fresh" aria-live="polite"></div></div>
                {alert}
                {overridden}
                {away}
                {grants}
                {waiting.show(None, visit.posted.as_deref())}
            </section>
            <div class="item item-none"><p>"Pick a call to read what exactly would be sent."</p></div>
        };
        Ok(Sheet::new("Inbox", Shape::List, body))
    })
}
/// Nothing is held: how an agent is connected, with the commands to copy.
pub(crate) fn empty(me: &Person, public_url: &str) -> AnyView {
    let connect = format!("countersign agent add --name my-agent --owner {} --requires-approval", me.email);
    let call = format!(
        "curl {public_url}/v1/actions/NAME -H 'Authorization: Bearer csk_…' -H 'Content-Type: application/json' -d '{{}}'"
    );
    view! {
        <p class="lead">"Nothing waits for you."</p>
        <p>"When an agent wants to write something that needs your word, it stops here and nothing is sent until you confirm it."</p>
        <section class="teach" aria-labelledby="connect">
            <h2 id="connect">"Connect an agent"</h2>
            <ol>
                <li><p>"Give it a key. The key is shown once."</p><pre class="command" data-copy=""><code>{connect}</code></pre></li>
                <li><p>"Let it call an action with that key. What it may call stands under " <a href="/run">"Run"</a> "."</p><pre class="command" data-copy=""><code>{call}</code></pre></li>
                <li><p>"A write that needs you appears here, and what was sent under " <a href="/done">"Done"</a> "."</p></li>
            </ol>
        </section>
    }
    .into_any()
}
