//! The query of a list: read whole, every mistake reported at once.

use std::str::FromStr;

use engine::PageAsked;
use model::{FieldError, Listing, Refusal};
use url::form_urlencoded;

/// The most characters of a value. Nothing that can be filtered by is longer.
const VALUE_LIMIT: usize = 1_000;

/// The query of a request, while it is being read.
#[derive(Debug)]
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
    faults: Vec<FieldError>,
}

impl Query {
    /// Takes the raw query apart.
    pub(crate) fn of(raw: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(raw.unwrap_or_default().as_bytes()).into_owned().collect();
        Self { pairs, faults: Vec::new() }
    }

    /// Takes a parameter out: once at most, not empty, not endless, without NUL.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<String> {
        let (taken, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pairs).into_iter().partition(|(n, _)| n == name);
        self.pairs = rest;
        let mut values = taken.into_iter().map(|(_, value)| value);
        let value = values.next()?;
        if values.next().is_some() {
            self.fault(name, "Give this parameter once.");
            return None;
        }
        if value.is_empty() || value.len() > VALUE_LIMIT || value.contains('\0') {
            self.fault(name, "Give this parameter a value of 1 to 1000 bytes, or leave it out.");
            return None;
        }
        Some(value)
    }

    /// Takes a parameter out and reads it as something; `wanted` says what.
    pub(crate) fn take_as<T: FromStr>(&mut self, name: &'static str, wanted: &'static str) -> Option<T> {
        self.take_with(name, wanted, |text| text.parse().ok())
    }

    /// Takes a parameter out and reads it with a function; `wanted` says what it takes.
    pub(crate) fn take_with<T>(
        &mut self,
        name: &'static str,
        wanted: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = read(&self.take(name)?);
        if value.is_none() {
            self.fault(name, wanted);
        }
        value
    }

    /// Takes `limit` and `cursor` out.
    pub(crate) fn page(&mut self) -> PageAsked {
        let limit = self.take_with("limit", "A limit is a whole number from 1 to 500.", |text| {
            text.parse().ok().filter(|limit| (1..=Listing::<()>::MAX_LIMIT).contains(limit))
        });
        PageAsked { limit, cursor: self.take("cursor") }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// `Invalid` with everything that was at fault, parameters that nobody took included: a filter that is misspelt
    /// must not silently show more than was meant.
    pub(crate) fn finish(mut self) -> Result<(), Refusal> {
        if !self.pairs.is_empty() {
            self.fault("", "The query has a parameter that this list does not know.");
        }
        if self.faults.is_empty() { Ok(()) } else { Err(Refusal::Invalid(self.faults)) }
    }

    fn fault(&mut self, name: &str, message: &str) {
        let field = if name.is_empty() { String::new() } else { format!("/{name}") };
        self.faults.push(FieldError::new(field, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Outcome, Time};

    fn faults(query: Query) -> Vec<String> {
        match query.finish() {
            Err(Refusal::Invalid(faults)) => faults.into_iter().map(|fault| fault.field).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_page_is_read() {
        let mut query = Query::of(Some("limit=500&cursor=a%2Bb"));
        let page = PageAsked { limit: Some(500), cursor: Some("a+b".to_owned()) };
        assert_eq!(query.page(), page);
        assert_eq!(query.finish(), Ok(()));
        assert_eq!(Query::of(None).page(), PageAsked::default());
    }

    #[test]
    fn a_bad_limit_is_a_fault() {
        for raw in [
            "limit=0",
            "limit=501",
            "limit=-1",
            "limit=ten",
            "limit=",
            "limit=1&limit=1",
            "limit=99999999999",
        ] {
            let mut query = Query::of(Some(raw));
            query.page();
            assert_eq!(faults(query), ["/limit"], "{raw}");
        }
    }

    #[test]
    fn every_fault_is_reported() {
        let mut query = Query::of(Some("limit=x&outcome=perhaps&from=yesterday&agnet=a&agent=%00"));
        query.page();
        let _: Option<Outcome> = query.take_as("outcome", "An outcome.");
        query.take_with("from", "A time.", Time::parse);
        query.take("agent");
        assert_eq!(faults(query), ["/limit", "/outcome", "/from", "/agent", ""]);
    }
}
