//! The watch over definitions: at the start, again and again, and before a person's Confirm is acted on.

use std::sync::Arc;

use futures::future::join_all;
use model::Refusal;

use super::listing::{self, Listing};
use super::pin::{Pin, Stand, ToolRow};
use crate::catalogue::{Action, Catalogue, Upstream};
use crate::engine::Engine;
use crate::store::{StoreError, Unsent};
use crate::unsent::UnsentEnd;

/// How long a server is left alone after it was asked, in seconds.
const PAUSE: i64 = 60;

/// What a call ends with whose tool was set aside.
fn set_aside() -> Refusal {
    Refusal::Refused {
        status: 409,
        message: Some(
            "The tool's definition has changed since it was accepted. It is set aside until an operator has looked at it. Nothing was sent."
                .to_owned(),
        ),
        upstream_status: None,
    }
}

impl Engine {
    /// Asks every server of the catalogue that was left alone for long enough what its tools are.
    pub async fn check_due_upstreams(&self) -> Result<(), StoreError> {
        let now = self.now();
        let due: Vec<_> = {
            let catalogue = self.catalogue();
            let all = catalogue.upstreams().cloned();
            all.filter(|upstream| self.upstreams().is_due(&upstream.name, now, PAUSE)).collect()
        };
        // One that is slow keeps nobody else waiting.
        join_all(due.iter().map(|upstream| self.check_upstream(upstream))).await;
        Ok(())
    }

    /// Asks every server of the catalogue now. What cannot be asked is told by [`Engine::upstream_lines`].
    pub async fn check_upstreams(&self) {
        let all: Vec<_> = self.catalogue().upstreams().cloned().collect();
        join_all(all.iter().map(|upstream| self.check_upstream(upstream))).await;
    }

    /// Asks a server, and takes what it says. A server that cannot be asked changes nothing.
    async fn check_upstream(&self, upstream: &Upstream) -> Option<Refusal> {
        let fault = self.ask_and_take(upstream).await.err();
        let words = fault.as_ref().map(why);
        if !self.upstreams().note(&upstream.name, self.now(), words.as_deref()) {
            return fault;
        }
        if let Some(why) = words {
            tracing::warn!(upstream = %upstream.name, why, "an MCP server could not be asked for its tools");
        } else {
            tracing::info!(upstream = %upstream.name, "an MCP server told its tools");
        }
        fault
    }

    async fn ask_and_take(&self, upstream: &Upstream) -> Result<(), Refusal> {
        let known = self.store().upstream_dialects().await?.remove(&upstream.name);
        let listing = listing::list(self, upstream, known.as_ref()).await?;
        if listing.left_out > 0 {
            tracing::warn!(upstream = %upstream.name, count = listing.left_out, "tools were left out: without a name, twice, or too large");
        }
        self.take(upstream, &listing).await?;
        self.load_tools().await?;
        Ok(self.end_calls_of_set_aside().await?)
    }

    /// Before a call is shown and before a Confirm counts: whether the tool is still what was accepted. Asked of the
    /// server itself, as a dry run is.
    ///
    /// # Errors
    /// `Refused` when it is not; what kept the server from being asked.
    pub(crate) async fn look_at_tool_again(&self, action: &Action) -> Result<(), Refusal> {
        let Some((tool, pin)) = action.tool_call().and_then(|tool| Some((tool, tool.pin()?))) else {
            return Err(set_aside());
        };
        if let Some(refusal) = self.check_upstream(tool.upstream()).await {
            return Err(refusal);
        }
        let hash = self.store().pinned_hash(&pin.upstream, tool.name()).await?;
        if hash.as_ref() == Some(&pin.hash) { Ok(()) } else { Err(set_aside()) }
    }

