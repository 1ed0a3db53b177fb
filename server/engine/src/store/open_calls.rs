//! How many calls one caller may have open, counted where nobody else can add one.

use model::{AgentId, PersonId};

use super::{StoreError, Tx};

impl Tx {
    /// Whether this caller may have one more call open. Until this transaction ends no other one, on any node, adds a
    /// call of the same caller: its row is locked first. Callers that are nobody in particular have no row; theirs may
    /// pass the limit by as many as come in at the same moment.
    pub(crate) async fn has_room(
        &mut self,
        agent: Option<AgentId>,
        person: Option<PersonId>,
        most: u32,
    ) -> Result<bool, StoreError> {
        let (lock, count, id) = match (agent, person) {
            (Some(agent), _) => (
                "UPDATE agents SET created_at = created_at WHERE id = $1",
                "SELECT COUNT(*) FROM calls WHERE state IN ('held', 'queued') AND agent_id = $1",
                agent.to_string(),
            ),
            (None, Some(person)) => (
                "UPDATE persons SET created_at = created_at WHERE id = $1",
                "SELECT COUNT(*) FROM calls WHERE state = 'queued' AND agent_id IS NULL AND person_id = $1",
                person.to_string(),
            ),
            (None, None) => (
                "UPDATE persons SET created_at = created_at WHERE id = $1",
                "SELECT COUNT(*) FROM calls WHERE state = 'queued' AND agent_id IS NULL AND person_id IS NULL AND $1 = ''",
                String::new(),
            ),
        };
        if !self.writes_alone() {
            sqlx::query(lock).bind(&id).execute(&mut *self.inner).await?;
        }
        let open: i64 = sqlx::query_scalar(count).bind(&id).fetch_one(&mut *self.inner).await?;
        Ok(open.unsigned_abs() < u64::from(most))
    }
}
