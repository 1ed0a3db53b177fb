//! Step 8, validation: JSON Schema, then rules. Every failing field is reported at once.

use std::collections::HashSet;

use model::Refusal;

use super::stage::{Call, Prepared, Valid};
use super::stop::Stop;

pub(super) fn check(call: Call<Prepared>) -> Result<Call<Valid>, Stop> {
    let (ready, faults) = &call.data;
    let mut faults = faults.clone();
    faults.extend(call.head.action.validate(&ready.input));
    // One fault a field: the first names the cause, a later one often only its consequence.
    let mut seen = HashSet::new();
    faults.retain(|fault| seen.insert(fault.field.clone()));
    if faults.is_empty() {
        Ok(call.become_with(|(ready, _)| ready))
    } else {
        Err(Refusal::Invalid(faults).into())
    }
}
