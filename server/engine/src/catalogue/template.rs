//! Templates over the input, the dry run's answer and the output.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::LazyLock;

use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Expression, UndefinedBehavior};
use model::FieldError;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::mistake::Wrong;
use super::names::Names;
use super::schema::escape;

/// All but the unreserved characters of RFC 3986.
pub(super) const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Stands before what an expression put into a URL. No URL holds it.
pub(super) const OPEN: char = '\u{1}';
/// Stands behind what an expression put into a URL.
pub(super) const CLOSE: char = '\u{2}';

/// For requests: what is missing is an error.
static STRICT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_formatter(|out, _, value| Ok(out.write_str(&needed(value)?)?));
    environment
});

/// For URLs: every expression's output is percent-encoded whole, and marked.
static IN_URL: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_formatter(|out, _, value| {
        let encoded = utf8_percent_encode(&needed(value)?, RESERVED).to_string();
        Ok(write!(out, "{OPEN}{encoded}{CLOSE}")?)
    });
    environment
});

/// For people: what is missing is left empty.
static LENIENT: LazyLock<Environment<'static>> =
    LazyLock::new(|| {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Chainable);
        environment.set_formatter(|out, _, value| {
            if value.is_undefined() { Ok(()) } else { Ok(out.write_str(&plain(value)?)?) }
        });
        environment
    });

/// A value as text, refusing what is missing or null.
fn needed(value: &minijinja::Value) -> Result<Cow<'_, str>, Error> {
    if value.is_undefined() || value.is_none() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    plain(value)
}

/// A value as text: strings as they are, everything else as JSON writes it.
fn plain(value: &minijinja::Value) -> Result<Cow<'_, str>, Error> {
    if let Some(text) = value.as_str() {
        return Ok(Cow::Borrowed(text));
    }
    match value.kind() {
        ValueKind::None => Ok(Cow::Borrowed("null")),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
            let written = serde_json::to_string(value);
            written.map(Cow::Owned).map_err(|_| Error::from(ErrorKind::BadSerialization))
        }
        _ => Ok(Cow::Owned(value.to_string())),
    }
}

/// What a template may speak of.
pub(super) struct Scope<'s> {
    pub(super) input: &'s Value,
    dry_run: Option<&'s Value>,
    output: Option<&'s Value>,
    /// The same for the template engine, made once, and only when a template needs it.
    context: OnceCell<minijinja::Value>,
}

impl<'s> Scope<'s> {
    /// Of the input alone.
    pub(super) fn input(input: &'s Value) -> Self {
        Self { input, dry_run: None, output: None, context: OnceCell::new() }
    }

    /// With what the dry run answered.
    pub(super) fn with_dry_run(input: &'s Value, dry_run: Option<&'s Value>) -> Self {
        Self { dry_run, ..Self::input(input) }
    }

    /// With what the caller gets.
    pub(super) fn with_output(input: &'s Value, output: &'s Value) -> Self {
        Self { output: Some(output), ..Self::input(input) }
    }

    fn context(&self) -> minijinja::Value {
        self.context.get_or_init(|| self.make_context()).clone()
    }

    fn make_context(&self) -> minijinja::Value {
        let mut context =
            std::collections::BTreeMap::from([("input", minijinja::Value::from(Serde(self.input)))]);
        context.extend(self.dry_run.map(|answer| ("dry_run", minijinja::Value::from(Serde(answer)))));
        context.extend(self.output.map(|output| ("output", minijinja::Value::from(Serde(output)))));
        context.into()
    }

    /// The value a dotted path stands for.
    fn at(&self, path: &[String]) -> Option<&'s Value> {
        let (root, steps) = path.split_first()?;
        let root = match root.as_str() {
            "input" => Some(self.input),
            "dry_run" => self.dry_run,
            "output" => self.output,
            _ => None,
        };
        steps.iter().try_fold(root?, |value, step| value.get(step))
    }
}

/// What the templates of one place may speak of, to check them against.
#[derive(Clone, Copy)]
pub(super) struct Vocabulary<'v> {
    /// `input`, `dry_run`, `output`.
    pub(super) roots: &'static [&'static str],
    /// The names of the input.
    pub(super) names: &'v Names,
    /// An input that fits the schema's types.
    pub(super) sample: &'v Value,
    /// What is missing may be left out, so only a name that is nearly right is a mistake.
    pub(super) lenient: bool,
}

