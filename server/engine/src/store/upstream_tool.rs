//! What of the tools of MCP servers was taken, and what waits for an operator.

use std::collections::BTreeMap;

use model::Time;
use sqlx::any::AnyRow;

use super::columns::Columns;
use super::{Store, StoreError, Tx};
use crate::upstream::{Definition, Dialect, ToolRow};

/// In the order in which they were taken, so that of two that want one name the first keeps it.
const TOOLS: &str = "SELECT upstream, tool, taken, taken_at, found, found_at, gone_at FROM upstream_tools \
                     ORDER BY upstream, COALESCE(taken_at, found_at), tool";
const TOOLS_OF_ONE: &str = "SELECT upstream, tool, taken, taken_at, found, found_at, gone_at FROM upstream_tools WHERE upstream = $1";

impl Store {
    /// Every tool that is known.
    pub(crate) async fn upstream_tools(&self) -> Result<Vec<ToolRow>, StoreError> {
        let rows = sqlx::query(TOOLS).fetch_all(&self.read).await?;
        rows.iter().map(tool_row).collect()
    }

    /// How each server is spoken to that has ever told its tools.
    pub(crate) async fn upstream_dialects(&self) -> Result<BTreeMap<String, Dialect>, StoreError> {
        let rows = sqlx::query("SELECT name, dialect FROM upstreams").fetch_all(&self.read).await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("upstreams", "name", row);
                Ok((columns.get("name")?, columns.parse("dialect")?))
            })
            .collect()
    }

    /// The hash of the definition that counts; `None`: the tool may not be called.
    pub(crate) async fn pinned_hash(&self, upstream: &str, tool: &str) -> Result<Option<String>, StoreError> {
        let found: Option<Option<String>> = sqlx::query_scalar(
            "SELECT hash FROM upstream_tools WHERE upstream = $1 AND tool = $2 AND found IS NULL AND gone_at IS NULL",
        )
        .bind(upstream)
        .bind(tool)
        .fetch_optional(&self.read)
        .await?;
        Ok(found.flatten())
    }
}

impl Tx {
    /// The first list of a server. `false`: there was one before.
    pub(crate) async fn insert_upstream(
        &mut self,
        name: &str,
        dialect: &Dialect,
        at: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "INSERT INTO upstreams (name, dialect, taken_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        )
        .bind(name)
        .bind(dialect.to_string())
        .bind(at.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// A server is spoken to in another way from now on. `false`: it is so already.
    pub(crate) async fn set_dialect(&mut self, name: &str, dialect: &Dialect) -> Result<bool, StoreError> {
        let done = sqlx::query("UPDATE upstreams SET dialect = $2 WHERE name = $1 AND dialect <> $2")
            .bind(name)
            .bind(dialect.to_string())
            .execute(&mut *self.inner)
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// The tools of a server.
    pub(crate) async fn tools_of_upstream(&mut self, name: &str) -> Result<Vec<ToolRow>, StoreError> {
        let rows = sqlx::query(TOOLS_OF_ONE).bind(name).fetch_all(&mut *self.inner).await?;
        rows.iter().map(tool_row).collect()
    }

    /// A tool that was not known. `is_taken`: it counts from now on; else it waits.
    pub(crate) async fn insert_tool(
        &mut self,
        upstream: &str,
        definition: &Definition,
        is_taken: bool,
        at: Time,
    ) -> Result<(), StoreError> {
        let sql = if is_taken {
            "INSERT INTO upstream_tools (upstream, tool, taken, hash, taken_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING"
        } else {
            "INSERT INTO upstream_tools (upstream, tool, found, found_hash, found_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING"
        };
        sqlx::query(sql)
            .bind(upstream)
            .bind(definition.name())
            .bind(definition.canonical())
            .bind(definition.hash())
            .bind(at.micros())
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }

    /// A tool is not what its row says. An operator who has accepted something else meanwhile has not seen this: it
    /// is noted all the same, at the next look.
    pub(crate) async fn set_tool_found(
        &mut self,
        row: &ToolRow,
        definition: &Definition,
        at: Time,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE upstream_tools SET found = $3, found_hash = $4, found_at = $5 \
             WHERE upstream = $1 AND tool = $2 AND COALESCE(hash, '') = $6",
        )
        .bind(&row.upstream)
        .bind(&row.tool)
        .bind(definition.canonical())
        .bind(definition.hash())
        .bind(at.micros())
        .bind(row.taken.as_ref().map(Definition::hash).unwrap_or_default())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// A server has a tool no more, or has it again.
    pub(crate) async fn set_tool_gone(
        &mut self,
        upstream: &str,
        tool: &str,
        at: Option<Time>,
    ) -> Result<(), StoreError> {
        sqlx::query("UPDATE upstream_tools SET gone_at = $3 WHERE upstream = $1 AND tool = $2")
            .bind(upstream)
            .bind(tool)
            .bind(at.map(Time::micros))
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }

    /// What waits under this hash counts from now on. `false`: nothing or something else waits.
    pub(crate) async fn accept_tool(
        &mut self,
        upstream: &str,
        tool: &str,
        hash: &str,
        at: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE upstream_tools SET taken = found, hash = found_hash, taken_at = $4, \
             found = NULL, found_hash = NULL, found_at = NULL \
             WHERE upstream = $1 AND tool = $2 AND found_hash = $3 AND gone_at IS NULL",
        )
        .bind(upstream)
        .bind(tool)
        .bind(hash)
        .bind(at.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

fn tool_row(row: &AnyRow) -> Result<ToolRow, StoreError> {
    let columns = Columns::new("upstream_tools", "tool", row);
    let definition = |column: &'static str| match columns.get::<Option<String>>(column)? {
        None => Ok(None),
        Some(text) => Definition::of_canonical(&text).map(Some).ok_or_else(|| columns.fault(column)),
    };
    Ok(ToolRow {
        upstream: columns.get("upstream")?,
        tool: columns.get("tool")?,
        taken: definition("taken")?,
        taken_at: columns.time_maybe("taken_at")?,
        found: definition("found")?,
        found_at: columns.time_maybe("found_at")?,
        gone_at: columns.time_maybe("gone_at")?,
    })
}
