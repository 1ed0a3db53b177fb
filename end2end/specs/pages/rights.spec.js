// Who decides in whose place, and an operator's override: from the page where it begins to the receipt.
import { AxeBuilder } from '@axe-core/playwright';
import { test, expect } from '../../lib/fixtures.js';
import { hold, letter } from '../../lib/letters.js';
import { confirm, expectStanding, posting, press, signIn } from '../../lib/pages.js';

/** axe, where it can run, finds nothing, and nothing scrolls sideways on the narrowest phone. */
async function expectSound(page, what) {
  await page.setViewportSize({ width: 320, height: 700 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth), what).toBe(320);
  const { violations } = runsScripts() ? await new AxeBuilder({ page }).analyze() : { violations: [] };
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' '))}`), what).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 800 });
}

const runsScripts = () => test.info().project.use.javaScriptEnabled !== false;
const submit = (page, name) => posting(page, () => page.getByRole('button', { name, exact: true }).click());
const story = (page) => page.getByRole('region', { name: 'What happened' }).getByRole('listitem').locator('div');

async function another(browser, desk, person) {
  const page = await (await browser.newContext({ baseURL: desk.url, javaScriptEnabled: runsScripts() })).newPage();
  await signIn(page, person);
  return page;
}

test('while she is away somebody decides hers, and everybody is shown it', async ({ page, browser, desk, ann, agent }) => {
  const max = await desk.addPerson('Max');
  const { url } = await hold(agent);
  await signIn(page, ann);
  await page.goto('/account');
  const away = page.getByRole('region', { name: 'While you are away' });
  await away.getByRole('textbox', { name: 'Email of the person' }).fill('nobody@house.test');
  await submit(page, 'Let them decide');
  for (const name of ['Email of the person', 'Last moment']) await expect(away.getByLabel(name)).toHaveAttribute('aria-invalid', 'true');
  await expect(away.getByLabel('Email of the person')).toHaveValue('nobody@house.test');
  await away.getByLabel('Email of the person').fill(max.email);
  await away.getByLabel('Last moment').fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 16));
  await submit(page, 'Let them decide');
  await expect(page.getByRole('list', { name: 'Delegations' })).toContainText('Max decides yours');
  await expectSound(page, 'account');
  await page.goto('/inbox');
  await expect(page.getByRole('list', { name: 'While somebody is away' })).toContainText('Max decides yours, until');

  const his = await another(browser, desk, max);
  await expect(his.getByRole('list', { name: 'While somebody is away' })).toContainText('You decide for Ann, until');
  await his.getByRole('list', { name: 'Held calls' }).getByRole('link', { name: /You decide for Ann/ }).click();
  await expect(his.getByText('You decide for Ann, until').first()).toBeVisible();
  await expectSound(his, 'a call that is decided for another');
  await page.goto(url);
  await expect(page.getByText('Max decides for you, until')).toBeVisible();
  const office = await another(browser, desk, await desk.addPerson('Olga', 'operator'));
  await office.goto('/people');
  await expect(office.getByRole('region', { name: 'While somebody is away' })).toContainText('Max decides for Ann');

  await confirm(his);
  await expectStanding(page, url, 'Sent');
  await expect(page.getByText('Confirmed by Max for Ann')).toBeVisible();
  await page.getByRole('link', { name: 'The receipt stands under Done' }).click();
  await expect(page.locator('dt:text-is("Approved by") + dd')).toContainText('Max for you');
  await expect(story(page).nth(2)).toHaveText('Max confirmed it for Ann, the one whose call it was');
  const [line] = (await (await page.request.get('/done/export.jsonl')).text()).trim().split('\n').map((text) => JSON.parse(text));
  expect([line.approved_by, line.approved_for, line.approval.for]).toEqual([['Max'], ['Ann'], [ann.id]]);

  await page.goto('/account');
  await posting(page, () => page.getByRole('button', { name: 'End letting Max decide yours' }).click());
  await expect(page.getByRole('status')).toHaveText('It has ended.');
  await his.goto(url);
  await expect(his.getByRole('heading', { name: 'There is no such page' })).toBeVisible();
});

test('an override is opened, said why, and looks like nothing else', async ({ page, desk, browser, ann, agent }) => {
  const { id, url } = await hold(agent, { input: letter({ subject: 'Away' }) });
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  await page.goto(url);
  await expect(page.getByRole('region', { name: 'Preview' })).toHaveCount(0);
  await page.goto('/calls/held');
  await expectSound(page, 'held calls of others');
  await expect(page.getByRole('table', { name: 'Held calls of others' })).not.toContainText('northwind');
  await page.getByRole('link', { name: /^Open/ }).click();
  await expect(page.getByRole('region', { name: 'Preview' })).toContainText('Away');
  await expect(page.getByRole('button', { name: /^Confirm/ })).toHaveCount(0);
  await expectSound(page, 'override');
  await press(page, /^Override/);
  await expect(page.getByRole('textbox', { name: 'Reason' })).toHaveAttribute('aria-invalid', 'true');
  await page.getByRole('textbox', { name: 'Reason' }).fill('Ann is on a plane.');
  await press(page, /^Override/);
  await expectStanding(page, url, 'Sent');

  const hers = await another(browser, desk, ann);
  await hers.goto(url);
  await expect(hers.getByText('who is none of those who decide it')).toContainText('Override by Olga');
  await expectSound(hers, 'a call that was overridden');
  await hers.getByRole('link', { name: 'The receipt stands under Done' }).click();
  await expect(hers.locator('dt:text-is("Approved by") + dd')).toContainText('Override by Olga');
  await expect(hers.locator('dt:text-is("Reason of the override") + dd')).toHaveText('Ann is on a plane.');
  await expect(story(hers).nth(2)).toContainText('Override Olga overrode those who decide it. The reason: Ann is on a plane.');
  await expectSound(hers, 'the receipt of an override');
  await page.goto('/journal');
  for (const what of ['opened by an operator', 'overridden by an operator']) {
    await expect(page.getByRole('row').filter({ hasText: id.slice(-8) }).filter({ hasText: what }).first()).toContainText('Olga');
  }
});
