//! A plain page that shows what has happened.

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};

use super::Upstream;
use super::world::World;

/// Everything that was done, for people. It renews itself.
pub(super) async fn show(State(upstream): State<Upstream>) -> Response {
    let page = Html(render(&upstream.world()));
    ([(CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'self'; frame-ancestors 'none'")], page)
        .into_response()
}

/// How the page looks.
pub(super) async fn style() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("page.css"))
}

fn render(world: &World) -> String {
    let mails = world.messages.iter().rev().map(|m| [&m.id, &m.to, &m.subject].map(String::as_str));
    let refunds = world.refunds.iter().rev().map(|r| [&r.id, &r.order, &r.amount].map(String::as_str));
    let tickets = world.tickets.values().map(|t| [t.id, t.title, t.state.as_str()]);
    let customers = world.customers.values().map(|c| [c.id, c.name, c.email]);
    [
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"3\">\
         <meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" href=\"/style.css\"><title>The demo's upstream</title>\
         <h1>The demo's upstream</h1><p>What the desk has sent arrives here. This page renews itself.</p>"
            .to_owned(),
        format!("<p>Writes that arrived: {}. That changed something: {}.</p>", world.writes_received, world.writes_done),
        table("Mails sent", ["Mail", "To", "Subject"], mails),
        table("Money refunded", ["Refund", "Order", "EUR"], refunds),
        table("Tickets", ["Ticket", "Title", "State"], tickets),
        table("Customers", ["Customer", "Name", "Address"], customers),
        "<p><a href=\"/state\">The same as JSON</a></p></html>".to_owned(),
    ]
    .concat()
}

fn table<'a>(title: &str, head: [&str; 3], rows: impl Iterator<Item = [&'a str; 3]>) -> String {
    let head = head.map(|cell| ["<th scope=\"col\">", cell, "</th>"].concat()).concat();
    let row = |row: [&str; 3]| {
        let cells = row.map(|cell| ["<td>", &escaped(cell), "</td>"].concat()).concat();
        ["<tr>", &cells, "</tr>"].concat()
    };
    let rows: String = rows.map(row).collect();
    let rows = if rows.is_empty() { "<tr><td colspan=\"3\">None yet.</td></tr>".to_owned() } else { rows };
    format!("<h2>{title}</h2><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_text_and_no_markup() {
        let rows = [["<script>", "a&b", "\"q\""]];
        let text = table("T", ["a", "b", "c"], rows.into_iter());
        assert!(text.contains("<td>&lt;script&gt;</td><td>a&amp;b</td><td>&quot;q&quot;</td>"), "{text}");
        assert!(render(&World::fresh()).contains("None yet."));
    }
}
