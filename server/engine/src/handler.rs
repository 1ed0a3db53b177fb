//! What an action does, written in Rust: a [`Handler`] in place of the catalogue's `request`.
//!
//! A call of such an action walks the same chain as every other, from every surface: door, rights, input, key, gate,
//! receipt and event. A handler takes the place of step 12 alone. `examples/restart_service.rs` shows a whole one.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use model::CallId;
use serde_json::Value;

use crate::catalogue::Caller;

/// What an action does, written in Rust.
///
/// A write is begun once, after its intent is durable and while nobody else can begin it. It runs in a task of its own:
/// a caller that hangs up does not stop it. After the desk's `timeout` nobody waits for it any more, and the call is in
/// doubt until it ends after all. A handler that panics, or whose process ends, has told nobody what it did: a write is
/// in doubt then, and is never begun again; a read has failed.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Does it, and answers with what the caller gets (cut to the action's `output`).
    ///
    /// # Errors
    /// The way in which it was not done. An error of one's own becomes one with `impl From<MyError> for Failure` and
    /// `?`: then it is the same refusal on every surface.
    async fn run(&self, job: Job) -> Result<Value, Failure>;

    /// Looks, without changing anything, at what `run` would meet. Templates of the preview see the value as `dry_run`,
    /// and a confirmation is bound to it (or to what the action's `fingerprint` names in it): when it has changed until
    /// the Confirm, nothing runs and the fresh preview is shown. `None`: there is nothing to look at.
    ///
    /// # Errors
    /// `Refused` and `Invalid` are told to the caller, and nothing is held. Everything else means that it cannot be said
    /// now.
    async fn dry_run(&self, job: &Job) -> Result<Option<Value>, Failure> {
        let _ = job;
        Ok(None)
    }
}

/// One call, as a handler gets it.
#[derive(Clone)]
pub struct Job {
    /// The call.
    pub call: CallId,
    /// The valid input, an object: conversions, defaults and fixed values applied. It is what the preview showed.
    pub input: Value,
    /// The facts about the caller at the time of the call.
    pub caller: Caller,
    /// The caller's idempotency key, where one counts. A repeat never gets here; hand the key on to what is called.
    pub idempotency_key: Option<String>,
}

/// The way in which something was not done. The texts are fixed, so that no value of the caller's gets into them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It says no, and nothing was changed: the call is `refused`, 409.
    Refused(&'static str),
    /// The same with a status of its own.
    RefusedAs {
        /// 400 to 499; anything else is 409.
        status: u16,
        /// Why.
        message: &'static str,
    },
    /// One field is at fault, and nothing was changed: the call is `refused`, 422.
    Invalid {
        /// The field's name.
        field: &'static str,
        /// What is wrong with it.
        message: &'static str,
    },
    /// It could not be done now, and nothing was changed: the call has `failed`, and its key is free.
    NothingDone,
    /// It was begun, and nobody knows whether it happened: the call is `in_doubt` until a person settles it.
    InDoubt,
}

/// The handlers, and the whole actions, that a program brings along for its catalogue.
#[derive(Clone, Default)]
pub struct Handlers {
    named: Vec<Named>,
    actions: Vec<(String, Arc<dyn Handler>)>,
}

/// A handler and what it is called in receipts, previews and the catalogue.
#[derive(Clone)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) handler: Arc<dyn Handler>,
}

impl Handlers {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// A handler for actions of the file: `handler = "NAME"` in place of `request`.
    #[must_use]
    pub fn handler(mut self, name: &str, handler: impl Handler) -> Self {
        self.named.push(Named { name: name.to_owned(), handler: Arc::new(handler) });
        self
    }

    /// A whole action beside those of the file. `table`: its keys and values as they would stand under `[[action]]`,
    /// without `request`. Its handler is called what the action is called.
    #[must_use]
    pub fn action(mut self, table: &str, handler: impl Handler) -> Self {
        self.actions.push((table.to_owned(), Arc::new(handler)));
        self
    }

    pub(crate) fn named(&self) -> &[Named] {
        &self.named
    }

    pub(crate) fn actions(&self) -> &[(String, Arc<dyn Handler>)] {
        &self.actions
    }
}

impl fmt::Debug for Job {
    /// Without the input and the key: they do not belong in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("call", &self.call).field("caller", &self.caller).finish_non_exhaustive()
    }
}

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Named").field(&self.name).finish()
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers").field("named", &self.named).field("actions", &self.actions.len()).finish()
    }
}
