//! The head of a tree, to be signed (c2sp.org/tlog-checkpoint).

use std::fmt;
use std::str::FromStr;

use crate::hash::Hash;
use crate::note::{Signer, Untrusted, VerifierKey};
use crate::tree::LARGEST;

/// The head of a tree: whose, how large, and what it comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Whose tree: the name of the log, which is the name of its key.
    pub origin: String,
    /// How many leaves it covers.
    pub size: u64,
    /// The head of the tree of these leaves.
    pub root: Hash,
}

/// A text is no checkpoint of the log that is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotSigned {
    /// The note around it cannot be trusted.
    #[error("{0}")]
    Note(#[from] Untrusted),
    /// What was signed is no head of a tree.
    #[error("what was signed is no checkpoint")]
    NoCheckpoint,
    /// It is of another log.
    #[error("it is of another log")]
    OtherLog,
}

impl Checkpoint {
    /// As a signed note.
    pub fn sign(&self, signer: &Signer) -> String {
        signer.sign(&self.to_string())
    }

    /// Out of a signed note.
    ///
    /// # Errors
    /// When the signature is not by this key, or what was signed is no checkpoint of its log.
    pub fn open(note: &str, key: &VerifierKey) -> Result<Self, NotSigned> {
        let checkpoint: Self = key.open(note)?.parse()?;
        if checkpoint.origin == key.name() { Ok(checkpoint) } else { Err(NotSigned::OtherLog) }
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\n{}\n{}\n", self.origin, self.size, self.root)
    }
}

impl FromStr for Checkpoint {
    type Err = NotSigned;

    /// Extension lines are passed over: nothing here depends on them.
    fn from_str(text: &str) -> Result<Self, NotSigned> {
        let mut lines = text.strip_suffix('\n').ok_or(NotSigned::NoCheckpoint)?.split('\n');
        let mut next = || lines.next().filter(|line| !line.is_empty()).ok_or(NotSigned::NoCheckpoint);
        let (origin, size, root) = (next()?, next()?, next()?);
        let number: u64 = size.parse().map_err(|_| NotSigned::NoCheckpoint)?;
        let root = root.parse().map_err(|_| NotSigned::NoCheckpoint)?;
        if number > LARGEST || number.to_string() != size || lines.any(str::is_empty) {
            return Err(NotSigned::NoCheckpoint);
        }
        Ok(Self { origin: origin.to_owned(), size: number, root })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of the example in the specification.
    const EXAMPLE: &str =
        "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";

    #[test]
    fn the_example_of_the_specification_is_read_and_written() {
        let read: Checkpoint = EXAMPLE.parse().expect("a checkpoint");
        assert_eq!((read.origin.as_str(), read.size), ("example.com/behind-the-sofa", 20_852_163));
        assert_eq!(read.to_string(), EXAMPLE);
        let extended: Checkpoint = format!("{EXAMPLE}more\n").parse().expect("a checkpoint");
        assert_eq!(extended, read);
    }

    #[test]
    fn what_is_no_checkpoint_is_none() {
        for no in [
            "",
            "\n",
            "a\n1\n",
            &EXAMPLE[..EXAMPLE.len() - 1],
            &EXAMPLE.replace("20852163", "020852163"),
            &EXAMPLE.replace("20852163", "-1"),
            &EXAMPLE.replace("20852163", "18446744073709551615"),
            &EXAMPLE.replace("CsUY", "CsU"),
            &format!("{EXAMPLE}\nmore\n"),
        ] {
            assert_eq!(no.parse::<Checkpoint>(), Err(NotSigned::NoCheckpoint), "{no:?}");
        }
    }

    #[test]
    fn only_the_log_of_the_key_counts() {
        let signer = Signer::new("desk.example", &[1; 32]).expect("a name");
        let head = |origin: &str| Checkpoint { origin: origin.to_owned(), size: 0, root: Hash::of_nothing() };
        let key = signer.verifier();
        assert_eq!(Checkpoint::open(&head("desk.example").sign(&signer), &key), Ok(head("desk.example")));
        assert_eq!(Checkpoint::open(&head("other.example").sign(&signer), &key), Err(NotSigned::OtherLog));
        assert_eq!(Checkpoint::open(&signer.sign("x\n"), &key), Err(NotSigned::NoCheckpoint));
    }
}
