//! How grants end before their last use, and what is told of them.

use std::collections::HashMap;

use model::{ApprovalId, CallId, EventType, Listing, PersonId, Refusal};
use serde_json::Map;

use super::{GrantEnd, GrantLine};
use crate::actor::PersonActor;
use crate::catalogue::Action;
use crate::circles::administers;
use crate::engine::Engine;
use crate::filter::PageAsked;
use crate::pipeline;
use crate::records::sees_all;
use crate::store::{GrantRow, GrantsOf, StoreError, Tx, Window};

/// How many grants are looked at in one go.
const BATCH: i64 = 100;

/// How many grants are counted: what is more is shown as "99+".
const MOST_COUNTED: i64 = 100;

impl Engine {
    /// The grants that this person made or that are for their agents, and for operators everybody's: those that live, or
    /// those that have ended; newest first.
    pub async fn grants(
        &self,
        person: &PersonActor,
        live: bool,
        page: &PageAsked,
    ) -> Result<Listing<GrantLine>, Refusal> {
        let all = sees_all(person)?;
        let window = Window::asked(page)?;
        let rows = self.store().grants_seen_by(person.id(), all, live, &window).await?;
        let items = rows.items.into_iter().map(|row| self.line_for(Some(person.id()), row)).collect();
        Ok(Listing { items, next_cursor: rows.next_cursor })
    }

    /// Every grant, newest first, for whoever runs the desk from its command line: without what a call has to be like.
    pub async fn all_grants(&self, live: bool, page: &PageAsked) -> Result<Listing<GrantLine>, Refusal> {
        self.end_dead_grants().await?;
        let window = Window::asked(page)?;
        let nobody = PersonId::from_uuid(uuid::Uuid::nil());
        let rows = self.store().grants_seen_by(nobody, true, live, &window).await?;
        let items = rows.items.into_iter().map(|row| self.line_for(None, row)).collect();
        Ok(Listing { items, next_cursor: rows.next_cursor })
    }

    /// How many live grants this person may know of. A hundred stands for a hundred or more.
    pub async fn count_grants(&self, person: &PersonActor) -> Result<u64, Refusal> {
        let all = sees_all(person)?;
        Ok(self.store().count_grants_seen_by(person.id(), all, self.now(), MOST_COUNTED).await?)
    }

    /// How many live grants this person made or that are for their agents, for admins: they end when the account is
    /// disabled. A hundred stands for a hundred or more.
    ///
    /// # Errors
    /// `NotFound` for everybody but admins.
    pub async fn count_grants_with(&self, admin: &PersonActor, person: PersonId) -> Result<u64, Refusal> {
        administers(admin)?;
        Ok(self.store().count_grants_seen_by(person, false, self.now(), MOST_COUNTED).await?)
    }

    /// The grant that was made with this call or let it through, as far as this person may know of it.
    pub async fn grant_about(
        &self,
        person: &PersonActor,
        call: CallId,
    ) -> Result<Option<GrantLine>, Refusal> {
        let row = self.store().grant_about(call).await?;
        let known = row.map(|row| self.line_for(Some(person.id()), row));
        Ok(known.filter(|line| concerns(person, line)))
    }

    /// Revokes a grant: from then on it lets nothing through. `false`: it had ended before.
    ///
    /// # Errors
    /// `NotFound` for whoever did not make it, does not own its agent and is no operator.
    pub async fn revoke_grant(&self, person: &PersonActor, id: ApprovalId) -> Result<bool, Refusal> {
        let row = self.store().grant(id).await?.ok_or(Refusal::NotFound)?;
        if !concerns(person, &row.line) {
            return Err(Refusal::NotFound);
        }
        Ok(self.end_grants_now(GrantsOf::One(id), GrantEnd::Revoked, Some(person.id())).await? > 0)
    }

    /// The same for whoever runs the desk from its command line. `NotFound`: there is none.
    pub async fn revoke_grant_at_console(&self, id: ApprovalId) -> Result<bool, Refusal> {
        self.store().grant(id).await?.ok_or(Refusal::NotFound)?;
        Ok(self.end_grants_now(GrantsOf::One(id), GrantEnd::Revoked, None).await? > 0)
    }

