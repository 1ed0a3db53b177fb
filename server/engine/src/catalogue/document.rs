//! The file as a tree of values that know where they stand, and typed reading that notes what does not fit.

use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistake::{Notes, Span, Wrong};

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) span: Span,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Text(String),
    Number(Number),
    Boolean(bool),
    Datetime(String),
    Array(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table and its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Span,
    pub(super) node: Node,
}

/// Reads the text, with every place of broken syntax noted, and what could be read around it.
pub(super) fn parse(text: &str, notes: &Notes<'_>) -> Node {
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        notes.add_broken(&span, Wrong::new(format!("not TOML: {}", error.message())));
    }
    Node { span: 0..0, kind: table(document.get_ref(), notes) }
}

/// A table's entries in the order of the file.
fn table(table: &DeTable<'_>, notes: &Notes<'_>) -> Kind {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_span: key.span(),
            node: node(value, notes),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    Kind::Table(entries)
}

fn node(value: &Spanned<DeValue<'_>>, notes: &Notes<'_>) -> Node {
    let span = value.span();
    let kind = match value.get_ref() {
        DeValue::String(text) => Kind::Text(text.to_string()),
        DeValue::Integer(integer) => Kind::Number(number(integer.as_str(), integer.radix(), &span, notes)),
        DeValue::Float(float) => {
            let parsed = float.as_str().parse().ok().and_then(Number::from_f64);
            Kind::Number(parsed.unwrap_or_else(|| unusable_number(&span, notes)))
        }
        DeValue::Boolean(boolean) => Kind::Boolean(*boolean),
        DeValue::Datetime(datetime) => Kind::Datetime(datetime.to_string()),
        DeValue::Array(items) => Kind::Array(items.iter().map(|item| node(item, notes)).collect()),
        DeValue::Table(entries) => table(entries, notes),
    };
    Node { span, kind }
}

/// An integer exactly, as far as 64 bits go.
fn number(digits: &str, radix: u32, span: &Span, notes: &Notes<'_>) -> Number {
    i64::from_str_radix(digits, radix)
        .map(Number::from)
        .or_else(|_| u64::from_str_radix(digits, radix).map(Number::from))
        .unwrap_or_else(|_| unusable_number(span, notes))
}

fn unusable_number(span: &Span, notes: &Notes<'_>) -> Number {
    notes.add(
        span,
        Wrong::new("this number cannot be used").expected("a finite number that fits into 64 bits"),
    );
    Number::from(0)
}

impl Node {
    /// What it is, in words.
    pub(super) fn what(&self) -> &'static str {
        match self.kind {
            Kind::Text(_) => "a string",
            Kind::Number(_) => "a number",
            Kind::Boolean(_) => "a boolean",
            Kind::Datetime(_) => "a date or time",
            Kind::Array(_) => "an array",
            Kind::Table(_) => "a table",
        }
    }

    /// The same as JSON; dates and times become strings.
    pub(super) fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Text(text) | Kind::Datetime(text) => Value::String(text.clone()),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Boolean(boolean) => Value::Bool(*boolean),
            Kind::Array(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Kind::Table(entries) => Value::Object(json_of(entries)),
        }
    }

    /// SHA-256 over what it says, wherever it stands.
    pub(super) fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.to_json().to_string()).into()
    }

    /// The part that a JSON Pointer names, or the deepest part on the way to it.
    pub(super) fn at(&self, pointer: &str) -> &Node {
        let mut node = self;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match &node.kind {
                Kind::Table(entries) => {
                    entries.iter().find(|entry| entry.key == step).map(|entry| &entry.node)
                }
                Kind::Array(items) => step.parse().ok().and_then(|index: usize| items.get(index)),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }

    fn mismatch(&self, what: &str, expected: &str, notes: &Notes<'_>) {
        notes.add(&self.span, Wrong::new(format!("{what} is {}", self.what())).expected(expected));
    }

    /// A string.
    pub(super) fn text(&self, what: &str, notes: &Notes<'_>) -> Option<&str> {
        if let Kind::Text(text) = &self.kind {
            return Some(text);
        }
        self.mismatch(what, "a string", notes);
        None
    }

    /// A boolean.
    pub(super) fn boolean(&self, what: &str, notes: &Notes<'_>) -> Option<bool> {
        if let Kind::Boolean(boolean) = self.kind {
            return Some(boolean);
        }
        self.mismatch(what, "true or false", notes);
        None
    }

    /// A whole number from `least` to `most`.
    pub(super) fn whole(&self, what: &str, least: u64, most: u64, notes: &Notes<'_>) -> Option<u64> {
        let range = if most == u64::MAX {
            format!("a whole number of at least {least}")
        } else {
            format!("a whole number from {least} to {most}")
        };
        let Kind::Number(number) = &self.kind else {
            self.mismatch(what, &range, notes);
            return None;
        };
        let fits = number.as_u64().filter(|number| (least..=most).contains(number));
        if fits.is_none() {
            notes.add(&self.span, Wrong::new(format!("{what} is out of range")).expected(range));
        }
        fits
    }

    /// An array.
    pub(super) fn array(&self, what: &str, notes: &Notes<'_>) -> Option<&[Node]> {
        if let Kind::Array(items) = &self.kind {
            return Some(items);
        }
        self.mismatch(what, "an array", notes);
        None
    }

    /// A table.
    pub(super) fn table(&self, what: &str, notes: &Notes<'_>) -> Option<&[Entry]> {
        if let Kind::Table(entries) = &self.kind {
            return Some(entries);
        }
        self.mismatch(what, "a table", notes);
        None
    }

    /// An array of strings, each with its place.
    pub(super) fn texts<'n>(&'n self, what: &str, notes: &Notes<'_>) -> Option<Vec<(&'n str, &'n Span)>> {
        let items = self.array(what, notes)?;
        let each = format!("an entry of {what}");
        Some(items.iter().filter_map(|item| Some((item.text(&each, notes)?, &item.span))).collect())
    }
}

