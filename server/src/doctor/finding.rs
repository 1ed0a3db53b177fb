//! One thing that was looked at.

use serde::Serialize;

/// How it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// As it should be.
    Good,
    /// It works, and somebody should know.
    Mind,
    /// It does not work, or cannot be trusted.
    Bad,
}

impl Verdict {
    /// The word for people.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Mind => "mind",
            Self::Bad => "BAD",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// What was looked at, in one word.
    pub(crate) subject: &'static str,
    pub(crate) verdict: Verdict,
    /// How it stands. Never a secret, nor an address with one in it.
    pub(crate) found: String,
    /// What to do about it.
    pub(crate) next: Option<&'static str>,
}

impl Finding {
    /// Whether it is as it should be.
    pub(crate) fn is_good(&self) -> bool {
        self.verdict == Verdict::Good
    }

    pub(crate) fn good(subject: &'static str, found: impl Into<String>) -> Self {
        Self { subject, verdict: Verdict::Good, found: found.into(), next: None }
    }

    pub(crate) fn mind(subject: &'static str, found: impl Into<String>, next: &'static str) -> Self {
        Self { subject, verdict: Verdict::Mind, found: found.into(), next: Some(next) }
    }

    pub(crate) fn bad(subject: &'static str, found: impl Into<String>, next: &'static str) -> Self {
        Self { subject, verdict: Verdict::Bad, found: found.into(), next: Some(next) }
    }
}
