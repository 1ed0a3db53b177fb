//! What other systems say about themselves, made into a catalogue. Pure: text in, text out.

pub(crate) mod mcp;
pub(crate) mod openapi;