/// A template that was checked.
#[derive(Debug)]
pub(super) struct Template {
    source: String,
    /// `None`: text and tags mixed.
    whole: Option<Whole>,
    /// The dotted paths below `input` it refers to.
    refers: Vec<Vec<String>>,
}

/// A template that is one thing.
#[derive(Debug)]
enum Whole {
    /// A text without tags.
    Literal,
    /// A dotted path: taken from the JSON as it is.
    Path(Vec<String>),
    /// Anything else.
    Expression(Box<Expression<'static, 'static>>),
}

impl Template {
    /// Checks a template.
    pub(super) fn compile(source: &str, vocabulary: Vocabulary<'_>) -> Result<Self, Vec<Wrong>> {
        let parsed = STRICT.template_from_str(source).map_err(|error| vec![syntax(&error)])?;
        let mut paths: Vec<Vec<String>> = parsed
            .undeclared_variables(true)
            .into_iter()
            .map(|path| path.split('.').map(str::to_owned).collect())
            .collect();
        paths.sort();
        let mut wrongs: Vec<Wrong> = paths.iter().filter_map(|path| unknown(path, vocabulary)).collect();
        wrongs.extend(unknown_function(source, vocabulary.sample));
        if !wrongs.is_empty() {
            return Err(wrongs);
        }
        paths.retain(|path| path.len() > 1 && path[0] == "input");
        Ok(Self { source: source.to_owned(), whole: Whole::of(source), refers: paths })
    }

    /// As it stands in the catalogue.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// The names of the input it refers to.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.refers.iter().filter_map(|path| path.get(1)).map(String::as_str)
    }

    /// The text; what is missing is an error on its field.
    pub(super) fn text(&self, scope: &Scope<'_>) -> Result<String, Vec<FieldError>> {
        STRICT.render_str(&self.source, scope.context()).map_err(|error| self.fault(scope, &error))
    }

    /// The text of a URL, with what the expressions put in marked.
    pub(super) fn url(&self, scope: &Scope<'_>) -> Result<String, Vec<FieldError>> {
        IN_URL.render_str(&self.source, scope.context()).map_err(|error| self.fault(scope, &error))
    }

    /// The value: an expression's own, or the text. `None`: an expression that stands for nothing.
    pub(super) fn value(&self, scope: &Scope<'_>) -> Result<Option<Value>, Vec<FieldError>> {
        match &self.whole {
            None => self.text(scope).map(|text| Some(Value::String(text))),
            Some(Whole::Literal) => Ok(Some(Value::from(self.source.as_str()))),
            Some(Whole::Path(path)) => Ok(scope.at(path).cloned()),
            Some(Whole::Expression(expression)) => {
                let value = expression.eval(scope.context()).map_err(|error| self.fault(scope, &error))?;
                if value.is_undefined() {
                    return Ok(None);
                }
                serde_json::to_value(&value).map(Some).map_err(|_| vec![unusable()])
            }
        }
    }

    /// The text for people: what is missing is left out. `None`: the whole stands for nothing.
    pub(super) fn words(&self, scope: &Scope<'_>) -> Option<String> {
        match &self.whole {
            Some(Whole::Literal) => Some(self.source.clone()),
            Some(Whole::Path(path)) => scope.at(path).map(words),
            Some(Whole::Expression(expression))
                if expression.eval(scope.context()).is_ok_and(|value| value.is_undefined()) =>
            {
                None
            }
            _ => LENIENT.render_str(&self.source, scope.context()).ok(),
        }
    }

    /// Which fields are at fault: those that are missing, else the input as a whole.
    fn fault(&self, scope: &Scope<'_>, error: &Error) -> Vec<FieldError> {
        tracing::debug!(template = %self.source, kind = ?error.kind(), "a template could not be rendered");
        let missing: Vec<FieldError> = self
            .refers
            .iter()
            .filter(|path| scope.at(path).is_none_or(Value::is_null))
            .map(|path| FieldError::new(pointer(&path[1..]), "The request cannot be written without this."))
            .collect();
        if missing.is_empty() { vec![unusable()] } else { missing }
    }
}

