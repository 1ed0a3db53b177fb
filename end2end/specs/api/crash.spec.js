// A crash after bytes may have left: nobody knows, nobody sends again.
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall } from '../../lib/decision.js';
import { hold, letter } from '../../lib/letters.js';
import { until } from '../../lib/wait.js';

const key = { 'Idempotency-Key': 'mail-1009' };

test('killed between Confirm and the answer: in doubt, and the counter stays at one', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  upstream.hang();
  const { id } = await hold(agent, { headers: key });
  expect((await confirmCall(person, id)).status).toBe(200);
  await upstream.received(1);
  await desk.kill();
  upstream.release();

  await desk.serve();
  await until('the call to be in doubt', async () => (await agent.call(id)).status === 'in_doubt');
  const call = await agent.call(id);
  expect(call).toMatchObject({ executed: null, result: null });
  const retry = await agent.act('send_mail', letter(), key);
  expect(retry.status).toBe(409);
  expect(retry.json.code).toBe('outcome_unknown');
  expect(retry.headers.location).toContain(`/v1/calls/${id}`);
  expect((await person.get(`/v1/receipts/${call.receipt_id}`)).json).toMatchObject({ outcome: 'in_doubt', upstream_status: null });

  // It stays so, also over another start.
  await desk.kill();
  await desk.serve();
  expect((await agent.act('send_mail', letter(), key)).json.code).toBe('outcome_unknown');
  expect((await agent.call(id)).status).toBe('in_doubt');
  expect(upstream.writes).toBe(1);
});

test('a cut connection after the request left: in doubt', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  upstream.hang();
  const { id } = await hold(agent, { headers: key });
  await confirmCall(person, id);
  await upstream.received(1);
  upstream.cut();
  expect((await agent.get(`/v1/calls/${id}`, { Prefer: 'wait=20' })).json).toMatchObject({ status: 'in_doubt', executed: null });
  expect((await agent.act('send_mail', letter(), key)).json.code).toBe('outcome_unknown');
  expect(upstream.writes).toBe(1);
});

test('a held call and a person\'s token outlive a crash', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id } = await hold(agent, { headers: key });
  await desk.kill();
  await desk.serve();
  expect((await agent.call(id)).status).toBe('held');
  expect((await confirmCall(person, id, { Prefer: 'wait=20' })).json.status).toBe('done');
  expect(upstream.writes).toBe(1);
});

test('killed within the undo window: still confirmed, and sent once after the restart', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id } = await hold(agent, { action: 'send_mail_soon' });
  await confirmCall(person, id);
  expect((await agent.call(id)).status).toBe('approved');
  await desk.kill();
  expect(upstream.writes).toBe(0);
  await desk.serve();
  await until('the call to be done', async () => (await agent.call(id)).status === 'done');
  expect(upstream.writes).toBe(1);
});
