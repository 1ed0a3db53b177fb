// Whatever is wrong with a request: the contract's answer, and nothing written.
import { test, expect } from '../../lib/fixtures.js';
import { request } from '../../lib/http.js';
import { letter } from '../../lib/letters.js';

const key = { 'Idempotency-Key': 'never-claimed' };
const json = JSON.stringify;

// `journal`: how many ending events it leaves. A call that passed the door has exactly one, and it holds no value; a body
// that is no call at all may be refused before there is anything to write down.
const inputs = [
  { what: 'not JSON', body: '{"to": ', status: 400, code: 'malformed', journal: [0, 1] },
  { what: 'an empty body', body: '', status: 400, code: 'malformed', journal: [0, 1] },
  { what: 'an array', body: '[]', status: 400, code: 'malformed', journal: [0, 1] },
  { what: 'a string', body: '"send it"', status: 400, code: 'malformed', journal: [0, 1] },
  { what: 'null', body: 'null', status: 400, code: 'malformed', journal: [0, 1] },
  { what: 'bytes that are not UTF-8', body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), status: 400, code: 'malformed', journal: [0, 1] },
  { what: 'another content type', body: json(letter()), headers: { 'Content-Type': 'text/plain' }, status: 415, code: 'unsupported_media_type', journal: [0, 1] },
  { what: 'an unknown action', action: 'no_such_action', body: json(letter()), status: 404, code: 'not_found', journal: [0] },
  { what: 'a missing field', body: json({ to: letter().to, body: 'canary-17' }), status: 422, code: 'invalid', fields: ['/subject'], journal: [1] },
  { what: 'a wrong type', body: json(letter({ copies: 'canary-17' })), status: 422, code: 'invalid', fields: ['/copies'], journal: [1] },
  { what: 'every failing field at once', body: json({ to: 'canary-17', subject: 'x'.repeat(201), copies: 1.5 }), status: 422, code: 'invalid', fields: ['/body', '/copies', '/subject', '/to'], journal: [1] },
  { what: 'an unknown argument', body: json(letter({ bcc: 'canary-17@evil.example' })), status: 422, code: 'invalid', journal: [1] },
  { what: 'an argument the catalogue has fixed', body: json(letter({ from: 'canary-17@evil.example' })), status: 422, code: 'invalid', journal: [1] },
  { what: 'a NUL character', body: json(letter({ subject: 'canary-17\u0000' })), status: 422, code: 'invalid', fields: ['/subject'], journal: [1] },
  { what: '2 MiB', body: json(letter({ body: 'canary-17'.padEnd(2 * 1024 * 1024, 'x') })), status: 413, code: 'too_large', journal: [0, 1] },
  { what: 'JSON nested beyond reason', body: '{"to":'.padEnd(60_000, '['), status: 400, code: 'malformed', journal: [0, 1] },
];

for (const { what, action = 'send_mail', body, headers = {}, status, code, fields, journal } of inputs) {
  test(`${what}: ${status} ${code}`, async ({ desk, upstream, ann, agent }) => {
    const answer = await agent.act(action, body, { ...key, ...headers });
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.json).toMatchObject({ status, code, type: expect.any(String), title: expect.any(String), detail: expect.any(String) });
    if (fields) expect(answer.json.errors.map(({ field }) => field).sort()).toEqual(fields);
    expect(answer.text).not.toContain('canary-17');
    await expectNothingWritten({ desk, upstream, ann, agent, journal });
  });
}

test('an unknown method: 405', async ({ desk, upstream, ann, agent }) => {
  const answer = await agent.ask('PUT', '/v1/actions/send_mail', letter());
  expect(answer.status).toBe(405);
  expect(answer.json.code).toBe('method_not_allowed');
  await expectNothingWritten({ desk, upstream, ann, agent, journal: [0] });
});

test('a missing, wrong, mistyped or truncated token: 401, the same for every path', async ({ desk, upstream, ann, agent }) => {
  const { token } = agent;
  const last = token.at(-1) === 'a' ? 'b' : 'a';
  const bad = {
    missing: {},
    truncated: { Authorization: `Bearer ${token.slice(0, -1)}` },
    mistyped: { Authorization: `Bearer ${token.slice(0, -1)}${last}` },
    'of another kind': { Authorization: `Bearer ${token.replace('csk_', 'csu_')}` },
    empty: { Authorization: 'Bearer ' },
    'as another scheme': { Authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` },
    'not ASCII': { Authorization: 'Bearer csk_\u00e9\u00e9' },
  };
  const first = await request(`${desk.url}/v1/actions/no_such_action`, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } });
  for (const [what, headers] of Object.entries(bad)) {
    for (const [method, path] of [['POST', '/v1/actions/send_mail'], ['POST', '/v1/actions/no_such_action'], ['GET', '/v1/actions'], ['GET', '/v1/receipts'], ['GET', '/v1/approvals'], ['GET', '/v1/events']]) {
      const body = method === 'POST' ? json(letter()) : undefined;
      const answer = await request(`${desk.url}${path}`, { method, body, headers: { 'Content-Type': 'application/json', ...headers } });
      expect(answer.status, `${what}: ${method} ${path}`).toBe(401);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
      expect(answer.text).toBe(first.text);
    }
  }
  expect(first.json.code).toBe('unauthenticated');
  await expectNothingWritten({ desk, upstream, ann, agent, journal: [0] });
});

test('bad decisions: the answer says why, and the call stays held', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const held = await agent.act('send_mail', letter());
  const address = `/v1/calls/${held.json.call_id}/decision`;
  for (const [body, status, code] of [
    ['', 400, 'malformed'],
    ['[]', 400, 'malformed'],
    [json({ decision: 'perhaps' }), 422, 'invalid'],
    [json({}), 422, 'invalid'],
    [json({ decision: 'decline', reason: 'x'.repeat(2001) }), 422, 'invalid'],
    [json({ decision: 'decline', reason: 'a\u0000b' }), 422, 'invalid'],
  ]) {
    const answer = await person.ask('POST', address, body);
    expect(answer.status, body).toBe(status);
    expect(answer.json.code).toBe(code);
  }
  for (const id of ['call_01h455vb4pex5vsknk084sn02q', 'nonsense', '%00', '..%2f..']) {
    expect((await person.ask('POST', `/v1/calls/${id}/decision`, { decision: 'decline' })).status, id).toBe(404);
  }
  expect((await agent.call(held.json.call_id)).status).toBe('held');
  expect(upstream.writes).toBe(0);
});

/** No call, no receipt, no claim of the key, nothing sent; and at most the one line in the journal that has to be there. */
async function expectNothingWritten({ desk, upstream, ann, agent, journal }) {
  const olga = await desk.addToken(await desk.addPerson('Olga', 'operator'), ['receipts:read']);
  const events = await olga.get('/v1/events');
  expect(journal).toContain(events.json.items.length);
  for (const event of events.json.items) expect(event).toMatchObject({ type: 'action.refused', receipt_id: null });
  expect(events.text).not.toContain('canary-17');
  expect(await olga.list('/v1/receipts')).toEqual([]);
  expect(await (await desk.addToken(ann)).list('/v1/approvals')).toEqual([]);
  expect(upstream.requests).toEqual([]);
  expect(desk.server.output).not.toContain('canary-17');
  // The key is still free.
  expect((await agent.act('send_mail', letter(), key)).status).toBe(202);
}
