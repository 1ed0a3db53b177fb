//! placeholder
use crate::outgoing::Outgoing;
/// x
pub fn found_in(_: &Outgoing) -> Vec<String> {
    Vec::new()
}
