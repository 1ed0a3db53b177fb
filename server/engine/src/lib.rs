//! The pipeline, decisions, egress and storage of Countersign. Knows no axum and no Leptos.

pub mod actor;
pub mod agent;
pub mod ambient;
pub mod arrival;
pub mod catalogue;
pub mod credential;
pub mod engine;
pub mod filter;
pub mod item;
pub mod outgoing;
pub mod password;
pub mod seal;
pub mod secret;
pub mod store;
pub mod token;
pub mod wanted;

pub use actor::{Actor, Decider, PersonActor};
pub use arrival::Arrival;
pub use engine::Engine;
pub use filter::{PageAsked, ReceiptFilter};
pub use item::Item;
