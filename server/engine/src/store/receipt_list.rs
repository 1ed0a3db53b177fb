//! Lists of receipts, in a time that does not grow with how many there are.
//!
//! Each filter has an index that gives its receipts in the order of their ids. One filter alone is read from its index.
//! Of several, the one whose receipts reach back furthest is read, and the others are looked for among so many of its
//! rows; the page is what was found there, and its cursor goes on behind them. What no index gives in that order is only
//! looked for.

use model::{AgentId, Outcome, PersonId, Receipt, ReceiptFacts, Time};
use sqlx::Row;
use sqlx::any::AnyRow;

use super::list::{IdRange, Looked};
use super::receipt::{AMENDED, COLUMNS, JOINS, read};
use super::sql::Values;
use super::{Store, StoreError, Turn, Window};
use crate::filter::ReceiptFilter;
use crate::leaf::Leaf;

/// How many times a page's rows are looked through for one page: as many as a desk with few receipts has to offer, so that
/// millions make no page slower.
const LOOK: i64 = 4;

/// How many rows beside a moment are asked for the id that stands there. Ids follow the times but roughly: a clock may
/// have gone back, and a node's may be ahead.
const NEIGHBOURS: i64 = 200;

/// On how many ports of a host receipts are read from their index. A host on more ports is only looked for among rows
/// that are read otherwise.
const PORTS: usize = 16;

/// A condition that an index finds, in the order of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    /// The column is one of these.
    By(&'static str, Vec<String>),
    /// No answer was seen when the receipt was written.
    Unanswered,
}

/// What a filter comes to.
#[derive(Debug, Default)]
struct Narrowing {
    found: Vec<Found>,
    /// A host that has receipts on many ports.
    on_ports: Option<String>,
    outcome: Option<Outcome>,
    from: Option<Time>,
    to: Option<Time>,
    within: IdRange,
}

/// How far a page's rows are looked through.
struct Reach {
    count: i64,
    end: Option<String>,
}

impl Store {
    /// Receipts, newest first: everybody's, or one person's.
    pub async fn receipts(
        &self,
        owner: Option<PersonId>,
        filter: &ReceiptFilter,
        window: &Window,
    ) -> Result<Leaf<Receipt>, StoreError> {
        let page = self.receipt_page(owner, filter, window).await?;
        let receipts = page.items.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(page.with(receipts))
    }

    /// The same as the Done tab and exports tell them.
    pub async fn done(
        &self,
        owner: Option<PersonId>,
        filter: &ReceiptFilter,
        window: &Window,
    ) -> Result<Leaf<ReceiptFacts>, StoreError> {
        let page = self.receipt_page(owner, filter, window).await?;
        let facts = self.facts(&page.items).await?;
        Ok(page.with(facts))
    }

    async fn receipt_page(
        &self,
        owner: Option<PersonId>,
        filter: &ReceiptFilter,
        window: &Window,
    ) -> Result<Leaf<AnyRow>, StoreError> {
        let Some(narrowing) = self.narrowing(owner, filter).await? else { return Ok(Leaf::empty()) };
        match self.turn_to(&narrowing, window).await? {
            Some(page) => Ok(page),
            None => Ok(self.turn_to(&narrowing, &window.newest()).await?.unwrap_or_else(Leaf::empty)),
        }
    }

    /// The page of this window; `None`: nothing is newer than what it has, so the newest page is wanted.
    async fn turn_to(
        &self,
        narrowing: &Narrowing,
        window: &Window,
    ) -> Result<Option<Leaf<AnyRow>>, StoreError> {
        let mut range = window.range();
        if let Some((id, _)) = &narrowing.within.above {
            range.from(id.clone());
        }
        if let Some((id, _)) = &narrowing.within.below {
            range.up_to(id.clone());
        }
        let turn = window.turn();
        let id = |row: &AnyRow| row.try_get::<String, _>("id").unwrap_or_default();
        if narrowing.is_found_alone() {
            let rows = self.read_from(narrowing, narrowing.found.first(), &range, turn, window.fetch());
            return Ok(window.leaf(rows.await?, None, id));
        }
        let look = LOOK * window.fetch();
        let (lead, reach) = self.lead(narrowing, &range, turn, look).await?;
        let end = reach.end.filter(|_| reach.count >= look);
        if let Some(end) = &end {
            match turn {
                Turn::Older => range.from(end.clone()),
                Turn::Newer => range.up_to(end.clone()),
            }
        }
        let rows = self.read_from(narrowing, lead, &range, turn, window.fetch()).await?;
        let looked = match end {
            Some(id) => self.receipt_time(&id).await?.map(|at| Looked { id, at }),
            None => None,
        };
        Ok(window.leaf(rows, looked, id))
    }

