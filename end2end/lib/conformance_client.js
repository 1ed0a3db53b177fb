// The desk as the client that the protocol's conformance suite looks at. The last argument is the address of the suite's
// server: a desk is started with it as an upstream, and an agent calls what the suite wants called, or every tool once.
import { Desk } from './desk.js';
import { Upstream } from './upstream.js';
import { until } from './wait.js';

const url = new URL(process.argv.at(-1));
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

const more = `
[[credential]]
name = "suite"
hosts = ["${url.host}"]
header = "Authorization"
value = "Bearer {secret}"
secret = { env = "OFFICE_TOKEN" }
allow_http = true
allow_private = true

[[upstream]]
name = "suite"
url = "${url.href}"
credential = "suite"
`;

/** Something for every argument of a tool. */
function sample({ properties = {} }) {
  const values = { integer: 2, number: 2, boolean: true };
  return Object.fromEntries(Object.entries(properties).map(([name, { type }]) => [name, values[type] ?? 'x']));
}

const upstream = await Upstream.start();
const desk = await Desk.start({ database: 'sqlite', upstream, more });
try {
  const agent = await desk.addAgent('conformance', await desk.addPerson('Ann'), []);
  const { tools } = await until('the tools', async () => {
    const [server] = (await desk.command(['upstream', 'list'])).items;
    return server.protocol && server;
  });
  const every = tools.map(({ tool, accepted }) => ({ name: tool, arguments: sample(accepted.definition.inputSchema ?? {}) }));
  for (const call of toolCalls ?? every) {
    const action = tools.find(({ tool }) => tool === call.name)?.actions[0];
    if (!action) continue;
    const { json } = await agent.act(action, call.arguments);
    if (json.confirm_token) await agent.act(action, { ...call.arguments, confirm_token: json.confirm_token });
  }
} finally {
  await desk.stop();
  await upstream.stop();
}
