//! Step 7, the input: header merged, control fields split off, NUL refused, fixed input, conversions, defaults; the
//! hash over the caller's remaining arguments.
//!
//! Faults are gathered and told together with those of the next step.

use model::{FieldError, Refusal, Surface};
use serde_json::{Map, Value};

use super::stage::{Call, Control, Cut, Head, Prepared, Ready, Sent};
use super::stop::Stop;
use crate::actor::Actor;
use crate::catalogue::input;
use crate::idempotency::IdempotencyKey;

pub(super) fn prepare(call: Call<Cut>) -> Result<Call<Prepared>, Stop> {
    let head = call.head.clone();
    if head.action.passes_on() {
        refuse_bad_key(&call.data.key_header)?;
    }
    Ok(call.become_with(|Sent { input: mut arguments, key_header, unread }| {
        let mut faults = unread;
        faults.extend(input::unkeepable_fields(&arguments));
        let control = split_control(&head, &mut arguments, &key_header, &mut faults);
        if head.surface != Surface::Mcp {
            faults.extend(input::unknown_arguments(&head.action, &arguments));
        }
        let input_hash = head.action.hash(&arguments);
        let prepared = input::prepare(&head.action, arguments.clone());
        faults.extend(prepared.faults);
        let input = Value::Object(prepared.input);
        (Ready { control, arguments, input_hash, input }, faults)
    }))
}

/// On fetch and via a key that is none is told before anything else about the input, whatever the method.
fn refuse_bad_key(header: &[String]) -> Result<(), Refusal> {
    match header {
        [] => Ok(()),
        [one] if IdempotencyKey::header(one).is_some() => Ok(()),
        _ => Err(Refusal::IdempotencyKeyInvalid),
    }
}

/// Takes the control fields out of the arguments.
fn split_control(
    head: &Head,
    arguments: &mut Map<String, Value>,
    header: &[String],
    faults: &mut Vec<FieldError>,
) -> Control {
    // Actions that only read or cannot replay ignore the key, so that a caller may send one with everything.
    // So do callers that have no scope to remember it in.
    let scoped = !matches!(head.actor, Actor::Public { client: None });
    let keyed = head.action.effect.is_write() && head.action.replay && scoped;
    if head.action.passes_on() {
        // The request is all there is.
        let key = if keyed { key(head, None, header, faults) } else { None };
        return Control { dry_run: false, confirm_token: None, key };
    }
    let dry_run = match arguments.remove("dry_run") {
        None | Some(Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(_) => {
            faults.push(FieldError::new("/dry_run", "This has to be true or false."));
            false
        }
    };
    let confirm_token = match arguments.remove("confirm_token") {
        None => None,
        Some(Value::String(token)) => Some(token),
        Some(_) => {
            faults.push(FieldError::new("/confirm_token", "This has to be a text."));
            None
        }
    };
    let field = arguments.remove("idempotency_key");
    let key = if keyed { key(head, field.as_ref(), header, faults) } else { None };
    Control { dry_run, confirm_token, key }
}

/// The key from the header, the field, or both when they are the same.
fn key(
    head: &Head,
    field: Option<&Value>,
    header: &[String],
    faults: &mut Vec<FieldError>,
) -> Option<IdempotencyKey> {
    let mut fault = |message| {
        faults.push(FieldError::new("/idempotency_key", message));
        None
    };
    let of_field = match field {
        None => None,
        Some(value) => match value.as_str().and_then(IdempotencyKey::bare) {
            Some(key) => Some(key),
            None => return fault("The idempotency key has to be 1 to 128 visible ASCII characters."),
        },
    };
    // On MCP the key is the argument; a transport header is not the caller's.
    let of_header = match header {
        [] => None,
        _ if head.surface == Surface::Mcp => None,
        [one] => match IdempotencyKey::header(one) {
            Some(key) => Some(key),
            None => return fault("The idempotency key has to be 1 to 128 visible ASCII characters."),
        },
        _ => return fault("The header Idempotency-Key may be sent once."),
    };
    match (of_field, of_header) {
        (Some(field), Some(header)) if field != header => {
            fault("The header Idempotency-Key and the field idempotency_key have to be the same.")
        }
        (field, header) => field.or(header),
    }
}
