// What an agent wrote never stands in the database in the clear, and is gone when the call has ended.
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall, declineCall } from '../../lib/decision.js';
import { hold, letter } from '../../lib/letters.js';

const canary = 'canary-c0ffee-5e7a1d';

test('no byte of an input is in the database: not while it is held, not after it is done and delivered', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id } = await hold(agent, { input: letter({ body: `Dear ${canary}`, subject: canary }), headers: { 'Idempotency-Key': 'k1' } });
  expect(await desk.database.holds(id), 'the search finds what is there').toBe(true);
  expect(await desk.database.holds(canary)).toBe(false);

  await confirmCall(person, id, { Prefer: 'wait=20' });
  expect(upstream.messages[0].subject).toBe(canary);
  expect((await agent.call(id)).result).toEqual({ id: 'm1' });
  expect(await desk.database.holds(canary)).toBe(false);
  expect(desk.server.output).not.toContain(canary);
});

test('nor is it after a decline, and the secret is nowhere', async ({ desk, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id } = await hold(agent, { input: letter({ body: canary }) });
  await declineCall(person, id, 'No.');
  expect(await desk.database.holds(canary)).toBe(false);
  expect(await desk.database.holds('upstream-secret')).toBe(false);
  expect(await desk.database.holds(agent.token)).toBe(false);
});

test('a declined, refused or done call no longer has a preview', async ({ desk, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id } = await hold(agent, { input: letter({ subject: canary }) });
  expect((await person.get('/v1/approvals')).text).toContain(canary);
  await confirmCall(person, id, { Prefer: 'wait=20' });
  for (const path of [`/v1/calls/${id}`, '/v1/approvals', '/v1/receipts', '/v1/events']) {
    expect((await person.get(path)).text, path).not.toContain(canary);
  }
});
