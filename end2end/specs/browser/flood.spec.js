// A thousand held calls: the page stays usable, and nothing moves while they come in.
import { test, expect } from '../../lib/fixtures.js';
import { hold, letter } from '../../lib/letters.js';
import { signIn } from '../../lib/pages.js';

const FLOOD = 999; // an agent has at most a thousand calls open

test('a thousand calls come in under a page that stays as it is', async ({ page, ann, agent }) => {
  test.slow();
  await hold(agent, { input: letter({ to: 'first@northwind.example' }) });
  await signIn(page, ann);
  await expect(page.locator('.live')).toHaveAttribute('data-state', 'on');
  const line = page.getByRole('link', { name: 'Mail to first@northwind.example' });
  await line.focus();
  const before = await line.boundingBox();
  await page.evaluate(() => {
    self.shifts = 0;
    new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (self.shifts += value))).observe({ type: 'layout-shift', buffered: false });
  });
  let next = 0;
  const worker = async () => {
    while (next < FLOOD) await hold(agent, { input: letter({ subject: `Number ${(next += 1)}` }) });
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  const inbox = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Inbox 99+' });
  await expect(inbox).toBeVisible();
  await expect(page).toHaveTitle(/^\(99\+\) Inbox/);
  const pill = page.getByRole('button', { name: '50+ new' });
  await expect(pill).toBeVisible();
  await expect(line).toBeFocused();
  expect(await line.boundingBox()).toEqual(before);
  // Figures that count on shift themselves; a line that moved would be a hundred times as much.
  expect(await page.evaluate(() => self.shifts)).toBeLessThan(0.001);
  await pill.click();
  const links = page.getByRole('list', { name: 'Held calls' }).getByRole('link');
  await expect(links).toHaveCount(50);
  await page.getByRole('link', { name: /^Older/ }).click();
  await expect(page).toHaveURL(/cursor=/);
  await expect(links).toHaveCount(50);
  await links.first().click();
  await expect(page.getByRole('region', { name: 'Preview' })).toBeVisible();
});
