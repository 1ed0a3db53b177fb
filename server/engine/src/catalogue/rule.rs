//! A rule in CEL over the caller, the time and the input.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::{Context, Env, ExecutionError, Program};
use model::Time;
use serde_json::Value;

use super::caller::Caller;
use super::mistake::Wrong;
use super::names::Names;

/// The longest rule, in bytes.
const LONGEST: usize = 10_000;

/// How deep loops may be nested.
const DEEPEST: u32 = 3;

/// How many rounds nested loops may make together.
const MOST_ROUNDS: u64 = 1_000_000;

/// What every rule may use, made once.
static LANGUAGE: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// Before the input is known.
pub(super) const CALLER: &[&str] = &["caller", "now"];
/// With the input.
pub(super) const CALLER_AND_INPUT: &[&str] = &["caller", "now", "input"];
/// Of the input alone.
pub(super) const INPUT: &[&str] = &["input"];

/// What is called as `name(…)`.
const FUNCTIONS: &[&str] = &[
    "size",
    "matches",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "bool",
    "dyn",
    "type",
    "timestamp",
    "duration",
];

/// What is called as `value.name(…)`.
const METHODS: &[&str] = &[
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "getFullYear",
    "getMonth",
    "getDayOfYear",
    "getDayOfMonth",
    "getDate",
    "getDayOfWeek",
    "getHours",
    "getMinutes",
    "getSeconds",
    "getMilliseconds",
];

/// Type names, which stand for themselves in a rule.
const TYPES: &[&str] =
    &["int", "uint", "double", "string", "bytes", "bool", "list", "map", "null_type", "type"];

/// A rule, compiled.
pub struct Rule {
    source: String,
    program: Program,
    depth: u32,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rule").field(&self.source).finish()
    }
}

/// Why a rule gave no answer. Never holds a value of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The rule asks for a field that the input does not have.
    #[error("the rule asks for a field that is not there")]
    MissingField,
    /// The input is too large for the loops of the rule.
    #[error("the input is too large for the loops of the rule")]
    TooCostly,
    /// The rule's answer is neither true nor false.
    #[error("the rule's answer is neither true nor false")]
    NotBoolean,
    /// The rule cannot be evaluated with these values.
    #[error("the rule cannot be evaluated with these values")]
    Failed,
}

impl Rule {
    /// Compiles a rule over these variables; `names`: the names of the input.
    pub(super) fn compile(
        source: &str,
        roots: &'static [&'static str],
        names: &Names,
    ) -> Result<Self, Vec<Wrong>> {
        if source.len() > LONGEST {
            return Err(vec![
                Wrong::new("the rule is too long").expected(format!("at most {LONGEST} bytes")),
            ]);
        }
        let program = match catch_unwind(AssertUnwindSafe(|| Program::compile(source))) {
            Ok(Ok(program)) => program,
            Ok(Err(errors)) => return Err(errors.errors.iter().map(syntax).collect()),
            Err(_) => {
                return Err(vec![Wrong::new("the rule cannot be read").expected("an expression of CEL")]);
            }
        };
        let mut check = Check { roots, names, bound: Vec::new(), wrongs: Vec::new(), deepest: 0 };
        check.expression(program.expression(), 0);
        if check.deepest > DEEPEST {
            check.wrongs.push(
                Wrong::new("the rule's loops are nested too deep").expected(format!("at most {DEEPEST}")),
            );
        }
        if check.wrongs.is_empty() {
            Ok(Self { source: source.to_owned(), program, depth: check.deepest })
        } else {
            Err(check.wrongs)
        }
    }

    /// The rule as it is written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether the rule holds. A rule that cannot be evaluated does not hold; that is logged, without values.
    pub fn holds(&self, caller: &Caller, now: Time, input: Option<&Value>) -> bool {
        match self.evaluate(caller, now, input) {
            Ok(holds) => holds,
            Err(error) => {
                tracing::warn!(rule = %self.source, %error, "a rule could not be evaluated and counts as not fulfilled");
                false
            }
        }
    }

    /// The rule's answer, or why it has none.
    pub fn evaluate(&self, caller: &Caller, now: Time, input: Option<&Value>) -> Result<bool, RuleError> {
        let mut context = Context::with_env(Arc::clone(&LANGUAGE));
        context.add_variable_from_value("caller", cel_value(&caller.facts()));
        context.add_variable_from_value("now", cel::Value::Timestamp(now.to_chrono().fixed_offset()));
        self.run(context, input)
    }

    /// The answer of a rule over the input alone, as under `rules`.
    pub(super) fn evaluate_input(&self, input: &Value) -> Result<bool, RuleError> {
        self.run(Context::with_env(Arc::clone(&LANGUAGE)), Some(input))
    }

    fn run(&self, mut context: Context<'_, '_>, input: Option<&Value>) -> Result<bool, RuleError> {
        if let Some(input) = input {
            if self.depth > 1 && widest(input).saturating_pow(self.depth) > MOST_ROUNDS {
                return Err(RuleError::TooCostly);
            }
            context.add_variable_from_value("input", cel_value(input));
        }
        match catch_unwind(AssertUnwindSafe(|| self.program.execute(&context))) {
            Ok(Ok(cel::Value::Bool(answer))) => Ok(answer),
            Ok(Ok(_)) => Err(RuleError::NotBoolean),
            Ok(Err(ExecutionError::NoSuchKey(_))) => Err(RuleError::MissingField),
            Ok(Err(_)) | Err(_) => Err(RuleError::Failed),
        }
    }
}

