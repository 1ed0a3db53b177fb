//! The lists that are asked for.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use engine::{InboxFilter, PageAsked, ReceiptFilter};
use model::{Outcome, ReceiptId, Time};

use super::filled::{BEGIN, Filled, person_id, receipt_id};

/// One list, of a desk of any size.
pub(crate) struct Asked {
    pub(crate) name: &'static str,
    who: i64,
    what: What,
}

enum What {
    Done(fn(&Filled) -> (ReceiptFilter, PageAsked)),
    Story,
    Inbox,
    Count,
    InDoubt,
}

/// The same of one desk.
pub(crate) struct Wanted {
    who: i64,
    kind: Kind,
}

enum Kind {
    Done(Box<ReceiptFilter>, PageAsked),
    Story(ReceiptId),
    Inbox,
    Count,
    InDoubt,
}

/// An operator, whoever decides everything, whoever decides a little, and somebody with a tenth of the receipts.
const OPERATOR: i64 = 0;
const APPROVER: i64 = 1;
const FEW: i64 = 2;
const MEMBER: i64 = 4;

fn every() -> ReceiptFilter {
    ReceiptFilter::default()
}

fn from_row(share: i64, desk: &Filled, sign: &str) -> PageAsked {
    let id = receipt_id(desk.receipts * share / 100);
    PageAsked { limit: None, cursor: Some(URL_SAFE_NO_PAD.encode(format!("{sign}{id}"))) }
}

#[expect(clippy::unnecessary_wraps, reason = "what a filter holds")]
fn time(share: i64, desk: &Filled) -> Option<Time> {
    Some(Time::from_micros(BEGIN + desk.receipts * share / 100 * 1_000_000))
}

fn first(filter: ReceiptFilter) -> (ReceiptFilter, PageAsked) {
    (filter, PageAsked::default())
}

#[expect(clippy::unnecessary_wraps, reason = "what a filter holds")]
fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

