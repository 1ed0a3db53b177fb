//! What anybody outside may write, as functions that take any bytes.

pub mod entries;