/// The request cannot be written, and no field can be named.
pub(super) fn unusable() -> FieldError {
    FieldError::new("", "The request cannot be written from these arguments.")
}

/// A value in words: strings as they are, everything else as JSON.
pub(super) fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn pointer(steps: &[String]) -> String {
    steps.iter().fold(String::new(), |pointer, step| pointer + "/" + &escape(step))
}

impl Whole {
    /// Reads a text without tags, or `{{ … }}` that holds one expression and nothing around it.
    fn of(source: &str) -> Option<Self> {
        if !["{{", "{%", "{#"].iter().any(|tag| source.contains(tag)) {
            return Some(Self::Literal);
        }
        let inner = source.strip_prefix("{{")?.strip_suffix("}}")?;
        let inner = inner.strip_prefix('-').unwrap_or(inner);
        let inner = inner.strip_suffix('-').unwrap_or(inner).trim();
        let expression = STRICT.compile_expression_owned(inner.to_owned()).ok()?;
        let steps: Vec<String> = inner.split('.').map(str::to_owned).collect();
        let is_name = |step: &String| {
            step.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && step.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let rooted = matches!(steps[0].as_str(), "input" | "dry_run" | "output");
        if rooted && steps.iter().all(is_name) {
            return Some(Self::Path(steps));
        }
        Some(Self::Expression(Box::new(expression)))
    }
}

fn syntax(error: &Error) -> Wrong {
    let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    let place =
        error.line().filter(|line| *line > 1).map_or_else(String::new, |line| format!(" in its line {line}"));
    Wrong::new(format!("the template cannot be read{place}: {detail}"))
}

/// What is wrong with a name that a template uses.
fn unknown(path: &[String], vocabulary: Vocabulary<'_>) -> Option<Wrong> {
    let root = path.first()?;
    let is_global = || STRICT.globals().any(|(name, _)| name == root);
    if !vocabulary.roots.contains(&root.as_str()) {
        let wrong = Wrong::new(format!("the template uses “{root}”, which is not known here"));
        let wrong = wrong.expected(super::document::list(vocabulary.roots));
        return (!is_global()).then(|| wrong.nearest(root, vocabulary.roots.iter().copied()));
    }
    let field = path.get(1).filter(|field| root == "input" && !vocabulary.names.allow(field))?;
    let wrong = Wrong::new(format!("the input has no “{field}”")).nearest(field, vocabulary.names.iter());
    (!vocabulary.lenient || wrong.has_nearest()).then_some(wrong)
}

/// A filter, test or function that does not exist, as far as a trial with a sample meets it.
fn unknown_function(source: &str, sample: &Value) -> Option<Wrong> {
    let error = LENIENT.render_str(source, Scope::input(sample).context()).err()?;
    let kinds = [
        ErrorKind::UnknownFilter,
        ErrorKind::UnknownTest,
        ErrorKind::UnknownFunction,
        ErrorKind::UnknownMethod,
    ];
    kinds.contains(&error.kind()).then(|| syntax(&error))
}

/// A value of every property, of its type, to try templates with.
pub(super) fn sample(schema: &Value) -> Value {
    fn of(schema: &Value, depth: usize) -> Value {
        const DEEPEST: usize = 6;
        let one = schema.get("type").map(|kind| kind.get(0).unwrap_or(kind)).and_then(Value::as_str);
        match one {
            _ if depth > DEEPEST => Value::Null,
            Some("object") => {
                let properties = schema.get("properties").and_then(Value::as_object);
                let entries = properties.into_iter().flatten();
                Value::Object(
                    entries.map(|(name, inner)| (name.clone(), of(inner, depth + 1))).collect::<Map<_, _>>(),
                )
            }
            Some("array") => {
                Value::Array(schema.get("items").map(|items| of(items, depth + 1)).into_iter().collect())
            }
            Some("integer" | "number") => Value::from(1),
            Some("boolean") => Value::Bool(true),
            Some("null") => Value::Null,
            _ => Value::from("x"),
        }
    }
    of(schema, 0)
}
