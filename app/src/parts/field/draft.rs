//! What stands in a form: what was typed, by JSON Pointer, and how many rows each list has.

use std::collections::BTreeMap;

use serde_json::Value;

use super::shape::{Field, MOST_ROWS, Shape, escaped};
use crate::form::Fields;

/// Before the pointer of a field in the name of its control.
const INPUT: &str = "input";
/// Before the pointer of a list in the name of the field that says how many rows it has.
const ROWS: &str = "rows";

/// How many rows all lists of a form may have together: a page stays one that a browser can show.
const MOST_ROWS_IN_ALL: usize = 300;

/// What stands in a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    texts: BTreeMap<String, String>,
    rows: BTreeMap<String, usize>,
}

impl Draft {
    /// The form as it is shown first: the schema's defaults, and the rows that a list cannot do without.
    pub(crate) fn blank(input: &Field) -> Self {
        let mut draft = Self::default();
        draft.fill(input, String::new(), &input.default);
        draft
    }

    /// The form as it was posted.
    pub(crate) fn of(fields: &Fields) -> Self {
        let mut draft = Self::default();
        let mut left = MOST_ROWS_IN_ALL;
        for (name, value) in fields {
            if let Some(pointer) = below(name, INPUT) {
                draft.texts.entry(pointer.to_owned()).or_insert_with(|| value.clone());
            } else if let Some(pointer) = below(name, ROWS) {
                let count = value.parse::<usize>().unwrap_or(0).min(MOST_ROWS).min(left);
                if draft.rows.insert(pointer.to_owned(), count).is_none() {
                    left -= count;
                }
            }
        }
        draft
    }

    /// Whether a field of this name is part of what stands in a form.
    pub(crate) fn has(name: &str) -> bool {
        below(name, INPUT).or_else(|| below(name, ROWS)).is_some()
    }

    /// The fields that the form would post.
    pub(crate) fn fields(&self) -> Fields {
        let texts = self.texts.iter().map(|(pointer, text)| (name(pointer), text.clone()));
        let rows = self.rows.iter().map(|(pointer, count)| (rows_name(pointer), count.to_string()));
        texts.chain(rows).collect()
    }

    /// What was typed into the field at this pointer; `None`: it did not come.
    pub(super) fn text(&self, pointer: &str) -> Option<&str> {
        self.texts.get(pointer).map(String::as_str)
    }

    /// How many rows the list at this pointer has.
    pub(super) fn rows(&self, pointer: &str) -> usize {
        self.rows.get(pointer).copied().unwrap_or(0)
    }

    /// Whether the form takes one row more.
    pub(super) fn has_room(&self) -> bool {
        self.rows.values().sum::<usize>() < MOST_ROWS_IN_ALL
    }

    /// One row more, when there is room: what stands in it at first is the schema's.
    pub(crate) fn add(&mut self, input: &Field, list: &str) {
        let index = self.rows(list);
        let Some(entry) = input.entry_of(list).filter(|_| index < MOST_ROWS && self.has_room()) else {
            return;
        };
        self.rows.insert(list.to_owned(), index + 1);
        self.fill(entry, step(list, &index.to_string()), &entry.default);
    }

    /// Takes the row at this pointer away; those behind it move up.
    pub(crate) fn remove(&mut self, row: &str) {
        let Some((list, index)) = row.rsplit_once('/') else { return };
        let Ok(index) = index.parse::<usize>() else { return };
        let Some(count) = self.rows.get_mut(list).filter(|count| index < **count) else { return };
        *count -= 1;
        let list = format!("{list}/");
        self.texts = moved_up(std::mem::take(&mut self.texts), &list, index);
        self.rows = moved_up(std::mem::take(&mut self.rows), &list, index);
    }

    fn fill(&mut self, field: &Field, at: String, default: &Value) {
        match &field.shape {
            Shape::Group(fields) => {
                for field in fields {
                    let given = &default[field.name.as_str()];
                    let default = if given.is_null() { &field.default } else { given };
                    self.fill(field, step(&at, &field.name), default);
                }
            }
            Shape::List { entry, least, .. } => {
                let given = default.as_array().map(Vec::as_slice).unwrap_or_default();
                let count = given.len().max(*least).min(MOST_ROWS);
                for index in 0..count {
                    let default = given.get(index).unwrap_or(&entry.default);
                    self.fill(entry, step(&at, &index.to_string()), default);
                }
                self.rows.insert(at, count);
            }
            Shape::Tick if *default != Value::Bool(true) => {}
            _ if default.is_null() => {}
            _ => drop(self.texts.insert(at, as_typed(default))),
        }
    }
}

/// The name of the control at this pointer.
pub(super) fn name(pointer: &str) -> String {
    format!("{INPUT}{pointer}")
}

