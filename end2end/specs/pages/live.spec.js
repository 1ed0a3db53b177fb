// Pages that stay true while others decide: counts, what is new, what ended, and what is said when the stream breaks.
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall, declineCall } from '../../lib/decision.js';
import { hold, letter } from '../../lib/letters.js';
import { guardPassed, press, signIn, standing } from '../../lib/pages.js';
import { until } from '../../lib/wait.js';

const NOT_LIVE = 'Not live: trying again';

test.skip(({ javaScriptEnabled }) => !javaScriptEnabled, 'a page without scripts stays as it was made');

/** Waits until the page hears of changes. */
const listening = (page) => expect(page.locator('.live')).toHaveAttribute('data-state', 'on');

test('what is new waits behind a button, and nothing moves until it is pressed', async ({ page, desk, ann, agent }) => {
  const first = await hold(agent, { input: letter({ to: 'one@northwind.example' }) });
  await signIn(page, ann);
  await listening(page);
  const list = page.getByRole('list', { name: 'Held calls' });
  const line = list.getByRole('link', { name: 'Mail to one@northwind.example' });
  await line.focus();
  const before = await line.boundingBox();
  for (const to of ['two', 'three', 'four']) await hold(agent, { input: letter({ to: `${to}@northwind.example` }) });
  const pill = page.getByRole('button', { name: '3 new', exact: true });
  await expect(pill).toBeVisible();
  await expect(page.locator('.fresh').filter({ hasText: '3 new' })).toBeVisible();
  await expect(page).toHaveTitle(/^\(4\) Inbox/);
  await expect(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Inbox 4' })).toBeVisible();
  expect(await line.boundingBox()).toEqual(before);
  await expect(line).toBeFocused();
  await expect(list.getByRole('link')).toHaveCount(1);
  await pill.click();
  await expect(list.getByRole('link')).toHaveCount(4);
  await expect(list.getByRole('link').first()).toBeFocused();
  await expect(pill).toHaveCount(0);
  expect(first.id).toBeTruthy();
});

test('what is new in the journal waits behind a button, and only what fits the filters', async ({ page, desk, ann, agent }) => {
  const held = await hold(agent);
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  await page.goto('/journal?type=call.held');
  await listening(page);
  const lines = page.getByRole('table', { name: 'Journal' }).locator('tbody').getByRole('row');
  await expect(lines).toHaveCount(1);
  const before = await lines.first().boundingBox();
  await declineCall(await desk.addToken(ann), held.id, 'No.');
  await hold(agent);
  await hold(agent);
  const pill = page.getByRole('button', { name: '2 new', exact: true });
  await expect(pill).toBeVisible();
  expect(await lines.first().boundingBox()).toEqual(before);
  await expect(lines).toHaveCount(1);
  await pill.click();
  await expect(lines).toHaveCount(3);
  await expect(lines.first()).toBeFocused();
  await expect(pill).toHaveCount(0);
});

test('a call that somebody else decides is marked where it stands', async ({ page, desk, ann, agent }) => {
  const person = await desk.addToken(ann);
  const lower = await hold(agent, { input: letter({ to: 'lower@northwind.example' }) });
  const upper = await hold(agent, { input: letter({ to: 'upper@northwind.example' }) });
  await signIn(page, ann);
  await listening(page);
  const list = page.getByRole('list', { name: 'Held calls' });
  const below = list.getByRole('link', { name: 'Mail to lower@northwind.example' });
  const before = await below.boundingBox();
  await declineCall(person, upper.id, 'No.');
  const line = list.getByRole('link', { name: 'Mail to upper@northwind.example' });
  await expect(line).toContainText('Declined by Ann');
  await expect(list.getByRole('link')).toHaveCount(2);
  await expect(page).toHaveTitle(/^\(1\) Inbox/);
  await expect(page.getByRole('checkbox', { name: 'Select: Mail to upper@northwind.example' })).toHaveCount(0);
  await declineCall(person, lower.id, 'No.');
  await expect(below).toContainText('Declined by Ann');
  await expect(page).toHaveTitle(/^Inbox/);
  expect(await below.boundingBox()).toEqual(before);
});

test('the empty inbox tells of the first call', async ({ page, ann, agent }) => {
  await signIn(page, ann);
  await expect(page.getByText('Nothing waits for you.')).toBeVisible();
  await hold(agent);
  await page.getByRole('button', { name: '1 new', exact: true }).click();
  await expect(page.getByRole('list', { name: 'Held calls' }).getByRole('link')).toBeFocused();
});

test('two people decide at once: the other page says who did, and takes no second decision', async ({ page, browser, desk, upstream, ann, agent }) => {
  // Anybody of the two may decide it.
  const max = await desk.addPerson('Max', 'approver');
  await desk.command(['group', 'add', '--name', 'desk', '--person', ann.email]);
  await desk.command(['group', 'add', '--name', 'desk', '--person', max.email]);
  const { url, id } = await hold(agent, { action: 'ask_the_desk', input: { text: 'x' } });
  await signIn(page, ann);
  await page.goto(url);
  const context = await browser.newContext({ baseURL: desk.url });
  const other = await context.newPage();
  await signIn(other, max);
  await other.goto(url);
  await press(other, /^Confirm/);
  await expect(standing(page, 'Sent')).toBeVisible();
  await expect(page.getByText(/Confirmed by Max/)).toBeVisible();
  await expect(page.getByRole('button', { name: /^(Confirm|Decline)/ })).toHaveCount(0);
  expect((await agent.call(id)).status).toBe('done');
  expect(upstream.writes).toBe(1);
  await context.close();
});

test('both press at the same moment: one of them decides', async ({ page, browser, desk, upstream, ann, agent }) => {
  const max = await desk.addPerson('Max', 'approver');
  for (const one of [ann, max]) await desk.command(['group', 'add', '--name', 'desk', '--person', one.email]);
  const { url } = await hold(agent, { action: 'ask_the_desk', input: { text: 'x' } });
  await signIn(page, ann);
  await page.goto(url);
  const context = await browser.newContext({ baseURL: desk.url });
  const other = await context.newPage();
  await signIn(other, max);
  await other.goto(url);
  await guardPassed();
  // The one that comes second may find that its button has gone.
  const pressed = [page, other].map((one) => one.getByRole('button', { name: /^Confirm/ }).click({ timeout: 3000 }));
  expect((await Promise.allSettled(pressed)).some(({ status }) => status === 'fulfilled')).toBe(true);
  await expect(standing(page, 'Sent')).toBeVisible();
  await expect(standing(other, 'Sent')).toBeVisible();
  expect(upstream.writes).toBe(1);
  await context.close();
});

test('a broken stream is told, and what was missed is shown when it is back', async ({ page, desk, ann, agent }) => {
  test.slow();
  await hold(agent);
  await signIn(page, ann);
  await listening(page);
  await desk.kill();
  await expect(page.getByText(NOT_LIVE)).toBeVisible();
  await desk.serve();
  await hold(agent, { input: letter({ to: 'two@northwind.example' }) });
  await expect(page.getByRole('button', { name: '1 new', exact: true })).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText(NOT_LIVE)).toHaveCount(0);
});

