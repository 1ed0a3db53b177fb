//! Lists of receipts: every filter and every pair of filters gives exactly what fits, page by page, both ways, also while
//! receipts are added.

mod desk;

use std::collections::HashSet;

use desk::{Database, Desk};
use engine::{Leaf, PageAsked, PersonActor, ReceiptFilter};
use model::{Outcome, PersonId, ReceiptFacts, Time};

/// More than is looked through for one page, twice.
const COUNT: i64 = 5_000;

/// Microseconds of the first receipt.
const BEGIN: i64 = 1_700_000_000_000_000;

/// One receipt as the rows below are made.
struct Row {
    n: i64,
    at: i64,
    person: Option<PersonId>,
    agent: Option<&'static str>,
    action: &'static str,
    host: &'static str,
    outcome: Outcome,
}

fn id(n: i64) -> String {
    format!("rct_01h455vb4pex5vsknk084s{n:04}")
}

/// The same in SQL and in Rust: what the nth receipt is.
fn row(n: i64, desk: &Desk) -> Row {
    let outcome = match (n % 10, n / 10 % 4) {
        (9, 0) => Outcome::InDoubt,
        (9, 1) => Outcome::SettledHappened,
        (9, 2) => Outcome::SettledDidNotHappen,
        _ => Outcome::Done,
    };
    Row {
        n,
        // Ids follow the times but roughly.
        at: BEGIN + (n + n * 7 % 5) * 1_000_000,
        person: [Some(desk.ann.id), Some(desk.max.id), None][usize::try_from(n % 3).expect("small")],
        agent: [Some("careful"), Some("quick"), None][usize::try_from(n / 3 % 3).expect("small")],
        action: if n % 1_000 == 7 { "rare" } else { "usual" },
        host: ["a.example", "a.example:8443", "b.example"][usize::try_from(n / 5 % 3).expect("small")],
        outcome,
    }
}

/// Receipts `from` to `to`, set by set.
async fn fill(desk: &Desk, from: i64, to: i64) {
    fill_with(
        desk,
        from,
        to,
        "CASE n / 5 % 3 WHEN 0 THEN 'a.example' WHEN 1 THEN 'a.example:8443' ELSE 'b.example' END",
    )
    .await;
}

/// The same, with hosts of one's own.
async fn fill_with(desk: &Desk, from: i64, to: i64, host: &str) {
    let agents = desk.database.texts("SELECT id FROM agents ORDER BY name").await;
    let numbers =
        format!("WITH RECURSIVE k (n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM k WHERE n < {to})");
    let padded = "SUBSTR(CAST(10000 + n AS TEXT), 2)";
    execute(
        &desk.database,
        &format!(
            "{numbers} INSERT INTO receipts (id, at, call_id, person_id, agent_id, action, surface, method, url, host, body_size, \
             body_sha256, approval_kind, approval_by, upstream_status, outcome) \
             SELECT 'rct_01h455vb4pex5vsknk084s' || {padded}, {BEGIN} + CAST(n + n * 7 % 5 AS BIGINT) * 1000000, 'call_01h455vb4pex5vsknk084s' || {padded}, \
             CASE n % 3 WHEN 0 THEN '{}' WHEN 1 THEN '{}' END, CASE n / 3 % 3 WHEN 0 THEN '{}' WHEN 1 THEN '{}' END, \
             CASE WHEN n % 1000 = 7 THEN 'rare' ELSE 'usual' END, 'api', 'POST', 'https://a.example/v1', \
             {host}, 3, 'digest', 'none', '[]', 200, \
             CASE WHEN n % 10 = 9 THEN 'in_doubt' ELSE 'done' END FROM k",
            desk.ann.id, desk.max.id, agents[0], agents[1]
        ),
    )
    .await;
    for (kind, outcome, by) in [
        (1, "settled_happened", "'per_x'"),
        (2, "settled_did_not_happen", "'per_x'"),
        // An answer that came late, before what a person found.
        (3, "done", "NULL"),
        (3, "settled_did_not_happen", "'per_x'"),
    ] {
        execute(
            &desk.database,
            &format!(
                "{numbers} INSERT INTO receipt_amendments (id, receipt_id, at, outcome, person_id) \
                 SELECT 'rct_01h455vb4pex5vs{}{}' || {padded}, 'rct_01h455vb4pex5vsknk084s' || {padded}, 1, '{outcome}', {by} \
                 FROM k WHERE n % 10 = 9 AND n / 10 % 4 = {kind}",
                &outcome[..2].replace("se", "ss").replace("do", "dd"),
                u8::from(by == "NULL")
            ),
        )
        .await;
    }
}