impl Asked {
    /// Every list.
    pub(crate) fn all() -> Vec<Self> {
        let done = |name, who, what| Self { name, who, what: What::Done(what) };
        vec![
            done("everyone's", OPERATOR, |_| first(every())),
            done("everyone's, in the middle", OPERATOR, |desk| (every(), from_row(50, desk, ""))),
            done("everyone's, near the end", OPERATOR, |desk| (every(), from_row(1, desk, ""))),
            done("everyone's, newer from the middle", OPERATOR, |desk| (every(), from_row(50, desk, "+"))),
            done("everyone's, 500", OPERATOR, |_| (every(), PageAsked { limit: Some(500), cursor: None })),
            done("own", MEMBER, |_| first(every())),
            done("own, in the middle", MEMBER, |desk| (every(), from_row(50, desk, ""))),
            done("own, near the end", MEMBER, |desk| (every(), from_row(1, desk, ""))),
            done("person", OPERATOR, |_| first(ReceiptFilter { person: Some(person_id(MEMBER)), ..every() })),
            done("agent", OPERATOR, |_| first(ReceiptFilter { agent: text("agent-7"), ..every() })),
            done("agent that did little", OPERATOR, |_| {
                first(ReceiptFilter { agent: text("agent-99"), ..every() })
            }),
            done("agent, in the middle", OPERATOR, |desk| {
                (ReceiptFilter { agent: text("agent-7"), ..every() }, from_row(50, desk, ""))
            }),
            done("action", OPERATOR, |_| first(ReceiptFilter { action: text("action_3"), ..every() })),
            done("host, on every port", OPERATOR, |_| {
                first(ReceiptFilter { host: text("host-3.example"), ..every() })
            }),
            done("host, on one port", OPERATOR, |_| {
                first(ReceiptFilter { host: text("host-3.example:8443"), ..every() })
            }),
            done("answered", OPERATOR, |_| first(ReceiptFilter { outcome: Some(Outcome::Done), ..every() })),
            done("in doubt", OPERATOR, |_| {
                first(ReceiptFilter { outcome: Some(Outcome::InDoubt), ..every() })
            }),
            done("settled: it happened", OPERATOR, |_| {
                first(ReceiptFilter { outcome: Some(Outcome::SettledHappened), ..every() })
            }),
            done("settled, in the middle", OPERATOR, |desk| {
                let filter = ReceiptFilter { outcome: Some(Outcome::SettledDidNotHappen), ..every() };
                (filter, from_row(50, desk, ""))
            }),
            done("from the last hundredth on", OPERATOR, |desk| {
                first(ReceiptFilter { from: time(99, desk), ..every() })
            }),
            done("to the middle", OPERATOR, |desk| first(ReceiptFilter { to: time(50, desk), ..every() })),
            done("a hundredth long ago", OPERATOR, |desk| {
                first(ReceiptFilter { from: time(10, desk), to: time(11, desk), ..every() })
            }),
            done("own, a hundredth long ago", MEMBER, |desk| {
                first(ReceiptFilter { from: time(10, desk), to: time(11, desk), ..every() })
            }),
            done("own, one action", MEMBER, |_| first(ReceiptFilter { action: text("action_2"), ..every() })),
            done("own, one that never comes", MEMBER, |_| {
                first(ReceiptFilter { agent: text("agent-7"), ..every() })
            }),
            done("own, in doubt", MEMBER, |_| {
                first(ReceiptFilter { outcome: Some(Outcome::InDoubt), ..every() })
            }),
            done("agent and host", OPERATOR, |_| {
                first(ReceiptFilter { agent: text("agent-7"), host: text("host-7.example"), ..every() })
            }),
            done("agent and another's host", OPERATOR, |_| {
                first(ReceiptFilter { agent: text("agent-7"), host: text("host-8.example"), ..every() })
            }),
            done("action and another's host", OPERATOR, |_| {
                first(ReceiptFilter { action: text("action_3"), host: text("host-8.example"), ..every() })
            }),
            done("action and in doubt", OPERATOR, |_| {
                first(ReceiptFilter { action: text("action_3"), outcome: Some(Outcome::InDoubt), ..every() })
            }),
            done("person, action, to the middle", OPERATOR, |desk| {
                let person = Some(person_id(MEMBER));
                first(ReceiptFilter { person, action: text("action_2"), to: time(50, desk), ..every() })
            }),
            done("everything at once", OPERATOR, |desk| {
                first(ReceiptFilter {
                    person: Some(person_id(7)),
                    agent: text("agent-7"),
                    action: text("action_3"),
                    host: text("host-7.example"),
                    outcome: Some(Outcome::Done),
                    from: time(10, desk),
                    to: time(90, desk),
                })
            }),
            Self { name: "one receipt's story", who: OPERATOR, what: What::Story },
            Self { name: "inbox of who decides everything", who: APPROVER, what: What::Inbox },
            Self { name: "inbox of who decides a hundredth", who: FEW, what: What::Inbox },
            Self { name: "inbox of who decides nothing", who: MEMBER, what: What::Inbox },
            Self { name: "count beside Inbox", who: APPROVER, what: What::Count },
            Self { name: "count beside Inbox, a hundredth", who: FEW, what: What::Count },
            Self { name: "calls to settle, of an operator", who: OPERATOR, what: What::InDoubt },
            Self { name: "calls to settle, of an approver", who: APPROVER, what: What::InDoubt },
        ]
    }

    /// What it is on this desk.
    pub(crate) fn of(&self, desk: &Filled) -> Wanted {
        let kind = match self.what {
            What::Done(what) => {
                let (filter, page) = what(desk);
                Kind::Done(Box::new(filter), page)
            }
            What::Story => Kind::Story(receipt_id(desk.receipts / 2).parse().expect("an id")),
            What::Inbox => Kind::Inbox,
            What::Count => Kind::Count,
            What::InDoubt => Kind::InDoubt,
        };
        Wanted { who: self.who, kind }
    }
}

impl Wanted {
    /// Asks for it once: how many lines came.
    pub(crate) async fn ask(&self, desk: &Filled) -> usize {
        let who = desk.person(self.who).await;
        match &self.kind {
            Kind::Done(filter, page) => {
                desk.engine.done(&who, filter, page).await.expect("a page").items.len()
            }
            Kind::Story(id) => {
                desk.engine.story(&who, *id).await.expect("storage").expect("a receipt");
                1
            }
            Kind::Inbox => {
                let inbox = desk.engine.inbox(&who, &InboxFilter::default(), &PageAsked::default()).await;
                inbox.expect("a page").items.len()
            }
            Kind::Count => {
                desk.engine.inbox_count(&who).await.expect("a number");
                1
            }
            Kind::InDoubt => desk.engine.in_doubt(&who).await.expect("a list").len(),
        }
    }
}
