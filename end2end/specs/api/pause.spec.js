// A paused agent is told the same on every surface, and what waits is still told of and can be taken back.
import { Client } from '../../lib/agent.js';
import { confirmCall, declineCall } from '../../lib/decision.js';
import { test, expect } from '../../lib/fixtures.js';
import { hold, letter } from '../../lib/letters.js';
import { connectNew, connectOld, facts, words } from '../../lib/mcp.js';

test('every surface answers 503 with Retry-After, reads too', async ({ desk, upstream, ann, agent }) => {
  await desk.command(['agent', 'pause', 'billing-bot', '--reason', 'In our words.']);
  const calls = {
    'a write': () => agent.act('send_mail', letter(), { 'Idempotency-Key': 'one' }),
    'a read': () => agent.act('count_messages', {}),
    'a dry run': () => agent.act('send_mail', { ...letter(), dry_run: true }),
    'the queue': () => agent.act('move_ticket', { id: '87', state: 'closed' }, { Prefer: 'respond-async' }),
    'an action that is not there': () => agent.act('no_such_action', {}),
    'an input at fault': () => agent.act('send_mail', {}),
    fetch: () => agent.ask('POST', '/v1/fetch', { credential: 'office', method: 'GET', url: `${upstream.url}/messages` }),
    'fetch with no such credential': () => agent.ask('POST', '/v1/fetch', { credential: 'nothing', method: 'GET', url: `${upstream.url}/messages` }),
    via: () => agent.get('/via/office/messages'),
    'via with no such credential': () => agent.get('/via/nothing/messages'),
  };
  const bodies = new Set();
  for (const [what, call] of Object.entries(calls)) {
    const answer = await call();
    expect(answer, what).toMatchObject({ status: 503, json: { code: 'paused' } });
    expect(answer.headers['retry-after'], what).toBe('60');
    bodies.add(answer.text);
  }
  expect(bodies.size, 'the same words, and none of the person\'s').toBe(1);
  expect([...bodies][0]).toContain('Nothing was done');
  for (const connect of [connectOld, connectNew]) {
    const client = await connect(agent);
    const told = await client.callTool({ name: 'count_messages', arguments: {} });
    expect(told.isError).toBe(true);
    expect(words(told)).toContain('Nothing was done');
    expect(facts(told)).toMatchObject({ code: 'paused' });
    await client.close();
  }
  expect((await new Client(desk.url, `${agent.token}x`).act('count_messages', {})).status, 'as ever').toBe(401);
  expect(upstream.requests).toHaveLength(0);
  expect((await (await desk.addToken(ann)).list('/v1/events'))).toEqual([]);

  await desk.command(['agent', 'pause', agent.id, '--resume']);
  expect((await agent.act('count_messages', {})).status).toBe(200);
  await hold(agent, { headers: { 'Idempotency-Key': 'one' } });
});

test('what is held can be looked at, declined and withdrawn, and not confirmed', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const [kept, no, back] = [await hold(agent), await hold(agent, { input: letter({ subject: 'Two' }) }), await hold(agent, { input: letter({ subject: 'Three' }) })];
  await desk.command(['agent', 'pause', '--all']);
  const confirmed = await confirmCall(person, kept.id);
  expect(confirmed).toMatchObject({ status: 503, json: { code: 'paused' } });
  expect(confirmed.headers['retry-after']).toBe('60');
  expect((await agent.call(kept.id)).status).toBe('held');
  expect((await declineCall(person, no.id, 'No.')).json.status).toBe('declined');
  expect((await agent.ask('DELETE', `/v1/calls/${back.id}`)).json.status).toBe('withdrawn');
  const client = await connectOld(agent);
  expect(facts(await client.callTool({ name: 'call_status', arguments: { call_id: kept.id } }))).toMatchObject({ status: 'held' });
  await client.close();
  await desk.command(['agent', 'pause', '--all', '--resume']);
  expect((await confirmCall(person, kept.id, { Prefer: 'wait=20' })).json.status).toBe('done');
  expect(upstream.messages).toHaveLength(1);
});
