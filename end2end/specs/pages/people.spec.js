// What admins do with people: invite, change roles, disable and enable. Operators read.
import { test, expect } from '../../lib/fixtures.js';
import { hold } from '../../lib/letters.js';
import { open, posting, signIn } from '../../lib/pages.js';

const press = (page, name) => posting(page, () => page.getByRole('button', { name, exact: true }).click());

/** Invites Eve and reads the link that is shown once. */
async function invite(page, { name = 'Eve', email = 'eve@house.test', roles = [] } = {}) {
  await page.goto('/people');
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('textbox', { name: 'Email' }).fill(email);
  for (const role of roles) await page.getByRole('checkbox', { name: role }).check();
  await press(page, 'Make a link');
  return page.getByRole('status').getByText(/\/invitation\//).innerText();
}

test('an invitation is made, looked at, used once, and then good no more', async ({ page, browser, desk, ann }) => {
  await signIn(page, await desk.addPerson('Ada', 'admin'));
  await open(page, 'People');
  await page.getByRole('textbox', { name: 'Email' }).fill(ann.email);
  await press(page, 'Make a link');
  await expect(page.getByRole('alert')).toContainText('Nobody was invited');
  await expect(page.getByRole('textbox', { name: 'Name' })).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByRole('textbox', { name: 'Email' })).toHaveValue(ann.email);

  const link = await invite(page, { roles: ['operator'] });
  expect(page.url()).not.toContain('cin_');
  await page.goto('/people');
  await expect(page.getByRole('list', { name: 'Invited' }).getByRole('listitem')).toContainText('eve@house.test');
  await expect(page.getByText('cin_')).toHaveCount(0);

  const eve = await (await browser.newContext({ baseURL: desk.url })).newPage();
  for (let looks = 0; looks < 2; looks += 1) {
    await eve.goto(link);
    await expect(eve.getByRole('heading', { name: 'Welcome, Eve' })).toBeVisible();
  }
  await eve.getByLabel('Password').fill('short');
  await press(eve, 'Make my account');
  await expect(eve.getByLabel('Password')).toHaveAttribute('aria-invalid', 'true');
  await eve.getByLabel('Password').fill('thrum-welkin-osier');
  await press(eve, 'Make my account');
  await expect(eve.getByRole('heading', { name: 'Inbox' })).toBeVisible();
  await expect(eve.getByRole('link', { name: 'Journal' })).toBeVisible();
  await eve.goto(link);
  await expect(eve.getByRole('heading', { name: 'This link is not good any more' })).toBeVisible();
  await expect(eve.getByRole('main')).not.toContainText('Eve');
  await eve.context().close();

  await page.goto('/people');
  await expect(page.getByRole('table', { name: 'People' })).toContainText('eve@house.test');
  await expect(page.getByRole('list', { name: 'Invited' })).toHaveCount(0);
});

test('an invitation is withdrawn', async ({ page, browser, desk }) => {
  await signIn(page, await desk.addPerson('Ada', 'admin'));
  const link = await invite(page);
  await page.goto('/people');
  await posting(page, () => page.getByRole('button', { name: 'Withdraw the invitation of Eve' }).click());
  await expect(page.getByRole('list', { name: 'Invited' })).toHaveCount(0);
  const eve = await (await browser.newContext({ baseURL: desk.url })).newPage();
  expect((await eve.goto(link)).status()).toBe(404);
  await eve.context().close();
});

test('roles are changed and count at once', async ({ page, browser, desk, ann }) => {
  await signIn(page, await desk.addPerson('Ada', 'admin'));
  const hers = await (await browser.newContext({ baseURL: desk.url })).newPage();
  await signIn(hers, ann);
  await open(page, 'People');
  await page.getByRole('link', { name: 'Ann', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Ann' })).toBeVisible();
  await page.getByRole('checkbox', { name: 'operator' }).check();
  await press(page, 'Change the roles');
  await expect(page.getByRole('status')).toContainText('The roles were changed');
  await expect(page.getByRole('checkbox', { name: 'operator' })).toBeChecked();
  await hers.goto('/people');
  await expect(hers.getByRole('heading', { name: 'People' })).toBeVisible();
  await hers.context().close();
});

test('disabling says what it does, does it, and can be taken back', async ({ page, browser, desk, ann, agent }) => {
  await hold(agent);
  await signIn(page, await desk.addPerson('Ada', 'admin'));
  const hers = await (await browser.newContext({ baseURL: desk.url })).newPage();
  await signIn(hers, ann);
  await page.goto(`/people/${ann.id}`);
  await page.getByText('What happens then').click();
  const says = page.getByRole('region', { name: 'Disable this account' });
  await expect(says).toContainText('1 session ends');
  await expect(says).toContainText("1 agent's key is refused");
  await expect(says).toContainText('1 call that waits is withdrawn');
  await press(page, 'Disable Ann');
  await expect(page.getByRole('status')).toHaveText('The account was disabled.');
  await hers.goto('/inbox');
  await expect(hers).toHaveURL(/\/sign-in/);
  expect((await agent.get('/v1/actions')).status).toBe(401);
  await press(page, 'Enable Ann');
  await expect(page.getByRole('status')).toHaveText('The account can be used again.');
  expect((await agent.get('/v1/actions')).status).toBe(200);
  await signIn(hers, ann);
  await hers.context().close();
});

test('the last admin keeps the role and the account', async ({ page, desk }) => {
  const ada = await desk.addPerson('Ada', 'admin');
  await signIn(page, ada);
  await page.goto(`/people/${ada.id}`);
  await page.getByRole('checkbox', { name: 'admin' }).uncheck();
  await press(page, 'Change the roles');
  await expect(page.getByRole('alert')).toContainText('Nothing was changed. Nobody else who can sign in is an admin.');
  await expect(page.getByRole('checkbox', { name: 'admin' })).toBeChecked();
  await page.getByText('What happens then').click();
  await press(page, 'Disable Ada');
  await expect(page.getByRole('alert')).toContainText('Nobody else who can sign in is an admin.');
  await page.goto('/inbox');
  await expect(page.getByRole('heading', { name: 'Inbox' })).toBeVisible();
});

test('an operator reads and changes nothing', async ({ page, desk, ann }) => {
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  await open(page, 'People');
  await expect(page.getByRole('columnheader', { name: 'Last sign-in' })).toHaveCount(1);
  await expect(page.getByRole('button', { name: 'Make a link' })).toHaveCount(0);
  await page.getByRole('link', { name: 'Ann', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Ann' })).toBeVisible();
  await expect(page.getByRole('main').getByRole('button')).toHaveCount(0);
  await page.getByRole('link', { name: 'What was sent for this person' }).click();
  await expect(page).toHaveURL(`${desk.url}/people/${ann.id}/receipts`);
});
