//! Calling an action by its form.

use std::collections::BTreeSet;

use engine::{Actor, Arrival, Engine, PersonActor};
use leptos::prelude::*;
use model::{Answer, FieldError, OfferedAction, Refusal, Surface};

use super::{Fault, Fields, Form, Next, Posted, visit};
use crate::parts::field::{self, Draft, Field, Pressed};
use crate::parts::link::encode;

/// The name of the buttons that add a row to a list; their value is the list's JSON Pointer.
pub(crate) const ADD: &str = "add";
/// The name of the buttons that take a row out of a list; their value is the row's JSON Pointer.
pub(crate) const REMOVE: &str = "remove";

/// Calls an action for the person who filled in its form. A write is held for that person; a read is answered on the
/// page. What cannot be read of the form is told by the pipeline too, with every other fault. A button of a list calls
/// nothing: the form comes back with one row more or less.
#[server(name = Run, prefix = "/do", endpoint = "run")]
pub(crate) async fn run(action: String, tenant: Option<String>, fields: Fields) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let form = form_of(&visit.engine, &action);
    let draft = Draft::of(&fields);
    if let Some(pressed) = pressed(&fields) {
        return Ok(Next::Fill(with_row(fields, &form, draft, &pressed)));
    }
    let (input, unread) = field::input(&form, &draft);
    let nothing_read = unread.iter().any(|fault| fault.field.is_empty());
    let arrival = Arrival {
        actor: Actor::Person(me),
        surface: Surface::Form,
        action,
        input,
        key_header: Vec::new(),
        session: None,
        tenant,
        reason: None,
    };
    match visit.engine.call_of_form(arrival, unread).await {
        Ok(Answer::Waiting(waiting)) => Ok(Next::Go(format!("/inbox/{}", waiting.call_id))),
        Ok(answer) => Ok(Next::Show(Box::new(answer))),
        // Of an input that could not be read at all, no field is known to be missing.
        Err(Refusal::Invalid(errors)) if nothing_read => {
            Err(at_fault(errors.into_iter().filter(|fault| fault.field.is_empty()).collect()))
        }
        Err(Refusal::Invalid(errors)) => Err(at_fault(as_filled_in(errors, &form, &draft))),
        Err(refusal) => Err(refusal.into()),
    }
}

/// What the form of this action looks like, whoever may call it: to read what came, never to be shown. Whether this
/// person may call it is for the pipeline to say, as it is for every surface.
fn form_of(engine: &Engine, name: &str) -> Field {
    let catalogue = engine.catalogue();
    let action = catalogue.actions().find(|action| action.name == name);
    Field::of_input(&action.map(|action| action.offered().input_schema).unwrap_or_default())
}

/// The button of a list that was pressed, if one was.
pub(crate) fn pressed(fields: &Fields) -> Option<Pressed> {
    fields.iter().find_map(|(name, value)| match name.as_str() {
        ADD => Some(Pressed::Add(value.clone())),
        REMOVE => Some(Pressed::Remove(value.clone())),
        _ => None,
    })
}

/// The same fields after the button of a list.
fn with_row(fields: Fields, form: &Field, mut draft: Draft, pressed: &Pressed) -> Fields {
    match pressed {
        Pressed::Add(list) => draft.add(form, list),
        Pressed::Remove(row) => draft.remove(row),
    }
    let others = fields.into_iter().filter(|(name, _)| !Draft::has(name));
    others.chain(draft.fields()).collect()
}

fn at_fault(errors: Vec<FieldError>) -> Fault {
    let fields: BTreeSet<&str> = errors.iter().map(|error| error.field.as_str()).collect();
    let sentence = match fields.len() {
        1 => "Nothing was done: one field is at fault. Mend it and press Preview again.".to_owned(),
        many => format!("Nothing was done: {many} fields are at fault. Mend them and press Preview again."),
    };
    Fault { errors, ..Fault::new(422, sentence) }
}

/// The faults in the words of somebody who fills in a form: a row left empty is no value of a wrong type.
fn as_filled_in(errors: Vec<FieldError>, form: &Field, draft: &Draft) -> Vec<FieldError> {
    let empty = field::empty_rows(form, draft);
    let mut told: Vec<FieldError> = Vec::new();
    for error in errors {
        let error = if empty.contains(&error.field) {
            FieldError::new(error.field, "Fill this in, or remove it.")
        } else {
            error
        };
        if !told.contains(&error) {
            told.push(error);
        }
    }
    told
}

/// The action of this name, when it is offered to this person by form in this tenant.
pub(crate) async fn offered(
    engine: &Engine,
    me: &PersonActor,
    name: &str,
    tenant: Option<&str>,
) -> Result<OfferedAction, Refusal> {
    let actor = Actor::Person(me.clone());
    let offered = engine.offered(&actor, Surface::Form, tenant).await?;
    offered.into_iter().find(|action| action.name == name).ok_or(Refusal::NotFound)
}

/// The action's name, the tenant, and everything else as it came.
pub(crate) fn read(fields: &Fields) -> Option<Run> {
    let said = |wanted: &str| fields.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    let tenant = said("tenant").filter(|tenant| !tenant.is_empty());
    Some(Run { action: said("action")?, tenant, fields: fields.clone() })
}

impl Form for Run {
    fn page(posted: &Posted) -> String {
        format!("/run/{}", encode(&posted.typed("action")))
    }
}
