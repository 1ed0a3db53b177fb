//! Groups: names with people in them. A group is there as long as somebody is in it.

use std::collections::HashMap;

use model::PersonId;

use super::columns::Columns;
use super::{Store, StoreError, Tx};

/// A group with its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupLine {
    /// Its name.
    pub name: String,
    /// The addresses of its members, in order.
    pub members: Vec<String>,
}

impl Store {
    /// The names of the groups a person is in.
    pub async fn groups_of(&self, id: PersonId) -> Result<Vec<String>, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT group_name FROM group_members WHERE person_id = $1 ORDER BY group_name",
        )
        .bind(id.to_string())
        .fetch_all(&self.read)
        .await?)
    }

    /// Every group, by name.
    pub async fn groups(&self) -> Result<Vec<GroupLine>, StoreError> {
        let rows = sqlx::query(
            "SELECT g.group_name, p.email FROM group_members g JOIN persons p ON p.id = g.person_id ORDER BY g.group_name, p.email",
        )
        .fetch_all(&self.read)
        .await?;
        let mut groups: Vec<GroupLine> = Vec::new();
        for row in &rows {
            let columns = Columns::new("group_members", "group_name", row);
            let name: String = columns.get("group_name")?;
            if groups.last().is_none_or(|last| last.name != name) {
                groups.push(GroupLine { name, members: Vec::new() });
            }
            if let Some(last) = groups.last_mut() {
                last.members.push(columns.get("email")?);
            }
        }
        Ok(groups)
    }

    /// How many held calls would go to the operators without each group, by its name
    /// ([`Tx::hand_over_orphans`](super::Tx::hand_over_orphans)); a group that none needs is not in it.
    pub async fn orphans_without_groups(&self) -> Result<HashMap<String, u64>, StoreError> {
        let rows = sqlx::query(
            "SELECT g.subject, COUNT(*) AS held FROM call_approvers g JOIN calls c ON c.id = g.call_id \
             WHERE g.subject LIKE 'group:%' AND c.state = 'held' \
             AND NOT EXISTS (SELECT 1 FROM call_approvers o WHERE o.call_id = c.id AND o.subject = 'role:operator') \
             AND (SELECT COUNT(DISTINCT s.person_id) FROM call_approvers ca JOIN person_subjects s ON s.subject = ca.subject \
             WHERE ca.call_id = c.id AND ca.subject <> g.subject AND NOT (c.self_approval = 0 AND COALESCE(c.person_id, '') = s.person_id)) < c.quorum \
             GROUP BY g.subject",
        )
        .fetch_all(&self.read)
        .await?;
        let counted = rows.iter().map(|row| {
            let columns = Columns::new("call_approvers", "subject", row);
            let subject: String = columns.get("subject")?;
            let held: i64 = columns.get("held")?;
            Ok((subject.trim_start_matches("group:").to_owned(), held.unsigned_abs()))
        });
        counted.collect()
    }
}

impl Tx {
    /// Puts a person into a group. `false`: they are in it.
    pub async fn add_to_group(&mut self, group: &str, person: PersonId) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "INSERT INTO group_members (group_name, person_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        )
        .bind(group)
        .bind(person.to_string())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() > 0)
    }

    /// Takes a person, or everybody, out of a group. `false`: they are not in it.
    pub async fn remove_from_group(
        &mut self,
        group: &str,
        person: Option<PersonId>,
    ) -> Result<bool, StoreError> {
        if let Some(person) = person {
            self.move_person(person).await?;
        }
        let done =
            sqlx::query("DELETE FROM group_members WHERE group_name = $1 AND ($2 IS NULL OR person_id = $2)")
                .bind(group)
                .bind(person.map(|id| id.to_string()))
                .execute(&mut *self.inner)
                .await?;
        Ok(done.rows_affected() > 0)
    }
}