/// The name of the field that says how many rows the list at this pointer has.
pub(super) fn rows_name(pointer: &str) -> String {
    format!("{ROWS}{pointer}")
}

/// The JSON Pointer one step below (RFC 6901).
pub(super) fn step(at: &str, name: &str) -> String {
    format!("{at}/{}", escaped(name))
}

/// A value as somebody would type it: a text as it is, anything else as JSON.
pub(super) fn as_typed(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The pointer behind this word.
fn below<'a>(name: &'a str, word: &str) -> Option<&'a str> {
    name.strip_prefix(word).filter(|pointer| pointer.is_empty() || pointer.starts_with('/'))
}

/// Everything but what stands in the row; the rows behind it are numbered anew.
fn moved_up<T>(all: BTreeMap<String, T>, list: &str, gone: usize) -> BTreeMap<String, T> {
    let moved = all.into_iter().filter_map(|(pointer, value)| {
        let Some(rest) = pointer.strip_prefix(list) else { return Some((pointer, value)) };
        let (index, deeper) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
        match index.parse::<usize>() {
            Ok(index) if index == gone => None,
            Ok(index) if index > gone => Some((format!("{list}{}{deeper}", index - 1), value)),
            _ => Some((pointer, value)),
        }
    });
    moved.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_row_is_taken_out_and_the_others_move_up() {
        let mut draft = Draft::of(&fields(&[
            ("action", "order"),
            ("rows/lines", "3"),
            ("rows/lines/2/tags", "1"),
            ("input/lines/0/what", "a"),
            ("input/lines/1/what", "b"),
            ("input/lines/2/what", "c"),
            ("input/lines/2/tags/0", "t"),
            ("input/linesman", "x"),
        ]));
        draft.remove("/lines/1");
        let after = Draft::of(&fields(&[
            ("rows/lines", "2"),
            ("rows/lines/1/tags", "1"),
            ("input/lines/0/what", "a"),
            ("input/lines/1/what", "c"),
            ("input/lines/1/tags/0", "t"),
            ("input/linesman", "x"),
        ]));
        assert_eq!(draft, after);
        assert_eq!(Draft::of(&draft.fields()), draft);
        for nonsense in ["", "/lines", "/lines/7", "/lines/-1", "/other/0"] {
            draft.remove(nonsense);
        }
        assert_eq!(draft, after);
    }

    #[test]
    fn rows_have_an_end() {
        let many: Fields = (0..20).map(|list| (format!("rows/l{list}"), "4000000000".to_owned())).collect();
        let mut draft = Draft::of(&many);
        assert_eq!((draft.rows("/l0"), draft.rows("/l5"), draft.rows("/l6")), (50, 50, 0));
        let list = json!({ "type": "array", "items": { "type": "string" } });
        let input = Field::of_input(&json!({ "type": "object", "properties": { "l": list, "l6": list } }));
        draft.add(&input, "/l6");
        assert_eq!(draft.rows("/l6"), 0, "the form is full");
        let mut one = Draft::of(&fields(&[("rows/l", "49")]));
        for rows in [50, 50] {
            one.add(&input, "/l");
            assert_eq!(one.rows("/l"), rows);
        }
    }

    #[test]
    fn a_row_begins_with_the_schemas_defaults() {
        let inner = json!({ "type": "array", "minItems": 1, "items": { "type": "string" } });
        let line = json!({ "type": "object", "properties": { "count": { "type": "integer", "default": 1 }, "tags": inner } });
        let input = Field::of_input(
            &json!({ "type": "object", "properties": { "lines": { "type": "array", "items": line } } }),
        );
        let mut draft = Draft::blank(&input);
        draft.add(&input, "/lines");
        draft.add(&input, "/lines/0/tags");
        for nowhere in ["/else", "/lines/0/count", ""] {
            draft.add(&input, nowhere);
        }
        let expected = [("input/lines/0/count", "1"), ("rows/lines", "1"), ("rows/lines/0/tags", "2")];
        assert_eq!(draft.fields(), fields(&expected));
    }

    #[test]
    fn at_first_the_defaults_stand_there() {
        let schema = json!({ "type": "object", "properties": {
            "to": { "type": "array", "items": { "type": "string" }, "minItems": 2, "default": ["a"] },
            "at": { "type": "object", "properties": { "floor": { "type": "integer", "default": 3 }, "wing": { "type": "string" } }, "default": { "wing": "east" } } } });
        let draft = Draft::blank(&Field::of_input(&schema));
        let expected =
            [("input/at/floor", "3"), ("input/at/wing", "east"), ("input/to/0", "a"), ("rows/to", "2")];
        assert_eq!(draft.fields(), fields(&expected));
    }
}
