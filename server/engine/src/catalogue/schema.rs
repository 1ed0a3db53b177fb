//! The schema of an action's input, and what it says about an input that does not fit.

use std::collections::HashSet;

use jsonschema::error::{TypeKind, ValidationErrorKind as Fault};
use jsonschema::{Draft, ValidationError, Validator};
use model::FieldError;
use serde_json::{Map, Value, json};

use super::document::{Kind, Node};
use super::keywords;
use super::mistake::{Notes, Wrong};
use super::names::{Names, is_composed};

/// How many faults are told at once. Nobody mends more in one go, and the answer stays small.
pub(crate) const MOST_FAULTS: usize = 100;

/// The schema of an action's input.
#[derive(Debug)]
pub struct InputSchema {
    schema: Value,
    validator: Validator,
    names: Names,
}

impl InputSchema {
    /// Compiles a schema of an object; a schema that does not say so takes no names beyond its own.
    pub(super) fn read(node: &Node, notes: &Notes<'_>) -> Option<Self> {
        node.table("“input”", notes)?;
        let written = node.to_json();
        if written.get("type") != Some(&json!("object")) {
            let at = node.at("/type");
            notes.add(
                &at.span,
                Wrong::new("“input” is not the schema of an object").expected("type = \"object\""),
            );
            return None;
        }
        keywords::check(node, notes);
        match Self::compile(written) {
            Ok(schema) => {
                schema.check_required(node, notes);
                Some(schema)
            }
            Err(error) => {
                let at = node.at(error.instance_path().as_str());
                notes.add(&at.span, not_a_schema(&error));
                None
            }
        }
    }

    /// Notes a required name that no input may have: nobody could call the action.
    fn check_required(&self, node: &Node, notes: &Notes<'_>) {
        let Kind::Array(items) = &node.at("/required").kind else { return };
        for item in items {
            if let Kind::Text(name) = &item.kind
                && !self.names.allow(name)
            {
                let wrong = Wrong::new(format!("“required” names “{name}”, which is no property"));
                notes.add(&item.span, wrong.nearest(name, self.names.iter()));
            }
        }
    }

    /// The schema of an input without arguments.
    pub(super) fn empty() -> Option<Self> {
        Self::compile(json!({ "type": "object", "properties": {} })).ok()
    }

    pub(super) fn compile(schema: Value) -> Result<Self, ValidationError<'static>> {
        Self::compile_with(schema, false)
    }

    /// The schema that a server gives its tool. It may know formats that nobody else knows.
    pub(super) fn of_tool(schema: Value) -> Result<Self, ValidationError<'static>> {
        Self::compile_with(schema, true)
    }

    fn compile_with(mut schema: Value, any_format: bool) -> Result<Self, ValidationError<'static>> {
        let names = Names::of(&schema);
        close(&mut schema, &names);
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .offline()
            .should_validate_formats(true)
            .should_ignore_unknown_formats(any_format)
            .build(&schema)?;
        Ok(Self { schema, validator, names })
    }

    /// The schema itself, closed where nothing else was said.
    pub fn as_json(&self) -> &Value {
        &self.schema
    }

    /// The names that an input may have.
    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// The schema of one property.
    pub(super) fn property(&self, name: &str) -> Option<&Value> {
        self.schema.get("properties")?.get(name)
    }

    /// Every fault of an input, one sentence a field and fault, none with the caller's value; the first hundred when
    /// there are more.
    pub(super) fn faults(&self, input: &Value) -> Vec<FieldError> {
        let mut seen = HashSet::new();
        self.validator
            .iter_errors(input)
            .flat_map(|error| fault(&error))
            .filter(|fault| seen.insert((fault.field.clone(), fault.message.clone())))
            .take(MOST_FAULTS)
            .collect()
    }

    /// The faults of one field, when it has this value.
    pub(super) fn faults_of(&self, name: &str, value: &Value) -> Vec<FieldError> {
        let (own, inner) = (format!("/{}", escape(name)), format!("/{}/", escape(name)));
        let faults = self.faults(&json!({ name: value }));
        faults.into_iter().filter(|fault| fault.field == own || fault.field.starts_with(&inner)).collect()
    }
}

fn fault(error: &ValidationError<'_>) -> Vec<FieldError> {
    let at = error.instance_path().as_str();
    match error.kind() {
        Fault::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![FieldError::new(format!("{at}/{}", escape(name)), "This field is required.")]
        }
        Fault::AdditionalProperties { unexpected } | Fault::UnevaluatedProperties { unexpected } => {
            unexpected
                .iter()
                .take(MOST_FAULTS)
                .map(|name| FieldError::new(format!("{at}/{}", escape(name)), "There is no such argument."))
                .collect()
        }
        kind => vec![FieldError::new(at, sentence(kind))],
    }
}

