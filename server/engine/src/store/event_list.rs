//! The journal with filters, both ways. It has no index for them, so for each page so many lines are looked through; the
//! page is what was found there, and its cursor goes on behind them.

use model::{Event, PersonId};
use sqlx::Row;

use super::event::{COLUMNS, read};
use super::list::{IdRange, Looked};
use super::sql::Values;
use super::{Store, StoreError, Turn, Window};
use crate::filter::EventFilter;
use crate::leaf::Leaf;

/// How many lines are looked through for one page.
const LOOK: i64 = 5_000;

impl Store {
    /// The journal, newest first: everybody's, or one person's own calls.
    pub async fn journal(
        &self,
        owner: Option<PersonId>,
        filter: &EventFilter,
        window: &Window,
    ) -> Result<Leaf<Event>, StoreError> {
        if let Some(page) = self.journal_page(owner, filter, window).await? {
            return Ok(page);
        }
        let newest = self.journal_page(owner, filter, &window.newest()).await?;
        Ok(newest.unwrap_or_else(Leaf::empty))
    }

    async fn journal_page(
        &self,
        owner: Option<PersonId>,
        filter: &EventFilter,
        window: &Window,
    ) -> Result<Option<Leaf<Event>>, StoreError> {
        let (turn, mut range) = (window.turn(), window.range());
        let looked =
            if *filter == EventFilter::default() { None } else { self.looked(owner, &range, turn).await? };
        if let Some(Looked { id, .. }) = &looked {
            match turn {
                Turn::Older => range.from(id.clone()),
                Turn::Newer => range.up_to(id.clone()),
            }
        }
        let mut values = Values::default();
        let whose = whose(owner, &mut values);
        let range = values.within("e.id", &range);
        let rest = rest(filter, &mut values);
        let (order, limit) = (turn.order(), window.fetch());
        let sql = format!(
            "SELECT {COLUMNS} FROM events e WHERE {whose}{range}{rest} ORDER BY e.id {order} LIMIT {limit}"
        );
        let rows = self.rows_of(sql, values).await?;
        let events = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(window.leaf(events, looked, |event| event.id.to_string()))
    }

    /// How far so many lines reach; `None`: there are not so many.
    async fn looked(
        &self,
        owner: Option<PersonId>,
        range: &IdRange,
        turn: Turn,
    ) -> Result<Option<Looked>, StoreError> {
        let mut values = Values::default();
        let whose = whose(owner, &mut values);
        let range = values.within("e.id", range);
        let order = turn.order();
        let end = match turn {
            Turn::Older => "MIN",
            Turn::Newer => "MAX",
        };
        let sql = format!(
            "SELECT e.id, e.at FROM events e WHERE e.id = (SELECT CASE WHEN COUNT(*) < {LOOK} THEN NULL ELSE {end}(w.id) END FROM \
             (SELECT e.id FROM events e WHERE {whose}{range} ORDER BY e.id {order} LIMIT {LOOK}) w)"
        );
        let rows = self.rows_of(sql, values).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some(Looked { id: row.try_get(0)?, at: model::Time::from_micros(row.try_get(1)?) }))
    }
}

fn whose(owner: Option<PersonId>, values: &mut Values) -> String {
    match owner {
        Some(owner) => format!(
            "e.person_id = {} AND NOT EXISTS (SELECT 1 FROM events_withheld w WHERE w.event_id = e.id)",
            values.text(owner.to_string())
        ),
        None => "1 = 1".to_owned(),
    }
}

fn rest(filter: &EventFilter, values: &mut Values) -> String {
    let wanted = [
        ("type", filter.kind.map(|kind| kind.as_str().to_owned())),
        ("agent_id", filter.agent.map(|agent| agent.to_string())),
        ("action", filter.action.clone()),
    ];
    let wanted = wanted.into_iter().filter_map(|(column, wanted)| Some((column, wanted?)));
    wanted.fold(String::new(), |sql, (column, wanted)| {
        format!("{sql} AND e.{column} = {}", values.text(wanted))
    })
}
