//! What waits for a person, and one call as its page shows it.

use model::{Call, CallId, CallStatus, Effect, HeldCall, Listing, PersonId, Preview, Refusal, Role};

use crate::actor::{Actor, Decider, PersonActor};
use crate::delegation::Delegation;
use crate::engine::Engine;
use crate::filter::{InboxFilter, PageAsked};
use crate::item::{Item, Whereabouts};
use crate::likeness::Likeness;
use crate::line;
use crate::pipeline;
use crate::store::{CallRow, CallState, Standing, StoreError, Window};

/// How many calls in doubt stand at the top of an inbox. More are told by the count.
const MOST_PINNED: i64 = 100;

/// How far the calls that wait are counted: what is more is shown as "99+".
const MOST_COUNTED: i64 = 100;

/// How many of a session's earlier calls are told beside a call.
const MOST_EARLIER: i64 = 10;

/// How many calls that one looks like are named.
const MOST_ALIKE: i64 = 3;

/// How many held calls that somebody has voted on are told.
const MOST_VOTED: i64 = 50;

/// How many overrides are told at the top of an inbox, and for how many seconds.
const MOST_OVERRIDDEN: i64 = 5;
const OVERRIDDEN_IS_FRESH: i64 = 86_400;

/// What the held calls of a person can be narrowed by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices {
    /// Names of agents.
    pub agents: Vec<String>,
    /// Names and titles of actions.
    pub actions: Vec<(String, String)>,
    /// Effects.
    pub effects: Vec<Effect>,
}

impl Engine {
    /// The held calls that wait for this person's word, newest first: those that they have voted on do not.
    pub async fn approvals(&self, decider: &Decider, page: &PageAsked) -> Result<Listing<HeldCall>, Refusal> {
        let seen = self.store().held_for(decider.id(), &Window::asked(page)?, self.now()).await?;
        let rows: Vec<CallRow> = seen.items.iter().map(|(row, _)| row.clone()).collect();
        // A call whose preview cannot be read cannot be decided over the API; it does not hide the others.
        let likenesses = self.likenesses(&rows).await?;
        let likeness = |row: &CallRow| likenesses.get(&row.id).copied().unwrap_or_default();
        let held = |(row, standing): &(CallRow, Standing)| self.held_call(row, *standing, likeness(row)).ok();
        let items = seen.items.iter().filter_map(held).collect();
        Ok(Listing { items, next_cursor: seen.next_cursor })
    }

    fn held_call(&self, row: &CallRow, standing: Standing, likeness: Likeness) -> Result<HeldCall, Refusal> {
        Ok(HeldCall {
            call: self.call_of(row, true)?,
            step_up: self.wants_step_up(row),
            preview: likeness.on(self.stored_preview(row)?),
            r#for: standing.stands_in_for,
        })
    }

    /// The same for the page: with names and titles, without previews, narrowed and in the order that is asked for.
    ///
    /// # Errors
    /// `Invalid` when the limit or the cursor is none of this list.
    pub async fn inbox(
        &self,
        person: &PersonActor,
        filter: &InboxFilter,
        page: &PageAsked,
    ) -> Result<Listing<Item>, Refusal> {
        let window = Window::asked(page)?.in_order(filter.order)?;
        if [&filter.agent, &filter.action].into_iter().flatten().any(|name| name.contains('\0')) {
            // Nothing is named with a NUL.
            return Ok(Listing { items: Vec::new(), next_cursor: None });
        }
        let rows = self.store().held_lines(person.id(), filter, &window, self.now()).await?;
        let mut items = self.lines(person, &rows.items)?;
        self.name_voices(person, &rows.items, &mut items).await?;
        Ok(Listing { items, next_cursor: rows.next_cursor })
    }

