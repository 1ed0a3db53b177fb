// Nobody confirms by a press that was meant for something else.
import { test, expect } from '../../lib/fixtures.js';
import { hold } from '../../lib/letters.js';
import { confirm, cookies, expectStanding, formOf, guardPassed, press, signIn, posting } from '../../lib/pages.js';
import { request } from '../../lib/http.js';

test('a press in the first half second confirms nothing', async ({ page, desk, upstream, ann, agent }) => {
  const { id, url } = await hold(agent);
  await signIn(page, ann);
  const Cookie = await cookies(page);
  await page.goto(url);
  const confirmForm = await formOf(page.getByRole('button', { name: /^Confirm/ }));

  // A press as the page arrives: what a browser would post at once, with the fields of a page that is milliseconds old.
  const fresh = await request(url, { headers: { Cookie } });
  const fields = { ...confirmForm.fields, ...hiddenFields(fresh.text, Object.keys(confirmForm.fields)) };
  await request(confirmForm.action, {
    method: 'POST',
    headers: { Cookie, Origin: desk.url, 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
  expect((await agent.call(id)).status).toBe('held');
  expect(upstream.writes).toBe(0);

  await page.goto(url);
  await confirm(page);
  await expectStanding(page, url, 'Sent');
  expect(upstream.writes).toBe(1);
});

test('a double click on Confirm sends once', async ({ page, upstream, ann, agent }) => {
  const { url } = await hold(agent);
  await signIn(page, ann);
  await page.goto(url);
  const button = page.getByRole('button', { name: /^Confirm/ });
  await button.scrollIntoViewIfNeeded();
  await guardPassed();
  await posting(page, () => button.dblclick());
  await expectStanding(page, url, 'Sent');
  expect(upstream.writes).toBe(1);
});

test('two tabs: the second decision changes nothing', async ({ page, context, upstream, ann, agent }) => {
  const { id, url } = await hold(agent);
  await signIn(page, ann);
  await page.goto(url);
  const other = await context.newPage();
  await other.goto(url);
  await confirm(page);
  await expectStanding(page, url, 'Sent');
  // With live updates the second tab may have noticed by itself; without, it is told when it presses.
  if (await other.getByRole('button', { name: /^Decline/ }).count()) await press(other, /^Decline/);
  await expectStanding(other, url, 'Sent');
  expect((await agent.call(id)).status).toBe('done');
  expect(upstream.writes).toBe(1);
});

/** The values of a page's hidden fields, by name. */
function hiddenFields(html, names) {
  const found = {};
  for (const [tag] of html.matchAll(/<input\b[^>]*>/g)) {
    const attribute = (name) => tag.match(new RegExp(`\\b${name}="([^"]*)"`))?.[1];
    if (attribute('type') === 'hidden' && names.includes(attribute('name'))) found[attribute('name')] = attribute('value');
  }
  return found;
}
