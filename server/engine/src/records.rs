//! Receipts and the journal: own ones, or everybody's for operators.

use model::{Ability, DoneRow, Event, Listing, PersonId, Receipt, ReceiptId, Refusal};

use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::filter::{PageAsked, ReceiptFilter};
use crate::store::Window;

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
    /// Lines of the Done tab, newest first.
    pub async fn done(
        &self,
        person: &PersonActor,
        filter: &ReceiptFilter,
        page: &PageAsked,
    ) -> Result<Listing<DoneRow>, Refusal> {
        let window = Window::asked(page)?;
        match reach(person, filter)? {
            Reach::Nobody => Ok(empty()),
            Reach::One(owner) => Ok(self.store().done(Some(owner), filter, &window).await?),
            Reach::All => Ok(self.store().done(None, filter, &window).await?),
        }
    }

    /// Receipts, newest first.
    pub async fn receipts(
        &self,
        person: &PersonActor,
        filter: &ReceiptFilter,
        page: &PageAsked,
    ) -> Result<Listing<Receipt>, Refusal> {
        let window = Window::asked(page)?;
        match reach(person, filter)? {
            Reach::Nobody => Ok(empty()),
            Reach::One(owner) => Ok(self.store().receipts(Some(owner), filter, &window).await?),
            Reach::All => Ok(self.store().receipts(None, filter, &window).await?),
        }
    }

    /// One receipt; `None`: there is none for this person.
    pub async fn receipt(&self, person: &PersonActor, id: ReceiptId) -> Result<Option<Receipt>, Refusal> {
        let owner = if sees_all(person)? { None } else { Some(person.id()) };
        Ok(self.store().receipt(owner, id).await?)
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

const fn empty<T>() -> Listing<T> {
    Listing { items: Vec::new(), next_cursor: None }
}