    /// What there is to narrow the inbox by just now.
    pub async fn inbox_choices(&self, person: &PersonActor) -> Result<Choices, Refusal> {
        let mut choices = Choices::default();
        for (agent, action, title, effect) in self.store().kinds_held_for(person.id(), self.now()).await? {
            choices.agents.extend(agent);
            choices.actions.push((action, title));
            choices.effects.push(effect);
        }
        choices.agents.sort_unstable();
        choices.agents.dedup();
        choices.actions.sort_unstable();
        // A title that the catalogue has changed meanwhile names the same action.
        choices.actions.dedup_by(|one, other| one.0 == other.0);
        choices.effects.sort_unstable();
        choices.effects.dedup();
        Ok(choices)
    }

    /// Those of these calls that the person may see, however they stand, with who decided them.
    pub async fn inbox_lines(&self, person: &PersonActor, ids: &[CallId]) -> Result<Vec<Item>, Refusal> {
        let rows = self.store().lines_of(person.id(), ids, self.now()).await?;
        self.lines_with_votes(person, &rows).await
    }

    /// The held calls on which this person, or somebody in their place, has voted: they wait for others. Newest first.
    pub async fn voted(&self, person: &PersonActor) -> Result<Vec<Item>, Refusal> {
        let rows = self.store().voted_lines(person.id(), self.now(), MOST_VOTED).await?;
        self.lines_with_votes(person, &rows).await
    }

    /// The calls that somebody overrode within the last day, of those that this person decides, newest first.
    pub async fn overridden_lately(&self, person: &PersonActor) -> Result<Vec<Item>, Refusal> {
        let (now, since) = (self.now(), self.now().plus_seconds(-OVERRIDDEN_IS_FRESH));
        let rows = self.store().overridden_lines(person.id(), since, now, MOST_OVERRIDDEN).await?;
        self.lines_with_votes(person, &rows).await
    }

    async fn lines_with_votes(
        &self,
        person: &PersonActor,
        rows: &[(CallRow, Standing)],
    ) -> Result<Vec<Item>, Refusal> {
        let mut items = self.lines(person, rows)?;
        self.name_voices(person, rows, &mut items).await?;
        for item in &mut items {
            item.decided_by = self.store().decided_by(item.call.id).await?;
        }
        Ok(items)
    }

    /// What the same agent asked for before in the same session, newest first, as far as the person may see it.
    pub async fn earlier_in_session(&self, person: &PersonActor, item: &Item) -> Result<Vec<Item>, Refusal> {
        let (Some(agent), Some(session)) = (item.call.agent_id, &item.call.session) else {
            return Ok(Vec::new());
        };
        let before = item.call.id;
        self.lines(
            person,
            &self
                .store()
                .earlier_lines(person.id(), agent, session, before, self.now(), MOST_EARLIER)
                .await?,
        )
    }

    /// The calls that this one looks like, newest first, as far as the person may see them.
    pub async fn alike(&self, person: &PersonActor, id: CallId) -> Result<Vec<Item>, Refusal> {
        let (now, since) = (self.now(), self.recently());
        self.lines(person, &self.store().twin_lines(person.id(), id, since, now, MOST_ALIKE).await?)
    }

    /// In whose place the person decides each of these.
    async fn name_voices(
        &self,
        person: &PersonActor,
        rows: &[(CallRow, Standing)],
        items: &mut [Item],
    ) -> Result<(), Refusal> {
        if rows.iter().all(|(_, standing)| standing.stands_in_for.is_none()) {
            return Ok(());
        }
        let delegations = self.own_delegations(person).await?;
        for (item, (_, standing)) in items.iter_mut().zip(rows) {
            item.stands_in_for = self.standing_in(person, *standing, &delegations);
        }
        Ok(())
    }

    /// By which of these delegations the person decides, when they decide in somebody's place.
    fn standing_in(
        &self,
        person: &PersonActor,
        standing: Standing,
        delegations: &[Delegation],
    ) -> Option<Delegation> {
        let voice = standing.stands_in_for?;
        let now = self.now();
        let fits = |one: &&Delegation| one.delegator == voice && one.delegate == person.id() && one.runs(now);
        delegations.iter().find(fits).cloned()
    }

