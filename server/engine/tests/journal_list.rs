//! The journal narrowed to some of its lines, page by page, both ways, also while lines are added.

mod desk;

use desk::Desk;
use engine::{EventFilter, Leaf, PageAsked};
use model::{Event, EventType};

fn id(n: i64) -> String {
    format!("evt_01h455vb4pex5vsknk084s{n:04}")
}

/// Lines `from` to `to`: of one agent or the other, of one action in a thousand, of two kinds.
async fn fill(desk: &Desk, from: i64, to: i64) {
    let agents = desk.database.texts("SELECT id FROM agents ORDER BY name").await;
    let sql = format!(
        "INSERT INTO events (id, at, type, call_id, action, surface, person_id, agent_id, status) \
         WITH RECURSIVE k (n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM k WHERE n < {to}) \
         SELECT 'evt_01h455vb4pex5vsknk084s' || SUBSTR(CAST(10000 + n AS TEXT), 2), n, \
         CASE WHEN n % 4 = 1 THEN 'action.refused' ELSE 'action.completed' END, 'call_01h455vb4pex5vsknk084sn02q', \
         CASE WHEN n % 1000 = 3 THEN 'rare' ELSE 'usual' END, 'api', CASE n % 2 WHEN 0 THEN '{}' ELSE '{}' END, \
         CASE n % 3 WHEN 0 THEN '{}' WHEN 1 THEN '{}' END, 'done' FROM k",
        desk.ann.id, desk.max.id, agents[0], agents[1]
    );
    desk.database.run(&sql).await.expect("written");
}

async fn leaf(desk: &Desk, filter: &EventFilter, cursor: Option<String>) -> Leaf<Event> {
    let olga = desk.visitor(&desk.olga).await;
    let page = PageAsked { limit: Some(40), cursor };
    desk.engine.happenings(&olga, filter, &page).await.expect("a page")
}

fn ids(leaf: &Leaf<Event>) -> Vec<String> {
    leaf.items.iter().map(|event| event.id.to_string()).collect()
}

/// Every page, from the newest to the oldest.
async fn all(desk: &Desk, filter: &EventFilter) -> Vec<Leaf<Event>> {
    let mut pages = vec![leaf(desk, filter, None).await];
    while let Some(older) = pages.last().and_then(|page| page.older.clone()) {
        pages.push(leaf(desk, filter, Some(older)).await);
    }
    pages
}

/// Whether the line of this number is among what is asked for.
type Fits = fn(i64) -> bool;

on_both! {
    async fn each_filter_gives_what_fits(desk: Desk) {
        fill(&desk, 0, 599).await;
        let agents = desk.database.texts("SELECT id FROM agents ORDER BY name").await;
        let careful = agents[0].parse().expect("an id");
        let every = EventFilter::default();
        let refused = EventFilter { kind: Some(EventType::Refused), ..every.clone() };
        let of_careful = EventFilter { agent: Some(careful), ..every.clone() };
        let rare = EventFilter { action: Some("rare".to_owned()), ..every.clone() };
        let both = EventFilter { agent: Some(careful), ..refused.clone() };
        let none = EventFilter { kind: Some(EventType::Held), ..every.clone() };
        let cases: [(EventFilter, Fits); 6] = [
            (every, |_| true),
            (refused, |n| n % 4 == 1),
            (of_careful, |n| n % 3 == 0),
            (rare, |n| n % 1_000 == 3),
            (both, |n| n % 4 == 1 && n % 3 == 0),
            (none, |_| false),
        ];
        for (filter, fits) in cases {
            let told: Vec<_> = all(&desk, &filter).await.iter().flat_map(ids).collect();
            let expected: Vec<_> = (0..600).rev().filter(|n| fits(*n)).map(id).collect();
            assert_eq!(told, expected, "{filter:?}");
        }
        // An admin, who is no operator, sees their own alone.
        let max = desk.visitor(&desk.max).await;
        let own = desk.engine.happenings(&max, &EventFilter::default(), &PageAsked::default()).await.expect("a page");
        assert!(own.items.iter().all(|event| event.person_id == Some(desk.max.id)) && own.items.len() == 50);
    }
}

on_both! {
    async fn the_way_back_while_lines_are_added(desk: Desk) {
        fill(&desk, 0, 399).await;
        let filter = EventFilter { kind: Some(EventType::Refused), ..EventFilter::default() };
        let first = leaf(&desk, &filter, None).await;
        let second = leaf(&desk, &filter, first.older.clone()).await;
        fill(&desk, 400, 599).await;
        let again = leaf(&desk, &filter, second.newer.clone()).await;
        assert_eq!(ids(&again), ids(&first));
        let added = leaf(&desk, &filter, again.newer).await;
        let expected: Vec<_> = (400..600).rev().filter(|n| n % 4 == 1).map(id).collect();
        assert_eq!(ids(&added)[..10], expected[expected.len() - 40..][..10]);
    }
}

on_both! {
    async fn a_page_that_was_left_early_says_where_and_goes_on(desk: Desk) {
        fill(&desk, 0, 6_500).await;
        let rare = EventFilter { kind: Some(EventType::Held), ..EventFilter::default() };
        let first = leaf(&desk, &rare, None).await;
        assert!(first.items.is_empty());
        assert_eq!(first.looked_to.map(model::Time::micros), Some(1_501));
        let rest = leaf(&desk, &rare, first.older).await;
        assert_eq!((rest.items.len(), rest.older, rest.looked_to), (0, None, None));
    }
}