    /// Writes down what is new in a list. The first list of a server is taken as a whole: naming the server was the
    /// operator's word. Whatever comes or changes later waits for another one.
    async fn take(&self, upstream: &Upstream, listing: &Listing) -> Result<(), StoreError> {
        let (name, now) = (upstream.name.as_str(), self.now());
        let mut tx = self.store().begin().await?;
        let is_first = tx.insert_upstream(name, &listing.dialect, now).await?;
        let known = tx.tools_of_upstream(name).await?;
        let mut changes = u32::from(is_first);
        if !is_first {
            changes += u32::from(tx.set_dialect(name, &listing.dialect).await?);
        }
        for definition in &listing.definitions {
            let row = known.iter().find(|row| row.tool == definition.name());
            let returned = row.is_some_and(|row| row.gone_at.is_some());
            if returned {
                tx.set_tool_gone(name, definition.name(), None).await?;
                changes += 1;
            }
            match row {
                None if is_first => tx.insert_tool(name, definition, true, now).await?,
                None => tx.insert_tool(name, definition, false, now).await?,
                Some(row) if is_news(row, definition) => tx.set_tool_found(row, definition, now).await?,
                Some(_) => continue,
            }
            changes += 1;
            tell(name, row, definition, is_first);
        }
        let gone = |row: &&ToolRow| listing.definitions.iter().all(|one| one.name() != row.tool);
        for row in known.iter().filter(|row| row.gone_at.is_none()).filter(gone) {
            tracing::warn!(upstream = name, tool = %row.tool, "a tool is gone from its server");
            tx.set_tool_gone(name, &row.tool, Some(now)).await?;
            changes += 1;
        }
        if changes > 0 { tx.commit().await } else { Ok(()) }
    }

    /// Reads from the database which tools were taken, and puts the actions together anew when that has changed.
    pub async fn load_tools(&self) -> Result<(), StoreError> {
        if self.written().upstreams().next().is_none() {
            return Ok(());
        }
        let rows = self.store().upstream_tools().await?;
        let dialects = self.store().upstream_dialects().await?;
        for upstream in self.written().upstreams() {
            upstream.set_dialect(dialects.get(&upstream.name).cloned());
        }
        let pins = rows.iter().filter(|row| row.stand() == Stand::Pinned).filter_map(|row| {
            let definition = row.taken.clone()?;
            let dialect = dialects.get(&row.upstream)?.clone();
            Some(Arc::new(Pin {
                upstream: row.upstream.clone(),
                hash: definition.hash(),
                definition,
                dialect,
            }))
        });
        let pins: Vec<_> = pins.collect();
        self.set_pins(pins);
        Ok(())
    }

    /// What waits with a tool that was set aside is ended: nothing of it was sent.
    pub async fn end_calls_of_set_aside(&self) -> Result<(), StoreError> {
        let rows = self.store().upstream_tools().await?;
        let aside = rows.iter().filter(|row| row.stand() == Stand::SetAside);
        let names: Vec<String> = aside.flat_map(|row| actions_of(&self.written(), row)).collect();
        let refusal = set_aside();
        for name in names {
            for id in self.store().unsent_calls_of_action(&name).await? {
                let Some(row) = self.store().call(id).await? else { continue };
                if self.end_unsent_now(&row, UnsentEnd::refused(Unsent::Any, &refusal)).await? {
                    tracing::warn!(call = %id, action = %name, "a call was ended because its tool was set aside");
                }
            }
        }
        Ok(())
    }
}

/// What kept a server from telling its tools, for operators.
fn why(refusal: &Refusal) -> String {
    match refusal {
        Refusal::UpstreamFailed(Some(200..300)) => {
            "It answered, but not with a list of its tools.".to_owned()
        }
        other => other.problem().detail,
    }
}

/// Whether an entry says something that the row does not know. What was found once waits for an operator, also when the
/// server goes back to what it said before.
fn is_news(row: &ToolRow, definition: &super::Definition) -> bool {
    row.found.as_ref().or(row.taken.as_ref()) != Some(definition)
}

fn tell(upstream: &str, row: Option<&ToolRow>, definition: &super::Definition, is_first: bool) {
    let (tool, hash) = (definition.name(), definition.hash());
    match row {
        None if is_first => tracing::info!(upstream, tool, hash, "a tool was taken"),
        None => tracing::warn!(
            upstream,
            tool,
            hash,
            "a new tool waits to be accepted (countersign upstream accept)"
        ),
        Some(_) => tracing::warn!(
            upstream,
            tool,
            hash,
            "the definition of a tool has changed: it is set aside until the new one is accepted (countersign upstream accept)"
        ),
    }
}

/// The actions that call this tool: those of the file, and its own where none of the file has that name.
fn actions_of(written: &Catalogue, row: &ToolRow) -> Vec<String> {
    let mut names: Vec<String> = written
        .actions()
        .filter(|action| action.tool_call().is_some_and(|tool| tool.is(&row.upstream, &row.tool)))
        .map(|action| action.name.clone())
        .collect();
    let own = row.taken.as_ref().map(|definition| definition.action_name(&row.upstream));
    names.extend(own.filter(|own| written.action(own).is_none()));
    names
}
