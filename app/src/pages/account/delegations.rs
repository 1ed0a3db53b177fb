//! Who decides one's own calls while one is away, and for whom one does.

use engine::{Delegation, PersonActor};
use leptos::prelude::*;
use model::Time;

use crate::form;
use crate::parts::{alert, delegation, time};
use crate::visit::Visit;

/// One's own delegations, given and received, and the form for another.
pub(super) fn delegations(visit: &Visit, me: &PersonActor, all: &[Delegation], now: Time) -> AnyView {
    let ended = visit.posted(form::END_DELEGATION);
    let posted = visit.posted(form::DELEGATE);
    let lines: Vec<_> = all.iter().map(|one| delegation::own(one, me.id(), now)).collect();
    let list =
        (!lines.is_empty()).then(|| view! { <ul class="members" aria-label="Delegations">{lines}</ul> });
    let typed = |name: &str| posted.as_ref().map(|posted| posted.typed(name)).unwrap_or_default();
    let field = |name: &'static str, label: &'static str, hint: &'static str, kind: &'static str| {
        let fault = alert::of_field(posted.as_ref(), &format!("/{name}"));
        let id = format!("delegate-{name}");
        view! {
            <div class="field">
                <label for=id.clone()>{label}</label>
                <p class="hint" id=format!("{id}-hint")>{hint}</p>
                {alert::beside(format!("{id}-wrong"), fault.clone())}
                <input id=id.clone() name=name type=kind class="short" value=typed(name) autocomplete="off" required=name != "from"
                    aria-invalid=fault.is_some().then_some("true") aria-describedby=alert::described(&id, fault.is_some())/>
            </div>
        }
    };
    view! {
        <section class="circle" id="delegations" aria-labelledby="delegations-head">
            <h2 id="delegations-head">"While you are away"</h2>
            {alert::alert(ended.as_ref())}
            <p class="hint">"Somebody else can decide the held calls that you may decide. Their word counts as yours, you still may, and everybody whom it concerns is shown it. It passes on no role, and nothing that was passed on to you."</p>
            {list}
            <form class="stack" method="post" action=form::DELEGATE aria-labelledby="delegate-new" novalidate>
                <h3 id="delegate-new">"Let somebody decide yours"</h3>
                {alert::alert(posted.as_ref())}
                {field("to", "Email of the person", "Somebody with an account here.", "email")}
                {field("from", "First moment", "Empty: from now on.", "datetime-local")}
                {field("until", "Last moment", "At most 90 days after the first.", "datetime-local")}
                <p class="hint">"These times are " {time::zone()} "."</p>
                <button class="button-strong">"Let them decide"</button>
            </form>
        </section>
    }
    .into_any()
}
