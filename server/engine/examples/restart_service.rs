//! An action written in Rust, and Rust code that calls it.
//!
//! ```sh
//! cargo run -p engine --example restart_service
//! ```
//!
//! Restarting cannot be put back, so the code that asks for it is asked back: it gets a prompt with a preview and a
//! token, and the token confirms exactly what was shown, once.

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use engine::ambient::Ambient;
use engine::catalogue::Catalogue;
use engine::seal::Sealer;
use engine::{Arrival, Engine, Failure, Handler, Handlers, Job, OpenOptions};
use model::Answer;
use serde_json::{Value, json};

/// The action: what the catalogue would say of it, without a `request`.
const ACTION: &str = r#"
name = "restart_service"
title = "Restart a service"
description = "Ends the service and starts it again."
effect = "destructive"
input = { type = "object", required = ["service"], additionalProperties = false, properties = { service = { enum = ["mail", "web"] } } }
preview = { title = "Restart {{ input.service }}", target = "{{ input.service }}", fields = [{ label = "Restarts so far", value = "{{ dry_run.restarts }}" }] }
reply = "{{ input.service }} was restarted."
"#;

/// What it does. Here it only counts.
#[derive(Default)]
struct RestartService {
    restarts: AtomicU32,
}

#[async_trait]
impl Handler for RestartService {
    async fn run(&self, job: Job) -> Result<Value, Failure> {
        if job.input["service"] == "web" {
            return Err(Failure::Refused("The web server restarts at night only."));
        }
        Ok(json!({ "restarts": self.restarts.fetch_add(1, Ordering::SeqCst) + 1 }))
    }

    async fn dry_run(&self, _: &Job) -> Result<Option<Value>, Failure> {
        Ok(Some(json!({ "restarts": self.restarts.load(Ordering::SeqCst) })))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let handlers = Handlers::new().action(ACTION, RestartService::default());
    let ambient = Ambient::system();
    let engine = Engine::open(OpenOptions {
        catalogue: Catalogue::parse_with("", "no file", &handlers)?,
        database_url: "sqlite:desk.db".to_owned(),
        base: folder.path().to_owned(),
        sealer: Sealer::parse(&Sealer::generate(&ambient), ambient.clone())?,
        ambient,
        roots: None,
    })
    .await?;

    let restart = |service: &str| Arrival::code("restart_service", [("service", json!(service))]);

    let Answer::Prompt(prompt) = call(&engine, restart("mail").keyed("restart-7")).await? else {
        return Err("a destructive call is confirmed first".into());
    };
    println!("asked back:  {}", prompt.preview.title);
    for field in &prompt.preview.fields {
        println!("             {}: {}", field.label, field.value);
    }

    let confirmed = restart("mail").keyed("restart-7").confirmed(&prompt.confirm_token);
    let Answer::Done(done) = call(&engine, confirmed).await? else {
        return Err("a confirmed call is done".into());
    };
    println!("done:        {}", done.reply.unwrap_or_default());
    println!("             the handler answered {}", done.result);

    let Answer::Replayed(replayed) = call(&engine, restart("mail").keyed("restart-7")).await? else {
        return Err("a repeat with the same key is answered from the receipt".into());
    };
    println!("repeated:    not run again, same receipt: {}", replayed.receipt_id == done.receipt_id);

    let Answer::Prompt(prompt) = call(&engine, restart("web")).await? else {
        return Err("another call is another prompt".into());
    };
    let refused = call(&engine, restart("web").confirmed(&prompt.confirm_token)).await;
    println!("refused:     {}", refused.err().ok_or("the handler says no to this one")?);

    engine.close().await;
    Ok(())
}

/// One call; a refusal in the words of its problem document.
async fn call(engine: &Engine, call: Arrival) -> Result<Answer, String> {
    engine.call(call, None).await.map_err(|refusal| refusal.problem().detail)
}
