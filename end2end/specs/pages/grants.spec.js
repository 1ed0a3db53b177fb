// Standing grants: "for the next hour, these". Made beside a held call, used without asking, ended at a press.
import { test, expect } from '../../lib/fixtures.js';
import { hold, letter } from '../../lib/letters.js';
import { expectStanding, open, posting, press, receipts, signIn } from '../../lib/pages.js';

test.use({
  extras: async ({}, use) => {
    await use((upstream) => ({
      more: `
[[action]]
name = "anything"
title = "Anything"
description = "Takes whatever names an agent thinks of."
effect = "write"
credential = "office"
input = { type = "object", additionalProperties = true, properties = {} }
request = { method = "POST", url = "http://${upstream.host}/messages", json = "{{ input }}" }
preview = { title = "Anything" }
`,
    }));
  },
});

const form = (page) => page.locator('#grant');
const allow = (page) => press(page, 'Allow these and confirm this call');

test('more like a call go through until it is revoked', async ({ page, upstream, ann, agent }) => {
  const { id, url } = await hold(agent);
  await signIn(page, ann);
  await page.goto(url);
  await form(page).getByText('Allow more like this').click();
  await form(page).getByRole('checkbox', { name: 'subject' }).check();
  await form(page).getByRole('spinbutton', { name: 'How many more' }).fill('2');
  await allow(page);
  await expectStanding(page, url, 'Sent');
  await expect(page.getByRole('main')).toContainText('0 of 2 used');

  const used = await agent.act('send_mail', letter({ subject: 'Invoice 1010' }));
  expect(used.json).toMatchObject({ status: 'done', executed: true });
  const other = await agent.act('send_mail', letter({ body: 'Something else.' }));
  expect(other.json.status).toBe('held');
  expect(upstream.writes).toBe(2);

  await page.goto('/inbox');
  await page.getByRole('link', { name: '1 standing grant' }).click();
  const card = page.getByRole('list', { name: 'Live' }).getByRole('listitem');
  await expect(card).toContainText('1 of 2 used');
  await expect(card).toContainText('anything');
  await expect(card.getByRole('link', { name: 'this call' })).toHaveAttribute('href', `/inbox/${id}`);
  await posting(page, () => card.getByRole('button', { name: /^Revoke/ }).click());
  await expect(page.getByRole('table', { name: 'Ended' })).toContainText('it was revoked');
  expect((await agent.act('send_mail', letter({ subject: 'Invoice 1011' }))).json.status).toBe('held');

  await open(page, 'Done');
  const by = (await receipts(page)).map((row) => row['Approved by']);
  expect(by[0]).toMatch(/^You, by a standing grant$/);
  expect(by[1]).toBe('You');
  await page.goto(`/done/${used.json.receipt_id}`);
  await expect(page.getByRole('list').filter({ hasText: 'Asked' })).toContainText('Let through by a standing grant of You');
});

test('hostile names and values are shown as they are, and what was typed is kept', async ({ page, upstream, ann, agent }) => {
  const names = ['<b id="pwned">', 'pay\u202Ekcab', 'a\u200Bb'];
  const input = Object.fromEntries(names.map((name) => [name, '"><script id="pwned">1</script>\u202Egnp.exe']));
  const { url } = await hold(agent, { action: 'anything', input });
  await signIn(page, ann);
  await page.goto(url);
  await form(page).getByText('Allow more like this').click();
  for (const chip of ['U+202E', 'U+200B']) await expect(form(page)).toContainText(chip);
  expect(await form(page).innerText()).not.toMatch(/[\u202E\u200B]/);
  await expect(form(page)).toContainText('<b id="pwned">');
  await form(page).getByRole('checkbox').first().check();
  await form(page).getByRole('spinbutton', { name: 'How many more' }).evaluate((box) => box.removeAttribute('max')).catch(() => {});
  await form(page).getByRole('spinbutton', { name: 'How many more' }).fill('1e9');
  await form(page).locator('form').evaluate((form) => form.setAttribute('novalidate', '')).catch(() => {});
  await allow(page);
  await expect(page.getByRole('alert')).toContainText('Nothing was done');
  await expect(form(page).getByText('This has to be a whole number from 1 to 100.')).toBeVisible();
  await expect(form(page).getByRole('checkbox').first()).toBeChecked();
  await expect(page.locator('#pwned')).toHaveCount(0);
  expect(upstream.writes).toBe(0);
  await form(page).getByRole('spinbutton', { name: 'How many more' }).fill('1');
  await allow(page);
  await expectStanding(page, url, 'Sent');
  await page.goto('/grants');
  await expect(page.getByRole('list', { name: 'Live' })).toContainText('U+202E');
  await expect(page.locator('#pwned')).toHaveCount(0);
});

test('what cannot be put back is decided one by one', async ({ page, ann, agent }) => {
  const { url } = await hold(agent, { action: 'wipe_customer', input: { id: '4211' } });
  await signIn(page, ann);
  await page.goto(url);
  await expect(page.getByRole('button', { name: /^Confirm/ })).toBeVisible();
  await expect(form(page)).toHaveCount(0);
});
