// The bar of a held call: it says why a press does nothing yet, and what has to be typed is in view with its button.
import { test, expect } from '../../lib/fixtures.js';
import { hold } from '../../lib/letters.js';
import { confirm, expectStanding, press, signIn } from '../../lib/pages.js';

test('a press that comes too early is told so, and the next one counts', async ({ page, upstream, ann, agent }) => {
  const { id, url } = await hold(agent);
  await signIn(page, ann);
  await page.goto(url);
  const bar = page.locator('.bar');
  const hint = bar.locator('[aria-live=polite]');
  await expect(hint).toBeHidden();
  // In one turn of the page, so that no time can pass between.
  const told = await page.evaluate(() => {
    dispatchEvent(new Event('focus'));
    document.querySelector('.bar .confirm').click();
    return document.querySelector('.bar [aria-live=polite]').textContent;
  });
  expect(told).toBe('Read first: it can be pressed in a moment.');
  await expect(hint).toHaveText('Now it can be pressed.');
  expect((await agent.call(id)).status).toBe('held');
  await expect(hint).toBeHidden();
  await confirm(page);
  await expectStanding(page, url, 'Sent');
  expect(upstream.writes).toBe(1);
});

for (const [name, viewport] of Object.entries({ laptop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } })) {
  test(`on a ${name} the target is typed where its button is, and what is wrong with it is in view`, async ({ page, ann, agent }) => {
    await page.setViewportSize(viewport);
    const { url } = await hold(agent, { action: 'wipe_customer', input: { id: '4211' } });
    await signIn(page, ann);
    await page.goto(url);
    const target = page.getByRole('textbox', { name: 'Type the target' });
    await expect(target).toBeInViewport({ ratio: 1 });
    await expect(page.getByText('No body.', { exact: true })).toBeVisible();
    await target.fill('customer 4212');
    await press(page, /^Confirm/);
    await expect(page.getByText('This is not the target.')).toBeInViewport({ ratio: 1 });
    await expect(target).toBeInViewport({ ratio: 1 });
    await expect(page.getByRole('alert')).toBeInViewport({ ratio: 1 });
  });
}

test('on a phone an operator sees the whole navigation', async ({ page, desk }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  const main = page.getByRole('navigation', { name: 'Main' });
  for (const part of [...(await main.getByRole('link').all()), main.getByRole('button', { name: 'Sign out' })]) {
    await expect(part).toBeInViewport({ ratio: 1 });
  }
});
