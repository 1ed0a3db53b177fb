//! Paging by key: newest first, never by offset.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{CallId, FieldError, Listing, Refusal};

use crate::filter::{InboxOrder, PageAsked};

/// Where a page begins: after the row with this id. Opaque on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(String);

/// Which rows of a list: at most `limit`, after `after`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    limit: u32,
    after: Option<Cursor>,
}

/// Sorts after every id: `~` is the last printable ASCII character.
const BEYOND: &str = "~";

impl Window {
    /// From what a caller asked.
    ///
    /// # Errors
    /// `Invalid` when the limit is not 1 to 500 or the cursor is none of ours; both at once when both are.
    pub fn asked(page: &PageAsked) -> Result<Self, Refusal> {
        let mut errors = Vec::new();
        let limit = page.limit.unwrap_or(Listing::<()>::DEFAULT_LIMIT);
        if !(1..=Listing::<()>::MAX_LIMIT).contains(&limit) {
            errors.push(FieldError::new("/limit", "The limit has to be a number from 1 to 500."));
        }
        let after = page.cursor.as_deref().map(Cursor::decode);
        if after == Some(None) {
            errors.push(FieldError::new(
                "/cursor",
                "This cursor was not made by this desk. Start without one.",
            ));
        }
        if errors.is_empty() {
            Ok(Self { limit, after: after.flatten() })
        } else {
            Err(Refusal::Invalid(errors))
        }
    }

    /// For `id < $n`.
    pub(super) fn before_id(&self) -> &str {
        self.after.as_ref().map_or(BEYOND, |cursor| &cursor.0)
    }

    /// For `(expires_at, id) > ($n, $m)`: behind the call that a cursor of that order names.
    pub(super) fn behind_lapse(&self) -> (i64, &str) {
        self.after.as_ref().and_then(Cursor::lapse).unwrap_or((i64::MIN, ""))
    }

    /// The same window, when its cursor is one of a list of held calls in this order.
    ///
    /// # Errors
    /// `Invalid` when it is not.
    pub(crate) fn in_order(self, order: InboxOrder) -> Result<Self, Refusal> {
        let fits = self.after.as_ref().is_none_or(|cursor| match order {
            InboxOrder::Newest => cursor.0.parse::<CallId>().is_ok(),
            InboxOrder::Lapsing => cursor.lapse().is_some(),
        });
        let fault = "This cursor is of another list or order. Start without one.";
        if fits { Ok(self) } else { Err(Refusal::invalid("/cursor", fault)) }
    }

    /// For `LIMIT $n`: one more than a page, to see whether there is another.
    pub(super) fn fetch(&self) -> i64 {
        i64::from(self.limit) + 1
    }

    /// Cuts the one row too many off and names where the next page begins.
    pub(super) fn page<T>(&self, mut rows: Vec<T>, id: impl Fn(&T) -> String) -> Listing<T> {
        let limit = self.limit as usize;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next_cursor = rows.last().filter(|_| more).map(|row| Cursor(id(row)).encode());
        Listing { items: rows, next_cursor }
    }
}

impl Cursor {
    /// When the call lapses that it names, and its id.
    fn lapse(&self) -> Option<(i64, &str)> {
        let (at, id) = self.0.split_once('_')?;
        id.parse::<CallId>().ok()?;
        Some((at.parse().ok()?, id))
    }

    fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(&self.0)
    }

    fn decode(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let id = String::from_utf8(bytes).ok()?;
        let like_an_id = (8..=64).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        like_an_id.then_some(Self(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(limit: Option<u32>, cursor: Option<&str>) -> Result<Window, Refusal> {
        Window::asked(&PageAsked { limit, cursor: cursor.map(str::to_owned) })
    }

    #[test]
    fn both_faults_are_told_at_once() {
        let Err(Refusal::Invalid(errors)) = asked(Some(501), Some("%%%")) else { panic!("accepted") };
        assert_eq!(errors.iter().map(|e| e.field.as_str()).collect::<Vec<_>>(), ["/limit", "/cursor"]);
        assert!(asked(Some(0), None).is_err());
        assert!(asked(Some(500), None).is_ok());
    }

    #[test]
    fn a_page_names_the_next_only_when_there_is_one() {
        let window = asked(Some(2), None).expect("a window");
        assert_eq!(window.page(vec!["call_00a3", "call_00a2"], ToString::to_string).next_cursor, None);
        let page = window.page(vec!["call_00a3", "call_00a2", "call_00a1"], ToString::to_string);
        assert_eq!(page.items, ["call_00a3", "call_00a2"]);
        let next = asked(Some(2), page.next_cursor.as_deref()).expect("a window");
        assert_eq!(next.before_id(), "call_00a2");
    }
}
