//! Roles to tick.

use leptos::prelude::*;
use model::Role;

/// The roles beside `member`, with what each may do.
pub(crate) fn roles(ticked: &[Role]) -> AnyView {
    let choices: Vec<_> =
        Role::ALL.iter().filter(|role| **role != Role::Member).map(|role| choice(*role, ticked)).collect();
    view! {
        <fieldset>
            <legend>"Roles"</legend>
            <p class="hint">"Everybody is a member: their own agents, their own calls."</p>
            <div class="choices">{choices}</div>
        </fieldset>
    }
    .into_any()
}

fn choice(role: Role, ticked: &[Role]) -> AnyView {
    let id = format!("role-{role}");
    let hint = format!("{id}-hint");
    view! {
        <div class="choice">
            <input type="checkbox" id=id.clone() name="role" value=role.as_str() checked=ticked.contains(&role) aria-describedby=hint.clone()/>
            <span><label for=id>{role.as_str()}</label> <span class="hint" id=hint>{may(role)}</span></span>
        </div>
    }
    .into_any()
}

const fn may(role: Role) -> &'static str {
    match role {
        Role::Member => "own agents, own calls",
        Role::Approver => "also decides where an action asks for one",
        Role::Operator => "also sees every receipt, settles what is in doubt, pauses and overrides",
        Role::Admin => "also manages people and agents, pauses and overrides",
    }
}
