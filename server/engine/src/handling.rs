//! The run of a handler: once, in a task of its own, with an end of its own kind made into what every call ends as.

use std::time::Duration;

use model::{CallStatus, FieldError, Outcome, Refusal};
use serde_json::Value;
use tokio::task::{JoinError, JoinHandle};

use crate::catalogue::{Action, pointer};
use crate::completion;
use crate::conclusion::{Conclusion, unread};
use crate::engine::Engine;
use crate::handler::{Failure, Job, Named};
use crate::pipeline::{Head, Ready, SharedAction};
use crate::sending;
use crate::store::CallRow;
use crate::stored_request::StoredRequest;
use crate::stored_result::StoredResult;

type Running = JoinHandle<Result<Value, Failure>>;
type Ended = Result<Result<Value, Failure>, JoinError>;

/// Begins the work of a call whose intent is durable, and waits for its end, as long as the desk waits for anything.
/// What ends later completes the call later.
pub(crate) async fn carry_out(
    engine: &Engine,
    row: &CallRow,
    action: &SharedAction,
    stored: &StoredRequest,
) -> Conclusion {
    let Some((named, job)) = begun(row, action, stored) else {
        // Confirmed with one handler, and the catalogue names another by now.
        return Conclusion::failed(Refusal::Unavailable, None);
    };
    let mut running = start(engine, named, job);
    let ended = tokio::time::timeout(patience(engine), &mut running).await;
    if let Ok(ended) = ended {
        return conclude(engine, action, &stored.input, ended);
    }
    follow(engine, row.clone(), action.clone(), stored.clone(), running);
    Conclusion::in_doubt(None)
}

/// A read that needs no row.
pub(crate) async fn read(engine: &Engine, named: &Named, head: &Head, ready: &Ready) -> Conclusion {
    let running = start(engine, named, job_of(head, ready));
    match tokio::time::timeout(patience(engine), running).await {
        Ok(ended) => conclude(engine, &head.action, &ready.input, ended),
        Err(_) => Conclusion::in_doubt(None),
    }
}

/// What the handler sees of what `run` would meet.
pub(crate) async fn dry_run(
    engine: &Engine,
    named: &Named,
    head: &Head,
    ready: &Ready,
) -> Result<Option<Value>, Refusal> {
    let (handler, job) = (named.handler.clone(), job_of(head, ready));
    let looking = engine.spawn(async move { handler.dry_run(&job).await });
    match tokio::time::timeout(patience(engine), looking).await {
        Ok(Ok(Ok(seen))) => Ok(seen),
        Ok(Ok(Err(failure))) => Err(refusal_of(failure).unwrap_or(Refusal::UpstreamFailed(None))),
        // A dry run reads: what is not known about it did no harm.
        Ok(Err(_)) | Err(_) => Err(Refusal::UpstreamFailed(None)),
    }
}

/// The handler that the call was shown with, and what it gets.
fn begun<'a>(row: &CallRow, action: &'a Action, stored: &StoredRequest) -> Option<(&'a Named, Job)> {
    let named = action.handler().filter(|named| stored.outgoing.handler() == Some(&named.name))?;
    let job = Job {
        call: row.id,
        input: stored.input.clone(),
        caller: stored.caller.clone()?,
        idempotency_key: stored.key.clone(),
    };
    Some((named, job))
}

fn job_of(head: &Head, ready: &Ready) -> Job {
    Job {
        call: head.id,
        input: ready.input.clone(),
        caller: head.caller.clone(),
        idempotency_key: ready.control.key.as_ref().map(|key| key.as_str().to_owned()),
    }
}

/// How long anybody waits for a handler.
fn patience(engine: &Engine) -> Duration {
    engine.catalogue().server.timeout
}

fn start(engine: &Engine, named: &Named, job: Job) -> Running {
    let handler = named.handler.clone();
    engine.spawn(async move { handler.run(job).await })
}

/// Records an end that nobody waited for.
fn follow(engine: &Engine, row: CallRow, action: SharedAction, stored: StoredRequest, running: Running) {
    tracing::warn!(call = %row.id, "a handler takes longer than anybody waits; its end is recorded when it comes");
    let recorder = engine.clone();
    drop(engine.spawn(async move {
        let ended = conclude(&recorder, &action, &stored.input, running.await);
        let conclusion = sending::of_call(&row, &action, &stored, ended);
        completion::record(&recorder, &row, &action, &stored, &conclusion).await
    }));
}

/// What follows from how a handler ended.
fn conclude(engine: &Engine, action: &Action, input: &Value, ended: Ended) -> Conclusion {
    match ended {
        Ok(Ok(answer)) => done(action, input, &answer, engine.catalogue().server.response_limit),
        Ok(Err(failure)) => not_done(failure),
        Err(error) => {
            tracing::error!(%error, action = %action.name, "a handler broke off");
            Conclusion::in_doubt(None)
        }
    }
}

fn done(action: &Action, input: &Value, answer: &Value, limit: usize) -> Conclusion {
    let output = action.project(answer);
    let result = if output.to_string().len() > limit {
        unread(format!("It was done. The answer was larger than {limit} bytes and was not kept."))
    } else {
        StoredResult { reply: action.reply(input, &output), result: output }
    };
    Conclusion {
        status: CallStatus::Done,
        refusal: None,
        result: Some(result),
        upstream_status: None,
        receipt: Some(Outcome::Done),
        keeps_key: true,
    }
}

fn not_done(failure: Failure) -> Conclusion {
    match refusal_of(failure) {
        Some(refusal) => Conclusion {
            status: CallStatus::Refused,
            refusal: Some(refusal),
            result: None,
            upstream_status: None,
            receipt: Some(Outcome::Done),
            keeps_key: false,
        },
        None if failure == Failure::NothingDone => Conclusion::failed(Refusal::UpstreamFailed(None), None),
        None => Conclusion::in_doubt(None),
    }
}

fn refused(status: u16, message: &str) -> Refusal {
    Refusal::Refused { status, message: Some(message.to_owned()), upstream_status: None }
}

/// A handler's no, as its caller is told it; `None`: it said nothing of the kind.
fn refusal_of(failure: Failure) -> Option<Refusal> {
    match failure {
        Failure::Refused(message) => Some(refused(409, message)),
        Failure::RefusedAs { status, message } => {
            Some(refused(if (400..=499).contains(&status) { status } else { 409 }, message))
        }
        Failure::Invalid { field, message } => {
            Some(Refusal::Invalid(vec![FieldError::new(pointer(field), message)]))
        }
        Failure::NothingDone | Failure::InDoubt => None,
    }
}
