//! What an operation does to the world, as far as its method and its name tell.

use model::Effect;

use super::operation::Operation;
use super::words::words;

/// Verbs and things of operations that reach somebody outside, or move money.
const EXTERNAL: &[&str] = &[
    "broadcast",
    "charge",
    "charges",
    "checkout",
    "email",
    "emails",
    "fax",
    "invitation",
    "invitations",
    "invite",
    "invites",
    "mail",
    "mails",
    "message",
    "messages",
    "notify",
    "pay",
    "payment",
    "payments",
    "payout",
    "payouts",
    "post",
    "posts",
    "publish",
    "refund",
    "refunds",
    "reply",
    "send",
    "sends",
    "share",
    "sms",
    "transfer",
    "transfers",
    "tweet",
    "tweets",
];

/// Verbs of operations that take something away for good.
const DESTRUCTIVE: &[&str] = &["delete", "destroy", "erase", "purge", "remove", "terminate", "wipe"];

/// Verbs of operations that only look, although they are written as a POST.
const LOOKING: &[&str] = &["get", "list", "query", "search"];

/// Verbs of operations that do more than their method says.
const DOING: &[&str] =
    &["broadcast", "charge", "invite", "notify", "pay", "publish", "refund", "send", "transfer"];

/// What an operation does to the world. A POST is told by its name, and so is whatever says in its verb that it does
/// more than its method: nobody is harmed by a question too many.
pub(super) fn effect(operation: &Operation<'_>) -> Effect {
    match operation.method.as_str() {
        "GET" | "HEAD" | "OPTIONS" => told_by_verb(operation).unwrap_or(Effect::Read),
        "DELETE" => Effect::Destructive,
        "POST" => post(operation),
        _ => told_by_verb(operation).unwrap_or(Effect::Write),
    }
}

/// Whether a POST's name begins or ends with a verb that only looks, as those of remote procedures do.
pub(super) fn looks_like_a_read(operation: &Operation<'_>) -> bool {
    let id = id(operation);
    let path = last_fixed_part(operation);
    let looking = |word: Option<&String>| word.is_some_and(|word| LOOKING.contains(&word.as_str()));
    operation.method == "POST" && (looking(id.first()) || looking(id.last()) || looking(path.last()))
}

fn post(operation: &Operation<'_>) -> Effect {
    if names_one_of(operation, DESTRUCTIVE) {
        Effect::Destructive
    } else if names_one_of(operation, EXTERNAL) && !looks_like_a_read(operation) {
        Effect::External
    } else {
        Effect::Write
    }
}

/// What the verb says: the first word of the operation's id, or the last fixed part of its path where it has none.
fn told_by_verb(operation: &Operation<'_>) -> Option<Effect> {
    let id = words(operation.id().unwrap_or_default());
    let path = last_fixed_part(operation);
    let verb = id.first().or_else(|| path.first().filter(|_| path.len() == 1))?.as_str();
    match verb {
        verb if DESTRUCTIVE.contains(&verb) => Some(Effect::Destructive),
        verb if DOING.contains(&verb) => Some(Effect::External),
        _ => None,
    }
}

/// Whether the operation's id, the first word of its summary or the last fixed part of its path has one of the words.
fn names_one_of(operation: &Operation<'_>, wanted: &[&str]) -> bool {
    let summary = operation.text("summary").unwrap_or_default();
    let verb = words(summary.split_whitespace().next().unwrap_or_default());
    let (id, last) = (id(operation), last_fixed_part(operation));
    id.iter().chain(verb.iter().take(1)).chain(&last).any(|word| wanted.contains(&word.as_str()))
}

/// The words of the operation's id, but for the method that some begin with: it says nothing.
fn id(operation: &Operation<'_>) -> Vec<String> {
    let mut id = words(operation.id().unwrap_or_default());
    if id.first().is_some_and(|first| first.eq_ignore_ascii_case(&operation.method)) {
        id.remove(0);
    }
    id
}

fn last_fixed_part(operation: &Operation<'_>) -> Vec<String> {
    let segments = operation.sent_path().rsplit('/');
    let last = segments.into_iter().find(|segment| !segment.is_empty() && !segment.contains('{'));
    words(last.unwrap_or_default())
}
