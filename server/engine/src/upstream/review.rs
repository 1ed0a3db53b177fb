//! What operators see of the servers and their tools, and their word on what has changed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Effect, Refusal, Role, Time};

use super::definition::Definition;
use super::pin::{Pin, Stand, ToolLine, ToolRow};
use crate::actor::PersonActor;
use crate::catalogue::Unfit;
use crate::engine::Engine;

/// What this process knows of the servers beyond the database.
#[derive(Debug, Default)]
pub struct Upstreams {
    looked: Mutex<BTreeMap<String, Looked>>,
    /// One at a time changes which tools are actions.
    composed: Mutex<Composed>,
}

/// What the actions were put together from.
#[derive(Debug, Default)]
struct Composed {
    pins: Vec<Arc<Pin>>,
    unfit: Vec<Unfit>,
}

/// The last look at a server.
#[derive(Debug, Clone)]
struct Looked {
    at: Time,
    fault: Option<String>,
}

/// A server as an operator sees it.
#[derive(Debug, Clone)]
pub struct UpstreamLine {
    /// Its name in the catalogue.
    pub name: String,
    /// Where it is.
    pub url: String,
    /// The credential that its requests carry.
    pub credential: Option<String>,
    /// The revision it speaks; `None`: it was never reached.
    pub speaks: Option<String>,
    /// When this process asked it last.
    pub looked_at: Option<Time>,
    /// Why that led to nothing.
    pub fault: Option<String>,
    /// Its tools, by name.
    pub tools: Vec<ToolLine>,
}

impl Upstreams {
    /// Whether a server was not asked within so many seconds.
    pub(super) fn is_due(&self, name: &str, now: Time, pause: i64) -> bool {
        let looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.get(name).is_none_or(|looked| looked.at.plus_seconds(pause) <= now)
    }

    /// Notes how a look at a server ended; whether that is news.
    pub(super) fn note(&self, name: &str, at: Time, fault: Option<&str>) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let before = looked.insert(name.to_owned(), Looked { at, fault: fault.map(str::to_owned) });
        before.is_none_or(|before| before.fault.as_deref() != fault)
    }

    fn last(&self, name: &str) -> Option<Looked> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Puts the actions together from the tools that count.
    pub(crate) fn compose(&self, how: impl FnOnce(&[Arc<Pin>]) -> Vec<Unfit>) {
        let mut composed = self.composed.lock().unwrap_or_else(PoisonError::into_inner);
        composed.tell(how);
    }

    /// The same when other tools count than before.
    pub(crate) fn recompose(&self, pins: Vec<Arc<Pin>>, how: impl FnOnce(&[Arc<Pin>]) -> Vec<Unfit>) {
        let mut composed = self.composed.lock().unwrap_or_else(PoisonError::into_inner);
        if composed.pins != pins {
            composed.pins = pins;
            composed.tell(how);
        }
    }

    fn unfit(&self, upstream: &str, tool: &str) -> Option<String> {
        let composed = self.composed.lock().unwrap_or_else(PoisonError::into_inner);
        let found = composed.unfit.iter().find(|unfit| unfit.upstream == upstream && unfit.tool == tool);
        found.map(|unfit| unfit.why.clone())
    }
}

impl Composed {
    /// Puts them together, and says in the log which tools cannot be actions by themselves.
    fn tell(&mut self, how: impl FnOnce(&[Arc<Pin>]) -> Vec<Unfit>) {
        let unfit = how(&self.pins);
        for one in unfit.iter().filter(|one| !self.unfit.contains(one)) {
            tracing::warn!(upstream = %one.upstream, tool = %one.tool, why = %one.why, "a tool is no action");
        }
        self.unfit = unfit;
    }
}

