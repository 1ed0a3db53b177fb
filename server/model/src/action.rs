//! An action as a caller is offered it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::Effect;

/// An action as a caller is offered it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OfferedAction {
    /// What to put into `/v1/actions/{name}`.
    pub name: String,
    /// A short name for people.
    pub title: String,
    /// What it does, for the model and for people.
    pub description: String,
    /// What it does to the world.
    pub effect: Effect,
    /// JSON Schema 2020-12 of the input object, control fields included.
    #[schema(value_type = Object)]
    pub input_schema: Value,
    /// The hints of the Model Context Protocol.
    pub annotations: Annotations,
}

/// The hints that the Model Context Protocol has for a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own four hints")]
pub struct Annotations {
    /// The action only reads.
    pub read_only_hint: bool,
    /// What it does cannot be put back.
    pub destructive_hint: bool,
    /// A repeat with the same key changes nothing more.
    pub idempotent_hint: bool,
    /// It reaches beyond the house.
    pub open_world_hint: bool,
}

impl Annotations {
    /// The hints that follow from an effect and from whether a repeat is answered from the receipt.
    pub const fn of(effect: Effect, replay: bool) -> Self {
        Self {
            read_only_hint: !effect.is_write(),
            destructive_hint: matches!(effect, Effect::Destructive),
            idempotent_hint: replay && effect.is_write(),
            open_world_hint: matches!(effect, Effect::External),
        }
    }
}
