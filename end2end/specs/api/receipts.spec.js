// Receipts: facts only, own only, everyone's for operators.
import { createHash } from 'node:crypto';
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall } from '../../lib/decision.js';
import { hold, letter } from '../../lib/letters.js';

/** Sends one mail of each subject and returns the receipts' ids, oldest first. */
async function send(agent, person, subjects) {
  const ids = [];
  for (const subject of subjects) {
    const { id } = await hold(agent, { input: letter({ subject }) });
    ids.push((await confirmCall(person, id, { Prefer: 'wait=20' })).json.receipt_id);
  }
  return ids;
}

test('a receipt is exactly what was sent, without a byte of it', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const [id] = await send(agent, person, ['One']);
  const { json: receipt } = await person.get(`/v1/receipts/${id}`);
  const body = upstream.requests.at(-1).body;
  expect(receipt).toEqual({
    id,
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
    person_id: ann.id,
    agent_id: agent.id,
    session: expect.any(String),
    credential: 'office',
    action: 'send_mail',
    surface: 'api',
    method: 'POST',
    url: `${upstream.url}/messages`,
    body_size: Buffer.byteLength(body),
    body_sha256: createHash('sha256').update(body).digest('hex'),
    approval: { id: expect.stringMatching(/^apr_/), kind: 'person', by: [ann.id], at: expect.any(String) },
    upstream_status: 201,
    outcome: 'done',
  });
  expect(await person.list('/v1/receipts')).toEqual([receipt]);
});

test('a person sees their own, an operator everyone\'s or one person\'s', async ({ desk, ann, agent }) => {
  const ben = await desk.addPerson('Ben');
  const olga = await desk.addPerson('Olga', 'operator');
  const crm = await desk.addAgent('crm-bot', ben);
  const [anns, bens, olgas] = [await desk.addToken(ann), await desk.addToken(ben), await desk.addToken(olga, ['receipts:read'])];
  const [first] = await send(agent, anns, ['One']);
  const [second] = await send(crm, bens, ['Two']);
  const ids = async (client, query = '') => (await client.list(`/v1/receipts${query}`)).map(({ id }) => id);

  expect(await ids(anns)).toEqual([first]);
  expect(await ids(bens)).toEqual([second]);
  expect(await ids(bens, `?user_id=${ann.id}`)).toEqual([]);
  expect(await ids(olgas)).toEqual([second, first]);
  expect(await ids(olgas, `?user_id=${ann.id}`)).toEqual([first]);

  const theirs = await bens.get(`/v1/receipts/${first}`);
  const nobodys = await bens.get('/v1/receipts/rct_01h455vb4pex5vsknk084sn02q');
  expect(theirs.status).toBe(404);
  expect(theirs.text).toBe(nobodys.text);
  expect((await olgas.get(`/v1/receipts/${first}`)).status).toBe(200);
});

test('pages follow each other without a gap or a repeat', async ({ desk, ann, agent }) => {
  const person = await desk.addToken(ann);
  const ids = await send(agent, person, ['One', 'Two', 'Three', 'Four', 'Five']);
  const seen = [];
  let next = '/v1/receipts?limit=2';
  while (next) {
    const page = await person.get(next);
    expect(page.status).toBe(200);
    expect(page.json.items.length).toBeLessThanOrEqual(2);
    seen.push(...page.json.items.map(({ id }) => id));
    expect(!!page.headers.link).toBe(page.json.next_cursor !== null);
    if (page.headers.link) expect(page.headers.link).toMatch(/^<[^>]+>; rel="next"$/);
    next = page.json.next_cursor && `/v1/receipts?limit=2&cursor=${encodeURIComponent(page.json.next_cursor)}`;
  }
  expect(seen).toEqual(ids.toReversed());
  for (const query of ['limit=501', 'limit=0', 'limit=x', 'cursor=nonsense']) {
    const answer = await person.get(`/v1/receipts?${query}`);
    expect(answer.status, query).toBe(422);
    expect(answer.json.code).toBe('invalid');
  }
  expect((await person.get('/v1/receipts?limit=500')).status).toBe(200);
});
