//! Paging by key: newest first, never by offset.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{CallId, FieldError, Listing, Refusal, Time};

use crate::filter::{InboxOrder, PageAsked};
use crate::leaf::Leaf;

/// Where a page begins: beside the row with this id. Opaque on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    turn: Turn,
    /// Whether the row itself is on the page.
    inclusive: bool,
    id: String,
}

/// Which way a list is turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// To what is older than the cursor: the way that every list has.
    Older,
    /// To what is newer.
    Newer,
}

/// Which rows of a list: at most `limit`, from `after` on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    limit: u32,
    after: Option<Cursor>,
}

/// How far a list was looked through when it was left before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Looked {
    pub(super) id: String,
    pub(super) at: Time,
}

/// Sorts after every id: `~` is the last printable ASCII character.
const BEYOND: &str = "~";

impl Window {
    /// From what a caller asked.
    ///
    /// # Errors
    /// `Invalid` when the limit is not 1 to 500 or the cursor is none of ours; both at once when both are.
    pub fn asked(page: &PageAsked) -> Result<Self, Refusal> {
        Self::read(page, |cursor| cursor.turn == Turn::Older && !cursor.inclusive)
    }

    /// The same of a list that can be turned both ways.
    pub fn turned(page: &PageAsked) -> Result<Self, Refusal> {
        Self::read(page, |_| true)
    }

    fn read(page: &PageAsked, takes: impl Fn(&Cursor) -> bool) -> Result<Self, Refusal> {
        let mut errors = Vec::new();
        let limit = page.limit.unwrap_or(Listing::<()>::DEFAULT_LIMIT);
        if !(1..=Listing::<()>::MAX_LIMIT).contains(&limit) {
            errors.push(FieldError::new("/limit", "The limit has to be a number from 1 to 500."));
        }
        let after = page.cursor.as_deref().map(|text| Cursor::decode(text).filter(|cursor| takes(cursor)));
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

    /// The newest rows, as many.
    pub(super) const fn newest(&self) -> Self {
        Self { limit: self.limit, after: None }
    }

    /// Which way it goes from its cursor.
    pub(super) fn turn(&self) -> Turn {
        self.after.as_ref().map_or(Turn::Older, |cursor| cursor.turn)
    }

    /// The rows on its side of the cursor.
    pub(super) fn range(&self) -> IdRange {
        let Some(cursor) = &self.after else { return IdRange::default() };
        let bound = Some((cursor.id.clone(), cursor.inclusive));
        match cursor.turn {
            Turn::Older => IdRange { below: bound, above: None },
            Turn::Newer => IdRange { above: bound, below: None },
        }
    }

    /// For `id < $n`, of a list that is turned one way.
    pub(super) fn before_id(&self) -> &str {
        self.after.as_ref().map_or(BEYOND, |cursor| &cursor.id)
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
            InboxOrder::Newest => cursor.id.parse::<CallId>().is_ok(),
            InboxOrder::Lapsing => cursor.lapse().is_some(),
        });
        let fault = "This cursor is of another list or order. Start without one.";
        if fits { Ok(self) } else { Err(Refusal::invalid("/cursor", fault)) }
    }

    /// For `LIMIT $n + 0`: one more than a page, to see whether there is another.
    pub(super) fn fetch(&self) -> i64 {
        i64::from(self.limit) + 1
    }

    /// Cuts the one row too many off and names where the next page begins.
    pub(super) fn page<T>(&self, mut rows: Vec<T>, id: impl Fn(&T) -> String) -> Listing<T> {
        let limit = self.limit as usize;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next_cursor = rows.last().filter(|_| more).map(|row| Cursor::older(id(row)).encode());
        Listing { items: rows, next_cursor }
    }

    /// The page of rows that were read in the order of its turn. `looked`: the list was not read to its end, but to
    /// there. `None`: there is nothing newer than these, so it is the newest page that is wanted.
    pub(super) fn leaf<T>(
        &self,
        mut rows: Vec<T>,
        looked: Option<Looked>,
        id: impl Fn(&T) -> String,
    ) -> Option<Leaf<T>> {
        let limit = self.limit as usize;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let looked = looked.filter(|_| !more);
        let turn = self.turn();
        let further =
            if more { rows.last().map(&id) } else { looked.as_ref().map(|looked| looked.id.clone()) };
        let further = further.map(|id| Cursor { turn, inclusive: false, id }.encode());
        if turn == Turn::Newer && further.is_none() {
            return None;
        }
        let back = self.after.as_ref().map(|cursor| match rows.first() {
            Some(first) => Cursor { turn: turn.back(), inclusive: false, id: id(first) }.encode(),
            None => {
                Cursor { turn: turn.back(), inclusive: !cursor.inclusive, id: cursor.id.clone() }.encode()
            }
        });
        let looked_to = looked.map(|looked| looked.at);
        Some(match turn {
            Turn::Older => Leaf { items: rows, older: further, newer: back, looked_to },
            Turn::Newer => {
                rows.reverse();
                Leaf { items: rows, older: back, newer: further, looked_to }
            }
        })
    }
}