    /// A held call as it is shown to somebody who may override it.
    pub(crate) async fn item_to_override(
        &self,
        person: &PersonActor,
        row: &CallRow,
        standing: Standing,
    ) -> Result<Item, Refusal> {
        let likeness = self.likeness_of(row).await?;
        // What is in it is shown as to one who decides; whether they do is another question.
        let shown = self.item_of(person, row, Standing { decides: true, ..standing }, likeness)?;
        Ok(Item {
            may_decide: false,
            decided_by: self.store().decided_by(row.id).await?,
            delegations: self.store().delegations_on(row.id, self.now()).await?,
            pause: self.store().pause_of(row.agent_id).await?,
            ..shown
        })
    }

    pub(crate) fn lines(
        &self,
        person: &PersonActor,
        rows: &[(CallRow, Standing)],
    ) -> Result<Vec<Item>, Refusal> {
        let line = |(row, standing): &(CallRow, Standing)| {
            Ok(Item { preview: None, ..self.item_of(person, row, *standing, Likeness::default())? })
        };
        rows.iter().map(line).collect()
    }

    /// Calls whose outcome is not known and that this person may settle, newest first; the newest hundred when there
    /// are more.
    pub async fn in_doubt(&self, person: &PersonActor) -> Result<Vec<Item>, Refusal> {
        self.lines(person, &self.store().in_doubt_for(person.id(), self.now(), MOST_PINNED).await?)
    }

    /// How many calls wait for this person: to be decided, or to be settled. A hundred stands for a hundred or more.
    pub async fn inbox_count(&self, person: &PersonActor) -> Result<u64, Refusal> {
        Ok(self.count_waiting_for(person.id()).await?)
    }

    /// The same, of whoever has this id.
    pub(crate) async fn count_waiting_for(&self, person: PersonId) -> Result<u64, StoreError> {
        let held = self.store().count_held_for(person, self.now(), MOST_COUNTED).await?;
        let in_doubt = match MOST_COUNTED - held {
            ..=0 => 0,
            rest => self.store().count_in_doubt_for(person, self.now(), rest).await?,
        };
        Ok((held + in_doubt).unsigned_abs())
    }

    /// The person's own calls and their agents', however they ended, newest first.
    pub async fn calls(&self, person: &PersonActor, page: &PageAsked) -> Result<Listing<Item>, Refusal> {
        let rows = self.store().calls_of(person.id(), &Window::asked(page)?).await?;
        self.items(person, &rows, Standing { owns: true, ..Standing::default() }).await
    }

    /// One call's page; `None`: not for this person.
    pub async fn item(&self, person: &PersonActor, id: CallId) -> Result<Option<Item>, Refusal> {
        let seen = self.seen_by(&Actor::Person(person.clone()), id).await?;
        let Some((row, standing)) = seen else { return Ok(None) };
        let mut item = self.item_of(person, &row, standing, self.likeness_of(&row).await?)?;
        if matches!(row.state, CallState::Held { .. } | CallState::Approved { .. } | CallState::Queued) {
            item.pause = self.store().pause_of(row.agent_id).await?;
        }
        item.decided_by = self.store().decided_by(id).await?;
        let overrode = item.decided_by.iter().any(|one| one.person == person.id() && one.overrode.is_some());
        if let (CallState::Approved { send_at }, true) = (&row.state, overrode) {
            item.undo_until = Some(*send_at);
        }
        if matches!(row.state, CallState::Held { .. }) {
            let delegations = self.own_delegations(person).await?;
            item.stands_in_for = self.standing_in(person, standing, &delegations);
            item.for_too_few = item.may_decide && self.is_for_too_few(person, &row).await?;
            // Whom it concerns: whoever owns the call, or decides it.
            if standing.owns || standing.decides {
                item.delegations = self.store().delegations_on(id, self.now()).await?;
            }
        }
        if let Some(receipt) = row.receipt_id {
            item.settled = self.store().settlement(receipt).await?;
            if item.may_settle {
                let receipt = self.store().receipt(None, receipt).await?;
                item.sent = receipt.map(|receipt| Whereabouts {
                    method: receipt.method,
                    url: receipt.url,
                    at: receipt.at,
                });
            }
        }
        Ok(Some(item))
    }