impl Engine {
    /// The catalogue's servers and their tools, for whoever runs the desk from its command line.
    pub async fn upstream_lines(&self) -> Result<Vec<UpstreamLine>, Refusal> {
        let rows = self.store().upstream_tools().await?;
        let dialects = self.store().upstream_dialects().await?;
        let catalogue = self.catalogue();
        let line = |upstream: &crate::catalogue::Upstream| {
            let looked = self.upstreams().last(&upstream.name);
            UpstreamLine {
                name: upstream.name.clone(),
                url: upstream.url.to_string(),
                credential: upstream.credential.as_ref().map(|credential| credential.name.clone()),
                speaks: dialects.get(&upstream.name).map(|dialect| dialect.revision().to_owned()),
                looked_at: looked.as_ref().map(|looked| looked.at),
                fault: looked.and_then(|looked| looked.fault),
                tools: rows
                    .iter()
                    .filter(|row| row.upstream == upstream.name)
                    .map(|row| self.tool_line(row))
                    .collect(),
            }
        };
        Ok(catalogue.upstreams().map(|upstream| line(upstream)).collect())
    }

    /// The tools that wait for an operator's word, for operators and admins: their server's name and themselves.
    pub async fn tools_to_review(&self, person: &PersonActor) -> Result<Vec<(String, ToolLine)>, Refusal> {
        let roles = &person.person().roles;
        if !roles.contains(&Role::Operator) && !roles.contains(&Role::Admin) {
            return Err(Refusal::NotFound);
        }
        let lines = self.upstream_lines().await?;
        let waiting = lines.into_iter().flat_map(|line| {
            let name = line.name;
            line.tools.into_iter().filter(|tool| tool.stand.waits()).map(move |tool| (name.clone(), tool))
        });
        Ok(waiting.collect())
    }

    fn tool_line(&self, row: &ToolRow) -> ToolLine {
        let catalogue = self.catalogue();
        let actions = catalogue
            .actions()
            .filter(|action| action.tool_call().is_some_and(|tool| tool.is(&row.upstream, &row.tool)))
            .map(|action| action.name.clone());
        ToolLine {
            tool: row.tool.clone(),
            stand: row.stand(),
            actions: actions.collect(),
            unfit: self.upstreams().unfit(&row.upstream, &row.tool),
            effect: row.found.as_ref().or(row.taken.as_ref()).map_or(Effect::Destructive, Definition::effect),
            taken: row.taken.clone(),
            taken_at: row.taken_at,
            found: row.found.clone(),
            found_at: row.found_at,
        }
    }

    /// Takes the definition that waits in the place of the one that counted. `hash`: what its hash has to begin with.
    ///
    /// # Errors
    /// `Invalid` when there is no such server or tool, nothing waits, or something else waits by now.
    pub async fn accept_tool(
        &self,
        upstream: &str,
        tool: &str,
        hash: Option<&str>,
    ) -> Result<Definition, Refusal> {
        if self.catalogue().upstream(upstream).is_none() {
            return Err(Refusal::invalid("/name", "The catalogue has no [[upstream]] of this name."));
        }
        let rows = self.store().upstream_tools().await?;
        let row = rows.into_iter().find(|row| row.upstream == upstream && row.tool == tool);
        let row = row.ok_or_else(|| Refusal::invalid("/tool", "The server has no tool of this name."))?;
        let Some(found) = row.found.filter(|_| row.gone_at.is_none()) else {
            return Err(Refusal::invalid("/tool", "Nothing of this tool waits to be accepted."));
        };
        let changed = || Refusal::invalid("/hash", "Another definition waits by now. Look at it again.");
        if hash.is_some_and(|hash| hash.len() < 8 || !found.hash().starts_with(hash)) {
            return Err(changed());
        }
        let mut tx = self.store().begin().await?;
        if !tx.accept_tool(upstream, tool, &found.hash(), self.now()).await? {
            return Err(changed());
        }
        tx.commit().await?;
        self.load_tools().await?;
        tracing::info!(upstream, tool, hash = %found.hash(), "a definition was accepted");
        Ok(found)
    }
}

impl ToolLine {
    /// What an operator reads in the log and on the page: why it waits.
    pub const fn why(&self) -> &'static str {
        match self.stand {
            Stand::SetAside => {
                "Its definition has changed. It cannot be called until an operator accepts the new one."
            }
            Stand::New => "It is new at its server. It cannot be called until an operator accepts it.",
            Stand::Gone => "Its server has it no more.",
            Stand::Pinned => "It can be called.",
        }
    }
}
