//! The protocol from outside: raw HTTP into the whole router, over a real engine, a real database and a real upstream.

mod elicitation;
mod fixture;
mod fuzz;
mod protocol;
mod task;
mod tools;
