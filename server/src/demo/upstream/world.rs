//! What the shop knows.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::{Value, json};

use super::Reply;

/// Everything, in memory.
#[derive(Debug)]
pub(super) struct World {
    /// Writes that arrived, repeats included.
    pub(super) writes_received: u64,
    /// Writes that changed something.
    pub(super) writes_done: u64,
    /// The first answer to each idempotency key.
    pub(super) answered: HashMap<String, Reply>,
    pub(super) recipients: BTreeMap<&'static str, &'static str>,
    pub(super) messages: Vec<Message>,
    pub(super) orders: BTreeMap<&'static str, Order>,
    pub(super) refunds: Vec<Refund>,
    pub(super) tickets: BTreeMap<&'static str, Ticket>,
    pub(super) customers: BTreeMap<&'static str, Customer>,
}

/// A mail that was sent.
#[derive(Debug, Serialize)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) at: String,
    pub(super) to: String,
    pub(super) subject: String,
    pub(super) body: String,
}

/// An order. Money is in cents.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) customer: &'static str,
    pub(super) article: &'static str,
    pub(super) paid: u64,
    pub(super) refunded: u64,
}

/// Money that was paid back.
#[derive(Debug, Serialize)]
pub(super) struct Refund {
    pub(super) id: String,
    pub(super) at: String,
    pub(super) order: String,
    pub(super) amount: String,
}

/// A support ticket.
#[derive(Debug, Serialize)]
pub(super) struct Ticket {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) customer: &'static str,
    pub(super) state: String,
}

/// A customer.
#[derive(Debug, Serialize)]
pub(super) struct Customer {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) email: &'static str,
    pub(super) since: &'static str,
    pub(super) orders: u32,
}

const RECIPIENTS: [(&str, &str); 5] = [
    ("bo@customers.test", "Bo Lindqvist"),
    ("mei@customers.test", "Mei Tanaka"),
    ("sam@customers.test", "Sam Okafor"),
    ("vera@customers.test", "Vera Novak"),
    ("ida@shop.test", "Ida from the shop"),
];

const ORDERS: [(&str, &str, &str, u64); 4] = [
    ("O-2041", "Bo Lindqvist", "Desk lamp, green", 4_980),
    ("O-2048", "Mei Tanaka", "Bookshelf, oak", 21_900),
    ("O-2057", "Sam Okafor", "Chair, ash", 11_800),
    ("O-2063", "Vera Novak", "Rug, blue", 8_450),
];

const TICKETS: [(&str, &str, &str, &str); 5] = [
    ("T-101", "The lamp arrived broken", "Bo Lindqvist", "open"),
    ("T-102", "Where is my parcel?", "Mei Tanaka", "open"),
    ("T-103", "Please forget me", "Vera Novak", "open"),
    ("T-104", "The key does not fit", "Sam Okafor", "waiting"),
    ("T-105", "I send the chair back", "Sam Okafor", "waiting"),
];

const CUSTOMERS: [(&str, &str, &str, &str, u32); 4] = [
    ("C-01", "Bo Lindqvist", "bo@customers.test", "2021-03-04", 7),
    ("C-02", "Mei Tanaka", "mei@customers.test", "2023-11-20", 2),
    ("C-03", "Vera Novak", "vera@customers.test", "2019-06-11", 3),
    ("C-04", "Otto Brandt", "otto@customers.test", "2014-01-30", 1),
];

impl World {
    /// As it is when the demo starts.
    pub(super) fn fresh() -> Self {
        let order = |(id, customer, article, paid)| (id, Order { customer, article, paid, refunded: 0 });
        let ticket = |(id, title, customer, state): (_, _, _, &str)| {
            (id, Ticket { id, title, customer, state: state.to_owned() })
        };
        let customer = |(id, name, email, since, orders)| (id, Customer { id, name, email, since, orders });
        Self {
            writes_received: 0,
            writes_done: 0,
            answered: HashMap::new(),
            recipients: RECIPIENTS.into(),
            messages: Vec::new(),
            orders: ORDERS.map(order).into(),
            refunds: Vec::new(),
            tickets: TICKETS.map(ticket).into(),
            customers: CUSTOMERS.map(customer).into(),
        }
    }

    /// Everything as JSON.
    pub(super) fn told(&self) -> Value {
        json!({
            "writes_received": self.writes_received,
            "writes_done": self.writes_done,
            "messages": self.messages,
            "refunds": self.refunds,
            "tickets": self.tickets.values().collect::<Vec<_>>(),
            "customers": self.customers.values().collect::<Vec<_>>(),
        })
    }
}
