// A decision comes from the desk's own pages, by POST, or not at all.
import { test, expect } from '../../lib/fixtures.js';
import { request } from '../../lib/http.js';
import { hold } from '../../lib/letters.js';
import { cookies, formOf, guardPassed, signIn } from '../../lib/pages.js';

const posted = { 'Content-Type': 'application/x-www-form-urlencoded' };

/** Ann on the page of a held call, with what Confirm and Decline would post. */
async function beforeDeciding({ page, ann, agent }) {
  const { id, url } = await hold(agent);
  await signIn(page, ann);
  await page.goto(url);
  const forms = [];
  for (const name of [/^Confirm/, /^Decline/]) forms.push(await formOf(page.getByRole('button', { name })));
  // The half second of the page's guard is over; only the origin stands in the way.
  await guardPassed();
  return { id, url, forms, Cookie: await cookies(page) };
}

test('a forged Origin or Sec-Fetch-Site is 403, and the call stays held', async ({ page, desk, upstream, ann, agent }) => {
  const { id, forms, Cookie } = await beforeDeciding({ page, ann, agent });
  const forged = [
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: `${desk.url}.evil.example` },
    { Origin: desk.url.replace('http:', 'https:') },
    { Origin: 'http://127.0.0.1' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: desk.url, 'Sec-Fetch-Site': 'cross-site' },
  ];
  for (const { action, fields } of forms) {
    for (const headers of forged) {
      const answer = await request(action, { method: 'POST', headers: { Cookie, ...posted, ...headers }, body: new URLSearchParams(fields).toString() });
      expect(answer.status, JSON.stringify(headers)).toBe(403);
    }
  }
  expect((await agent.call(id)).status).toBe('held');
  expect(upstream.writes).toBe(0);

  // The same request with the desk's own origin passes: it was the origin that was refused.
  const [{ action, fields }] = forms;
  const own = await request(action, { method: 'POST', headers: { Cookie, ...posted, Origin: desk.url, 'Sec-Fetch-Site': 'same-origin' }, body: new URLSearchParams(fields).toString() });
  expect([200, 302, 303]).toContain(own.status);
  await upstream.received(1);
});

test('a forged sign-in is 403 and makes no session', async ({ page, desk, ann }) => {
  await page.goto('/sign-in');
  await page.getByRole('textbox', { name: 'Email' }).fill(ann.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(ann.password);
  const { action, fields } = await formOf(page.getByRole('button', { name: 'Sign in', exact: true }));
  const answer = await request(action, { method: 'POST', headers: { ...posted, Origin: 'https://evil.example' }, body: new URLSearchParams(fields).toString() });
  expect(answer.status).toBe(403);
  expect(answer.headers['set-cookie']).toBeUndefined();
  const own = await request(action, { method: 'POST', headers: { ...posted, Origin: desk.url }, body: new URLSearchParams(fields).toString() });
  expect(own.headers['set-cookie']).toHaveLength(1);
});

test('a GET or HEAD decides nothing', async ({ page, desk, upstream, ann, agent }) => {
  const { id, url, forms, Cookie } = await beforeDeciding({ page, ann, agent });
  const addresses = forms.flatMap(({ action, fields }) => [action, `${action}?${new URLSearchParams(fields)}`, `${url}?${new URLSearchParams(fields)}`]);
  addresses.push(`${desk.url}/v1/calls/${id}/decision?decision=confirm`);
  for (const address of addresses) {
    for (const method of ['GET', 'HEAD']) await request(address, { method, headers: { Cookie, Origin: desk.url } });
  }
  expect((await agent.call(id)).status).toBe('held');
  expect(upstream.writes).toBe(0);
});

test('cookies do not open the API, and tokens do not open the pages', async ({ page, desk, ann, agent }) => {
  const { Cookie } = await beforeDeciding({ page, ann, agent });
  for (const path of ['/v1/approvals', '/v1/receipts', '/v1/actions']) {
    expect((await request(`${desk.url}${path}`, { headers: { Cookie } })).status, path).toBe(401);
  }
  const person = await desk.addToken(ann);
  const answer = await request(`${desk.url}/inbox`, { headers: { Authorization: `Bearer ${person.token}` } });
  expect([302, 303]).toContain(answer.status);
  expect(answer.headers.location).toContain('/sign-in');
});
