// Operators see everybody's receipts; nobody else sees another's.
import { test, expect } from '../../lib/fixtures.js';
import { hold, letter } from '../../lib/letters.js';
import { confirm, expectStanding, open, receipts, signIn } from '../../lib/pages.js';

/** Two people's agents sent one mail each; Ann's first. */
async function twoMails({ desk, browser, upstream, ann, agent }) {
  const ben = await desk.addPerson('Ben');
  const crm = await desk.addAgent('crm-bot', ben);
  for (const [person, program] of [[ann, agent], [ben, crm]]) {
    const { url } = await hold(program);
    const context = await browser.newContext({ baseURL: desk.url });
    const page = await context.newPage();
    await signIn(page, person);
    await page.goto(url);
    await confirm(page);
    await expectStanding(page, url, 'Sent');
    await context.close();
  }
  expect(upstream.writes).toBe(2);
  return { ben, crm };
}

test('an operator sees every receipt and filters by person', async ({ page, desk, browser, upstream, ann, agent }) => {
  await twoMails({ desk, browser, upstream, ann, agent });
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  await open(page, 'Done');
  const all = await receipts(page);
  expect(Object.keys(all[0])).toEqual(['When', 'Method', 'Host and path', 'Answer', 'Agent', 'Approved by', 'Person']);
  expect(all.map(({ Agent, Person }) => [Agent, Person])).toEqual([['crm-bot', 'Ben'], ['billing-bot', 'Ann']]);
  expect(all.map((row) => row['Approved by'])).toEqual(['Ben', 'Ann']);

  await page.getByRole('combobox', { name: 'Person' }).selectOption({ label: 'Ann' });
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page.getByRole('cell', { name: 'crm-bot' })).toHaveCount(0);
  expect((await receipts(page)).map(({ Person }) => Person)).toEqual(['Ann']);
  // The filter is the address: it can be sent to a colleague.
  expect(page.url()).toContain(ann.id);
  await expect(page.getByRole('combobox', { name: 'Person' }).locator('option:checked')).toHaveText('Ann');

  await page.goto(`/people/${ann.id}/receipts`);
  expect((await receipts(page)).map(({ Agent }) => Agent)).toEqual(['billing-bot']);
});

test('an operator never sees the preview of a call that is not theirs to decide', async ({ page, desk, agent }) => {
  const mail = letter({ subject: 'For Ann alone' });
  const { url, id } = await hold(agent, { input: mail });
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  await expect(page.getByRole('link', { name: /Mail to/ })).toHaveCount(0);
  await page.goto(url);
  expect(await page.content()).not.toContain(mail.subject);
  expect(await page.content()).not.toContain(mail.to);
  await expect(page.getByRole('button', { name: /^Confirm/ })).toHaveCount(0);
  expect((await agent.call(id)).status).toBe('held');
});

test('a person must not see another\'s receipts', async ({ page, desk, browser, upstream, ann, agent }) => {
  const { ben } = await twoMails({ desk, browser, upstream, ann, agent });
  await signIn(page, ben);
  await open(page, 'Done');
  expect((await receipts(page)).map(({ Agent }) => Agent)).toEqual(['crm-bot']);
  await expect(page.getByRole('combobox', { name: 'Person' })).toHaveCount(0);

  const theirs = await page.goto(`/people/${ann.id}/receipts`);
  expect(theirs.status()).toBe(404);
  expect(await page.content()).not.toContain('billing-bot');
  const nobodys = await page.goto('/people/per_01h455vb4pex5vsknk084sn02q/receipts');
  expect(nobodys.status()).toBe(404);
  const own = await page.goto(`/people/${ben.id}/receipts`);
  expect(own.status()).toBe(200);
  expect((await receipts(page)).map(({ Agent }) => Agent)).toEqual(['crm-bot']);
});

test('a person must not see or decide another\'s call', async ({ page, desk, upstream, agent }) => {
  const { url, id } = await hold(agent);
  await signIn(page, await desk.addPerson('Ben'));
  const answer = await page.goto(url);
  expect(answer.status()).toBe(404);
  await expect(page.getByRole('button', { name: /^Confirm/ })).toHaveCount(0);
  await page.goto('/inbox');
  await expect(page.getByRole('link', { name: /Mail to/ })).toHaveCount(0);
  expect((await agent.call(id)).status).toBe('held');
  expect(upstream.writes).toBe(0);
});
