//! Who is invited, and a way to invite.

use std::sync::Arc;

use engine::store::InvitationLine;
use leptos::prelude::*;
use model::{Role, Time};

use crate::form::{self, Posted, ShownOnce};
use crate::parts::roles::roles;
use crate::parts::{alert, text, time};
use crate::visit::Visit;
use crate::words;

/// The invitations that are good, and the form for another.
pub(super) fn invited(visit: &Visit, invitations: &[InvitationLine], now: Time) -> AnyView {
    let withdrawn = visit.posted(form::WITHDRAW_INVITATION);
    let posted = visit.posted(form::INVITE);
    let lines: Vec<_> = invitations.iter().map(|invitation| line(invitation, now)).collect();
    let list = (!lines.is_empty()).then(|| {
        view! {
            <h3 id="invited-open">"Invited"</h3>
            <ul class="members" aria-labelledby="invited-open">{lines}</ul>
            <h3>"Another"</h3>
        }
    });
    view! {
        <section class="circle circle-new" id="invited" aria-labelledby="invite-head">
            <h2 id="invite-head">"Invite somebody"</h2>
            {alert::alert(withdrawn.as_ref())}
            {once(posted.as_ref())}
            {list}
            {invite(posted.as_ref())}
        </section>
    }
    .into_any()
}

/// The link that was just made.
fn once(posted: Option<&Arc<Posted>>) -> Option<AnyView> {
    let posted = posted?;
    let ShownOnce(link, replaces) = posted.once.clone()?;
    Some(
        view! {
            <div class="once" role="status" tabindex="-1" data-focus="">
                <p>"The link for " {text::line(posted.typed("name").trim())} ". It is shown this once: copy it now and give it to nobody else. It can be used once, within seven days." {replaces.then_some(" The link before counts no more.")}</p>
                <pre class="command" data-copy=""><code>{link}</code></pre>
            </div>
        }
        .into_any(),
    )
}

fn line(invitation: &InvitationLine, now: Time) -> AnyView {
    let of = format!(" the invitation of {}", text::plain(&invitation.name));
    view! {
        <li class="member">
            <span><strong>{text::line(&invitation.name)}</strong> " " <span class="hint">{text::line(&invitation.email)}</span><br/>
                <span class="hint">{words::roles(&invitation.roles)} ", invited " {time::ago(invitation.created_at, now)} ", lapses " {time::ahead(invitation.expires_at, now)}</span></span>
            <form method="post" action=form::WITHDRAW_INVITATION>
                <input type="hidden" name="invitation" value=invitation.id.to_string()/>
                <button class="quiet">"Withdraw"<span class="unseen">{of}</span></button>
            </form>
        </li>
    }
    .into_any()
}

fn invite(posted: Option<&Arc<Posted>>) -> AnyView {
    let posted = posted.filter(|posted| posted.fault.is_some());
    let typed = |name: &str| posted.map(|posted| posted.typed(name)).unwrap_or_default();
    let ticked: Vec<Role> = posted
        .iter()
        .flat_map(|posted| posted.fields.iter().filter(|(name, _)| name == "role"))
        .filter_map(|(_, role)| role.parse().ok())
        .collect();
    view! {
        <form class="stack" method="post" action=form::INVITE autocomplete="off" novalidate>
            {alert::alert(posted)}
            {field("name", "Name", "text", typed("name"), posted)}
            {field("email", "Email", "email", typed("email"), posted)}
            {roles(&ticked)}
            <button class="button-strong">"Make a link"</button>
        </form>
    }
    .into_any()
}

/// One line to fill in.
pub(crate) fn field(
    name: &'static str,
    label: &'static str,
    kind: &'static str,
    typed: String,
    posted: Option<&Arc<Posted>>,
) -> AnyView {
    let fault = alert::of_field(posted, &format!("/{name}"));
    view! {
        <div class="field">
            <label for=name>{label}</label>
            {alert::beside(format!("{name}-wrong"), fault.clone())}
            <input id=name name=name type=kind class="short" value=typed autocapitalize=(kind == "email").then_some("none") spellcheck="false" required
                autofocus=fault.is_some()
                aria-invalid=fault.is_some().then_some("true") aria-describedby=alert::describing(name, false, fault.is_some())/>
        </div>
    }
    .into_any()
}
