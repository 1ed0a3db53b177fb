//! The engine: what the surfaces and the pages call. Signatures first.
#![allow(unused_variables, clippy::todo, clippy::unused_async, missing_docs)]
use std::sync::Arc;
use std::time::Duration;

use model::{
    Answer, Call, CallId, CallStatus, Decision, DoneRow, Event, HeldCall, Listing, OfferedAction, Person,
    PersonId, Receipt, ReceiptId, Refusal, Surface,
};

use crate::actor::{Actor, Decider, PersonActor};
use crate::arrival::Arrival;
use crate::filter::{PageAsked, ReceiptFilter};
use crate::item::Item;

/// The engine. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<()>);

impl Engine {
    // Who
    /// A bearer token (`csk_…`, `csu_…`).
    pub async fn authenticate(&self, token: &str) -> Result<Actor, Refusal> {
        todo!()
    }
    /// Email and password; `None`: wrong, without telling which.
    pub async fn sign_in(&self, email: &str, password: &str) -> Result<Option<PersonActor>, Refusal> {
        todo!()
    }
    /// The person of a live session; `None` when the account is gone or disabled.
    pub async fn visitor(&self, person: PersonId) -> Result<Option<PersonActor>, Refusal> {
        todo!()
    }

    // Calls
    pub async fn offered(
        &self,
        actor: &Actor,
        surface: Surface,
        tenant: Option<&str>,
    ) -> Result<Vec<OfferedAction>, Refusal> {
        todo!()
    }
    /// One call through the pipeline; `wait`: how long to wait for a person before answering "held".
    pub async fn call(&self, arrival: Arrival, wait: Option<Duration>) -> Result<Answer, Refusal> {
        todo!()
    }
    pub async fn call_status(
        &self,
        actor: &Actor,
        id: CallId,
        wait: Option<Duration>,
    ) -> Result<Call, Refusal> {
        todo!()
    }
    pub async fn withdraw(&self, actor: &Actor, id: CallId) -> Result<Call, Refusal> {
        todo!()
    }

    // Decisions
    pub async fn approvals(&self, decider: &Decider, page: &PageAsked) -> Result<Listing<HeldCall>, Refusal> {
        todo!()
    }
    /// The same list for the page, with names and titles.
    pub async fn inbox(&self, person: &PersonActor, page: &PageAsked) -> Result<Listing<Item>, Refusal> {
        todo!()
    }
    pub async fn inbox_count(&self, person: &PersonActor) -> Result<u64, Refusal> {
        todo!()
    }
    /// One call's page; `None`: not for this person.
    pub async fn item(&self, person: &PersonActor, id: CallId) -> Result<Option<Item>, Refusal> {
        todo!()
    }
    pub async fn decide(&self, decider: &Decider, id: CallId, decision: Decision) -> Result<Call, Refusal> {
        todo!()
    }
    pub async fn undo(&self, decider: &Decider, id: CallId) -> Result<Call, Refusal> {
        todo!()
    }
    /// A sealed token that a page puts beside its Confirm button; `confirm` on a page refuses one younger than 500 ms
    /// or made for another person, call or preview version.
    pub fn view_token(&self, person: &PersonActor, id: CallId, version: &str) -> String {
        todo!()
    }
    /// Whether the token was made for this and is old enough.
    pub fn view_token_fits(
        &self,
        token: &str,
        person: &PersonActor,
        id: CallId,
        version: &str,
    ) -> Result<(), Refusal> {
        todo!()
    }

    // Receipts and journal
    pub async fn done(
        &self,
        person: &PersonActor,
        filter: &ReceiptFilter,
        page: &PageAsked,
    ) -> Result<Listing<DoneRow>, Refusal> {
        todo!()
    }
    pub async fn receipts(
        &self,
        person: &PersonActor,
        filter: &ReceiptFilter,
        page: &PageAsked,
    ) -> Result<Listing<Receipt>, Refusal> {
        todo!()
    }
    pub async fn receipt(&self, person: &PersonActor, id: ReceiptId) -> Result<Option<Receipt>, Refusal> {
        todo!()
    }
    pub async fn events(&self, person: &PersonActor, page: &PageAsked) -> Result<Listing<Event>, Refusal> {
        todo!()
    }
    /// A person's own agents' calls, however they ended.
    pub async fn calls(&self, person: &PersonActor, page: &PageAsked) -> Result<Listing<Item>, Refusal> {
        todo!()
    }

    // Operators' lists: `NotFound` for everybody else
    pub async fn people(&self, person: &PersonActor) -> Result<Vec<Person>, Refusal> {
        todo!()
    }
    pub async fn agents(&self, person: &PersonActor) -> Result<Vec<crate::agent::AgentLine>, Refusal> {
        todo!()
    }
    pub fn actions(&self, person: &PersonActor) -> Result<Vec<OfferedAction>, Refusal> {
        todo!()
    }
    pub fn credentials(&self, person: &PersonActor) -> Result<Vec<crate::credential::Credential>, Refusal> {
        todo!()
    }

    pub async fn ready(&self) -> Result<(), Refusal> {
        todo!()
    }
    pub fn now(&self) -> model::Time {
        todo!()
    }
    pub fn public_url(&self) -> String {
        todo!()
    }
}
#[allow(dead_code)]
fn _unused(_: CallStatus) {}
