//! Reading a row by exact match: what this version cannot read is named by table, column and row.

use std::str::FromStr;

use model::Time;
use serde::de::DeserializeOwned;
use sqlx::any::AnyRow;
use sqlx::{Any, Decode, Row, Type};

use super::StoreError;

/// A row of one table while it is read.
pub(super) struct Columns<'r> {
    table: &'static str,
    row: &'r AnyRow,
    id: String,
}

impl<'r> Columns<'r> {
    /// A row whose id stands in `id_column`.
    pub(super) fn new(table: &'static str, id_column: &str, row: &'r AnyRow) -> Self {
        let id = row.try_get::<String, _>(id_column).unwrap_or_else(|_| "?".to_owned());
        Self { table, row, id }
    }

    /// A value as it stands.
    pub(super) fn get<T>(&self, column: &'static str) -> Result<T, StoreError>
    where
        T: for<'a> Decode<'a, Any> + Type<Any>,
    {
        self.row.try_get(column).map_err(|_| self.fault(column))
    }

    /// A text that must be a word or an id.
    pub(super) fn parse<T: FromStr>(&self, column: &'static str) -> Result<T, StoreError> {
        self.get::<String>(column)?.parse().map_err(|_| self.fault(column))
    }

    /// The same, where there may be none.
    pub(super) fn parse_maybe<T: FromStr>(&self, column: &'static str) -> Result<Option<T>, StoreError> {
        let text = self.get::<Option<String>>(column)?;
        text.map(|text| text.parse().map_err(|_| self.fault(column))).transpose()
    }

    /// A time.
    pub(super) fn time(&self, column: &'static str) -> Result<Time, StoreError> {
        self.get::<i64>(column).map(Time::from_micros)
    }

    /// The same, where there may be none.
    pub(super) fn time_maybe(&self, column: &'static str) -> Result<Option<Time>, StoreError> {
        Ok(self.get::<Option<i64>>(column)?.map(Time::from_micros))
    }

    /// A truth value, stored as 0 or 1.
    pub(super) fn flag(&self, column: &'static str) -> Result<bool, StoreError> {
        match self.get::<i64>(column)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.fault(column)),
        }
    }

    /// A whole number that fits the wanted type.
    pub(super) fn number<T: TryFrom<i64>>(&self, column: &'static str) -> Result<T, StoreError> {
        T::try_from(self.get::<i64>(column)?).map_err(|_| self.fault(column))
    }

    /// The same, where there may be none.
    pub(super) fn number_maybe<T: TryFrom<i64>>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let number = self.get::<Option<i64>>(column)?;
        number.map(|number| T::try_from(number).map_err(|_| self.fault(column))).transpose()
    }

    /// Exactly 32 bytes.
    pub(super) fn digest(&self, column: &'static str) -> Result<[u8; 32], StoreError> {
        self.get::<Vec<u8>>(column)?.try_into().map_err(|_| self.fault(column))
    }

    /// The same, where there may be none.
    pub(super) fn digest_maybe(&self, column: &'static str) -> Result<Option<[u8; 32]>, StoreError> {
        let bytes = self.get::<Option<Vec<u8>>>(column)?;
        bytes.map(|bytes| bytes.try_into().map_err(|_| self.fault(column))).transpose()
    }

    /// A truth value that the query itself computes: an INTEGER on PostgreSQL, a BIGINT on SQLite.
    pub(super) fn small_flag(&self, column: &'static str) -> Result<bool, StoreError> {
        let number =
            self.row.try_get::<i32, _>(column).map(i64::from).or_else(|_| self.row.try_get::<i64, _>(column));
        number.map(|number| number != 0).map_err(|_| self.fault(column))
    }

    /// JSON in a text column.
    pub(super) fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, StoreError> {
        serde_json::from_str(&self.get::<String>(column)?).map_err(|_| self.fault(column))
    }

    /// The same, where there may be none.
    pub(super) fn json_maybe<T: DeserializeOwned>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let text = self.get::<Option<String>>(column)?;
        text.map(|text| serde_json::from_str(&text).map_err(|_| self.fault(column))).transpose()
    }

    /// A state needs a value that is not there.
    pub(super) fn need<T>(&self, value: Option<T>, column: &'static str) -> Result<T, StoreError> {
        value.ok_or_else(|| self.fault(column))
    }

    /// A value is none that this version writes.
    pub(super) fn fault(&self, column: &'static str) -> StoreError {
        StoreError::Inconsistent { table: self.table, column, row: self.id.clone() }
    }
}

/// JSON for a text column. Only for types whose serialization cannot fail.
pub(super) fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| unreachable!("plain data always serializes"))
}
