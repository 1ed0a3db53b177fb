// Keys: the whole job by them alone, none decides by itself, and all can be switched off.
import { AxeBuilder } from '@axe-core/playwright';
import { test, expect } from '../../lib/fixtures.js';
import { hold, letter } from '../../lib/letters.js';
import { expectStanding, guardPassed, posting, signIn } from '../../lib/pages.js';

test('the whole job by keys alone', async ({ page, upstream, ann, agent }) => {
  await hold(agent, { input: letter({ to: 'one@northwind.example' }) });
  const second = await hold(agent, { input: letter({ to: 'two@northwind.example' }) });
  await hold(agent, { input: letter({ to: 'three@northwind.example' }) });
  await page.goto('/sign-in');
  const email = page.getByRole('textbox', { name: 'Email' });
  for (let tabs = 0; tabs < 5 && !(await email.evaluate((box) => box === document.activeElement)); tabs += 1) await page.keyboard.press('Tab');
  await page.keyboard.type(ann.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(ann.password);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Inbox' })).toBeVisible();
  const link = (name) => page.getByRole('list', { name: 'Held calls' }).getByRole('link', { name });
  await page.keyboard.press('j');
  await expect(link(/three@/)).toBeFocused();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await expect(link(/one@/)).toBeFocused();
  await page.keyboard.press('k');
  await expect(link(/two@/)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(second.url);
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  // On the open call the list goes on from it.
  await page.keyboard.press('j');
  await expect(link(/one@/)).toBeFocused();
  await guardPassed();
  await posting(page, () => page.keyboard.press('Control+Enter'));
  await expectStanding(page, second.url, 'Sent');
  expect(upstream.writes).toBe(1);
});

test('no bare key decides, and keys in a text box are text', async ({ page, upstream, ann, agent }) => {
  const { id, url } = await hold(agent);
  await signIn(page, ann);
  await page.goto(url);
  await guardPassed();
  for (const key of ['j', 'k', 'x', 'y', 'c', 'Enter', ' ', 'd']) await page.keyboard.press(key);
  expect((await agent.call(id)).status).toBe('held');
  await page.goto(url);
  const reason = page.getByRole('textbox', { name: 'Reason' });
  await reason.click();
  await page.keyboard.type('jkx/?');
  await expect(reason).toHaveValue('jkx/?');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect(upstream.writes).toBe(0);
});

test('x selects, and / narrows', async ({ page, ann, agent }) => {
  await hold(agent);
  await signIn(page, ann);
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await expect(page.getByRole('checkbox')).toBeChecked();
  await expect(page.getByRole('button', { name: 'Decline selected' })).toBeVisible();
  await page.keyboard.press('x');
  await expect(page.getByRole('checkbox')).not.toBeChecked();
  await page.keyboard.press('/');
  await expect(page.getByRole('combobox', { name: 'Agent' })).toBeFocused();
});

test('the sheet of keys switches them off, for later pages too', async ({ page, ann, agent }) => {
  await hold(agent);
  await signIn(page, ann);
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Keys' });
  await expect(sheet).toBeVisible();
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);
  await sheet.getByRole('checkbox', { name: 'Use these keys' }).uncheck();
  await page.keyboard.press('Escape');
  await expect(sheet).toBeHidden();
  await page.goto('/inbox');
  for (const key of ['j', '?', 'Control+k']) await page.keyboard.press(key);
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.locator('.held-call:focus')).toHaveCount(0);
  await page.getByRole('button', { name: 'Keys' }).click();
  await sheet.getByRole('checkbox', { name: 'Use these keys' }).check();
  await sheet.getByRole('button', { name: 'Close' }).click();
  await page.keyboard.press('j');
  await expect(page.locator('.held-call:focus')).toHaveCount(1);
});

test('the palette goes to pages, held calls and actions', async ({ page, ann, agent }) => {
  const { url } = await hold(agent);
  await signIn(page, ann);
  await page.goto('/done');
  await page.keyboard.press('Control+k');
  const box = page.getByRole('combobox', { name: 'Go to' });
  await expect(box).toBeFocused();
  await page.keyboard.type('wipe');
  const places = page.getByRole('listbox', { name: 'Places' }).getByRole('option');
  await expect(places).toHaveText(['Run: Wipe a customer']);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);
  await box.fill('no such place');
  await expect(page.getByRole('dialog', { name: 'Go to' })).toContainText('Nothing found.');
  await box.fill('standing grants');
  await expect(places).toHaveText(['Standing grants']);
  await box.fill('account');
  await expect(places).toHaveText([`Account of ${ann.name}`]);
  await box.fill('mail to finance');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(url);
  await page.keyboard.press('Control+k');
  await expect(places.first()).toHaveText('Inbox');
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('listbox', { name: 'Places' }).getByRole('option', { selected: true })).toHaveText('Done');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/done$/);
});
