//! What a JSON Schema asks of a person, as far as a form can show it.

use serde_json::Value;

/// Fields that steer the call itself; a person's form needs none of them.
const CONTROL: [&str; 3] = ["dry_run", "confirm_token", "idempotency_key"];

/// How deep groups and lists may stand in each other. What lies deeper is written as JSON.
const DEEPEST: usize = 4;

/// How many fields a form may have, rows of lists aside. What comes after is written as JSON.
const MOST_FIELDS: usize = 200;

/// How many rows of one list a form shows. A list that needs more is written as JSON.
pub(super) const MOST_ROWS: usize = 50;

/// Names of texts that usually have several lines.
const LONG: [&str; 6] = ["body", "text", "message", "description", "note", "content"];

/// The most characters that stand in a control of one line.
const LONGEST_LINE: u64 = 200;

/// Keywords that a form cannot follow: which fields there are depends on what is filled in.
const COMPOSED: [&str; 8] =
    ["allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "patternProperties", "prefixItems"];

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    /// Its name in its object; empty for the whole input and for the entries of a list.
    pub(super) name: String,
    /// What people call it.
    pub(super) title: Option<String>,
    /// What it is for.
    pub(super) description: String,
    /// It has to be there.
    pub(super) is_required: bool,
    /// It may be null.
    pub(super) is_nullable: bool,
    /// What stands in it at first; null for nothing.
    pub(super) default: Value,
    /// How it is filled in.
    pub(super) shape: Shape,
}

/// How a field is filled in.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// A text of one line, with the type of its control.
    Line(&'static str),
    /// A text of many lines.
    Text,
    /// A number.
    Number {
        /// A whole one.
        is_whole: bool,
    },
    /// Yes or no.
    Tick,
    /// One of these.
    Choice(Vec<Value>),
    /// An object.
    Group(Vec<Field>),
    /// Entries of one kind.
    List {
        /// What each is.
        entry: Box<Field>,
        /// At least so many.
        least: usize,
        /// At most so many.
        most: usize,
    },
    /// Anything else, written as JSON.
    Json,
}

impl Field {
    /// The whole input of an action, out of its schema.
    pub(crate) fn of_input(schema: &Value) -> Self {
        let mut reader = Reader { root: schema, left: MOST_FIELDS };
        let mut field = reader.field("", schema, true, 0);
        if let Shape::Group(fields) = &mut field.shape {
            fields.retain(|field| !CONTROL.contains(&field.name.as_str()));
            // An input of names that are the caller's own has nothing that a control could be made for.
            if fields.is_empty() && schema["additionalProperties"] != Value::Bool(false) {
                field.shape = Shape::Json;
            }
        }
        field
    }

    /// What the entries of the list at this pointer are; `None`: there is no list.
    pub(super) fn entry_of(&self, list: &str) -> Option<&Self> {
        let mut here = self;
        for step in list.split('/').skip(1) {
            here = match &here.shape {
                Shape::Group(fields) => fields.iter().find(|field| escaped(&field.name) == step)?,
                Shape::List { entry, .. } => entry,
                _ => return None,
            };
        }
        match &here.shape {
            Shape::List { entry, .. } => Some(entry),
            _ => None,
        }
    }

    /// Whether one control shows it.
    pub(super) const fn is_single(&self) -> bool {
        !matches!(self.shape, Shape::Group(_) | Shape::List { .. })
    }
}

/// Reads a schema, and no more of it than a form can show.
struct Reader<'a> {
    root: &'a Value,
    left: usize,
}

impl Reader<'_> {
    fn field(&mut self, name: &str, schema: &Value, is_required: bool, depth: usize) -> Field {
        let target = self.target(schema);
        let text = |key: &str| schema[key].as_str().or(target[key].as_str()).map(str::to_owned);
        let default = if schema["default"].is_null() { &target["default"] } else { &schema["default"] };
        Field {
            name: name.to_owned(),
            title: text("title"),
            description: text("description").unwrap_or_default(),
            is_required,
            is_nullable: types(&target).contains(&"null"),
            default: default.clone(),
            shape: self.shape(name, &target, depth),
        }
    }

    /// What a reference within the schema leads to; one that leads nowhere, or round in a circle, is no schema.
    fn target(&self, schema: &Value) -> Value {
        let mut here = schema;
        for _ in 0..8 {
            let Some(reference) = here["$ref"].as_str() else { return here.clone() };
            match reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) {
                Some(there) => here = there,
                None => break,
            }
        }
        Value::Null
    }

    fn shape(&mut self, name: &str, schema: &Value, depth: usize) -> Shape {
        if self.left == 0 || !is_plain(schema) {
            return Shape::Json;
        }
        self.left -= 1;
        if let Some(values) = schema["enum"].as_array() {
            return Shape::Choice(values.iter().filter(|value| !value.is_null()).cloned().collect());
        }
        if let Some(value) = schema.get("const") {
            return Shape::Choice(vec![value.clone()]);
        }
        let types: Vec<&str> = types(schema).into_iter().filter(|one| *one != "null").collect();
        match types.as_slice() {
            ["string"] => text(name, schema),
            ["number"] => Shape::Number { is_whole: false },
            ["integer"] => Shape::Number { is_whole: true },
            ["boolean"] => Shape::Tick,
            ["object"] if depth <= DEEPEST => self.group(schema, depth),
            ["array"] if depth <= DEEPEST => self.list(name, schema, depth),
            _ => Shape::Json,
        }
    }

    fn group(&mut self, schema: &Value, depth: usize) -> Shape {
        // An object that takes names of the caller's own is more than its properties; the input itself is closed.
        let others = &schema["additionalProperties"];
        let is_open = depth > 0 && (others.is_object() || *others == Value::Bool(true));
        let Some(properties) = schema["properties"].as_object().filter(|all| !is_open && !all.is_empty())
        else {
            return if depth == 0 { Shape::Group(Vec::new()) } else { Shape::Json };
        };
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let fields = properties
            .iter()
            .map(|(name, schema)| self.field(name, schema, required.contains(&name.as_str()), depth + 1));
        Shape::Group(fields.collect())
    }

    fn list(&mut self, name: &str, schema: &Value, depth: usize) -> Shape {
        let count = |key: &str| schema[key].as_u64().and_then(|count| usize::try_from(count).ok());
        let (least, most) = (count("minItems").unwrap_or(0), count("maxItems").unwrap_or(MOST_ROWS));
        if !schema["items"].is_object() || least > MOST_ROWS {
            return Shape::Json;
        }
        let mut entry = self.field(name, &schema["items"], true, depth + 1);
        entry.name.clear();
        match entry.shape {
            Shape::Json => Shape::Json,
            _ => Shape::List { entry: Box::new(entry), least, most: most.min(MOST_ROWS) },
        }
    }
}

