// The catalogue of the tests: a credential for the upstream, and one action of each kind.

/**
 * @param {{port: number, database: string, upstream: string, lease?: string, settings?: string, more?: string}} options
 *   `upstream` is host:port; `database` a URL as in the catalogue; `settings` are further lines of its `[server]`, and
 *   `more` stands at its end
 * @returns {string} the text of a countersign.toml
 */
export function catalogue({ port, database, upstream, lease = '2s', settings = '', more = '' }) {
  return `
[server]
listen = "127.0.0.1:${port}"
public_url = "http://127.0.0.1:${port}"
database_url = "${database}"
lease = "${lease}"
${settings}

[[credential]]
name = "office"
hosts = ["${upstream}"]
methods = ["GET", "POST", "PUT", "DELETE"]
path_prefixes = ["/"]
header = "Authorization"
value = "Bearer {secret}"
secret = { env = "OFFICE_TOKEN" }
allow_http = true
allow_private = true

[[action]]
name = "count_messages"
title = "Count the messages"
description = "How many messages were sent."
effect = "read"
credential = "office"
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "GET", url = "http://${upstream}/messages" }
reply = "{{ output.count }} messages were sent."

${mail('send_mail', 'Send a mail', '0s')}
${mail('send_mail_soon', 'Send a mail in three seconds', '3s')}
${mail('send_mail_later', 'Send a mail with time to undo', '60s')}

[[action]]
name = "move_ticket"
title = "Move a ticket"
description = "Changes the state of one ticket."
effect = "write"
credential = "office"
input = { type = "object", required = ["id", "state"], additionalProperties = false, properties = { id = { type = "string" }, state = { type = "string", enum = ["open", "waiting", "closed"] } } }
request = { method = "PUT", url = "http://${upstream}/tickets/{{ input.id }}", json = { state = "{{ input.state }}" } }
dry_run = { method = "GET", url = "http://${upstream}/tickets/{{ input.id }}" }
preview = { title = "Move ticket {{ input.id }} to {{ input.state }}", summary = "{{ dry_run.title }}", target = "{{ input.id }}", fields = [ { label = "State", value = "{{ input.state }}", before = "{{ dry_run.state }}" } ] }
refusals = [ { status = 404, field = "id", message = "There is no such ticket." } ]

[[action]]
name = "order_goods"
title = "Order goods"
description = "Orders goods at the supplier."
effect = "external"
undo_window = "0s"
credential = "office"
request = { method = "POST", url = "http://${upstream}/messages", json = "{{ input }}" }
preview = { title = "Order for {{ input.address.street }}", target = "{{ input.address.street }}" }
[action.input]
type = "object"
required = ["lines", "address"]
additionalProperties = false
[action.input.properties]
due = { type = "string", format = "date", description = "When the goods have to be there." }
speed = { type = "string", enum = ["normal", "fast"], default = "normal" }
budget = { type = "number", exclusiveMinimum = 0 }
gift = { type = "boolean", title = "Wrap it as a gift" }
note = { type = "string", maxLength = 2000, description = "For the driver." }
copies = { type = "array", title = "Copies to", maxItems = 3, items = { type = "string", format = "email" } }
address = { type = "object", required = ["street", "city"], additionalProperties = false, properties = { street = { type = "string", minLength = 3 }, city = { type = "string" }, floor = { type = "integer" } } }
lines = { type = "array", minItems = 1, description = "What is ordered.", items = { type = "object", title = "Line", required = ["article", "count"], additionalProperties = false, properties = { article = { type = "string", minLength = 2 }, count = { type = "integer", minimum = 1, default = 1 }, marks = { type = "array", items = { type = "string" } } } } }
extra = { description = "Anything else the supplier understands.", oneOf = [ { type = "object" }, { type = "array" } ] }

[[action]]
name = "tidy_shelf"
title = "Tidy a shelf"
description = "Only in the warehouse tenants."
effect = "write"
tenants = ["north", "south"]
credential = "office"
input = { type = "object", required = ["shelf"], additionalProperties = false, properties = { shelf = { type = "string" } } }
request = { method = "POST", url = "http://${upstream}/messages", json = "{{ input }}" }
preview = { title = "Tidy shelf {{ input.shelf }}" }

[[action]]
name = "wipe_customer"
title = "Wipe a customer"
description = "Deletes one customer for good."
effect = "destructive"
undo_window = "0s"
credential = "office"
input = { type = "object", required = ["id"], additionalProperties = false, properties = { id = { type = "string" } } }
request = { method = "DELETE", url = "http://${upstream}/customers/{{ input.id }}" }
preview = { title = "Wipe customer {{ input.id }}", target = "customer {{ input.id }}", fields = [ { label = "Customer", value = "{{ input.id }}" } ] }

${more}
`;

  function mail(name, title, undo) {
    return `
[[action]]
name = "${name}"
title = "${title}"
description = "Sends one mail to one recipient."
effect = "external"
undo_window = "${undo}"
credential = "office"
fixed = { from = "desk@house.test" }
input = { type = "object", required = ["to", "subject", "body"], additionalProperties = false, properties = { to = { type = "string", format = "email" }, subject = { type = "string", maxLength = 200 }, body = { type = "string" }, copies = { type = "integer" } } }
request = { method = "POST", url = "http://${upstream}/messages", json = "{{ input }}" }
preview = { title = "Mail to {{ input.to }}", summary = "{{ input.subject }}", target = "{{ input.to }}", fields = [ { label = "Recipient", value = "{{ input.to }}" }, { label = "Subject", value = "{{ input.subject }}" }, { label = "Text", value = "{{ input.body }}" } ] }
output = ["id"]
reply = "The mail is queued as {{ output.id }}."
`;
  }
}
