// A retry is answered from the receipt and never sent again.
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall, declineCall } from '../../lib/decision.js';
import { hold, letter } from '../../lib/letters.js';

const key = { 'Idempotency-Key': 'mail-1009' };

async function sent({ desk, ann, agent }) {
  const { id } = await hold(agent, { headers: key });
  const { json } = await confirmCall(await desk.addToken(ann), id, { Prefer: 'wait=20' });
  expect(json.status).toBe('done');
  return json;
}

test('the same call with the same key is answered from the receipt', async ({ desk, upstream, ann, agent }) => {
  const { receipt_id } = await sent({ desk, ann, agent });
  expect(upstream.requests.at(-1).headers['idempotency-key']).toBe('mail-1009');

  // As a bare token and as a structured-field string it is the same key; in the header and as a field, too.
  const repeats = [
    await agent.act('send_mail', letter(), key),
    await agent.act('send_mail', letter(), { 'Idempotency-Key': '"mail-1009"' }),
    await agent.act('send_mail', { ...letter(), idempotency_key: 'mail-1009' }),
  ];
  for (const repeat of repeats) {
    expect(repeat.status).toBe(200);
    expect(repeat.json).toEqual({ replayed: true, receipt_id, original_status: 201, status: 'done', result: { id: 'm1' } });
    expect(repeat.headers).toMatchObject({ 'countersign-replayed': 'true', 'countersign-receipt': receipt_id, 'idempotent-replayed': 'true' });
  }
  expect(upstream.writes).toBe(1);
});

test('the key belongs to the person: another key of theirs replays, another person\'s call is a new one', async ({ desk, upstream, ann, agent }) => {
  await sent({ desk, ann, agent });
  const second = await desk.addAgent('second-bot', ann);
  expect((await second.act('send_mail', letter(), key)).json).toMatchObject({ replayed: true });
  const theirs = await desk.addAgent('crm-bot', await desk.addPerson('Ben'));
  expect((await theirs.act('send_mail', letter(), key)).status).toBe(202);
  expect(upstream.writes).toBe(1);
});

test('the key with another request is refused', async ({ desk, upstream, ann, agent }) => {
  await sent({ desk, ann, agent });
  for (const [action, input] of [['send_mail', letter({ subject: 'Another' })], ['send_mail_later', letter()]]) {
    const answer = await agent.act(action, input, key);
    expect(answer.status).toBe(409);
    expect(answer.json.code).toBe('idempotency_key_reused');
  }
  expect(upstream.writes).toBe(1);
});

test('the key of a call that is still held is in flight', async ({ desk, upstream, ann, agent }) => {
  const { id } = await hold(agent, { headers: key });
  const answer = await agent.act('send_mail', letter(), key);
  expect(answer.status).toBe(409);
  expect(answer.json.code).toBe('idempotency_in_flight');
  expect(answer.headers.location).toContain(`/v1/calls/${id}`);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(await (await desk.addToken(ann)).list('/v1/approvals')).toHaveLength(1);
  expect(upstream.writes).toBe(0);
});

test('twenty at the same moment with one key are one call', async ({ desk, upstream, ann, agent }) => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => agent.act('send_mail', letter(), key)));
  const held = answers.filter(({ status }) => status === 202);
  expect(held).toHaveLength(1);
  for (const answer of answers.filter(({ status }) => status !== 202)) {
    expect(answer.status).toBe(409);
    expect(answer.json.code).toBe('idempotency_in_flight');
  }
  const person = await desk.addToken(ann);
  expect(await person.list('/v1/approvals')).toHaveLength(1);
  await confirmCall(person, held[0].json.call_id, { Prefer: 'wait=20' });
  expect(upstream.writes).toBe(1);
});

test('an invalid, doubled or contradicting key is refused before anybody is asked', async ({ desk, ann, agent }) => {
  const cases = [
    [letter(), { 'Idempotency-Key': '' }],
    [letter(), { 'Idempotency-Key': 'with space' }],
    [letter(), { 'Idempotency-Key': 'x'.repeat(129) }],
    [letter(), { 'Idempotency-Key': ['one', 'two'] }],
    [{ ...letter(), idempotency_key: 'one' }, { 'Idempotency-Key': 'two' }],
    [{ ...letter(), idempotency_key: 17 }, {}],
  ];
  for (const [input, headers] of cases) {
    const answer = await agent.act('send_mail', input, headers);
    expect(answer.status, JSON.stringify(headers)).toBe(422);
    expect(answer.json).toMatchObject({ code: 'invalid', errors: [{ field: '/idempotency_key' }] });
  }
  expect(await (await desk.addToken(ann)).list('/v1/approvals')).toEqual([]);
});

test('what was never sent frees the key', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const declined = await hold(agent, { headers: key });
  await declineCall(person, declined.id, 'No.');
  const withdrawn = await hold(agent, { headers: key });
  await agent.ask('DELETE', `/v1/calls/${withdrawn.id}`);
  upstream.failWith(500);
  const failed = await hold(agent, { headers: key });
  expect((await confirmCall(person, failed.id, { Prefer: 'wait=20' })).json.status).toBe('failed');
  const fourth = await hold(agent, { headers: key });
  expect(new Set([declined.id, withdrawn.id, failed.id, fourth.id]).size).toBe(4);
});

test('one agent in flight while it is sent, then the replay', async ({ desk, upstream, ann, agent }) => {
  upstream.hang();
  const { id } = await hold(agent, { headers: key });
  await confirmCall(await desk.addToken(ann), id);
  await upstream.received(1);
  const during = await agent.act('send_mail', letter(), key);
  expect(during.status).toBe(409);
  expect(during.json.code).toBe('idempotency_in_flight');
  expect(await agent.call(id)).toMatchObject({ status: 'sending', executed: null });
  upstream.release();
  expect((await agent.get(`/v1/calls/${id}`, { Prefer: 'wait=20' })).json.status).toBe('done');
  expect((await agent.act('send_mail', letter(), key)).json).toMatchObject({ replayed: true, original_status: 201 });
  expect(upstream.writes).toBe(1);
});
