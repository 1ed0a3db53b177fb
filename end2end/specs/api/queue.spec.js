// Prefer: respond-async puts a call into a queue that outlives the process.
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall, declineCall } from '../../lib/decision.js';
import { letter } from '../../lib/letters.js';
import { until } from '../../lib/wait.js';

const later = { Prefer: 'respond-async' };
const ended = (agent, id) => agent.get(`/v1/calls/${id}`, { Prefer: 'wait=20' });

test('what needs nobody is queued at once, and done once', async ({ desk, upstream, ann }) => {
  const quick = await desk.addAgent('quick-bot', ann, []);
  const headers = { ...later, 'Idempotency-Key': 'move-1' };
  const answer = await quick.act('move_ticket', { id: '87', state: 'closed' }, headers);
  expect(answer.status).toBe(202);
  expect(answer.json).toMatchObject({ status: 'queued', executed: false, call_id: expect.stringMatching(/^call_/) });
  expect(answer.headers.location).toContain(answer.json.poll);
  expect(answer.headers['preference-applied']).toContain('respond-async');
  const call = (await ended(quick, answer.json.call_id)).json;
  expect(call).toMatchObject({ status: 'done', executed: true, surface: 'queue' });
  expect(call.receipt_id).toMatch(/^rct_/);
  expect(upstream.tickets.get('87').state).toBe('closed');
  const again = await quick.act('move_ticket', { id: '87', state: 'closed' }, headers);
  expect(again.headers['countersign-replayed']).toBe('true');
  expect(upstream.writes).toBe(1);
});

test('what needs a person is held first and queued when it is confirmed', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const answer = await agent.act('send_mail', letter(), later);
  expect(answer.status).toBe(202);
  expect(answer.json).toMatchObject({ status: 'held', executed: false });
  const id = answer.json.call_id;
  expect(upstream.writes).toBe(0);
  const confirmed = await confirmCall(person, id);
  expect(confirmed.status).toBe(200);
  expect(['queued', 'sending', 'done']).toContain(confirmed.json.status);
  expect((await ended(agent, id)).json).toMatchObject({ status: 'done', executed: true });
  expect(upstream.messages).toHaveLength(1);
});

test('what is declined is never queued', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { json } = await agent.act('send_mail', letter(), later);
  await declineCall(person, json.call_id, 'not now');
  expect((await ended(agent, json.call_id)).json).toMatchObject({ status: 'declined', decline_reason: 'not now' });
  expect(upstream.writes).toBe(0);
});

test('a queue that was cut off by a crash is worked off once after the restart', async ({ desk, upstream, ann }) => {
  const quick = await desk.addAgent('quick-bot', ann, []);
  const asked = [];
  for (let count = 0; count < 5; count += 1) asked.push(quick.act('move_ticket', { id: '87', state: 'waiting' }, later));
  const ids = (await Promise.all(asked)).map(({ json }) => json.call_id);
  await desk.kill();
  await desk.serve();
  await until('every call to have ended', async () => {
    const calls = await Promise.all(ids.map((id) => quick.call(id)));
    return calls.every(({ status }) => ['done', 'in_doubt'].includes(status));
  });
  // What was on its way when the power went is in doubt and never sent again; no call is sent twice.
  expect(upstream.writes).toBeLessThanOrEqual(5);
  const states = (await Promise.all(ids.map((id) => quick.call(id)))).map(({ status }) => status);
  expect(states.filter((status) => status === 'done').length).toBeLessThanOrEqual(upstream.writes);
});
