//! The engine's answers as results of a tool: words for the model, and the machine's fields in `_meta`.
//!
//! A result that is no success has no `structuredContent`: older clients hold it against a schema even then.

use std::fmt::Write as _;

use model::answer::{Prompt, PromptReason, Replayed};
use model::{Answer, Call, CallStatus, Preview, Problem, ProblemCode, Refusal};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde::Serialize;
use serde_json::Value;

/// Where the machine's fields stand.
const FACTS: &str = "countersign/call";

/// What is said where there is nothing else to say.
const DONE: &str = "Done.";

/// An answer that came at once.
pub(super) fn answered(tool: &str, answer: &Answer) -> CallToolResult {
    let meta = meta(answer);
    match answer {
        // Requests are passed on elsewhere than here.
        Answer::Passed(passed) => success(String::new(), &serde_json::json!(passed), meta),
        Answer::Done(done) => success(done_words(done.reply.as_deref(), &done.result), &done.result, meta),
        Answer::Replayed(replayed) => {
            success(replayed_words(replayed), replayed.result.as_ref().unwrap_or(&Value::Null), meta)
        }
        Answer::Preview(dry) => {
            let words = format!("Only a preview, nothing was done.\n{}", preview_words(&dry.preview));
            success(words, &serde_json::to_value(answer).unwrap_or_default(), meta)
        }
        Answer::Prompt(prompt) => failure(prompt_words(tool, prompt), meta),
        Answer::Waiting(waiting) => failure(format!("NOT DONE. {}", waiting.message), meta),
    }
}

/// A call as it stands: its final answer, or the plain one while there is none.
pub(super) fn stands(call: &Call, url: &str) -> CallToolResult {
    let (words, meta) = (words(call, url), meta(call));
    match call.status {
        CallStatus::Done => success(words, call.result.as_ref().unwrap_or(&Value::Null), meta),
        _ => failure(words, meta),
    }
}

/// The same as the answer of `call_status`: finding the call is the success, and the call is the result.
pub(super) fn status(call: &Call, url: &str) -> CallToolResult {
    success(words(call, url), &serde_json::to_value(call).unwrap_or_default(), meta(call))
}

/// A call that was refused.
pub(super) fn refused(refusal: &Refusal) -> CallToolResult {
    refused_about(refusal, None)
}

/// A call that was refused because of another one.
pub(super) fn refused_about(refusal: &Refusal, other: Option<&Call>) -> CallToolResult {
    let problem = refusal.problem();
    let meta = other.map_or_else(|| meta(&problem), meta);
    let mut words = problem_words(&problem);
    if let Some(call) = other {
        let _ = write!(words, " Ask call_status with call_id {}.", call.id);
    }
    failure(words, meta)
}

/// The machine's fields.
pub(super) fn meta(facts: &impl Serialize) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.insert(FACTS.to_owned(), serde_json::to_value(facts).unwrap_or_default());
    meta
}

/// How a call stands, in words.
pub(super) fn words(call: &Call, url: &str) -> String {
    let ask = format!(
        "Do not repeat the call. To learn how it ended, use the tool call_status with call_id {} (wait_seconds up to 25).",
        call.id
    );
    match (call.status, &call.problem) {
        (CallStatus::Done, _) => {
            done_words(call.reply.as_deref(), call.result.as_ref().unwrap_or(&Value::Null))
        }
        (CallStatus::Held, _) => {
            let until = call.expires_at.map(|time| format!(" until {time}")).unwrap_or_default();
            format!(
                "NOT DONE. Nothing has been sent: it waits for a person{until}, who decides at {url} . {ask}"
            )
        }
        (CallStatus::Queued | CallStatus::Approved, _) => {
            format!("NOT DONE yet. It is allowed and about to be sent; see {url} . {ask}")
        }
        (CallStatus::Sending | CallStatus::Running, _) => {
            format!("NOT KNOWN yet: it is being sent, and the answer is not there; see {url} . {ask}")
        }
        (_, Some(problem)) => problem_words(problem),
        (status, None) => format!("NOT DONE: {status}."),
    }
}

