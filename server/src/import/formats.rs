//! The formats of JSON Schema that a catalogue can have.

/// The formats that a text is checked against; another one is a mistake in a catalogue.
pub(super) const FORMATS: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];
