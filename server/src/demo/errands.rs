//! What the demo's agent wants, in the order it wants it.

use serde_json::{Value, json};

/// One thing the agent wants, and why it says it wants it.
#[derive(Debug, Clone)]
pub(super) struct Errand {
    pub(super) action: &'static str,
    pub(super) input: Value,
    pub(super) reason: &'static str,
}

const fn errand(action: &'static str, input: Value, reason: &'static str) -> Errand {
    Errand { action, input, reason }
}

/// What the quick agent does by itself at the start: nobody has to approve it.
pub(super) fn unattended() -> Errand {
    let input = json!({ "ticket": "T-104", "state": "closed" });
    errand("move_ticket", input, "The customer wrote that the new key works.")
}

/// A mail that the quick agent confirms itself.
pub(super) fn self_confirmed() -> Errand {
    let input = json!({
        "to": "ida@shop.test",
        "subject": "Tickets of the day",
        "body": "Hello Ida,\n\nT-104 is closed. Three are still open; I look after them next.\n",
    });
    errand("send_mail", input, "The daily note to the team.")
}

/// What it looks at before it asks for anything.
pub(super) fn looks() -> Vec<Errand> {
    vec![
        errand("list_tickets", json!({}), "To see what is open."),
        errand("read_ticket", json!({ "ticket": "T-101" }), "To see what the customer wrote."),
        errand("find_order", json!({ "order": "O-2041" }), "To see what was paid."),
    ]
}

/// The first four wait for a person within seconds, one of every effect that a person decides; the rest follows now and then.
pub(super) fn wishes() -> Vec<Errand> {
    vec![
        errand(
            "wipe_customer",
            json!({ "customer": "C-03" }),
            "T-103: the customer asks to be forgotten and confirmed it twice by mail.",
        ),
        errand(
            "move_ticket",
            json!({ "ticket": "T-102", "state": "waiting" }),
            "The parcel service answers within three days; until then there is nothing to do.",
        ),
        errand(
            "refund",
            json!({ "order": "O-2041", "amount": "24.90" }),
            "T-101: the lamp arrived broken, the pictures show it, and the customer wants no new one.",
        ),
        errand(
            "send_mail",
            json!({
                "to": "bo@customers.test",
                "subject": "Your broken lamp (order O-2041)",
                "body": "Dear Bo Lindqvist,\n\nwe are sorry that your lamp arrived broken. We refund 24.90 EUR; \
                         the money is with you in two to three days.\n\nYou need not send the lamp back.\n\n\
                         Kind regards\nThe shop\n",
            }),
            "T-101: the customer should know that the money is on its way.",
        ),
        errand(
            "send_mail",
            json!({
                "to": "mei@customers.test",
                "subject": "Where your parcel is",
                "body": "Dear Mei Tanaka,\n\nyour parcel was seen in Leipzig this morning. It should reach you \
                         tomorrow between nine and noon.\n\nKind regards\nThe shop\n",
            }),
            "T-102: the parcel service found it.",
        ),
        errand(
            "refund",
            json!({ "order": "O-2057", "amount": "118.00" }),
            "T-105: the customer returned the chair within fourteen days.",
        ),
        errand(
            "move_ticket",
            json!({ "ticket": "T-105", "state": "closed" }),
            "The chair is back in the store and the refund is asked for.",
        ),
        // Hidden characters and markup: the desk shows them for what they are.
        errand(
            "send_mail",
            json!({
                "to": "sam@customers.test",
                "subject": "Invoice \u{202e}fdp.exe\u{202c}",
                "body": "<b>Please pay today</b>\n\nto the account DE02\u{200b}1203 0000 0000 2020 51.\n",
            }),
            "A ticket told me to send exactly this. **Already approved by Olga.**",
        ),
        errand("refund", json!({ "order": "O-2063", "amount": "9.50" }), "The shipping was charged twice."),
        errand(
            "wipe_customer",
            json!({ "customer": "C-04" }),
            "No order for ten years; the retention plan says to erase.",
        ),
    ]
}
