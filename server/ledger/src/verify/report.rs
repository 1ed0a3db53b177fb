//! What was found.

/// What can be wrong with an export. The later, the graver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// A record has been erased, as retention does; its hash is in the tree.
    Pruned,
    /// Leaves stand in another order than they were written in.
    Reordered,
    /// Something that the ledger committed to is not there.
    Missing,
    /// Something is another than what the ledger committed to.
    Altered,
    /// Two heads are signed that are not of one history.
    Forked,
    /// A checkpoint is not signed by the key.
    BadSignature,
}

impl Word {
    /// Every one.
    pub const ALL: [Self; 6] =
        [Self::Pruned, Self::Reordered, Self::Missing, Self::Altered, Self::Forked, Self::BadSignature];

    /// The word itself.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pruned => "pruned",
            Self::Reordered => "reordered",
            Self::Missing => "missing",
            Self::Altered => "altered",
            Self::Forked => "forked",
            Self::BadSignature => "bad_signature",
        }
    }

    /// What a command ends with that found it and nothing graver; 0: nothing was found.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Pruned => 3,
            Self::Altered => 4,
            Self::Missing => 5,
            Self::Reordered => 6,
            Self::Forked => 7,
            Self::BadSignature => 8,
        }
    }
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub word: Word,
    /// Of which leaf; `None`: of no single one.
    pub index: Option<u64>,
    /// In a sentence.
    pub what: String,
}

/// How many findings are told one by one.
const MOST: usize = 100;

/// What is true of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Whether it is of every leaf.
    pub is_whole: bool,
    /// How many leaves are in the file.
    pub leaves: u64,
    /// How many leaves its checkpoint covers.
    pub size: u64,
    /// Of how many the record is there and is what the ledger committed to.
    pub records: u64,
    /// How many records have been erased by retention.
    pub pruned: u64,
    /// The sizes of the trees that were compared and are as they were signed.
    pub confirmed: Vec<u64>,
    /// The first of what was found.
    pub findings: Vec<Finding>,
    /// How much was found in all.
    pub found: u64,
    gravest: Option<Word>,
}

impl Report {
    pub(super) fn new(is_whole: bool) -> Self {
        Self {
            is_whole,
            leaves: 0,
            size: 0,
            records: 0,
            pruned: 0,
            confirmed: Vec::new(),
            findings: Vec::new(),
            found: 0,
            gravest: None,
        }
    }

    /// The gravest of what was found; `None`: everything is as it was signed, and all of it is there.
    pub fn verdict(&self) -> Option<Word> {
        self.gravest
    }

    pub(super) fn find(&mut self, word: Word, index: Option<u64>, what: String) {
        self.found += 1;
        self.gravest = self.gravest.max(Some(word));
        if self.findings.len() < MOST {
            self.findings.push(Finding { word, index, what });
        }
    }

    /// A record has been erased: counted, not told one by one.
    pub(super) fn forgotten(&mut self) {
        self.pruned += 1;
        self.gravest = self.gravest.max(Some(Word::Pruned));
    }
}