async fn execute(database: &Database, sql: &str) {
    database.run(sql).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
}

/// Whether the model's row fits.
fn fits(row: &Row, filter: &ReceiptFilter) -> bool {
    let host = |host: &String| row.host == host || row.host.starts_with(&format!("{host}:"));
    filter.person.is_none_or(|person| row.person == Some(person))
        && filter.agent.as_deref().is_none_or(|agent| row.agent == Some(agent))
        && filter.action.as_deref().is_none_or(|action| row.action == action)
        && filter.host.as_ref().is_none_or(host)
        && filter.outcome.is_none_or(|outcome| row.outcome == outcome)
        && filter.from.is_none_or(|from| row.at >= from.micros())
        && filter.to.is_none_or(|to| row.at < to.micros())
}

fn expected(desk: &Desk, filter: &ReceiptFilter) -> Vec<String> {
    (0..COUNT).rev().map(|n| row(n, desk)).filter(|row| fits(row, filter)).map(|row| id(row.n)).collect()
}

async fn leaf(
    desk: &Desk,
    who: &PersonActor,
    filter: &ReceiptFilter,
    limit: u32,
    cursor: Option<String>,
) -> Leaf<ReceiptFacts> {
    let page = PageAsked { limit: Some(limit), cursor };
    desk.engine.done(who, filter, &page).await.expect("a page")
}

fn ids(leaf: &Leaf<ReceiptFacts>) -> Vec<String> {
    leaf.items.iter().map(|facts| facts.id.to_string()).collect()
}

/// Every page from the newest to the oldest.
async fn all(desk: &Desk, who: &PersonActor, filter: &ReceiptFilter, limit: u32) -> Vec<Leaf<ReceiptFacts>> {
    let mut pages = vec![leaf(desk, who, filter, limit, None).await];
    while let Some(older) = pages.last().and_then(|page| page.older.clone()) {
        assert!(pages.len() < 5_000, "the pages come to an end");
        pages.push(leaf(desk, who, filter, limit, Some(older)).await);
    }
    pages
}

/// Everything that the API lists.
async fn listed(desk: &Desk, who: &PersonActor, filter: &ReceiptFilter) -> Vec<String> {
    let (mut listed, mut cursor) = (Vec::new(), None);
    loop {
        let asked = PageAsked { limit: None, cursor };
        let page = desk.engine.receipts(who, filter, &asked).await.expect("a page");
        listed.extend(page.items.iter().map(|receipt| receipt.id.to_string()));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return listed;
        }
    }
}

/// One value of every filter, and the ones that pairs are made of.
fn singles(desk: &Desk) -> Vec<ReceiptFilter> {
    let none = ReceiptFilter::default;
    let time = |n: i64| Some(Time::from_micros(BEGIN + n * 1_000_000));
    vec![
        none(),
        ReceiptFilter { person: Some(desk.ann.id), ..none() },
        ReceiptFilter { agent: Some("careful".to_owned()), ..none() },
        ReceiptFilter { action: Some("rare".to_owned()), ..none() },
        ReceiptFilter { action: Some("usual".to_owned()), ..none() },
        ReceiptFilter { host: Some("a.example".to_owned()), ..none() },
        ReceiptFilter { host: Some("a.example:8443".to_owned()), ..none() },
        ReceiptFilter { outcome: Some(Outcome::Done), ..none() },
        ReceiptFilter { outcome: Some(Outcome::InDoubt), ..none() },
        ReceiptFilter { outcome: Some(Outcome::SettledHappened), ..none() },
        ReceiptFilter { outcome: Some(Outcome::SettledDidNotHappen), ..none() },
        ReceiptFilter { from: time(1_234), ..none() },
        ReceiptFilter { to: time(3_210), ..none() },
        ReceiptFilter { from: time(2_000), to: time(2_003), ..none() },
    ]
}