test('tabs of one browser share one stream, and the next one takes it over', async ({ page, context, ann, agent }) => {
  await signIn(page, ann);
  await listening(page);
  const streams = [];
  context.on('request', (request) => request.url().endsWith('/live') && streams.push(request));
  const other = await context.newPage();
  await other.goto('/inbox');
  await hold(agent);
  for (const tab of [page, other]) await expect(tab.getByRole('button', { name: '1 new', exact: true })).toBeVisible();
  expect(streams).toHaveLength(0);
  await page.close();
  await until('the other tab to take over', () => streams.length === 1);
  await hold(agent, { input: letter({ to: 'two@northwind.example' }) });
  await expect(other.getByRole('button', { name: '2 new', exact: true })).toBeVisible();
});

test('a page of somebody who signed out elsewhere says so', async ({ page, context, desk, ann }) => {
  await signIn(page, ann);
  await listening(page);
  const other = await context.newPage();
  await other.goto('/done');
  await other.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByText('Not live: you are signed out')).toBeVisible({ timeout: 20_000 });
});

test('while changes are told, a call on its way is not asked for again and again', async ({ page, desk, ann, agent }) => {
  const { url } = await hold(agent, { action: 'send_mail_later' });
  await signIn(page, ann);
  await page.goto(url);
  const asked = [];
  page.on('request', (request) => request.url() === url && asked.push(request));
  await press(page, /^Confirm/);
  await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible();
  await listening(page);
  const person = await desk.addToken(ann);
  asked.length = 0;
  await person.ask('DELETE', `/v1/calls/${url.split('/').pop()}/decision`);
  await expect(standing(page, 'Held')).toBeVisible();
  expect(asked.length).toBeLessThanOrEqual(3);
});

test('what is being written survives a change of the call', async ({ page, desk, ann, agent }) => {
  const max = await desk.addPerson('Max', 'approver');
  for (const one of [ann, max]) await desk.command(['group', 'add', '--name', 'desk', '--person', one.email]);
  const { url, id } = await hold(agent, { action: 'two_of_the_desk', input: { text: 'x' } });
  await signIn(page, ann);
  await page.goto(url);
  const reason = page.getByRole('textbox', { name: 'Reason' });
  await reason.fill('Because');
  const again = page.waitForResponse((answer) => answer.url() === url);
  await confirmCall(await desk.addToken(max), id);
  await again;
  await expect(reason).toHaveValue('Because');
  await expect(reason).toBeFocused();
});

test.use({
  extras: async ({}, use) => {
    await use((upstream) => ({
      more: ['ask_the_desk:1', 'two_of_the_desk:2'].map((one) => one.split(':')).map(([name, quorum]) => `
[[action]]
name = "${name}"
title = "Ask the desk"
effect = "external"
undo_window = "0s"
credential = "office"
approvers = ["group:desk"]
quorum = ${quorum}
input = { type = "object", required = ["text"], additionalProperties = false, properties = { text = { type = "string" } } }
request = { method = "POST", url = "http://${upstream.host}/messages", json = "{{ input }}" }
preview = { title = "Ask the desk: {{ input.text }}" }
`).join('\n'),
    }));
  },
});
