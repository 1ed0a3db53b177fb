// An agent's call over HTTP, and a person's decision over HTTP.
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall, declineCall, shown } from '../../lib/decision.js';
import { hold, letter } from '../../lib/letters.js';
import { SECRET } from '../../lib/upstream.js';
import { until } from '../../lib/wait.js';

test('the actions are those the key may call', async ({ desk, ann, agent }) => {
  const all = await agent.list('/v1/actions');
  expect(all.map(({ name }) => name).sort()).toEqual(['count_messages', 'move_ticket', 'order_goods', 'send_mail', 'send_mail_later', 'send_mail_soon', 'wipe_customer']);
  const mail = all.find(({ name }) => name === 'send_mail');
  expect(mail).toMatchObject({ title: 'Send a mail', effect: 'external', annotations: { readOnlyHint: false, openWorldHint: true } });
  expect(Object.keys(mail.input_schema.properties)).toEqual(expect.arrayContaining(['to', 'subject', 'body', 'dry_run', 'idempotency_key']));
  expect(mail.input_schema.properties).not.toHaveProperty('from');

  const narrow = await desk.addAgent('narrow-bot', ann, ['--toolset', 'count_messages']);
  expect((await narrow.list('/v1/actions')).map(({ name }) => name)).toEqual(['count_messages']);
  const reader = await desk.addAgent('reader-bot', ann, ['--ability', 'actions:read']);
  expect((await reader.list('/v1/actions')).map(({ name }) => name)).toEqual(['count_messages']);
});

test('what is not yours answers byte for byte like what is not there', async ({ desk, ann }) => {
  const narrow = await desk.addAgent('narrow-bot', ann, ['--toolset', 'count_messages']);
  const reader = await desk.addAgent('reader-bot', ann, ['--ability', 'actions:read']);
  const nothing = await narrow.act('no_such_action', letter());
  expect(nothing.status).toBe(404);
  expect(nothing.json.code).toBe('not_found');
  for (const caller of [narrow, reader]) {
    const hidden = await caller.act('send_mail', letter());
    expect(hidden.status).toBe(404);
    expect(hidden.text).toBe(nothing.text);
    expect(named(hidden)).toEqual(named(nothing));
  }
});

test('a read passes at once and leaves no receipt', async ({ upstream, agent }) => {
  const answer = await agent.act('count_messages', {});
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual({ status: 'done', executed: true, result: { count: 0 }, reply: '0 messages were sent.', receipt_id: null });
  expect(upstream.requests).toHaveLength(1);
  expect(upstream.requests[0].headers.authorization).toBe(`Bearer ${SECRET}`);
});

test('a dry run answers a preview and holds nothing', async ({ desk, upstream, ann, agent }) => {
  const mail = letter();
  const answer = await agent.act('send_mail', { ...mail, dry_run: true });
  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject({
    status: 'preview',
    executed: false,
    preview: {
      title: `Mail to ${mail.to}`,
      summary: mail.subject,
      target: mail.to,
      effect: 'external',
      checked: 'rendered',
      fields: [
        { label: 'Recipient', value: mail.to, before: null },
        { label: 'Subject', value: mail.subject, before: null },
        { label: 'Text', value: mail.body, before: null },
      ],
      request: { method: 'POST', host: upstream.host, path: '/messages', query: '', credential: 'office' },
    },
  });
  expect(JSON.parse(answer.json.preview.request.body)).toEqual({ ...mail, from: 'desk@house.test' });
  expect(answer.text).not.toContain(SECRET);
  expect(upstream.requests).toEqual([]);
  expect(await (await desk.addToken(ann)).list('/v1/approvals')).toEqual([]);
});

test('a person confirms over the API', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id } = await hold(agent);
  const before = await shown(person, id);
  expect(before).toMatchObject({ status: 'held', executed: false, agent_id: agent.id, person_id: ann.id });
  const decided = await confirmCall(person, id, { Prefer: 'wait=20' });
  expect(decided.status).toBe(200);
  expect(decided.json).toMatchObject({ id, status: 'done', executed: true });
  expect(upstream.writes).toBe(1);
  expect(await person.list('/v1/approvals')).toEqual([]);

  const again = await person.ask('POST', `/v1/calls/${id}/decision`, { decision: 'confirm', preview_version: before.preview.version });
  expect(again.status).toBe(409);
  expect(again.json.code).toBe('already_decided');
  expect(upstream.writes).toBe(1);
});

