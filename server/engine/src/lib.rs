//! The pipeline, decisions, egress and storage of Countersign. Knows no axum and no Leptos.

pub mod ambient;
pub mod credential;
pub mod egress;
pub mod outgoing;
pub mod secret;
