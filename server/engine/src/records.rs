//! Receipts and the journal: own ones, or everybody's for operators.

use model::{Ability, Event, EventId, Listing, PersonId, Receipt, ReceiptFacts, ReceiptId, Refusal};

use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::filter::{EventFilter, PageAsked, ReceiptFilter};
use crate::leaf::Leaf;
use crate::registry::oversees;
use crate::store::{EventDecider, Window};

/// Whose records a person sees.
enum Reach {
    /// Everybody's.
    All,
    /// One person's.
    One(PersonId),
    /// Nobody's: another person's were asked for.
    Nobody,
}

impl Engine {
    /// What the Done tab tells of receipts, newest first. It can be turned both ways.
    pub async fn done(
        &self,
        person: &PersonActor,
        filter: &ReceiptFilter,
        page: &PageAsked,
    ) -> Result<Leaf<ReceiptFacts>, Refusal> {
        let window = Window::turned(page)?;
        match reach(person, filter)? {
            Reach::Nobody => Ok(Leaf::empty()),
            Reach::One(owner) => Ok(self.store().done(Some(owner), filter, &window).await?),
            Reach::All => Ok(self.store().done(None, filter, &window).await?),
        }
    }

    /// The same of everybody, for who runs the desk.
    pub async fn all_done(
        &self,
        filter: &ReceiptFilter,
        page: &PageAsked,
    ) -> Result<Leaf<ReceiptFacts>, Refusal> {
        Ok(self.store().done(filter.person, filter, &Window::turned(page)?).await?)
    }

    /// Receipts, newest first. Where filters go together that no index has, so many rows are looked through for a page;
    /// it may have fewer items than there are then, and its cursor goes on.
    pub async fn receipts(
        &self,
        person: &PersonActor,
        filter: &ReceiptFilter,
        page: &PageAsked,
    ) -> Result<Listing<Receipt>, Refusal> {
        let window = Window::asked(page)?;
        let leaf = match reach(person, filter)? {
            Reach::Nobody => Leaf::empty(),
            Reach::One(owner) => self.store().receipts(Some(owner), filter, &window).await?,
            Reach::All => self.store().receipts(None, filter, &window).await?,
        };
        Ok(leaf.into_listing())
    }

    /// One receipt; `None`: there is none for this person.
    pub async fn receipt(&self, person: &PersonActor, id: ReceiptId) -> Result<Option<Receipt>, Refusal> {
        let owner = if sees_all(person)? { None } else { Some(person.id()) };
        Ok(self.store().receipt(owner, id).await?)
    }

    /// The journal narrowed to some of its lines, newest first. It can be turned both ways.
    pub async fn happenings(
        &self,
        person: &PersonActor,
        filter: &EventFilter,
        page: &PageAsked,
    ) -> Result<Leaf<Event>, Refusal> {
        let owner = if sees_all(person)? { None } else { Some(person.id()) };
        let window = Window::turned(page)?;
        if filter.action.as_ref().is_some_and(|action| action.contains('\0')) {
            return Ok(Leaf::empty());
        }
        self.journal_is_written().await;
        Ok(self.store().journal(owner, filter, &window).await?)
    }

    /// Who decided, of those of these lines that tell of a decision. For operators and admins.
    ///
    /// # Errors
    /// `NotFound` for everybody else.
    pub async fn event_deciders(
        &self,
        person: &PersonActor,
        events: &[EventId],
    ) -> Result<Vec<EventDecider>, Refusal> {
        oversees(person)?;
        Ok(self.store().deciders_of_events(events).await?)
    }

    /// The journal, newest first.
    pub async fn events(&self, person: &PersonActor, page: &PageAsked) -> Result<Listing<Event>, Refusal> {
        let owner = if sees_all(person)? { None } else { Some(person.id()) };
        self.journal_is_written().await;
        Ok(self.store().events(owner, &Window::asked(page)?).await?)
    }
}

/// Whether the person sees everybody's records.
pub(crate) fn sees_all(person: &PersonActor) -> Result<bool, Refusal> {
    if person.has(Ability::ReceiptsRead) { Ok(person.person().is_operator()) } else { Err(Refusal::Denied) }
}

fn reach(person: &PersonActor, filter: &ReceiptFilter) -> Result<Reach, Refusal> {
    let all = sees_all(person)?;
    let texts = [&filter.agent, &filter.action, &filter.host];
    if texts.into_iter().flatten().any(|text| text.contains('\0')) {
        // Nothing is named with a NUL.
        return Ok(Reach::Nobody);
    }
    Ok(match filter.person {
        None if all => Reach::All,
        Some(one) if all => Reach::One(one),
        Some(one) if one != person.id() => Reach::Nobody,
        _ => Reach::One(person.id()),
    })
}