/// Entries as a JSON object.
pub(super) fn json_of(entries: &[Entry]) -> Map<String, Value> {
    entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect()
}

/// A table whose keys are known.
pub(super) struct Section<'n> {
    /// What the table is, with its article: “an action”.
    what: &'static str,
    /// Where it begins.
    pub(super) span: Span,
    entries: &'n [Entry],
    pub(super) notes: &'n Notes<'n>,
}

impl<'n> Section<'n> {
    /// Opens a table and notes every key that is not one of `keys`.
    pub(super) fn open(
        node: &'n Node,
        what: &'static str,
        keys: &[&str],
        notes: &'n Notes<'n>,
    ) -> Option<Self> {
        let entries = node.table(what, notes)?;
        for entry in entries.iter().filter(|entry| !keys.contains(&entry.key.as_str())) {
            let wrong = Wrong::new(format!("“{}” is not a key of {what}", entry.key));
            let wrong = wrong.nearest(&entry.key, keys.iter().copied());
            notes.add(&entry.key_span, if wrong.has_nearest() { wrong } else { wrong.expected(list(keys)) });
        }
        Some(Self { what, span: node.span.clone(), entries, notes })
    }

    /// The value of a key, when it is there.
    pub(super) fn get(&self, key: &str) -> Option<&'n Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The value of a key that has to be there.
    pub(super) fn require(&self, key: &str) -> Option<&'n Node> {
        let found = self.get(key);
        if found.is_none() {
            self.notes.add(&self.span, Wrong::absent(format!("{} lacks “{key}”", self.what)));
        }
        found
    }

    /// Notes a mistake at the value of a key, or at the table.
    pub(super) fn wrong(&self, key: &str, wrong: Wrong) {
        let span = self.get(key).map_or(&self.span, |node| &node.span);
        self.notes.add(span, wrong);
    }

    /// A string that may be missing.
    pub(super) fn text(&self, key: &str) -> Option<&'n str> {
        self.get(key)?.text(&quoted(key), self.notes)
    }

    /// A string that has to be there and may not be empty.
    pub(super) fn required_text(&self, key: &str) -> Option<&'n str> {
        let text = self.require(key)?.text(&quoted(key), self.notes)?;
        if text.trim().is_empty() {
            self.wrong(key, Wrong::new(format!("“{key}” is empty")));
            return None;
        }
        Some(text)
    }

    /// A boolean, or its default.
    pub(super) fn boolean(&self, key: &str, default: bool) -> bool {
        self.get(key).and_then(|node| node.boolean(&quoted(key), self.notes)).unwrap_or(default)
    }

    /// A whole number, or its default.
    pub(super) fn whole(&self, key: &str, least: u64, most: u64, default: u64) -> u64 {
        self.get(key).and_then(|node| node.whole(&quoted(key), least, most, self.notes)).unwrap_or(default)
    }

    /// An array of strings; empty when it is missing.
    pub(super) fn texts(&self, key: &str) -> Vec<(&'n str, &'n Span)> {
        self.get(key).and_then(|node| node.texts(&quoted(key), self.notes)).unwrap_or_default()
    }

    /// One word of a closed set.
    pub(super) fn word<T: std::str::FromStr>(&self, node: &Node, key: &str, words: &[&str]) -> Option<T> {
        let text = node.text(&quoted(key), self.notes)?;
        let parsed = if words.contains(&text) { text.parse().ok() } else { None };
        if parsed.is_none() {
            self.notes.add(&node.span, unknown_word(key, text, words));
        }
        parsed
    }
}

