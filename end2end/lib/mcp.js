// Clients of the Model Context Protocol, as programs use them.
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';

const NAME = { name: 'countersign-test', version: '1' };

/** What every client needs to be told: the address and the agent's key. */
function connection(agent) {
  return [new URL(`${agent.url}/mcp`), { requestInit: { headers: { Authorization: `Bearer ${agent.token}` } } }];
}

/** The older TypeScript SDK. It speaks 2025-11-25. */
export async function connectOld(agent, capabilities = {}) {
  const client = new Client1(NAME, { capabilities });
  await client.connect(new Transport1(...connection(agent)));
  return client;
}

/**
 * The TypeScript SDK that speaks 2026-07-28.
 * @param {(request: any) => any} [elicit] what its person does with an address; without it, it cannot show one
 */
export async function connectNew(agent, elicit) {
  const capabilities = elicit ? { elicitation: { url: {} } } : {};
  const client = new Client2(NAME, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  if (elicit) client.setRequestHandler('elicitation/create', elicit);
  await client.connect(new Transport2(...connection(agent)));
  return client;
}

/** The machine's fields of a result. */
export function facts(result) {
  return result._meta['countersign/call'];
}

/** The words of a result. */
export function words(result) {
  return result.content.map(({ text }) => text).join('\n');
}