fn success(words: String, result: &Value, meta: MetaObject) -> CallToolResult {
    let (content, structured) = match of_tool(result) {
        Some(blocks) => (told_with(words, blocks), result.get("structuredContent").cloned()),
        None => (vec![ContentBlock::text(words)], (!result.is_null()).then(|| result.clone())),
    };
    let mut success = CallToolResult::success(content);
    success.structured_content = structured;
    success.with_meta(Some(meta))
}

/// The content of a result that is a tool's own, of an MCP server behind the desk: texts, images, sounds and resources.
fn of_tool(result: &Value) -> Option<Vec<ContentBlock>> {
    let fields = result.as_object()?;
    let known = fields.keys().all(|name| matches!(name.as_str(), "content" | "structuredContent"));
    let content = fields.get("content").filter(|_| known)?;
    serde_json::from_value(content.clone()).ok()
}

/// A tool's own blocks; behind the desk's words, where these say something else than their texts.
fn told_with(words: String, blocks: Vec<ContentBlock>) -> Vec<ContentBlock> {
    let texts: Vec<&str> = blocks.iter().filter_map(|block| Some(block.as_text()?.text.as_str())).collect();
    if words == DONE || words == texts.join("\n") {
        return blocks;
    }
    let others = blocks.into_iter().filter(|block| block.as_text().is_none());
    std::iter::once(ContentBlock::text(words)).chain(others).collect()
}

fn failure(words: String, meta: MetaObject) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(words)]).with_meta(Some(meta))
}

/// The action's own reply, or else its result.
fn done_words(reply: Option<&str>, result: &Value) -> String {
    match (reply, result) {
        (Some(reply), _) => reply.to_owned(),
        (None, Value::Null) => DONE.to_owned(),
        (None, result) if of_tool(result).is_some() => DONE.to_owned(),
        (None, Value::String(text)) => text.clone(),
        (None, result) => result.to_string(),
    }
}

fn replayed_words(replayed: &Replayed) -> String {
    let first = "This was done before with the same idempotency key. Nothing was sent again.";
    match &replayed.result {
        Some(result) => format!("{first} The answer then: {result}"),
        None => first.to_owned(),
    }
}

fn prompt_words(tool: &str, prompt: &Prompt) -> String {
    let changed = match prompt.reason {
        Some(PromptReason::Changed) => " What would be sent has changed since it was last shown.",
        None => "",
    };
    format!(
        "NOT DONE. This needs a second call to confirm it.{changed}\n{}\nIf this is what is wanted, call {tool} again with \
         the same arguments and confirm_token \"{}\", before {}.",
        preview_words(&prompt.preview),
        prompt.confirm_token,
        prompt.expires_at
    )
}

fn preview_words(preview: &Preview) -> String {
    let mut words = preview.title.clone();
    if !preview.summary.is_empty() {
        let _ = write!(words, "\n{}", preview.summary);
    }
    for field in &preview.fields {
        let _ = write!(words, "\n{}: {}", field.label, field.value);
        if let Some(before) = &field.before {
            let _ = write!(words, " (now: {before})");
        }
    }
    for warning in &preview.warnings {
        let _ = write!(words, "\nNote: {warning}");
    }
    words
}

fn problem_words(problem: &Problem) -> String {
    // Of these it would be wrong: the call that they are about may have been done, or be on its way.
    let start = match problem.code {
        ProblemCode::OutcomeUnknown => "NOT KNOWN whether it was done.",
        ProblemCode::IdempotencyInFlight => "NOT DONE a second time.",
        _ => "NOT DONE.",
    };
    let mut words = format!("{start} {}: {}", problem.title, problem.detail);
    for fault in &problem.errors {
        let field = fault.field.trim_start_matches('/');
        let _ = write!(words, "\n{}: {}", if field.is_empty() { "input" } else { field }, fault.message);
    }
    words
}
