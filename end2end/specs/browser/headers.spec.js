// What the pages forbid the browser.
import { test, expect } from '../../lib/fixtures.js';
import { hold } from '../../lib/letters.js';
import { signIn } from '../../lib/pages.js';

/** The directives of a policy, by name. */
function directives(policy) {
  return Object.fromEntries(policy.split(';').map((part) => part.trim().split(/\s+/)).map(([name, ...values]) => [name, values]));
}

test('every page carries the security headers and no inline script or style', async ({ page, ann, agent }) => {
  const { url } = await hold(agent);
  const complaints = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));

  await page.goto('/sign-in');
  // A body can be read only until the page goes elsewhere.
  const read = async (answer) => ({ headers: answer.headers(), html: await answer.text() });
  const answers = [await read(await page.reload())];
  await signIn(page, ann);
  for (const address of ['/inbox', url, '/done', `/people/${ann.id}/receipts`, '/no-such-page']) answers.push(await read(await page.goto(address)));

  for (const { headers, html } of answers) {
    const policy = directives(headers['content-security-policy']);
    expect(policy).toMatchObject({ 'default-src': ["'none'"], 'frame-ancestors': ["'none'"], 'base-uri': ["'none'"], 'form-action': ["'self'"] });
    for (const [name, values] of Object.entries(policy)) {
      for (const value of values) expect(["'self'", "'none'"], `${name} ${value}`).toContain(value);
    }
    expect(headers).toMatchObject({
      'cross-origin-opener-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
    });
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/i);
    expect(html).not.toMatch(/<style/i);
    expect(html).not.toMatch(/<[^>]+\s(style|on[a-z]+)=/i);
    // A link may lead to the desk's other name; nothing is fetched from elsewhere.
    expect(html).not.toMatch(/<(?!a\s)[^>]+\s(src|href)="(https?:)?\/\//i);
  }
  expect(complaints).toEqual([]);
});

test('pages with a person\'s data are kept by no cache', async ({ page, ann, agent }) => {
  const { url } = await hold(agent);
  await signIn(page, ann);
  for (const address of ['/inbox', url, '/done']) {
    expect((await page.goto(address)).headers()['cache-control'], address).toContain('no-store');
  }
});

test('the folder the server runs in is not served', async ({ page, desk }) => {
  for (const path of ['/countersign.toml', '/countersign.key', '/countersign.db', '/Cargo.toml', '/..%2fcountersign.key', '/style/../countersign.key']) {
    const answer = await page.request.get(`${desk.url}${path}`, { maxRedirects: 0 });
    expect([302, 303, 404], path).toContain(answer.status());
    expect(await answer.text()).not.toContain('[[credential]]');
  }
});
