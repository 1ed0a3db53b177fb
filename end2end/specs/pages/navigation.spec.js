// What is on every page, for whom, and where there is none.
import { test, expect } from '../../lib/fixtures.js';
import { signIn } from '../../lib/pages.js';

test('a member has their own pages in the navigation, and no others', async ({ page, ann }) => {
  await signIn(page, ann);
  const main = page.getByRole('navigation', { name: 'Main' });
  for (const name of [/^Inbox/, /^Done/]) await expect(main.getByRole('link', { name })).toBeVisible();
  for (const name of ['People', 'Agents', 'Credentials', 'Journal']) await expect(main.getByRole('link', { name })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
});

test('every link of the navigation leads to a page', async ({ page, desk }) => {
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
  const addresses = await links.evaluateAll((all) => all.map((link) => link.href));
  expect(addresses.length).toBeGreaterThanOrEqual(2);
  for (const address of addresses) {
    const answer = await page.goto(address);
    expect(answer.status(), address).toBe(200);
    await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible();
  }
});

test('an unknown address is a page that says so, with a way back', async ({ page, ann }) => {
  await signIn(page, ann);
  for (const address of ['/no-such-page', '/inbox/call_01h455vb4pex5vsknk084sn02q', '/inbox/nonsense', '/people/nonsense/receipts']) {
    const answer = await page.goto(address);
    expect(answer.status(), address).toBe(404);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Inbox/ })).toBeVisible();
  }
});

test('the empty inbox shows how to connect an agent', async ({ page, ann }) => {
  await signIn(page, ann);
  await expect(page.getByRole('main')).toContainText('countersign agent add');
});
