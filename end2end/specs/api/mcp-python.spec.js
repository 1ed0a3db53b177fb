// The Model Context Protocol with the Python SDK.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall } from '../../lib/decision.js';

const PYTHON = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url));
const SCRIPT = fileURLToPath(new URL('../../lib/mcp_client.py', import.meta.url));

/** Runs the agent; `act` is called with every event. @returns {Promise<Record<string, any>>} the events by name */
async function run(agent, mode, elicits, act = async () => {}) {
  const child = spawn(PYTHON, [SCRIPT, `${agent.url}/mcp`, agent.token, mode, elicits], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let faults = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (faults += text));
  const events = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const { event, ...facts } = JSON.parse(line);
    events[event] = facts;
    await act(event, facts);
  }
  const [code] = await ended;
  expect(code, faults).toBe(0);
  return events;
}

for (const mode of ['legacy', 'auto']) {
  test(`Python, ${mode}: lists, reads, and a held write ends by call_status`, async ({ desk, upstream, ann, agent }) => {
    const person = await desk.addToken(ann);
    const events = await run(agent, mode, 'no', async (event, { call }) => {
      if (event === 'answer') await confirmCall(person, call.id);
    });
    expect(events.tools.names).toEqual([...(await agent.list('/v1/actions')).map(({ name }) => name), 'call_status']);
    expect(events.read).toMatchObject({ error: false, structured: { count: 0 } });
    expect(events.answer).toMatchObject({ error: true, structured: null, call: { status: 'held' } });
    expect(events.answer.text).toContain('NOT DONE');
    expect(events.status.structured).toMatchObject({ status: 'done', result: { id: 'm1' } });
    expect(upstream.writes).toBe(1);
  });
}

test('Python: shown the page, its person confirms, and the same call answers', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const events = await run(agent, 'auto', 'yes', async (event, { url }) => {
    if (event === 'page') await confirmCall(person, url.split('/').at(-1));
  });
  expect(events.page).toMatchObject({ mode: 'url', url: expect.stringContaining(`${desk.url}/inbox/call_`) });
  expect(events.answer).toMatchObject({ error: false, structured: { id: 'm1' }, call: { status: 'done' } });
  expect(upstream.writes).toBe(1);
});