/// A mistake in the syntax, with its place within the rule.
fn syntax(error: &cel::ParseError) -> Wrong {
    let (line, column) = error.pos;
    let message = error.msg.lines().next().unwrap_or("unreadable");
    Wrong::new(format!("not CEL at {line}:{column} of the rule: {message}"))
}

/// How many entries the largest array or object has.
fn widest(value: &Value) -> u64 {
    let (own, inner) = match value {
        Value::Array(items) => (items.len(), items.iter().map(widest).max()),
        Value::Object(entries) => (entries.len(), entries.values().map(widest).max()),
        _ => (0, None),
    };
    u64::try_from(own).unwrap_or(u64::MAX).max(inner.unwrap_or(0))
}

/// JSON as CEL sees it: whole numbers are `int` where they fit, so that literals compare and add up with them.
fn cel_value(value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(boolean) => cel::Value::Bool(*boolean),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(int), _, _) => cel::Value::Int(int),
            (None, Some(uint), _) => cel::Value::UInt(uint),
            (None, None, float) => cel::Value::Float(float.unwrap_or(f64::NAN)),
        },
        Value::String(text) => cel::Value::from(text.as_str()),
        Value::Array(items) => cel::Value::from(items.iter().map(cel_value).collect::<Vec<_>>()),
        Value::Object(entries) => {
            let entries: HashMap<String, cel::Value> =
                entries.iter().map(|(key, value)| (key.clone(), cel_value(value))).collect();
            cel::Value::from(entries)
        }
    }
}

/// Checks the names a rule uses.
struct Check<'c> {
    roots: &'static [&'static str],
    names: &'c Names,
    bound: Vec<String>,
    wrongs: Vec<Wrong>,
    deepest: u32,
}

impl Check<'_> {
    fn expression(&mut self, node: &IdedExpr, depth: u32) {
        self.deepest = self.deepest.max(depth);
        match &node.expr {
            Expr::Ident(name) => self.variable(name),
            Expr::Select(select) => {
                if let Expr::Ident(root) = &select.operand.expr {
                    self.member(root, &select.field);
                }
                self.expression(&select.operand, depth);
            }
            Expr::Call(call) => {
                self.function(&call.func_name, call.target.is_some());
                call.target.iter().for_each(|target| self.expression(target, depth));
                call.args.iter().for_each(|argument| self.expression(argument, depth));
            }
            Expr::List(list) => list.elements.iter().for_each(|element| self.expression(element, depth)),
            Expr::Map(map) => map.entries.iter().for_each(|entry| self.entry(&entry.expr, depth)),
            Expr::Struct(entries) => {
                self.wrongs
                    .push(Wrong::new(format!("“{}” is no type that a rule can make", entries.type_name)));
            }
            Expr::Comprehension(looped) => {
                self.expression(&looped.iter_range, depth);
                self.expression(&looped.accu_init, depth);
                let before = self.bound.len();
                self.bound.push(looped.iter_var.clone());
                self.bound.extend(looped.iter_var2.clone());
                self.bound.push(looped.accu_var.clone());
                for part in [&looped.loop_cond, &looped.loop_step, &looped.result] {
                    self.expression(part, depth + 1);
                }
                self.bound.truncate(before);
            }
            Expr::Literal(_) | Expr::Unspecified => {}
        }
    }

    fn entry(&mut self, entry: &EntryExpr, depth: u32) {
        match entry {
            EntryExpr::StructField(field) => self.expression(&field.value, depth),
            EntryExpr::MapEntry(entry) => {
                self.expression(&entry.key, depth);
                self.expression(&entry.value, depth);
            }
        }
    }

    fn is_bound(&self, name: &str) -> bool {
        self.bound.iter().any(|bound| bound == name)
    }

    fn variable(&mut self, name: &str) {
        if self.is_bound(name) || TYPES.contains(&name) || name.starts_with('@') {
            return;
        }
        if self.roots.contains(&name) {
            return;
        }
        let wrong = Wrong::new(format!("the rule uses “{name}”, which is not known here"));
        let wrong = wrong.expected(super::document::list(self.roots));
        self.wrongs.push(wrong.nearest(name, self.roots.iter().copied()));
    }

    fn member(&mut self, root: &str, field: &str) {
        if self.is_bound(root) {
            return;
        }
        if root == "caller" && !Caller::FACTS.contains(&field) {
            let wrong = Wrong::new(format!("“caller” has no “{field}”"));
            self.wrongs.push(wrong.nearest(field, Caller::FACTS.iter().copied()));
        }
        if root == "input" && self.roots.contains(&root) && !self.names.allow(field) {
            self.wrongs
                .push(Wrong::new(format!("the input has no “{field}”")).nearest(field, self.names.iter()));
        }
    }

    fn function(&mut self, name: &str, is_method: bool) {
        let known = if is_method { METHODS } else { FUNCTIONS };
        let operator = !name.starts_with(|c: char| c.is_ascii_alphabetic());
        if !operator && !known.contains(&name) {
            let what = if is_method { "method" } else { "function" };
            let wrong = Wrong::new(format!("the rule calls “{name}”, which is no {what} here"));
            self.wrongs.push(wrong.nearest(name, known.iter().copied()));
        }
    }
}

/// The caller of the tests.
#[cfg(test)]
pub(super) static ROBOT: LazyLock<Caller> = LazyLock::new(|| Caller {
    kind: super::caller::CallerKind::Agent,
    person: Some("ann@example.com".to_owned()),
    roles: vec![model::Role::Member, model::Role::Approver],
    groups: vec!["mailers".to_owned()],
    agent: Some("robot".to_owned()),
    abilities: vec![model::Ability::ActionsRead],
    tenant: None,
    surface: model::Surface::Mcp,
});
