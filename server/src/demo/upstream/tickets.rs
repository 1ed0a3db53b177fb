//! The shop's tickets and customers.

use serde_json::{Value, json};

use super::Reply;
use super::world::World;

/// The tickets, perhaps of one state.
pub(super) fn list(world: &World, state: Option<&str>) -> Reply {
    let wanted: Vec<_> =
        world.tickets.values().filter(|ticket| state.is_none_or(|state| ticket.state == state)).collect();
    Reply::new(200, json!({ "tickets": wanted }))
}

/// One ticket.
pub(super) fn ticket(world: &World, id: &str) -> Reply {
    match world.tickets.get(id) {
        Some(ticket) => Reply::new(200, json!(ticket)),
        None => Reply::fault(404, "no such ticket"),
    }
}

/// Puts a ticket into another state.
pub(super) fn move_to(world: &mut World, id: &str, body: &Value) -> Reply {
    let Some(state) = body["state"].as_str().filter(|state| matches!(*state, "open" | "waiting" | "closed"))
    else {
        return Reply::fault(422, "a state is open, waiting or closed");
    };
    let Some(ticket) = world.tickets.get_mut(id) else { return Reply::fault(404, "no such ticket") };
    state.clone_into(&mut ticket.state);
    Reply::new(200, json!(ticket))
}

/// One customer.
pub(super) fn customer(world: &World, id: &str) -> Reply {
    match world.customers.get(id) {
        Some(customer) => Reply::new(200, json!(customer)),
        None => Reply::fault(404, "no such customer"),
    }
}

/// Erases a customer.
pub(super) fn wipe(world: &mut World, id: &str) -> Reply {
    match world.customers.remove(id) {
        Some(customer) => Reply::new(200, json!({ "id": customer.id, "erased": true })),
        None => Reply::fault(404, "no such customer"),
    }
}
