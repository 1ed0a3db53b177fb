//! What other systems say about themselves, made into a catalogue. Pure: text in, text out.

mod formats;
pub(crate) mod mcp;
pub(crate) mod openapi;
