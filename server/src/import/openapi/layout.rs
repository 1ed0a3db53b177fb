//! The catalogue's text, laid out for reading: what is short on one line, what is long in tables of its own.
//!
//! It keeps to TOML 1.0, so that every editor can read it.

use serde_json::{Map, Value};
use toml_edit::{InlineTable, Key};

/// The longest line before a value is spread over several.
const WIDTH: usize = 118;

/// The same for a table without tables and lists in it: a field with a sentence about it stays one line.
const WIDTH_OF_A_LEAF: usize = 180;

/// A text in the making.
#[derive(Debug, Default)]
pub(in crate::import) struct Sheet {
    text: String,
}

impl Sheet {
    /// The whole text.
    pub(in crate::import) fn into_text(self) -> String {
        self.text
    }

    /// A line that machines do not read, broken where it is too long.
    pub(in crate::import) fn comment(&mut self, words: &str) {
        let mut line = String::new();
        for word in words.split_whitespace() {
            if !line.is_empty() && line.chars().count() + word.chars().count() + 3 > WIDTH {
                self.push_comment(&line);
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.extend(word.chars().filter(|c| !c.is_control() && !super::prose::is_invisible(*c)));
        }
        self.push_comment(&line);
    }

    /// An empty line.
    pub(in crate::import) fn space(&mut self) {
        self.text.push('\n');
    }

    /// One more table of a list of tables.
    pub(in crate::import) fn entry(&mut self, name: &str, fields: &Map<String, Value>) {
        self.line(&format!("[[{name}]]"));
        self.fields(name, fields);
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn push_comment(&mut self, line: &str) {
        self.line(if line.is_empty() { "#".to_owned() } else { format!("# {line}") }.as_str());
    }

    /// The fields of a table: first those that fit under its header, then those with headers of their own.
    fn fields(&mut self, path: &str, fields: &Map<String, Value>) {
        for (name, value) in fields.iter().filter(|(name, value)| !has_header(name, value)) {
            let key = key(name);
            match value {
                Value::Array(items) if is_wide(name, value) => self.list(&key, items),
                _ => self.line(&format!("{key} = {}", inline(value))),
            }
        }
        for (name, value) in fields.iter().filter(|(name, value)| has_header(name, value)) {
            let path = format!("{path}.{}", key(name));
            match value {
                Value::Array(items) => self.entries(&path, items),
                Value::Object(inner) => self.sub_table(&path, inner),
                _ => {}
            }
        }
    }

    fn sub_table(&mut self, path: &str, fields: &Map<String, Value>) {
        if fields.is_empty() || fields.iter().any(|(name, value)| !has_header(name, value)) {
            self.space();
            self.line(&format!("[{path}]"));
        }
        self.fields(path, fields);
    }

    fn entries(&mut self, path: &str, items: &[Value]) {
        for fields in items.iter().filter_map(Value::as_object) {
            self.space();
            self.entry(path, fields);
        }
    }

    /// A list, an entry a line; short ones share lines.
    fn list(&mut self, key: &str, items: &[Value]) {
        self.line(&format!("{key} = ["));
        let mut line = String::new();
        for item in items {
            let written = inline(item) + ",";
            let together = !item.is_object() && line.len() + written.len() + 5 <= WIDTH;
            if !line.is_empty() && !together {
                self.line(&format!("    {line}"));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&written);
        }
        self.line(&format!("    {line}"));
        self.line("]");
    }
}

/// Whether a field becomes a table with a header, or a list of such.
fn has_header(name: &str, value: &Value) -> bool {
    match value {
        Value::Object(_) => is_wide(name, value),
        Value::Array(items) => {
            items.iter().all(Value::is_object) && items.iter().any(|item| is_wide("", item))
        }
        _ => false,
    }
}

fn is_wide(name: &str, value: &Value) -> bool {
    let is_leaf = value
        .as_object()
        .is_some_and(|fields| !fields.values().any(|inner| inner.is_object() || inner.is_array()));
    let most = if is_leaf { WIDTH_OF_A_LEAF } else { WIDTH };
    name.len() + 3 + inline(value).chars().count() > most
}

fn key(name: &str) -> String {
    Key::new(name).to_string().trim().to_owned()
}

fn inline(value: &Value) -> String {
    toml(value).to_string().trim().to_owned()
}

/// A value as TOML has it. It has no null; what is converted holds none.
fn toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Null => toml_edit::Value::from(""),
        Value::Bool(boolean) => toml_edit::Value::from(*boolean),
        Value::Number(number) => number.as_i64().map_or_else(
            || toml_edit::Value::from(number.as_f64().unwrap_or_default()),
            toml_edit::Value::from,
        ),
        Value::String(text) => toml_edit::Value::from(text.as_str()),
        Value::Array(items) => items.iter().map(toml).collect(),
        Value::Object(fields) => {
            let table: InlineTable =
                fields.iter().map(|(name, value)| (name.as_str(), toml(value))).collect();
            toml_edit::Value::InlineTable(table)
        }
    }
}