/// A name as a step of a JSON Pointer (RFC 6901).
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Whether a form can follow the schema. What only says which fields have to be there, it can.
fn is_plain(schema: &Value) -> bool {
    let says_more = |branch: &Value| {
        branch.as_object().is_none_or(|branch| branch.keys().any(|keyword| keyword != "required"))
    };
    COMPOSED.iter().filter_map(|keyword| schema.get(keyword)).all(|branches| match branches {
        Value::Array(branches) => !branches.iter().any(says_more),
        branch => !says_more(branch),
    })
}

fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn text(name: &str, schema: &Value) -> Shape {
    match schema["format"].as_str() {
        Some("date") => Shape::Line("date"),
        Some("email") => Shape::Line("email"),
        Some("uri") => Shape::Line("url"),
        Some(_) => Shape::Line("text"),
        None => match schema["maxLength"].as_u64() {
            Some(most) if most <= LONGEST_LINE => Shape::Line("text"),
            Some(_) => Shape::Text,
            None if LONG.contains(&name) => Shape::Text,
            None => Shape::Line("text"),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shape(property: &Value) -> Shape {
        let schema = json!({ "type": "object", "properties": { "it": property },
            "$defs": { "line": { "type": "string" }, "loop": { "$ref": "#/$defs/loop" },
                "tree": { "type": "object", "properties": { "tree": { "$ref": "#/$defs/tree" } } } } });
        match Field::of_input(&schema).shape {
            Shape::Group(mut fields) => fields.remove(0).shape,
            other => other,
        }
    }

    #[test]
    fn what_a_form_can_show_and_what_it_cannot() {
        for (property, expected) in [
            (json!({ "type": "string" }), Shape::Line("text")),
            (json!({ "type": ["string", "null"], "format": "date" }), Shape::Line("date")),
            (json!({ "type": "string", "maxLength": 4000 }), Shape::Text),
            (json!({ "type": "integer" }), Shape::Number { is_whole: true }),
            (json!({ "enum": ["a", null] }), Shape::Choice(vec![json!("a")])),
            (json!({ "$ref": "#/$defs/line" }), Shape::Line("text")),
            (json!({ "$ref": "#/$defs/loop" }), Shape::Json),
            (json!({ "$ref": "https://elsewhere.example/schema" }), Shape::Json),
            (json!({ "oneOf": [{ "type": "string" }, { "type": "number" }] }), Shape::Json),
            (json!({ "type": ["string", "number"] }), Shape::Json),
            (json!({ "type": "object" }), Shape::Json),
            (
                json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": true }),
                Shape::Json,
            ),
            (json!({ "type": "array", "items": { "type": "string" }, "minItems": 51 }), Shape::Json),
            (
                json!({ "type": "array", "prefixItems": [{ "type": "string" }], "items": { "type": "string" } }),
                Shape::Json,
            ),
            (json!({ "type": "array", "items": { "type": "object" } }), Shape::Json),
        ] {
            assert_eq!(shape(&property), expected, "{property}");
        }
        let list =
            shape(&json!({ "type": "array", "items": { "type": "number" }, "minItems": 1, "maxItems": 900 }));
        assert!(matches!(list, Shape::List { least: 1, most: MOST_ROWS, .. }), "{list:?}");
    }

    #[test]
    fn an_endless_schema_ends() {
        let mut here = shape(&json!({ "$ref": "#/$defs/tree" }));
        for _ in 0..DEEPEST {
            let Shape::Group(mut fields) = here else { panic!("{here:?}") };
            here = fields.remove(0).shape;
        }
        assert_eq!(here, Shape::Json);
        let names: serde_json::Map<_, _> =
            (0..500).map(|count| (format!("n{count}"), json!({ "type": "string" }))).collect();
        let Shape::Group(fields) = Field::of_input(&json!({ "type": "object", "properties": names })).shape
        else {
            panic!("a group")
        };
        assert_eq!(fields.iter().filter(|field| field.shape != Shape::Json).count(), MOST_FIELDS - 1);
    }

    #[test]
    fn an_input_that_no_form_can_show_is_json_as_a_whole() {
        let branches = json!([{ "properties": { "a": {} } }, { "required": ["b"] }]);
        assert_eq!(Field::of_input(&json!({ "type": "object", "oneOf": branches })).shape, Shape::Json);
        let either = json!([{ "required": ["a"] }, { "required": ["b"] }]);
        let schema = json!({ "type": "object", "anyOf": either, "properties": { "a": {}, "dry_run": {} } });
        assert!(matches!(Field::of_input(&schema).shape, Shape::Group(fields) if fields.len() == 1));
    }
}