fn both(one: &ReceiptFilter, other: &ReceiptFilter) -> ReceiptFilter {
    ReceiptFilter {
        person: one.person.or(other.person),
        agent: one.agent.clone().or(other.agent.clone()),
        action: one.action.clone().or(other.action.clone()),
        host: one.host.clone().or(other.host.clone()),
        outcome: one.outcome.or(other.outcome),
        from: one.from.or(other.from),
        to: one.to.or(other.to),
    }
}

on_both! {
    async fn every_filter_and_every_pair_gives_what_fits(desk: Desk) {
        fill(&desk, 0, COUNT - 1).await;
        let olga = desk.visitor(&desk.olga).await;
        let singles = singles(&desk);
        for (at, one) in singles.iter().enumerate() {
            for other in &singles[at..] {
                let filter = both(one, other);
                let told: Vec<_> = all(&desk, &olga, &filter, 500).await.iter().flat_map(ids).collect();
                assert_eq!(told, expected(&desk, &filter), "{filter:?}");
            }
        }
        // Everything at once, of one's own and in the API's list.
        let max = desk.visitor(&desk.max).await;
        let filter = both(&both(&both(&singles[2], &singles[4]), &both(&singles[5], &singles[7])), &both(&singles[11], &singles[12]));
        let own = ReceiptFilter { person: Some(desk.max.id), ..filter.clone() };
        let told: Vec<_> = all(&desk, &max, &filter, 50).await.iter().flat_map(ids).collect();
        assert_eq!(told, expected(&desk, &own));
        assert!(!told.is_empty());
        assert_eq!(listed(&desk, &max, &filter).await, told);
    }
}

on_both! {
    /// More ports than are read from the index one by one, a receipt without a port among them.
    async fn a_host_on_many_ports_has_all_of_its_receipts(desk: Desk) {
        // Names stand beside each that sort near it; what is newest is on another host.
        let host = "CASE n % 3 WHEN 0 THEN '16' WHEN 1 THEN '17' ELSE '20' END || '.example'";
        let port = "CAST(9000 + n / 3 % (CASE n % 3 WHEN 0 THEN 16 WHEN 1 THEN 17 ELSE 20 END) AS TEXT)";
        fill_with(&desk, 0, 3_599, &format!(
            "CASE n / 3 % 40 WHEN 39 THEN {host} WHEN 38 THEN {host} || ';1' WHEN 37 THEN {host} || '.net:1' ELSE {host} || ':' || {port} END"
        )).await;
        fill(&desk, 3_600, COUNT - 1).await;
        let olga = desk.visitor(&desk.olga).await;
        for (kind, host) in [(0, "16.example"), (1, "17.example"), (2, "20.example")] {
            let none = || ReceiptFilter { host: Some(host.to_owned()), ..ReceiptFilter::default() };
            let done = ReceiptFilter { outcome: Some(Outcome::Done), ..none() };
            let careful = ReceiptFilter { agent: Some("careful".to_owned()), ..none() };
            for filter in [none(), done, careful] {
                let rest = ReceiptFilter { host: None, ..filter.clone() };
                let is_there = |n: &i64| n % 3 == kind && ![37, 38].contains(&(n / 3 % 40)) && fits(&row(*n, &desk), &rest);
                let wanted: Vec<_> = (0..3_600).rev().filter(is_there).map(id).collect();
                let told: Vec<_> = all(&desk, &olga, &filter, 300).await.iter().flat_map(ids).collect();
                assert_eq!(told, wanted, "{filter:?}");
                assert_eq!(listed(&desk, &olga, &filter).await, wanted, "{filter:?}");
            }
        }
    }
}

on_both! {
    async fn the_way_back_shows_what_the_way_there_did(desk: Desk) {
        fill(&desk, 0, COUNT - 1).await;
        let olga = desk.visitor(&desk.olga).await;
        for filter in singles(&desk) {
            let pages = all(&desk, &olga, &filter, 300).await;
            let mut back = Vec::new();
            let mut newer = pages.last().and_then(|page| page.newer.clone());
            while newer.is_some() {
                let page = leaf(&desk, &olga, &filter, 300, newer.take()).await;
                newer.clone_from(&page.newer);
                back.push(page);
            }
            let mut seen: Vec<String> = back.iter().rev().flat_map(ids).collect();
            seen.extend(pages.last().map(ids).unwrap_or_default());
            // The newest page is always a whole one, so its last rows may be told twice.
            let mut known = HashSet::new();
            seen.retain(|id| known.insert(id.clone()));
            assert_eq!(seen, expected(&desk, &filter), "{filter:?}");
        }
    }
}

