//! Step 8, validation: JSON Schema, then rules. Every failing field is reported at once.

use std::collections::HashSet;

use model::Refusal;

use super::stage::{Call, Prepared, Valid};
use super::stop::Stop;
use crate::catalogue::MOST_FAULTS;

pub(super) fn check(call: Call<Prepared>) -> Result<Call<Valid>, Stop> {
    let (ready, faults) = &call.data;
    let mut faults = call.head.action.validate_after(faults.clone(), &ready.input);
    // One fault a field: the first names the cause, a later one often only its consequence.
    let mut seen = HashSet::new();
    faults.retain(|fault| seen.insert(fault.field.clone()));
    faults.truncate(MOST_FAULTS);
    if faults.is_empty() {
        Ok(call.become_with(|(ready, _)| ready))
    } else {
        Err(Refusal::Invalid(faults).into())
    }
}