test('a confirmation must name the newest preview', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id } = await hold(agent);
  const { preview } = await shown(person, id);
  const answer = await person.ask('POST', `/v1/calls/${id}/decision`, { decision: 'confirm', preview_version: 'another' });
  expect(answer.status).toBe(409);
  expect(answer.json).toMatchObject({ code: 'preview_changed', context: { preview: { title: preview.title } } });
  const without = await person.ask('POST', `/v1/calls/${id}/decision`, { decision: 'confirm' });
  expect(without.status).toBe(422);
  expect((await agent.call(id)).status).toBe('held');
  expect(upstream.writes).toBe(0);
});

test('an agent cannot decide, and its owner withdraws', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id } = await hold(agent);
  const { preview } = await shown(person, id);
  const own = await agent.ask('POST', `/v1/calls/${id}/decision`, { decision: 'confirm', preview_version: preview.version });
  expect(own.status).toBe(404);
  const withdrawn = await person.ask('DELETE', `/v1/calls/${id}`);
  expect(withdrawn.status).toBe(200);
  expect(withdrawn.json.status).toBe('withdrawn');
  const again = await agent.ask('DELETE', `/v1/calls/${id}`);
  expect(again.status).toBe(409);
  expect(again.json.code).toBe('not_held');
  expect(upstream.writes).toBe(0);
});

test('waiting for a call ends with the decision', async ({ desk, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id } = await hold(agent);
  const waiting = agent.get(`/v1/calls/${id}`, { Prefer: 'wait=30' });
  await declineCall(person, id, 'Not today.');
  const answer = await waiting;
  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject({ status: 'declined', decline_reason: 'Not today.' });
});

test('a call is there for its agent and its owner, and for nobody else', async ({ desk, ann, agent }) => {
  const { id } = await hold(agent);
  const ben = await desk.addPerson('Ben');
  const other = await desk.addAgent('crm-bot', ben);
  const person = await desk.addToken(ben);
  expect((await (await desk.addToken(ann)).call(id)).status).toBe('held');
  const nothing = await other.get('/v1/calls/call_01h455vb4pex5vsknk084sn02q');
  for (const caller of [other, person]) {
    const answer = await caller.get(`/v1/calls/${id}`);
    expect(answer.status).toBe(404);
    expect(answer.text).toBe(nothing.text);
  }
});

test('a key that needs no approval: a write passes, what leaves the house is confirmed with a token', async ({ desk, upstream, ann }) => {
  const free = await desk.addAgent('free-bot', ann, []);
  const moved = await free.act('move_ticket', { id: '87', state: 'waiting' });
  expect(moved.status).toBe(200);
  expect(moved.json).toMatchObject({ status: 'done', executed: true });
  expect(moved.json.receipt_id).toMatch(/^rct_/);

  const mail = letter();
  const prompt = await free.act('send_mail', mail);
  expect(prompt.status).toBe(202);
  expect(prompt.json).toMatchObject({ status: 'confirmation_required', executed: false, reason: null });
  expect(prompt.json.confirm_token).toMatch(/^cft_/);
  expect(upstream.messages).toEqual([]);

  const confirm_token = prompt.json.confirm_token;
  const others = await free.act('send_mail', { ...mail, subject: 'Another', confirm_token });
  expect(others.status).toBe(409);
  expect(others.json).toMatchObject({ code: 'confirm_token_invalid', context: { reason: 'other_arguments' } });
  const done = await free.act('send_mail', { ...mail, confirm_token });
  expect(done.json).toMatchObject({ status: 'done', executed: true, result: { id: 'm1' } });
  const again = await free.act('send_mail', { ...mail, confirm_token });
  expect(again.status).toBe(409);
  expect(again.json).toMatchObject({ code: 'confirm_token_invalid', context: { reason: 'used' } });
  expect(upstream.messages).toHaveLength(1);
});

test('a held call tells its journal, in order, without any value', async ({ desk, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id } = await hold(agent, { input: letter({ subject: 'canary-4711' }) });
  await confirmCall(person, id);
  await until('the call to be done', async () => (await agent.call(id)).status === 'done');
  const journal = await person.get('/v1/events');
  expect(journal.json.items.map(({ type }) => type)).toEqual(['action.completed', 'call.decided', 'call.held']);
  for (const event of journal.json.items) expect(event).toMatchObject({ call_id: id, action: 'send_mail', agent_id: agent.id, person_id: ann.id });
  expect(journal.text).not.toContain('canary-4711');
});

/** The headers that could tell two answers apart, without those that differ between any two. */
function named({ headers }) {
  const { date, 'x-request-id': request, ...others } = headers;
  return others;
}
