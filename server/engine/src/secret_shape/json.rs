//! Every string of a JSON document as it is written: a name that is given twice counts twice. A parsed value would keep
//! the last one alone, and the service may read the other.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// One string of a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// The name it is given to; inside a list, the list's.
    pub(super) name: Option<String>,
    /// The string.
    pub(super) value: String,
    /// Where it is, as a JSON Pointer (RFC 6901). The place of a name is the object that has it.
    pub(super) at: String,
}

/// The strings of an object or a list, names included; `None`: it is something else.
pub(super) fn strings(document: &[u8]) -> Option<Vec<Text>> {
    let first = document.trim_ascii_start().first()?;
    if !matches!(first, b'{' | b'[') {
        return None;
    }
    let mut found = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(document);
    (&mut reader).deserialize_any(Walk { name: None, at: String::new(), found: &mut found }).ok()?;
    reader.end().ok()?;
    Some(found)
}

/// A value on the way through a document.
struct Walk<'f> {
    name: Option<String>,
    at: String,
    found: &'f mut Vec<Text>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.found.push(Text { name: self.name, value: value.to_owned(), at: self.at });
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Walk { name, at, found } = self;
        let mut index = 0_usize;
        while items
            .next_element_seed(Walk { name: name.clone(), at: format!("{at}/{index}"), found: &mut *found })?
            .is_some()
        {
            index += 1;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Walk { at, found, .. } = self;
        while let Some(name) = entries.next_key::<String>()? {
            found.push(Text { name: None, value: name.clone(), at: at.clone() });
            let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            entries.next_value_seed(Walk { name: Some(name), at, found: &mut *found })?;
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_given_twice_counts_twice() {
        let found = strings(br#" {"a/b": ["x", {"c": "y"}], "n": 1, "t": "one", "t": "two", "z": null} "#);
        let found = found.expect("JSON");
        let told: Vec<_> = found
            .iter()
            .map(|text| (text.name.as_deref().unwrap_or_default(), text.value.as_str(), text.at.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("", "a/b", ""),
                ("a/b", "x", "/a~1b/0"),
                ("", "c", "/a~1b/1"),
                ("c", "y", "/a~1b/1/c"),
                ("", "n", ""),
                ("", "t", ""),
                ("t", "one", "/t"),
                ("", "t", ""),
                ("t", "two", "/t"),
                ("", "z", ""),
            ]
        );
    }

    #[test]
    fn what_is_no_document_has_no_strings() {
        for text in [&b""[..], b"\"x\"", b"1", b"{", b"{} x", b"[\"a\",]", b"\xff"] {
            assert_eq!(strings(text), None, "{}", String::from_utf8_lossy(text));
        }
    }
}
