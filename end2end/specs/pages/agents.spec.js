// Agents and their keys: admins make and end them, operators see and pause them.
import { Client } from '../../lib/agent.js';
import { test, expect } from '../../lib/fixtures.js';
import { hold } from '../../lib/letters.js';
import { open, posting, signIn } from '../../lib/pages.js';

const click = (page, target) => posting(page, () => target.click());

test('an admin adds an agent: its key is shown once, and works', async ({ page, desk, ann }) => {
  await signIn(page, await desk.addPerson('Ada', 'admin'));
  await open(page, 'Agents');
  const form = page.getByRole('region', { name: 'Add an agent' });
  await form.getByLabel('Name').fill('crm bot');
  await form.getByLabel('Email of its owner').fill('ghost@house.test');
  await form.getByLabel('Toolset').fill('send_mail, no_such_action');
  for (const box of await form.getByRole('group', { name: 'It may' }).getByRole('checkbox').all()) await box.uncheck();
  await click(page, form.getByRole('button', { name: 'Add the agent' }));
  await expect(page.getByRole('alert')).toContainText('Nothing was added');
  await expect(form.getByRole('group', { name: 'It may' })).toHaveAccessibleDescription(/at least one/);
  await expect(form.getByLabel('Name')).toHaveValue('crm bot');

  await form.getByRole('checkbox', { name: 'read', exact: true }).check();
  await form.getByRole('checkbox', { name: 'write what leaves the house' }).check();
  await click(page, form.getByRole('button', { name: 'Add the agent' }));
  await expect(form.getByLabel('Name')).toHaveAccessibleDescription(/letters, digits/);
  await expect(form.getByLabel('Email of its owner')).toHaveAccessibleDescription(/nobody with this address/);
  await expect(form.getByLabel('Toolset')).toHaveAccessibleDescription(/no_such_action/);
  await expect(form.getByRole('checkbox', { name: 'write what leaves the house' })).toBeChecked();
  await expect(form.getByRole('checkbox', { name: 'write what can be put back' })).not.toBeChecked();
  expect((await desk.command(['agent', 'list'])).items).toEqual([]);

  await form.getByLabel('Name').fill('crm-bot');
  await form.getByLabel('Email of its owner').fill(ann.email);
  await form.getByLabel('Toolset').fill('send_mail');
  await click(page, form.getByRole('button', { name: 'Add the agent' }));
  const made = page.getByRole('region', { name: 'The key of crm-bot' });
  const key = (await made.locator('pre').first().innerText()).trim();
  expect(key).toMatch(/^csk_/);
  await expect(made).toContainText(`Authorization: Bearer ${key}`);
  expect(page.url()).not.toContain('csk_');
  const agent = new Client(desk.url, key);
  await hold(agent);
  expect((await agent.get('/v1/actions')).json.items.map(({ name }) => name)).toEqual(['send_mail']);

  // Nowhere else, and not again.
  await page.goto('/agents');
  expect(await page.content()).not.toContain(key);
  const line = page.getByRole('table', { name: 'Agents' }).getByRole('row').filter({ hasText: 'crm-bot' });
  await expect(line).toContainText('always wait for a person');
  await expect(line).toContainText('read, external');
  await expect(line.getByRole('cell').nth(5)).toHaveText('1');
  await line.getByRole('link', { name: 'crm-bot', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'crm-bot' })).toBeVisible();
  expect(await page.content()).not.toContain(key);
});

test('a further key, and revoking one of two', async ({ page, desk, agent }) => {
  const kept = await hold(agent);
  await signIn(page, await desk.addPerson('Ada', 'admin'));
  await page.goto(`/agents/${agent.id}`);
  const form = page.getByRole('region', { name: 'A further key' });
  await form.getByLabel('Session').fill('nightly');
  await click(page, form.getByRole('button', { name: 'Make the key' }));
  const made = page.getByRole('region', { name: 'The key of billing-bot' });
  const other = new Client(desk.url, (await made.locator('pre').first().innerText()).trim());
  const gone = await hold(other);
  expect((await other.call(gone.id)).session).toBe('nightly');

  await page.goto(`/agents/${agent.id}`);
  const keys = page.getByRole('table', { name: 'Keys' }).getByRole('row').filter({ has: page.getByRole('cell') });
  await expect(keys).toHaveCount(2);
  const newest = keys.filter({ hasText: 'nightly' });
  await newest.getByText(/^Revoke key_/).click();
  await expect(newest).toContainText('The 1 call that waits is withdrawn');
  await click(page, newest.getByRole('button', { name: /Revoke this key/ }));
  await expect(newest).toContainText('revoked');
  expect((await other.get('/v1/actions')).status).toBe(401);
  expect((await agent.call(gone.id)).status).toBe('withdrawn');
  expect((await agent.call(kept.id)).status).toBe('held');
});

test('an admin revokes an agent after being told what that withdraws', async ({ page, desk, ann, agent }) => {
  const person = await desk.addToken(ann);
  const calls = [await hold(agent), await hold(agent, { action: 'wipe_customer', input: { id: '4211' } })];
  await signIn(page, await desk.addPerson('Ada', 'admin'));
  await open(page, 'Agents');
  await page.getByRole('link', { name: 'Revoke billing-bot' }).click();
  const revoke = page.getByRole('region', { name: 'Revoke' });
  await expect(revoke).toContainText('The 2 calls that wait are withdrawn');
  await expect(revoke.getByRole('button')).toBeHidden();
  await revoke.getByText('Revoke this agent').click();
  await click(page, revoke.getByRole('button', { name: 'Revoke billing-bot' }));
  await expect(page.getByRole('main')).toContainText('revoked');
  await expect(page.getByRole('button', { name: /Pause/ })).toHaveCount(0);
  expect((await agent.get('/v1/actions')).status).toBe(401);
  for (const { id } of calls) expect((await person.call(id)).status).toBe('withdrawn');
});

test('an operator sees agents, and neither adds nor ends one', async ({ page, desk, agent }) => {
  await hold(agent);
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  await open(page, 'Agents');
  await expect(page.getByRole('link', { name: 'Revoke billing-bot' })).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Add an agent' })).toHaveCount(0);
  await page.getByRole('link', { name: 'billing-bot' }).click();
  await expect(page.getByRole('heading', { name: 'billing-bot' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Revoke' })).toHaveCount(0);
  await expect(page.getByText('by an admin')).toBeVisible();
});
