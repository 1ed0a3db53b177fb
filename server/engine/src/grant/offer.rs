//! What can be let through beside a held call, for the person who is about to confirm it.

use model::{CallId, Refusal};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::can_stand;
use super::scope::{Facts, Place, Scope, Varies, filled_by};
use crate::actor::{Actor, PersonActor, Via};
use crate::catalogue::Action;
use crate::engine::Engine;
use crate::outgoing::Outgoing;
use crate::pipeline::{self, Head, Ready};
use crate::store::{CallRow, CallState, Standing};

/// The most parts that are offered one by one. A call with more is decided one by one itself.
const MOST_PARTS: usize = 100;

/// What can be let through beside a held call: calls as this one, and what of them may vary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantOffer {
    /// The agent's name.
    pub agent: String,
    /// The action's name.
    pub action: String,
    /// The method.
    pub method: String,
    /// The host, with its port when it is not the scheme's own; empty: it stays in the house.
    pub host: String,
    /// The path.
    pub path: String,
    /// The credential's name.
    pub credential: Option<String>,
    /// The tenant that the call names.
    pub tenant: Option<String>,
    /// The parts that may vary if the person says so.
    pub parts: Vec<GrantPart>,
}

/// A part of a call that may vary if the person says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantPart {
    /// Names it in what is wanted.
    pub key: String,
    /// What it is.
    pub place: Place,
    /// Its value in this call, shortened; empty: it has none.
    pub now: String,
    /// The segments of the path that vary with it.
    pub fills: Vec<String>,
}

/// What a call is like and what of it can be freed.
pub(super) struct Offered {
    facts: Facts,
    free: Vec<Free>,
}

/// What is freed together.
struct Free {
    key: String,
    place: Place,
    now: String,
    segments: Vec<usize>,
    varies: Varies,
}

impl Offered {
    /// `None`: it has too many parts.
    pub(super) fn of(
        action: &Action,
        tenant: Option<&str>,
        arguments: &Map<String, Value>,
        outgoing: &Outgoing,
    ) -> Option<Self> {
        let facts = Facts::of(action, tenant, arguments, outgoing);
        if facts.parts.len() > MOST_PARTS {
            return None;
        }
        let mut free = Vec::new();
        if action.passes_on() {
            free.extend(facts.ids().map(|(at, text)| Free {
                key: key(&Place::Segment(at)),
                place: Place::Segment(at),
                now: text.to_owned(),
                segments: vec![at],
                varies: Varies::AsId,
            }));
        }
        for part in facts.parts.iter().filter(|part| !matches!(part.place, Place::Segment(_))) {
            let segments = match &part.place {
                Place::Argument(name) => filled_by(action, arguments, outgoing, name),
                _ => Vec::new(),
            };
            free.push(Free {
                key: key(&part.place),
                place: part.place.clone(),
                now: part.shown.clone(),
                segments,
                varies: Varies::Freely,
            });
        }
        Some(Self { facts, free })
    }

    /// What a call has to be like when these parts may vary; `None`: one of them is no part of it.
    pub(super) fn bound(self, vary: &[String]) -> Option<Scope> {
        let Self { facts, free } = self;
        if vary.iter().any(|key| free.iter().all(|one| one.key != *key)) {
            return None;
        }
        let wanted: Vec<_> = free.iter().filter(|one| vary.contains(&one.key)).collect();
        Some(facts.bound(|place| {
            let fits = |one: &&&Free| {
                one.place == *place || matches!(place, Place::Segment(at) if one.segments.contains(at))
            };
            wanted.iter().find(fits).map_or(Varies::Not, |one| one.varies)
        }))
    }

    fn parts(&self) -> Vec<GrantPart> {
        let part = |free: &Free| GrantPart {
            key: free.key.clone(),
            place: free.place.clone(),
            now: free.now.clone(),
            fills: free.segments.iter().map(|at| self.facts.segment(*at).to_owned()).collect(),
        };
        self.free.iter().map(part).collect()
    }
}

impl Engine {
    /// What this person can let through beside this held call; `None`: nothing.
    ///
    /// Nothing of a call that was not made by an agent, that somebody else decides, or that this person decides for
    /// somebody else; that cannot be put back, or is decided by more than one, or only by who has just proved who they
    /// are; and of one that waits for another reason than that it needs an approval.
    pub async fn grant_offer(&self, person: &PersonActor, id: CallId) -> Result<Option<GrantOffer>, Refusal> {
        let seen = self.seen_by(&Actor::Person(person.clone()), id).await?;
        let Some((row, Standing { decides: true, .. })) = seen else { return Ok(None) };
        if !matches!(row.state, CallState::Held { .. }) || !matches!(person.via(), Via::Session) {
            return Ok(None);
        }
        let stored = self.stored_request(&row)?;
        // Whoever cannot call this any more has nothing to be let through.
        let Ok(allowed) = self.walk_again(&row).await? else { return Ok(None) };
        let (head, ready) = allowed.into_parts();
        if !self.is_grantable(&row, &head, &ready, &stored.outgoing).await?
            || !self.may_grant(person, &head).await?
        {
            return Ok(None);
        }
        let tenant = head.tenant.as_deref();
        let offered = Offered::of(&head.action, tenant, &ready.arguments, &stored.outgoing);
        Ok(offered.map(|offered| GrantOffer {
            agent: row.agent_name.clone().unwrap_or_default(),
            action: row.action.clone(),
            method: stored.outgoing.method.to_string(),
            host: host(&stored.outgoing),
            path: stored.outgoing.url.path().to_owned(),
            credential: head.action.credential.as_ref().map(|credential| credential.name.clone()),
            tenant: head.tenant.clone(),
            parts: offered.parts(),
        }))
    }

    /// Whether calls as this one can be let through in advance, whoever wants to.
    pub(super) async fn is_grantable(
        &self,
        row: &CallRow,
        head: &Head,
        ready: &Ready,
        outgoing: &Outgoing,
    ) -> Result<bool, Refusal> {
        let stands = can_stand(&head.action, &outgoing.method) && row.quorum == 1 && row.agent_id.is_some();
        Ok(stands
            && !row.step_up
            && row.effect == head.action.effect
            && pipeline::waits_for_approval_alone(self, head, ready).await?)
    }

    /// Whether this person decides calls as this one by a right of their own.
    pub(super) async fn may_grant(&self, person: &PersonActor, head: &Head) -> Result<bool, Refusal> {
        let owns = head.actor.person().is_some_and(|owner| owner.id == person.id());
        let barred = owns && !head.action.self_approval;
        let approvers = pipeline::approvers_of(head);
        Ok(!barred && self.store().has_own_right(person.id(), &approvers).await?)
    }
}

/// The host as people are shown it.
pub(super) fn host(outgoing: &Outgoing) -> String {
    let host = outgoing.url.host_str().unwrap_or_default();
    outgoing.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Names a part, whatever stands in its name.
fn key(place: &Place) -> String {
    let text = serde_json::to_vec(place).unwrap_or_else(|_| unreachable!("plain data always serializes"));
    data_encoding::HEXLOWER.encode(&Sha256::digest(text)[..12])
}