    /// Whether this operator decides a call only because those who would are too few. Where the action names operators, or
    /// nobody owns the call, they are among those.
    async fn is_for_too_few(&self, person: &PersonActor, row: &CallRow) -> Result<bool, Refusal> {
        let named = self.catalogue().action(&row.action).map(|action| pipeline::named_approvers(action));
        let named = named.unwrap_or_default();
        let operators = format!("role:{}", Role::Operator);
        if row.person_id.is_none() || !person.person().is_operator() || named.contains(&operators) {
            return Ok(false);
        }
        Ok(self.store().stands_in_as_operator(row.id, person.id(), self.now()).await?)
    }

    async fn items(
        &self,
        person: &PersonActor,
        rows: &Listing<CallRow>,
        standing: Standing,
    ) -> Result<Listing<Item>, Refusal> {
        let likenesses = self.likenesses(&rows.items).await?;
        let likeness = |row: &CallRow| likenesses.get(&row.id).copied().unwrap_or_default();
        let items = rows.items.iter().map(|row| self.item_of(person, row, standing, likeness(row)));
        let items = items.collect::<Result<_, _>>()?;
        Ok(Listing { items, next_cursor: rows.next_cursor.clone() })
    }

    /// What was shown before a call was sent; of one in doubt that nobody was asked about, what was sent, so that
    /// nobody has to settle it blind.
    fn shown_of(&self, row: &CallRow) -> Option<Preview> {
        if row.preview.is_some() || row.state != CallState::InDoubt {
            return row.preview.as_ref().and_then(|_| self.stored_preview(row).ok());
        }
        let stored = self.stored_request(row).ok()?;
        let catalogue = self.catalogue();
        let action = catalogue.action_for(row.surface, &row.action, &stored.arguments)?;
        Some(action.preview(&stored.input, &stored.outgoing, None, stored.reason, Vec::new()))
    }

    /// What a call is named by: its preview's title, or what was sealed of it for lists; the action's title where neither
    /// is to be shown.
    fn title_of(&self, row: &CallRow, preview: Option<&Preview>, is_shown: bool) -> String {
        let line = || line::open_title(self.sealer(), row.id, row.preview_title.as_deref()?);
        let title = if is_shown { preview.map(|preview| preview.title.clone()).or_else(line) } else { None };
        title.unwrap_or_else(|| row.title.clone())
    }

    fn item_of(
        &self,
        person: &PersonActor,
        row: &CallRow,
        standing: Standing,
        likeness: Likeness,
    ) -> Result<Item, Refusal> {
        let sees = standing.owns || standing.decides;
        // A preview that cannot be read (its sealing key is gone) is missing; the call is told all the same.
        let preview = if sees { self.shown_of(row) } else { None };
        let preview = preview.map(|stored| likeness.on(stored));
        let call: Call = self.call_of(row, sees)?;
        // In doubt, what was sent is kept until somebody has settled it.
        let erased = call.status.is_ended() && call.status != CallStatus::InDoubt;
        Ok(Item {
            title: self.title_of(row, preview.as_ref(), sees && !erased),
            action_title: row.title.clone(),
            tenant: row.tenant.clone().filter(|_| sees),
            preview,
            agent: row.agent_name.clone(),
            person: row.person_name.clone(),
            may_decide: standing.decides && matches!(row.state, CallState::Held { .. }),
            step_up: self.wants_step_up(row),
            may_override: standing.overrides && matches!(row.state, CallState::Held { .. }),
            stands_in_for: None,
            delegations: Vec::new(),
            may_settle: row.state == CallState::InDoubt
                && (standing.decides || person.person().is_operator()),
            may_withdraw: standing.owns && matches!(row.state, CallState::Held { .. }),
            undo_until: match row.state {
                CallState::Approved { send_at } if standing.decides => Some(send_at),
                _ => None,
            },
            pause: None,
            decided_by: Vec::new(),
            // What is stricter by now counts when it is confirmed.
            quorum: row.quorum.max(self.catalogue().action(&row.action).map_or(1, |action| action.quorum)),
            for_too_few: false,
            upstream_status: row.upstream_status,
            sent: None,
            settled: None,
            call,
        })
    }
}
