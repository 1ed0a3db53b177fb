// Further clients of the Model Context Protocol: FastMCP, and the command line of the protocol's inspector.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test, expect } from '../../lib/fixtures.js';
import { declineCall } from '../../lib/decision.js';
import { letter } from '../../lib/letters.js';
import { confirm, signIn, standing } from '../../lib/pages.js';

const PYTHON = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url));
const FASTMCP = fileURLToPath(new URL('../../lib/fastmcp_client.py', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../../conformance/node_modules/', import.meta.url));
const NODE = path.join(PACKAGES, 'node/bin/node');
const INSPECTOR = path.join(PACKAGES, '.bin/mcp-inspector');

test('FastMCP: a held write is confirmed in a browser while the client waits, retried, and another one declined', async ({ page, desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  await signIn(page, ann);
  const child = spawn(PYTHON, [FASTMCP, `${desk.url}/mcp`, agent.token], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let faults = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (faults += text));
  const events = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const { event, ...facts } = JSON.parse(line);
    events[event] = facts;
    if (event === 'held') {
      await page.goto(`/inbox/${facts.call.id}`);
      await confirm(page);
      await expect(standing(page, 'Sent')).toBeVisible();
    }
    if (event === 'other') await declineCall(person, facts.call.id, 'Not twice.');
  }
  expect((await ended)[0], faults).toBe(0);
  expect(events.tools.names).toEqual([...(await agent.list('/v1/actions')).map(({ name }) => name), 'call_status']);
  expect(events.read).toMatchObject({ error: false, structured: { count: 0 } });
  expect(events.held).toMatchObject({ error: true, call: { status: 'held' } });
  expect(events.ended.structured).toMatchObject({ status: 'done', result: { id: 'm1' } });
  expect(events.again).toMatchObject({ error: false, call: { replayed: true } });
  expect(events.declined.structured).toMatchObject({ status: 'declined', decline_reason: 'Not twice.' });
  expect(upstream.writes).toBe(1);
});

test('the inspector: lists, reads, and asks for a write', async ({ desk, upstream, ann, agent }) => {
  const inspect = async (method, tool, given = {}) => {
    const pairs = Object.entries(given).map(([name, value]) => `${name}=${value}`);
    const call = tool ? ['--tool-name', tool, ...(pairs.length ? ['--tool-arg', ...pairs] : [])] : [];
    const header = ['--header', `Authorization: Bearer ${agent.token}`];
    const args = [INSPECTOR, '--cli', `${desk.url}/mcp`, '--transport', 'http', ...header, '--method', method, ...call];
    // It keeps a file of its own at home, and exits with another code when a tool says no.
    const env = { PATH: `${path.dirname(NODE)}:${process.env.PATH}`, HOME: desk.folder };
    const { stdout } = await promisify(execFile)(NODE, args, { env }).catch((told) => told);
    return JSON.parse(stdout);
  };
  const { tools } = await inspect('tools/list');
  expect(tools.map(({ name }) => name)).toEqual([...(await agent.list('/v1/actions')).map(({ name }) => name), 'call_status']);
  expect(await inspect('tools/call', 'count_messages')).toMatchObject({ structuredContent: { count: 0 } });
  const held = await inspect('tools/call', 'send_mail', letter());
  expect(held).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('NOT DONE') }] });
  expect(upstream.writes).toBe(0);
  const person = await desk.addToken(ann);
  const [waiting] = await person.list('/v1/approvals');
  await declineCall(person, waiting.id, 'No.');
  const status = await inspect('tools/call', 'call_status', { call_id: waiting.id });
  expect(status.structuredContent).toMatchObject({ status: 'declined', decline_reason: 'No.' });
});
