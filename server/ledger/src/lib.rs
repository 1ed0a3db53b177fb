//! The verifiable ledger: every receipt, and what became known of it later, is a leaf of one growing Merkle tree, whose
//! head is signed. Whoever keeps a signed head can tell later whether anything that it covers was altered, left out, put
//! into another order or told to somebody else otherwise.
//!
//! Tree, notes, leaves and their verification; it opens no file and no connection, and knows no other crate of the desk.
//!
//! - `Frontier` and `Tree`: the tree of RFC 9162, section 2.1 (the same as in RFC 6962).
//! - `note`: signed notes (c2sp.org/signed-note) with Ed25519. The crates that were looked at for these want older lines
//!   of the cryptography that is in this desk's tree already, so a second one of each would come with them.
//! - `Checkpoint`: the head of a tree as such a note (c2sp.org/tlog-checkpoint).
//! - `leaf`: what a leaf commits to.
//! - `export` and `verify`: a file of leaves with proofs, and what is true of it.

mod checkpoint;
pub mod export;
mod hash;
pub mod leaf;
pub mod note;
mod tree;
mod verify;

pub use checkpoint::{Checkpoint, NotSigned};
pub use hash::Hash;
pub use tree::{Frontier, Tree, is_consistent};
pub use verify::{Finding, NoExport, Report, Word, verify};