    /// The condition whose rows reach furthest, and how far so many of them do.
    async fn lead<'n>(
        &self,
        narrowing: &'n Narrowing,
        range: &IdRange,
        turn: Turn,
        look: i64,
    ) -> Result<(Option<&'n Found>, Reach), StoreError> {
        let mut best: Option<(Option<&Found>, Reach)> = None;
        let candidates: Vec<Option<&Found>> =
            if narrowing.found.is_empty() { vec![None] } else { narrowing.found.iter().map(Some).collect() };
        for found in candidates {
            let reach = self.reach(found, range, turn, look).await?;
            if reach.count < look {
                return Ok((found, reach));
            }
            let is_further = best.as_ref().is_none_or(|(_, known)| match turn {
                Turn::Older => reach.end < known.end,
                Turn::Newer => reach.end > known.end,
            });
            if is_further {
                best = Some((found, reach));
            }
        }
        Ok(best.unwrap_or((None, Reach { count: 0, end: None })))
    }

    async fn reach(
        &self,
        found: Option<&Found>,
        range: &IdRange,
        turn: Turn,
        look: i64,
    ) -> Result<Reach, StoreError> {
        let mut values = Values::default();
        let source = source("r.id", found, range, turn, look, &mut values, |_| String::new());
        let end = match turn {
            Turn::Older => "MIN",
            Turn::Newer => "MAX",
        };
        let rows = self.rows_of(format!("SELECT COUNT(*), {end}(w.id) FROM ({source}) w"), values).await?;
        let row = rows.first().ok_or(sqlx::Error::RowNotFound)?;
        Ok(Reach { count: row.try_get(0)?, end: row.try_get(1)? })
    }

    /// At most `limit` rows that fit everything, of those that this condition finds.
    async fn read_from(
        &self,
        narrowing: &Narrowing,
        lead: Option<&Found>,
        range: &IdRange,
        turn: Turn,
        limit: i64,
    ) -> Result<Vec<AnyRow>, StoreError> {
        let mut values = Values::default();
        let source =
            source("r.*", lead, range, turn, limit, &mut values, |values| narrowing.rest(lead, values));
        let order = turn.order();
        // As text of its own the page is made before anything is joined to it.
        let sql = format!(
            "WITH w AS MATERIALIZED ({source}) SELECT {COLUMNS} FROM w r {JOINS} ORDER BY r.id {order}"
        );
        self.rows_of(sql, values).await
    }

    async fn receipt_time(&self, id: &str) -> Result<Option<Time>, StoreError> {
        let at: Option<i64> = sqlx::query_scalar("SELECT at FROM receipts WHERE id = $1")
            .bind(id)
            .fetch_optional(&self.read)
            .await?;
        Ok(at.map(Time::from_micros))
    }

    /// What the filter comes to here; `None`: no receipt can fit it.
    async fn narrowing(
        &self,
        owner: Option<PersonId>,
        filter: &ReceiptFilter,
    ) -> Result<Option<Narrowing>, StoreError> {
        let mut all =
            Narrowing { outcome: filter.outcome, from: filter.from, to: filter.to, ..Narrowing::default() };
        if let Some(agent) = &filter.agent {
            all.found.push(Found::By("agent_id", self.agents_called(agent).await?));
        }
        if let Some(owner) = owner {
            all.found.push(Found::By("person_id", vec![owner.to_string()]));
        }
        if let Some(host) = &filter.host {
            match self.hosts_called(host).await? {
                Some(hosts) => all.found.push(Found::By("host", hosts)),
                None => all.on_ports = Some(host.clone()),
            }
        }
        if let Some(action) = &filter.action {
            all.found.push(Found::By("action", vec![action.clone()]));
        }
        // Only what was not answered at first can end otherwise.
        if filter.outcome.is_some_and(|outcome| outcome != Outcome::Done) {
            all.found.push(Found::Unanswered);
        }
        if all.found.iter().any(|found| matches!(found, Found::By(_, values) if values.is_empty())) {
            return Ok(None);
        }
        for (time, is_from) in [(filter.from, true), (filter.to, false)] {
            let Some(time) = time else { continue };
            match (self.id_beside(time, is_from).await?, is_from) {
                (Some(id), true) => all.within.from(id),
                (Some(id), false) => all.within.up_to(id),
                (None, _) => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    /// The agent of this name or id.
    async fn agents_called(&self, name: &str) -> Result<Vec<String>, StoreError> {
        let known = name.parse::<AgentId>().map(|id| id.to_string()).unwrap_or_default();
        let ids = sqlx::query_scalar("SELECT id FROM agents WHERE name = $1 OR id = $2");
        Ok(ids.bind(name).bind(known).fetch_all(&self.read).await?)
    }

    /// The host itself, and it on every port that something was sent to; `None`: on too many.
    async fn hosts_called(&self, host: &str) -> Result<Option<Vec<String>>, StoreError> {
        let mut hosts = vec![host.to_owned()];
        // `;` comes right behind `:`.
        let (mut last, beyond) = (format!("{host}:"), format!("{host};"));
        while hosts.len() <= PORTS + 1 {
            let next: Option<String> =
                sqlx::query_scalar("SELECT MIN(host) FROM receipts WHERE host > $1 AND host < $2")
                    .bind(&last)
                    .bind(&beyond)
                    .fetch_one(&self.read)
                    .await?;
            let Some(next) = next else { return Ok(Some(hosts)) };
            hosts.push(next.clone());
            last = next;
        }
        Ok(None)
    }

    /// An id at or before that of every receipt from this time on; or at or behind that of every one before it.
    async fn id_beside(&self, time: Time, is_from: bool) -> Result<Option<String>, StoreError> {
        let sql = if is_from {
            format!(
                "SELECT MIN(w.id) FROM (SELECT id FROM receipts WHERE at >= $1 ORDER BY at LIMIT {NEIGHBOURS}) w"
            )
        } else {
            format!(
                "SELECT MAX(w.id) FROM (SELECT id FROM receipts WHERE at < $1 ORDER BY at DESC LIMIT {NEIGHBOURS}) w"
            )
        };
        let id = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).bind(time.micros()).fetch_one(&self.read);
        Ok(id.await?)
    }
}

impl Narrowing {
    /// One index has it all.
    fn is_found_alone(&self) -> bool {
        self.found.len() <= 1
            && self.on_ports.is_none()
            && self.outcome.is_none()
            && self.from.is_none()
            && self.to.is_none()
    }

    /// Everything but what the rows are found by, as the rest of a `WHERE` that has begun over `receipts r`. Columns
    /// stand in expressions that change nothing: no database is to look for these rows by another index, which may have
    /// far more of them.
    fn rest(&self, lead: Option<&Found>, values: &mut Values) -> String {
        let others = self.found.iter().filter(|found| Some(*found) != lead);
        let mut all: Vec<String> = others.map(|found| found.looked_at(values)).collect();
        if let Some(host) = &self.on_ports {
            let begin = format!("{host}:");
            let length = begin.chars().count();
            let (host, begin) = (values.text(host.clone()), values.text(begin));
            all.push(format!("(r.host || '' = {host} OR SUBSTR(r.host, 1, {length}) = {begin})"));
        }
        match self.outcome {
            None => {}
            Some(Outcome::Done) => all.push(format!("(r.outcome || '' = 'done' OR {AMENDED} = 'done')")),
            Some(outcome) => {
                let wanted = values.text(outcome.as_str());
                all.push(format!("COALESCE({AMENDED}, 'in_doubt') = {wanted}"));
            }
        }
        if let Some(from) = self.from {
            all.push(format!("r.at + 0 >= {}", values.number(from.micros())));
        }
        if let Some(to) = self.to {
            all.push(format!("r.at + 0 < {}", values.number(to.micros())));
        }
        all.iter().fold(String::new(), |sql, condition| format!("{sql} AND {condition}"))
    }
}

impl Found {
    /// For an index to find.
    fn condition(&self, values: &mut Values) -> String {
        match self {
            Self::By(column, wanted) => values.one_of(&format!("r.{column}"), wanted),
            // Written out: the index is of these rows alone, and a database has to see that.
            Self::Unanswered => "r.outcome = 'in_doubt'".to_owned(),
        }
    }

    /// For each row to be looked at.
    fn looked_at(&self, values: &mut Values) -> String {
        match self {
            Self::By(column, wanted) => values.one_of(&format!("r.{column} || ''"), wanted),
            Self::Unanswered => "r.outcome || '' = 'in_doubt'".to_owned(),
        }
    }

    /// The same, one condition for each of its values: an index gives the order for one value only.
    fn each(&self) -> Vec<Self> {
        match self {
            Self::By(column, wanted) => {
                wanted.iter().map(|value| Self::By(column, vec![value.clone()])).collect()
            }
            Self::Unanswered => vec![Self::Unanswered],
        }
    }
}

/// The first `most` rows that the condition finds in the range and that fit the rest, in the order of the turn.
fn source(
    columns: &str,
    found: Option<&Found>,
    range: &IdRange,
    turn: Turn,
    most: i64,
    values: &mut Values,
    rest: impl Fn(&mut Values) -> String,
) -> String {
    let order = turn.order();
    let mut one = |found: Option<&Found>| {
        let condition = found.map_or_else(|| "1 = 1".to_owned(), |found| found.condition(values));
        let range = values.within("r.id", range);
        let rest = rest(values);
        format!(
            "SELECT {columns} FROM receipts r WHERE {condition}{range}{rest} ORDER BY r.id {order} LIMIT {most}"
        )
    };
    let parts: Vec<String> = match found {
        None => vec![one(None)],
        Some(found) => found.each().iter().map(|each| one(Some(each))).collect(),
    };
    if let [alone] = parts.as_slice() {
        return alone.clone();
    }
    let numbered = parts.iter().enumerate().map(|(at, part)| format!("SELECT * FROM ({part}) part{at}"));
    format!("{} ORDER BY id {order} LIMIT {most}", numbered.collect::<Vec<_>>().join(" UNION ALL "))
}
