// One's own account: name, time zone, password, sessions and tokens.
import { test, expect } from '../../lib/fixtures.js';
import { Client } from '../../lib/agent.js';
import { posting, signIn } from '../../lib/pages.js';

const press = (page, name) => posting(page, () => page.getByRole('button', { name, exact: true }).click());
const region = (page, name) => page.getByRole('region', { name, exact: true });

/** Signs in and goes to the account by the name in the navigation. */
async function toAccount(page, person) {
  await signIn(page, person);
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Account of/ }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Account' })).toBeVisible();
}

test('name and time zone are changed, and times are shown in it', async ({ page, ann }) => {
  await toAccount(page, ann);
  await expect(page.getByRole('main')).toContainText(ann.email);
  await expect(page.getByRole('main')).toContainText('member');
  const begun = region(page, 'Where you are signed in').locator('time').first();
  await expect(begun).toHaveAttribute('title', / UTC$/);

  await page.getByRole('textbox', { name: 'Name' }).fill('  ');
  await press(page, 'Save');
  await expect(page.getByRole('textbox', { name: 'Name' })).toHaveAttribute('aria-invalid', 'true');
  await page.getByRole('textbox', { name: 'Name' }).fill('Ann Ahrens');
  await page.getByRole('combobox', { name: 'Time zone' }).selectOption('Asia/Kathmandu');
  await press(page, 'Save');
  await expect(page.getByRole('status')).toHaveText('Saved.');
  await expect(page.getByRole('link', { name: 'Account of Ann Ahrens' })).toBeVisible();
  await expect(page.getByRole('combobox', { name: 'Time zone' })).toHaveValue('Asia/Kathmandu');
  await expect(begun).toHaveAttribute('title', /\+0545$/);
});

test('a new password ends every other session', async ({ page, browser, desk, ann }) => {
  const elsewhere = await (await browser.newContext({ baseURL: desk.url })).newPage();
  await signIn(elsewhere, ann);
  await toAccount(page, ann);
  const present = page.getByLabel('Present password');
  const fresh = page.getByLabel('New password');

  for (const [typed, wanted, field] of [
    ['not it at all', 'thrum-welkin-osier', present],
    [ann.password, 'short', fresh],
    [ann.password, 'password1234', fresh],
  ]) {
    await present.fill(typed);
    await fresh.fill(wanted);
    await press(page, 'Change the password');
    await expect(page.getByRole('alert')).toContainText('Your password was not changed');
    await expect(field).toHaveAttribute('aria-invalid', 'true');
    await expect(fresh).toHaveValue('');
  }
  await elsewhere.goto('/inbox');
  await expect(elsewhere.getByRole('heading', { name: 'Inbox' })).toBeVisible();

  await present.fill(ann.password);
  await fresh.fill('thrum-welkin-osier');
  await press(page, 'Change the password');
  await expect(page.getByRole('status')).toContainText('Your password was changed');
  await elsewhere.goto('/inbox');
  await expect(elsewhere).toHaveURL(/\/sign-in/);
  await signIn(elsewhere, { ...ann, password: 'thrum-welkin-osier' });
  await elsewhere.context().close();
});

test('sessions are listed in plain words and ended one by one or all at once', async ({ page, browser, desk, ann }) => {
  const other = async (userAgent) => {
    const fresh = await (await browser.newContext({ baseURL: desk.url, userAgent })).newPage();
    await signIn(fresh, ann);
    return fresh;
  };
  const fox = await other('Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0');
  const odd = await other('<b>Lynx</b> <script>alert(1)</script>');
  const third = await other('curl/8.5.0');
  await toAccount(page, ann);
  const sessions = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
  await expect(sessions).toHaveCount(4);
  await expect(sessions.filter({ hasText: 'this one' })).toHaveCount(1);
  await expect(sessions.filter({ hasText: '<b>Lynx</b>' })).toHaveCount(1);

  await posting(page, () => page.getByRole('button', { name: 'End Firefox on Linux' }).click());
  await expect(page.getByRole('status')).toHaveText('That session has ended.');
  await fox.goto('/inbox');
  await expect(fox).toHaveURL(/\/sign-in/);
  await odd.goto('/inbox');
  await expect(odd.getByRole('heading', { name: 'Inbox' })).toBeVisible();

  await press(page, 'End all others');
  await expect(sessions).toHaveCount(1);
  for (const ended of [odd, third]) {
    await ended.goto('/inbox');
    await expect(ended).toHaveURL(/\/sign-in/);
    await ended.context().close();
  }
  await fox.context().close();
  await posting(page, () => sessions.getByRole('button', { name: /^End/ }).click());
  await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible();
});

test('a token is shown once, works, and is revoked', async ({ page, desk, ann }) => {
  await toAccount(page, ann);
  await press(page, 'Make a token');
  await expect(page.getByRole('alert')).toContainText('No token was made');
  await page.getByRole('checkbox', { name: /read receipts/ }).check();
  await page.getByRole('combobox', { name: 'It expires' }).selectOption({ label: 'in 90 days' });
  await press(page, 'Make a token');
  const shown = page.getByRole('status').getByText(/^csu_/);
  const token = await shown.innerText();
  expect(page.url()).not.toContain('csu_');
  expect((await new Client(desk.url, token).get('/v1/receipts')).status).toBe(200);

  await page.goto('/account');
  await expect(page.getByText(token)).toHaveCount(0);
  const line = page.getByRole('list', { name: 'Tokens' }).getByRole('listitem');
  await expect(line).toHaveCount(1);
  await expect(line).toContainText('read receipts and events');
  await expect(line).toContainText('expires in 90 days');
  await line.getByText('Revoke', { exact: false }).first().click();
  await posting(page, () => line.getByRole('button', { name: /^Revoke it/ }).click());
  await expect(page.getByRole('status')).toContainText('The token was revoked');
  await expect(page.getByText('You have no token.')).toBeVisible();
  expect((await new Client(desk.url, token).get('/v1/receipts')).status).toBe(401);
});
