// What a visit costs: at most 40 KB compressed for the first inbox, at most 12 KB for a further page.
import { test, expect } from '../../lib/fixtures.js';
import { hold } from '../../lib/letters.js';
import { signIn } from '../../lib/pages.js';

/** Bytes on the wire, headers included, of everything loaded while `visit` runs. */
async function weigh(page, visit) {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await visit();
  await session.detach();
  return bytes;
}

test('the first visit to the inbox and the next page', async ({ page, browser, desk, ann, agent }) => {
  await hold(agent);
  await signIn(page, ann);
  // A browser that has the session and nothing else.
  const context = await browser.newContext({ baseURL: desk.url, storageState: await page.context().storageState() });
  const visitor = await context.newPage();
  const first = await weigh(visitor, () => visitor.goto('/inbox', { waitUntil: 'load' }));
  await expect(visitor.getByRole('list', { name: 'Held calls' })).toBeVisible();
  expect(first).toBeGreaterThan(1000);
  expect(first).toBeLessThanOrEqual(40_000);
  const further = await weigh(visitor, () => visitor.goto('/done', { waitUntil: 'load' }));
  expect(further).toBeGreaterThan(500);
  expect(further).toBeLessThanOrEqual(12_000);
  await context.close();
});

test('the script is at most 10 KB compressed', async ({ page, desk, ann }) => {
  await signIn(page, ann);
  const scripts = await page.locator('script[src]').evaluateAll((all) => all.map(({ src }) => src));
  let bytes = 0;
  for (const address of scripts) {
    const answer = await page.goto(address);
    bytes += (await answer.request().sizes()).responseBodySize;
    expect(new URL(address).origin).toBe(desk.url);
  }
  expect(bytes).toBeLessThanOrEqual(10_000);
});
