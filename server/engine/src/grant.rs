//! Standing grants: a person who confirms a held call lets through more like it, so many and so long.
//!
//! A grant is made with one held call and says what a later one has to be like. It answers one question alone, whether a
//! call that would wait because it needs an approval may go on: what holds a call for any other reason holds it still.
//! What cannot be checked is held.

mod ending;
mod making;
mod offer;
mod scope;
mod using;

use std::time::Duration;

use model::{AgentId, ApprovalId, CallId, PersonId, Time};

pub use self::making::NewGrant;
pub(crate) use self::making::{not_covered, not_made};
pub use self::offer::{GrantOffer, GrantPart};
pub use self::scope::{Allowed, Place, Varies};
pub(crate) use self::using::{Granted, granted};
use crate::catalogue::Action;

/// The most calls that one grant lets through.
pub const MOST_USES: u32 = 100;

/// How many calls a grant lets through when nobody says otherwise.
pub const USUAL_USES: u32 = 5;

/// The longest that one lasts.
pub const LONGEST: Duration = Duration::from_hours(8);

/// How long a grant lasts when nobody says otherwise.
pub const USUAL: Duration = Duration::from_hours(1);

/// The shortest that one lasts.
const SHORTEST: Duration = Duration::from_mins(1);

/// How many grants of one agent may live at once.
pub(crate) const MOST_LIVE: i64 = 20;

/// What somebody wants to let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantWanted {
    /// The keys of the parts that may vary ([`GrantPart::key`]); everything else is as in the call.
    pub vary: Vec<String>,
    /// How many further calls.
    pub uses: u32,
    /// How long.
    pub lasts: Duration,
}

/// How a grant ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantEnd {
    /// Every use was taken.
    UsedUp,
    /// Its time was over.
    Lapsed,
    /// Somebody revoked it.
    Revoked,
    /// The Confirm that it was made with was taken back.
    Undone,
    /// Who made it may decide such calls no more.
    Grantor,
    /// Its agent was revoked, or has no owner any more who may act.
    Agent,
    /// What the catalogue says of the action or its credential changed.
    Changed,
}

impl GrantEnd {
    const ALL: [Self; 7] =
        [Self::UsedUp, Self::Lapsed, Self::Revoked, Self::Undone, Self::Grantor, Self::Agent, Self::Changed];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UsedUp => "used_up",
            Self::Lapsed => "lapsed",
            Self::Revoked => "revoked",
            Self::Undone => "undone",
            Self::Grantor => "grantor",
            Self::Agent => "agent",
            Self::Changed => "changed",
        }
    }
}

impl std::str::FromStr for GrantEnd {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|one| one.as_str() == word).ok_or(())
    }
}

/// A grant as somebody is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantLine {
    /// Its id, which every receipt of a use names as its approval.
    pub id: ApprovalId,
    /// The call it was made with.
    pub call: CallId,
    /// Who made it.
    pub grantor: PersonId,
    /// Their name.
    pub grantor_name: String,
    /// The agent whose calls it lets through.
    pub agent: AgentId,
    /// Its name.
    pub agent_name: String,
    /// Whose agent it is.
    pub owner: PersonId,
    /// The action's name; `fetch` and `via` for requests of the agent's own.
    pub action: String,
    /// The action's title.
    pub title: String,
    /// The credential's name.
    pub credential: Option<String>,
    /// The method.
    pub method: String,
    /// The host, with its port when it is not the scheme's own; empty: it stays in the house.
    pub host: String,
    /// How many calls it lets through.
    pub uses: u32,
    /// How many it has let through.
    pub used: u32,
    /// Since when.
    pub made_at: Time,
    /// Until when at the latest.
    pub expires_at: Time,
    /// When it let a call through last.
    pub last_used_at: Option<Time>,
    /// When it ended, and how.
    pub ended: Option<(Time, GrantEnd)>,
    /// The name of who revoked it; `None` for a revoked one: the command line.
    pub ended_by: Option<String>,
    /// What a call has to be like: for its grantor and the agent's owner alone, and while it lives.
    pub allowed: Option<Allowed>,
}

/// Whether calls of an action can be let through in advance: one person's word is enough, they need not prove again who
/// they are, and it can be put back or at worst repeated. What a request of the agent's own deletes is decided each time.
pub(crate) fn can_stand(action: &Action, method: &http::Method) -> bool {
    let deletes = action.passes_on() && *method == http::Method::DELETE;
    action.effect != model::Effect::Destructive && action.quorum == 1 && !action.step_up && !deletes
}
