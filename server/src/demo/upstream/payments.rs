//! The shop's payments.

use serde_json::{Value, json};

use super::Reply;
use super::world::{Refund, World};

/// An order, and what a refund would make of it.
pub(super) fn order(world: &World, id: &str, refund: Option<&str>) -> Reply {
    let Some((id, order)) = world.orders.get_key_value(id) else { return Reply::fault(404, "no such order") };
    let more = match refund.map(cents) {
        None => 0,
        Some(Some(more)) if more <= order.paid - order.refunded => more,
        Some(Some(_)) => return Reply::fault(409, "more than was paid and not yet refunded"),
        Some(None) => return Reply::fault(422, "an amount is euros with two decimals"),
    };
    let body = json!({
        "id": id,
        "customer": order.customer,
        "article": order.article,
        "paid": euros(order.paid),
        "refunded": euros(order.refunded),
        "refunded_after": euros(order.refunded + more),
    });
    Reply::new(200, body)
}

/// Pays back.
pub(super) fn refund(world: &mut World, body: &Value, now: &str) -> Reply {
    let (Some(id), Some(amount)) = (body["order"].as_str(), body["amount"].as_str().and_then(cents)) else {
        return Reply::fault(422, "a refund has order and amount");
    };
    let Some(order) = world.orders.get_mut(id) else { return Reply::fault(404, "no such order") };
    if amount == 0 || amount > order.paid - order.refunded {
        return Reply::fault(409, "nothing, or more than was paid and not yet refunded");
    }
    order.refunded += amount;
    let refund = Refund {
        id: format!("R-{}", world.refunds.len() + 1),
        at: now.to_owned(),
        order: id.to_owned(),
        amount: euros(amount),
    };
    let reply = Reply::new(201, json!(refund));
    world.refunds.push(refund);
    reply
}

/// Euros with two decimals, as cents.
fn cents(text: &str) -> Option<u64> {
    let (euros, cents) = text.split_once('.')?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if cents.len() != 2 || euros.len() > 6 || !digits(euros) || !digits(cents) {
        return None;
    }
    Some(euros.parse::<u64>().ok()? * 100 + cents.parse::<u64>().ok()?)
}

fn euros(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_reads_and_writes_back() {
        assert_eq!(cents("24.90"), Some(2_490));
        assert_eq!(cents("0.05").map(euros).as_deref(), Some("0.05"));
        for text in ["24", "24.9", "24.900", ".90", "-1.00", "1e3.00", "1234567.00", ""] {
            assert_eq!(cents(text), None, "{text}");
        }
    }
}
