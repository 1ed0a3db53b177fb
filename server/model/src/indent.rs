//! JSON set out for reading, without altering, reordering or dropping a token.

use std::borrow::Cow;

use serde::de::IgnoredAny;

/// Levels that are set in; deeper ones stay at this column, so that a deep body does not run off the page.
const DEEPEST: usize = 16;

/// A JSON object or array with one value a line, two spaces a level. Only blanks between tokens change: numbers keep
/// their digits, strings their escapes, members their order, even when a name is there twice. Anything else is
/// returned as it is.
pub fn indent(text: &str) -> Cow<'_, str> {
    let is_nested = text.trim_start_matches(is_blank).starts_with(['{', '[']);
    if !is_nested || serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let token = token_len(rest, c);
        let (this, after) = rest.split_at(token);
        rest = after;
        match c {
            '{' | '[' => {
                out.push(c);
                if !after.trim_start_matches(is_blank).starts_with(['}', ']']) {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                if !out.ends_with(['{', '[']) {
                    depth = depth.saturating_sub(1);
                    new_line(&mut out, depth);
                }
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if is_blank(c) => {}
            _ => out.push_str(this),
        }
    }
    Cow::Owned(out)
}

/// JSON's own four blanks (RFC 8259, section 2).
const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth.min(DEEPEST) {
        out.push_str("  ");
    }
}

/// How many bytes the token at the start has: a whole string, or one character.
fn token_len(rest: &str, first: char) -> usize {
    if first != '"' {
        return first.len_utf8();
    }
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn set_out_for_reading() {
        let text = r#"{"a":[1,2.50e+3,{}],"b":"x, {y}: \"z\"", "a":null,"c":[ ]}"#;
        let read = "{\n  \"a\": [\n    1,\n    2.50e+3,\n    {}\n  ],\n  \"b\": \"x, {y}: \\\"z\\\"\",\n  \"a\": null,\n  \"c\": []\n}";
        assert_eq!(indent(text), read);
    }

    #[test]
    fn anything_else_stays() {
        for text in
            ["", "plain, text", "{\"a\":", "{a:1}", "\"only a string\"", "17", "[1] [2]", "{\"a\":1,}"]
        {
            assert!(matches!(indent(text), Cow::Borrowed(same) if same == text));
        }
    }

    /// The text without the blanks between its tokens.
    fn tokens(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let (token, after) = rest.split_at(token_len(rest, c));
            if !is_blank(c) {
                out.push_str(token);
            }
            rest = after;
        }
        out
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[ \\t\\n{}:,\\[\\]\"\\\\]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 48, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_token_changes(value in json(), is_pretty in any::<bool>()) {
            let text = if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let text = text.unwrap_or_default();
            let read = indent(&text);
            prop_assert_eq!(tokens(&read), tokens(&text));
            prop_assert_eq!(serde_json::from_str::<Value>(&read).ok(), serde_json::from_str::<Value>(&text).ok());
        }

        #[test]
        fn no_text_is_lost(text in any::<String>()) {
            prop_assert_eq!(tokens(&indent(&text)), tokens(&text));
        }
    }
}