/// Ids between two bounds; with each, whether the bound itself is among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct IdRange {
    pub(super) above: Option<(String, bool)>,
    pub(super) below: Option<(String, bool)>,
}

impl IdRange {
    /// From this id on.
    pub(super) fn from(&mut self, id: String) {
        if self.above.as_ref().is_none_or(|(bound, _)| *bound < id) {
            self.above = Some((id, true));
        }
    }

    /// Up to this id.
    pub(super) fn up_to(&mut self, id: String) {
        if self.below.as_ref().is_none_or(|(bound, _)| *bound > id) {
            self.below = Some((id, true));
        }
    }
}

impl Turn {
    const fn back(self) -> Self {
        match self {
            Self::Older => Self::Newer,
            Self::Newer => Self::Older,
        }
    }

    /// The order in which rows are read that way.
    pub(super) const fn order(self) -> &'static str {
        match self {
            Self::Older => "DESC",
            Self::Newer => "ASC",
        }
    }
}

impl Cursor {
    const fn older(id: String) -> Self {
        Self { turn: Turn::Older, inclusive: false, id }
    }

    /// The sign before the id; none is the way of every list.
    const SIGNS: [(&'static str, Turn, bool); 3] =
        [("+=", Turn::Newer, true), ("+", Turn::Newer, false), ("=", Turn::Older, true)];

    /// When the call lapses that it names, and its id.
    fn lapse(&self) -> Option<(i64, &str)> {
        let (at, id) = self.id.split_once('_')?;
        id.parse::<CallId>().ok()?;
        Some((at.parse().ok()?, id))
    }

    fn encode(&self) -> String {
        let sign = Self::SIGNS
            .iter()
            .find(|(_, turn, inclusive)| (*turn, *inclusive) == (self.turn, self.inclusive));
        URL_SAFE_NO_PAD.encode(format!("{}{}", sign.map_or("", |(sign, ..)| sign), self.id))
    }

    fn decode(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let signed = Self::SIGNS.iter().find_map(|(sign, turn, inclusive)| {
            text.strip_prefix(sign).map(|id| Self { turn: *turn, inclusive: *inclusive, id: id.to_owned() })
        });
        let cursor = signed.unwrap_or_else(|| Self::older(text.clone()));
        let like_an_id = (8..=64).contains(&cursor.id.len())
            && cursor.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        like_an_id.then_some(cursor)
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

    #[test]
    fn a_list_that_goes_one_way_takes_no_cursor_of_the_other() {
        let ids = vec!["rct_00a5".to_owned(), "rct_00a4".to_owned(), "rct_00a3".to_owned()];
        let first = asked(Some(2), None).expect("a window").leaf(ids, None, Clone::clone).expect("a leaf");
        assert_eq!((first.items.len(), &first.newer), (2, &None));
        let page = PageAsked { limit: Some(2), cursor: first.older };
        let second = Window::turned(&page).expect("a window");
        let second = second.leaf(vec!["rct_00a3".to_owned()], None, Clone::clone).expect("a leaf");
        assert_eq!(second.older, None);
        assert!(asked(None, second.newer.as_deref()).is_err());
        let back = Window::turned(&PageAsked { limit: Some(2), cursor: second.newer }).expect("a window");
        assert_eq!(back.turn(), Turn::Newer);
        assert_eq!(back.range().above, Some(("rct_00a3".to_owned(), false)));
        assert_eq!(
            back.leaf(vec!["rct_00a4".to_owned()], None, Clone::clone),
            None,
            "the newest page is wanted"
        );
    }

    #[test]
    fn an_empty_page_between_others_loses_no_row_on_the_way_back() {
        let asked = PageAsked { limit: Some(2), cursor: Some(Cursor::older("rct_00a3".to_owned()).encode()) };
        let looked = Looked { id: "rct_00a1".to_owned(), at: Time::from_micros(7) };
        let window = Window::turned(&asked).expect("a window");
        let empty = window.leaf(Vec::<String>::new(), Some(looked), Clone::clone).expect("a leaf");
        assert_eq!(empty.looked_to, Some(Time::from_micros(7)));
        let back = Window::turned(&PageAsked { limit: Some(2), cursor: empty.newer }).expect("a window");
        assert_eq!(
            back.range().above,
            Some(("rct_00a3".to_owned(), true)),
            "the row itself was shown before"
        );
    }
}
