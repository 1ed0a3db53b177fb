//! Where one is signed in.

use engine::browser_session::OwnSession;
use leptos::prelude::*;
use model::Time;

use crate::form;
use crate::parts::browser::browser;
use crate::parts::{alert, text, time};
use crate::visit::Visit;

/// One's own sessions, each with a way to end it.
pub(super) fn sessions(visit: &Visit, sessions: &[OwnSession], now: Time) -> AnyView {
    let posted = visit.posted(form::SESSION);
    let lines: Vec<_> = sessions.iter().map(|session| line(session, now)).collect();
    let others = sessions.iter().any(|session| !session.is_this);
    view! {
        <section class="circle" id="sessions" aria-labelledby="sessions-head">
            <h2 id="sessions-head">"Where you are signed in"</h2>
            {alert::alert(posted.as_ref())}
            <p class="hint">"A session ends after seven days without use, and after thirty days in any case."</p>
            <ul class="members" aria-label="Sessions">{lines}</ul>
            {others.then(|| view! {
                <form method="post" action=form::SESSION><button>"End all others"</button></form>
            })}
        </section>
    }
    .into_any()
}

fn line(session: &OwnSession, now: Time) -> AnyView {
    let name = browser(&session.browser);
    let which = format!(" {}", text::plain(&name));
    let mark = session.is_this.then(|| view! { " " <span class="here">"this one"</span> });
    view! {
        <li class="member">
            <span><strong>{text::line(&name)}</strong>{mark}<br/>
                <span class="hint">"begun " {time::ago(session.begun_at, now)} ", last seen " {time::ago(session.seen_at, now)}</span></span>
            <form method="post" action=form::SESSION>
                <input type="hidden" name="session" value=session.id.to_string()/>
                <button class="quiet">"End"<span class="unseen">{which}</span></button>
            </form>
        </li>
    }
    .into_any()
}