/// A word is none of a closed set.
pub(super) fn unknown_word(key: &str, text: &str, words: &[&str]) -> Wrong {
    Wrong::new(format!("“{text}” is no {key}")).expected(list(words)).nearest(text, words.iter().copied())
}

/// “a, b or c”.
pub(super) fn list(words: &[&str]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn quoted(key: &str) -> String {
    format!("“{key}”")
}

#[cfg(test)]
mod tests {
    use super::super::caller::Caller;
    use super::super::{Catalogue, Mistakes};

    /// What people read about the keys.
    const MANUAL: &str = include_str!("../../../../docs/CATALOGUE.md");

    /// A chapter of the manual, and a file that says “?” where the catalogue then lists every key or word it knows.
    const PLACES: &[(&str, &str)] = &[
        ("The catalogue", "\"?\" = 1"),
        ("[server]", "[server]\n\"?\" = 1"),
        ("[surfaces]", "[surfaces]\n\"?\" = true"),
        ("[[credential]]", "[[credential]]\n\"?\" = 1"),
        ("[[credential]]", "[[credential]]\nsecret = { \"?\" = 1 }"),
        ("[[action]]", "[[action]]\n\"?\" = 1"),
        ("[[action]]", "[[action]]\neffect = \"?\""),
        ("[[action]]", "[[action]]\nexpose = [\"?\"]"),
        ("[[action]]", "[[action]]\nconvert = { x = \"?\" }"),
        ("[[action]]", "[[action]]\nrules = [{ \"?\" = 1 }]"),
        ("[[action]]", "[[action]]\nrequest = { \"?\" = 1 }"),
        ("[[action]]", "[[action]]\ntool = { \"?\" = 1 }"),
        ("[[upstream]]", "[[upstream]]\n\"?\" = 1"),
        ("[notices]", "[notices]\n\"?\" = 1"),
        ("[mail]", "[mail]\n\"?\" = 1"),
        ("[mail]", "[mail]\nsmtp = \"smtps://h\"\nfrom = \"a@b.example\"\npassword = { \"?\" = 1 }"),
        ("[[webhook]]", "[[webhook]]\n\"?\" = 1"),
        ("[[webhook]]", "[[webhook]]\nkind = \"?\""),
        ("[[webhook]]", "[[webhook]]\nsecret = { \"?\" = 1 }"),
        ("[ledger]", "[ledger]\n\"?\" = 1"),
        ("[sign_in]", "[sign_in]\n\"?\" = 1"),
        ("[sign_in]", "[sign_in.oidc]\n\"?\" = 1"),
        (
            "[sign_in]",
            "[sign_in.oidc]\nissuer = \"https://a.example\"\nclient_id = \"c\"\nclient_secret = { \"?\" = 1 }",
        ),
        ("[[action]]", "[[action]]\npreview = { \"?\" = 1 }"),
        ("[[action]]", "[[action]]\npreview = { fields = [{ \"?\" = 1 }] }"),
        ("[[action]]", "[[action]]\nrefusals = [{ \"?\" = 1 }]"),
    ];

    #[test]
    fn the_manual_names_every_key() {
        let keys =
            PLACES.iter().flat_map(|(title, file)| known(file).into_iter().map(move |key| (*title, key)));
        let facts = Caller::FACTS.iter().map(|fact| ("Rules", (*fact).to_owned()));
        let missing: Vec<_> = keys.chain(facts).filter(|(title, key)| !names(chapter(title), key)).collect();
        assert!(missing.is_empty(), "docs/CATALOGUE.md does not name, in these chapters: {missing:?}");
    }

    /// The keys or words that the catalogue would have taken in the place of “?”.
    fn known(file: &str) -> Vec<String> {
        let Err(Mistakes(mistakes)) = Catalogue::parse(file, "c.toml") else { panic!("taken: {file}") };
        let told = mistakes.into_iter().find(|mistake| mistake.message.contains("“?”"));
        let Some(list) = told.and_then(|mistake| mistake.expected) else {
            panic!("nothing expected: {file}")
        };
        list.replace(" or ", ", ").split(", ").map(str::to_owned).collect()
    }

    /// The chapter with this in its title.
    fn chapter(title: &str) -> &'static str {
        MANUAL
            .split("\n## ")
            .find(|chapter| chapter.lines().next().is_some_and(|line| line.contains(title)))
            .unwrap_or_else(|| panic!("docs/CATALOGUE.md has no chapter “{title}”"))
    }

    /// Whether it names a key, alone or as a table.
    fn names(chapter: &str, key: &str) -> bool {
        chapter.contains(&format!("`{key}`")) || chapter.contains(&format!("[{key}]"))
    }
}
