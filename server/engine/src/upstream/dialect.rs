//! How a server is spoken to.

use std::fmt;
use std::str::FromStr;

/// How a server is spoken to. As a text: the revision, with `+session` behind it where calls need one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// 2026-07-28: every request says by itself who asks and what it speaks.
    Stateless,
    /// An older revision, and the server keeps nothing between two requests.
    Plain(String),
    /// An older revision, and every request belongs to a session that was opened before.
    Session(String),
}

/// The revision without sessions.
pub(super) const STATELESS: &str = "2026-07-28";

/// The newest revision that begins with `initialize`.
pub(super) const NEWEST_OLD: &str = "2025-11-25";

/// The older revisions that are spoken.
const OLD: [&str; 3] = [NEWEST_OLD, "2025-06-18", "2025-03-26"];

const SESSION: &str = "+session";

impl Dialect {
    /// Of a revision that a server has chosen in its answer to `initialize`; `None`: it is not spoken here.
    pub(super) fn old(revision: &str, has_session: bool) -> Option<Self> {
        let revision = OLD.iter().find(|known| **known == revision)?.to_string();
        Some(if has_session { Self::Session(revision) } else { Self::Plain(revision) })
    }

    /// The revision as the wire names it.
    pub(crate) fn revision(&self) -> &str {
        match self {
            Self::Stateless => STATELESS,
            Self::Plain(revision) | Self::Session(revision) => revision,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.revision())?;
        if matches!(self, Self::Session(_)) { f.write_str(SESSION) } else { Ok(()) }
    }
}

impl FromStr for Dialect {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if text == STATELESS {
            return Ok(Self::Stateless);
        }
        match text.strip_suffix(SESSION) {
            Some(revision) => Self::old(revision, true).ok_or(()),
            None => Self::old(text, false).ok_or(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_is_read_as_it_is_written() {
        for text in ["2026-07-28", "2025-11-25", "2025-03-26+session"] {
            assert_eq!(text.parse::<Dialect>().expect(text).to_string(), text);
        }
        for text in ["", "2024-11-05", "2026-07-28+session", "+session"] {
            assert_eq!(text.parse::<Dialect>(), Err(()), "{text}");
        }
    }
}
