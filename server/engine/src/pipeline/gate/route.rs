//! The table of section 5: which way a call takes at the gate.

use model::{Person, Refusal};

use super::super::stage::{Head, Ready};
use super::attention::Attention;
use crate::actor::Actor;
use crate::catalogue::{Action, Approver};
use crate::engine::Engine;

/// Which way a call takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Route {
    /// It is run.
    Pass,
    /// It waits for one of these subjects of the view `person_subjects`. `alone`: for no other reason than that it needs
    /// an approval, which a standing grant may have given.
    Hold { approvers: Vec<String>, alone: bool },
    /// Its caller is asked back, with a token.
    Prompt,
    /// It carries a token from a caller whose tokens are not taken.
    TokenRefused(Refusal),
}

/// `attention`: somebody has to look, whoever calls.
pub(super) fn of(engine: &Engine, head: &Head, ready: &Ready, attention: Attention) -> Route {
    let wanted = head.action.hold_when.as_ref().is_some_and(|rule| {
        // A rule that cannot be evaluated holds the call: somebody looks at it.
        rule.evaluate(&head.caller, engine.now(), Some(&ready.input)).unwrap_or(true)
    });
    let attention = if wanted { Attention::Each } else { attention };
    choose(&head.actor, &head.action, attention, ready.control.confirm_token.is_some())
}

/// The first row that fits the caller counts; the surface never changes it.
fn choose(actor: &Actor, action: &Action, attention: Attention, has_token: bool) -> Route {
    let approved = matches!(actor, Actor::Agent(agent) if agent.requires_approval);
    if approved && has_token && action.effect.is_write() {
        return Route::TokenRefused(Refusal::ConfirmTokenInvalid(model::refusal::TokenFault::Invalid));
    }
    let alone = attention < Attention::Each && actor.agent().is_some();
    let hold = || Route::Hold { approvers: approvers(action, actor.person()), alone };
    if attention > Attention::None {
        return hold();
    }
    if !action.effect.is_write() {
        return Route::Pass;
    }
    let queued = action.wants_queue();
    match actor {
        Actor::Person(person) if !queued => {
            Route::Hold { approvers: vec![own(person.person())], alone: false }
        }
        _ if approved || queued => hold(),
        _ if action.effect.is_dangerous() => Route::Prompt,
        _ => Route::Pass,
    }
}

/// The control fields that this caller's calls of the action can carry: a token only where the table asks back.
pub(in super::super) fn control_fields(actor: &Actor, action: &Action) -> Vec<&'static str> {
    let mut fields = action.control_fields();
    if choose(actor, action, Attention::None, false) != Route::Prompt {
        fields.retain(|field| *field != "confirm_token");
    }
    fields
}

/// Who decides a call: the action's approvers, else the owner, else the operators. Of a call that passed, they say how
/// it ended when that is not known.
pub(in super::super) fn approvers(action: &Action, owner: Option<&Person>) -> Vec<String> {
    if action.approvers.is_empty() {
        return vec![owner.map_or_else(|| "role:operator".to_owned(), own)];
    }
    named_approvers(action)
}

/// Whom the action itself names; empty: nobody, and the owner decides.
pub(crate) fn named_approvers(action: &Action) -> Vec<String> {
    action
        .approvers
        .iter()
        .map(|approver| match approver {
            Approver::Person(email) => format!("person:{}", email.to_lowercase()),
            Approver::Role(role) => format!("role:{role}"),
            Approver::Group(name) => format!("group:{name}"),
        })
        .collect()
}

fn own(person: &Person) -> String {
    format!("id:{}", person.id)
}
