//! The shop's mail.

use serde_json::{Value, json};

use super::Reply;
use super::world::{Message, World};

/// Takes a mail in.
pub(super) fn send(world: &mut World, body: &Value, now: &str) -> Reply {
    let text = |field: &str| body[field].as_str().map(str::to_owned);
    let (Some(to), Some(subject), Some(body)) = (text("to"), text("subject"), text("body")) else {
        return Reply::fault(422, "a mail has to, subject and body");
    };
    if !world.recipients.contains_key(to.as_str()) {
        return Reply::fault(404, "nobody by that address");
    }
    let id = format!("M-{}", world.messages.len() + 1);
    world.messages.push(Message { id: id.clone(), at: now.to_owned(), to, subject, body });
    Reply::new(201, json!({ "id": id, "queued_at": now }))
}

/// Who an address belongs to.
pub(super) fn recipient(world: &World, address: &str) -> Reply {
    match world.recipients.get(address) {
        Some(name) => {
            let mails = world.messages.iter().filter(|message| message.to == address).count();
            Reply::new(200, json!({ "address": address, "name": name, "mails": mails }))
        }
        None => Reply::fault(404, "nobody by that address"),
    }
}