/// What keeps a table from being a schema.
fn not_a_schema(error: &ValidationError<'_>) -> Wrong {
    const TYPES: &[&str] = &["object", "array", "string", "number", "integer", "boolean", "null"];
    const FORMATS: &[&str] = &[
        "date",
        "date-time",
        "time",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "regex",
        "uri",
        "uuid",
    ];
    let pointer = error.instance_path().as_str();
    if matches!(error.kind(), Fault::Referencing(_)) {
        return Wrong::new("a reference of “input” leads nowhere")
            .expected("references within the schema, such as #/$defs/name");
    }
    match error.instance().as_ref() {
        Value::String(word) if pointer.ends_with("/type") => {
            super::document::unknown_word("type", word, TYPES)
        }
        Value::String(word) if pointer.ends_with("/format") => {
            super::document::unknown_word("format", word, FORMATS)
        }
        Value::String(_) if pointer.ends_with("/pattern") => Wrong::new("this is no regular expression"),
        _ => Wrong::new(format!("“input” is no JSON Schema 2020-12: {error}")),
    }
}

/// Shuts a schema that leaves open whether other names are allowed.
fn close(schema: &mut Value, names: &Names) {
    let composed = is_composed(schema);
    let Some(object) = schema.as_object_mut().filter(|_| !names.open) else { return };
    let told = object.contains_key("additionalProperties") || object.contains_key("unevaluatedProperties");
    if !told {
        let keyword = if composed { "unevaluatedProperties" } else { "additionalProperties" };
        object.insert(keyword.to_owned(), Value::Bool(false));
    }
    object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
}

/// A step of a JSON Pointer (RFC 6901).
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// What a fault means, in one sentence that holds nothing of the caller's.
fn sentence(kind: &Fault) -> String {
    match kind {
        Fault::Type { kind } => type_sentence(kind),
        Fault::Enum { options } => options_sentence(options),
        Fault::Constant { expected_value } => format!("This has to be {expected_value}."),
        Fault::Format { format } => format_sentence(format),
        Fault::Pattern { pattern } => format!("This has to match the pattern {pattern}."),
        Fault::MinLength { limit: 1 } => "This may not be empty.".to_owned(),
        Fault::MinLength { limit } => format!("This has to be at least {limit} characters long."),
        Fault::MaxLength { limit } => format!("This may be at most {limit} characters long."),
        Fault::Minimum { limit } => format!("This has to be at least {limit}."),
        Fault::Maximum { limit } => format!("This may be at most {limit}."),
        Fault::ExclusiveMinimum { limit } => format!("This has to be more than {limit}."),
        Fault::ExclusiveMaximum { limit } => format!("This has to be less than {limit}."),
        Fault::MultipleOf { multiple_of } => format!("This has to be a multiple of {multiple_of}."),
        Fault::MinItems { limit } => format!("This has to have at least {limit} entries."),
        other => rare_sentence(other),
    }
}

fn rare_sentence(kind: &Fault) -> String {
    match kind {
        Fault::MaxItems { limit } => format!("This may have at most {limit} entries."),
        Fault::AdditionalItems { limit } => format!("This may have at most {limit} entries."),
        Fault::MinProperties { limit } => format!("This has to have at least {limit} fields."),
        Fault::MaxProperties { limit } => format!("This may have at most {limit} fields."),
        Fault::UniqueItems => "The entries have to differ from each other.".to_owned(),
        Fault::Contains => "A wanted entry is missing.".to_owned(),
        Fault::UnevaluatedItems { .. } => "There are entries that are not allowed.".to_owned(),
        Fault::PropertyNames { .. } => "A field's name is not allowed.".to_owned(),
        Fault::AnyOf { .. } | Fault::OneOfNotValid { .. } => {
            "This fits none of the allowed forms.".to_owned()
        }
        Fault::OneOfMultipleValid { .. } => "This fits more than one of the allowed forms.".to_owned(),
        Fault::Not { .. } | Fault::FalseSchema => "This is not allowed here.".to_owned(),
        Fault::ContentEncoding { .. } | Fault::FromUtf8 { .. } => {
            "This is not encoded as it has to be.".to_owned()
        }
        Fault::ContentMediaType { .. } => "This is not of the media type it has to be.".to_owned(),
        _ => "This cannot be used.".to_owned(),
    }
}

fn type_sentence(kind: &TypeKind) -> String {
    let words = |name: &str| match name {
        "null" => "null",
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a text",
        "array" => "a list",
        _ => "an object",
    };
    match kind {
        TypeKind::Single(single) => format!("This has to be {}.", words(single.as_str())),
        TypeKind::Multiple(several) => {
            let names: Vec<&str> = several.iter().map(|one| words(one.as_str())).collect();
            format!("This has to be {}.", super::document::list(&names))
        }
    }
}

fn options_sentence(options: &Value) -> String {
    let words: Vec<String> = options
        .as_array()
        .into_iter()
        .flatten()
        .map(|option| option.as_str().map_or_else(|| option.to_string(), |text| format!("“{text}”")))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    format!("This has to be {}.", super::document::list(&words))
}

fn format_sentence(format: &str) -> String {
    match format {
        "email" | "idn-email" => "This has to be an e-mail address.".to_owned(),
        "uri" | "iri" => "This has to be an absolute address such as https://example.com/.".to_owned(),
        "date" => "This has to be a date such as 2026-11-30.".to_owned(),
        "date-time" => "This has to be a time such as 2026-11-30T09:30:00Z.".to_owned(),
        "time" => "This has to be a time of day such as 09:30:00Z.".to_owned(),
        "uuid" => "This has to be a UUID.".to_owned(),
        other => format!("This has to be of the format {other}."),
    }
}
