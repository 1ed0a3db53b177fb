// Attacks that need the whole server: a browser with a session, the log, every page and every file.
import { gzipSync } from 'node:zlib';
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall } from '../../lib/decision.js';
import { request } from '../../lib/http.js';
import { hold, letter } from '../../lib/letters.js';
import { cookies, formOf, guardPassed, signIn } from '../../lib/pages.js';

const posted = { 'Content-Type': 'application/x-www-form-urlencoded' };
const canary = 'canary-7f3e9b';

/** What a button of a page would post, sent by hand. */
const send = (desk, { action, fields }, Cookie, more = {}) =>
  request(action, { method: 'POST', headers: { ...posted, Cookie, Origin: desk.url }, body: new URLSearchParams({ ...fields, ...more }).toString() });

test('a session that was planted in a browser is not the one that signing in makes', async ({ page, desk, ann, browser }) => {
  const mallory = await desk.addPerson('Mallory');
  const elsewhere = await browser.newPage({ baseURL: desk.url });
  await signIn(elsewhere, mallory);
  const planted = await elsewhere.context().cookies();
  await elsewhere.close();

  await page.context().addCookies(planted);
  await page.goto('/inbox');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.context().addCookies(planted);
  await signIn(page, ann);
  const now = await page.context().cookies();
  expect(now.map(({ value }) => value)).not.toContain(planted[0].value);
  const Cookie = `${planted[0].name}=${planted[0].value}`;
  expect((await request(`${desk.url}/inbox`, { headers: { Cookie } })).status, 'the planted one opens nothing').toBeGreaterThan(300);
});

test('what a page lets confirm is that call, that preview and that person alone, once', async ({ page, desk, upstream, ann, agent, browser }) => {
  const [one, other] = [await hold(agent), await hold(agent, { input: letter({ subject: 'Another' }) })];
  await signIn(page, ann);
  await page.goto(one.url);
  const form = await formOf(page.getByRole('button', { name: /^Confirm/ }));
  await guardPassed();
  const Cookie = await cookies(page);

  // On another call.
  expect(form.fields.call).toBe(one.id);
  await send(desk, form, Cookie, { call: other.id });
  // By somebody else who is signed in, too.
  const mallory = await desk.addPerson('Mallory', 'operator');
  const elsewhere = await browser.newPage({ baseURL: desk.url });
  await signIn(elsewhere, mallory);
  await send(desk, form, await cookies(elsewhere));
  await elsewhere.close();
  // With any of what binds it from nowhere.
  for (const name of ['call', 'preview_version', 'view_token']) await send(desk, form, Cookie, { [name]: 'x'.repeat(40) });
  for (const { id } of [one, other]) expect((await agent.call(id)).status).toBe('held');
  expect(upstream.writes).toBe(0);

  // As it was shown, it counts; again, it does not.
  await send(desk, form, Cookie);
  await upstream.received(1);
  await send(desk, form, Cookie);
  expect((await agent.call(one.id, { Prefer: 'wait=10' })).status).toBe('done');
  expect(upstream.writes).toBe(1);
});

test('a body in a coding is not unpacked', async ({ desk, upstream, agent }) => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'x'));
  for (const body of [gzipSync(JSON.stringify(letter())), bomb]) {
    const answer = await request(`${desk.url}/v1/actions/send_mail`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${agent.token}`, 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
      body,
    });
    expect([400, 413, 415]).toContain(answer.status);
  }
  expect(upstream.requests).toEqual([]);
});

test('nothing that a caller sends makes a line of the log', async ({ desk, agent }) => {
  const forged = 'FORGED';
  await request(`${desk.url}/x%0a%0d${forged}%1b[2J`, { headers: { Authorization: `Bearer ${agent.token}` } });
  await request(`${desk.url}/v1/calls/%0a${forged}`, { headers: { Authorization: `Bearer ${agent.token}` } });
  await agent.act('send_mail', letter({ subject: `\n${forged} ERROR` }), { 'Countersign-Reason': `%0a${forged}`, 'X-Request-Id': `a ${forged}` });
  expect(desk.server.output).toContain(`/x%0a%0d${forged}`);
  for (const line of desk.server.output.split('\n')) expect(line).not.toMatch(new RegExp(`^\\W*${forged}`));
  // eslint-disable-next-line no-control-regex
  expect(desk.server.output.replaceAll(/\x1b\[[0-9;]*m/g, '')).not.toMatch(/\x1b/);
});

test('when a call has ended, no page, file, number or line has anything of what was in it', async ({ page, desk, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id, url } = await hold(agent, { input: letter({ subject: canary, body: canary }), headers: { 'Countersign-Reason': canary } });
  await signIn(page, ann);
  await page.goto(url);
  await expect(page.getByText(canary).first(), 'the search finds what is there').toBeVisible();
  const { json } = await confirmCall(person, id, { Prefer: 'wait=20' });
  await agent.call(id);

  const Cookie = await cookies(page);
  const pages = ['/inbox', `/inbox/${id}`, '/done', `/done/${json.receipt_id}`, `/people/${ann.id}/receipts`, '/calls', '/done/export.csv', '/done/export.jsonl', '/metrics'];
  for (const path of pages) {
    const { status, text } = await request(`${desk.url}${path}`, { headers: { Cookie } });
    expect(status, path).toBe(200);
    for (const secret of [canary, agent.token, person.token, 'upstream-secret']) expect(text.includes(secret), `${secret} on ${path}`).toBe(false);
  }
  for (const secret of [canary, agent.token, person.token, 'upstream-secret']) expect(desk.server.output).not.toContain(secret);
});