    /// Ends the grants that can let nothing through any more: whose time is over, whose grantor may decide such calls no
    /// more, whose agent may not act, and those that the catalogue has left behind. A use asks all of this by itself; this
    /// makes it known.
    pub async fn end_dead_grants(&self) -> Result<(), StoreError> {
        let mut pins = HashMap::new();
        let mut after = None;
        loop {
            let rows = self.store().grants_alive(after, BATCH).await?;
            for row in &rows {
                if let Some(how) = self.death_of(row, &mut pins).await? {
                    self.end_grants_now(GrantsOf::One(row.line.id), how, None).await?;
                }
            }
            match rows.last() {
                Some(last) => after = Some(last.line.id),
                None => return Ok(()),
            }
        }
    }

    /// How a grant has died, if it has. `pins`: what the catalogue says of each action, as far as it was asked.
    async fn death_of(
        &self,
        row: &GrantRow,
        pins: &mut HashMap<(String, Option<String>), Option<[u8; 32]>>,
    ) -> Result<Option<GrantEnd>, StoreError> {
        let line = &row.line;
        if line.expires_at <= self.now() {
            return Ok(Some(GrantEnd::Lapsed));
        }
        if !self.store().agent_of_grant_acts(line.id).await? {
            return Ok(Some(GrantEnd::Agent));
        }
        let action = self.action_of(row);
        let pin = pins.entry((line.action.clone(), line.credential.clone()));
        let pin = *pin.or_insert_with(|| action.as_ref().map(|action| action.pin()));
        let Some(action) = action.filter(|_| pin == Some(row.pin)) else {
            return Ok(Some(GrantEnd::Changed));
        };
        let named = pipeline::named_approvers(&action);
        let approvers = if named.is_empty() { vec![format!("id:{}", line.owner)] } else { named };
        let barred = !action.self_approval && line.grantor == line.owner;
        let decides = !barred && self.store().has_own_right(line.grantor, &approvers).await?;
        Ok((!decides).then_some(GrantEnd::Grantor))
    }

    /// What the catalogue has now in the place of what a grant was made for.
    fn action_of(&self, row: &GrantRow) -> Option<std::sync::Arc<Action>> {
        let mut arguments = Map::new();
        if let Some(credential) = &row.line.credential {
            arguments.insert("credential".to_owned(), credential.as_str().into());
        }
        // The effect of a request that is passed on is told by its method.
        arguments.insert("method".to_owned(), row.line.method.as_str().into());
        self.catalogue().action_for(row.surface, &row.line.action, &arguments)
    }

    /// Ends grants in a transaction of its own, with a journal line each; how many.
    pub(crate) async fn end_grants_now(
        &self,
        which: GrantsOf,
        how: GrantEnd,
        by: Option<PersonId>,
    ) -> Result<usize, StoreError> {
        let mut tx = self.store().begin().await?;
        let ended = self.end_grants(&mut tx, which, how, by).await?;
        tx.commit().await?;
        Ok(ended)
    }

    /// The same in this transaction.
    pub(crate) async fn end_grants(
        &self,
        tx: &mut Tx,
        which: GrantsOf,
        how: GrantEnd,
        by: Option<PersonId>,
    ) -> Result<usize, StoreError> {
        let now = self.now();
        let ended = tx.end_grants(which, how, by, now).await?;
        let kind = if how == GrantEnd::Revoked { EventType::GrantRevoked } else { EventType::GrantEnded };
        for one in &ended {
            tx.insert_end_of_grant(self.event_id(), now, kind, *one).await?;
            tracing::info!(grant = %one.id, how = how.as_str(), "a standing grant ended");
        }
        Ok(ended.len())
    }

    /// What this person is told of a grant: what a call has to be like, to who made it and to the agent's owner alone.
    fn line_for(&self, person: Option<PersonId>, row: GrantRow) -> GrantLine {
        let sees = person.is_some_and(|person| [row.line.grantor, row.line.owner].contains(&person));
        let allowed = if sees { self.scope_of(&row).map(|scope| scope.allowed()) } else { None };
        GrantLine { allowed, ..row.line }
    }
}

/// Whether a person may know of a grant, and end it.
fn concerns(person: &PersonActor, line: &GrantLine) -> bool {
    [line.grantor, line.owner].contains(&person.id()) || person.person().is_operator()
}