on_both! {
    async fn pages_stay_where_they_are_while_receipts_are_added(desk: Desk) {
        fill(&desk, 0, 99).await;
        let olga = desk.visitor(&desk.olga).await;
        let every = ReceiptFilter::default();
        let first = leaf(&desk, &olga, &every, 10, None).await;
        fill(&desk, 100, 104).await;
        let second = leaf(&desk, &olga, &every, 10, first.older.clone()).await;
        assert_eq!(ids(&second).first(), Some(&id(89)));
        fill(&desk, 105, 124).await;
        let again = leaf(&desk, &olga, &every, 10, second.newer.clone()).await;
        assert_eq!(ids(&again), ids(&first), "newer is what was newer");
        let newer = leaf(&desk, &olga, &every, 10, again.newer.clone()).await;
        assert_eq!(ids(&newer), (100..110).rev().map(id).collect::<Vec<_>>(), "then what was added");
        let newer = leaf(&desk, &olga, &every, 10, newer.newer).await;
        let newest = leaf(&desk, &olga, &every, 10, newer.newer.clone()).await;
        assert_eq!((ids(&newest), &newest.newer), ((115..125).rev().map(id).collect::<Vec<_>>(), &None));
        let down: Vec<_> = all(&desk, &olga, &every, 10).await.iter().flat_map(ids).collect();
        assert_eq!(down, (0..125).rev().map(id).collect::<Vec<_>>());
    }
}

on_both! {
    async fn a_page_that_was_left_early_says_where_and_goes_on(desk: Desk) {
        fill(&desk, 0, COUNT - 1).await;
        let olga = desk.visitor(&desk.olga).await;
        // Of two filters the one is read that has the fewer.
        let never = ReceiptFilter { outcome: Some(Outcome::SettledHappened), action: Some("rare".to_owned()), ..ReceiptFilter::default() };
        assert!(leaf(&desk, &olga, &never, 50, None).await.older.is_none(), "the rare one is read, and it has an end");
        // What is newest fits none of it.
        let usual = ReceiptFilter { action: Some("usual".to_owned()), outcome: Some(Outcome::Done), ..ReceiptFilter::default() };
        execute(&desk.database, "INSERT INTO receipts (id, at, call_id, action, surface, method, url, host, body_size, body_sha256, approval_kind, approval_by, outcome) \
            WITH RECURSIVE k (n) AS (SELECT 5000 UNION ALL SELECT n + 1 FROM k WHERE n < 9000) \
            SELECT 'rct_01h455vb4pex5vsknk084s' || SUBSTR(CAST(10000 + n AS TEXT), 2), 9, 'call_x' || CAST(n AS TEXT), 'usual', 'api', 'POST', 'u', 'b.example', 0, 'd', 'none', '[]', 'in_doubt' FROM k").await;
        let empty = leaf(&desk, &olga, &usual, 50, None).await;
        assert!(empty.items.is_empty(), "{:?}", ids(&empty));
        assert_eq!(empty.looked_to, Some(Time::from_micros(9)));
        let told: Vec<_> = all(&desk, &olga, &usual, 500).await.iter().flat_map(ids).collect();
        assert_eq!(told, expected(&desk, &usual));
    }
}

on_both! {
    async fn what_nothing_can_fit_is_empty(desk: Desk) {
        fill(&desk, 0, 20).await;
        let olga = desk.visitor(&desk.olga).await;
        let none = ReceiptFilter::default;
        for filter in [
            ReceiptFilter { agent: Some("nobody".to_owned()), ..none() },
            ReceiptFilter { host: Some("a.exampl".to_owned()), ..none() },
            ReceiptFilter { host: Some("_.example".to_owned()), ..none() },
            ReceiptFilter { action: Some("usual' OR 1=1".to_owned()), ..none() },
            ReceiptFilter { from: Some(Time::from_micros(i64::MAX)), ..none() },
            ReceiptFilter { to: Some(Time::from_micros(0)), ..none() },
        ] {
            let page = leaf(&desk, &olga, &filter, 50, None).await;
            assert_eq!((ids(&page), page.older, page.newer), (vec![], None, None), "{filter:?}");
        }
    }
}
