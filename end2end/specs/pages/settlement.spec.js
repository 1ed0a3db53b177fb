// What nobody knows is settled by a person, with words.
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall } from '../../lib/decision.js';
import { hold, letter } from '../../lib/letters.js';
import { posting, signIn, standing } from '../../lib/pages.js';

const key = { 'Idempotency-Key': 'mail-1009' };
const settle = (page) => posting(page, () => page.getByRole('button', { name: 'Settle' }).click());
const pinned = (page) => page.getByRole('list', { name: /^Not known/ }).getByRole('link');

/** A mail that was sent and whose answer was lost. */
async function inDoubt({ desk, upstream, ann, agent }) {
  const person = await desk.addToken(ann);
  upstream.hang();
  const call = await hold(agent, { headers: key });
  await confirmCall(person, call.id);
  await upstream.received(1);
  upstream.cut();
  const ended = await agent.get(`/v1/calls/${call.id}`, { Prefer: 'wait=20' });
  expect(ended.json.status).toBe('in_doubt');
  upstream.release();
  return call;
}

for (const [found, word, repeat] of [['It happened', 'Sent', 200], ['It did not happen', 'Failed', 202]]) {
  test(`in doubt it is pinned until somebody settles: ${found}`, async ({ page, desk, upstream, ann, agent }) => {
    const { url } = await inDoubt({ desk, upstream, ann, agent });
    const other = await hold(agent, { input: letter({ subject: 'Another' }) });
    await signIn(page, ann);
    await expect(pinned(page)).toHaveCount(1);
    await expect(pinned(page)).toHaveText(/Mail to finance@northwind\.example/);
    const links = await page.getByRole('main').getByRole('link').evaluateAll((all) => all.map((link) => link.href));
    expect(links.slice(0, 2)).toEqual([url, other.url]);
    await pinned(page).click();
    await expect(standing(page, 'Not known')).toBeVisible();
    await expect(page.getByRole('region', { name: 'Preview' })).toContainText('Invoice 1009');
    await expect(page.getByRole('button', { name: /^Confirm|^Decline/ })).toHaveCount(0);

    await settle(page);
    await expect(page.getByRole('alert')).toContainText('Nothing was settled');
    await expect(page.getByRole('group', { name: 'What did you find?' })).toHaveAccessibleDescription(/Say whether it happened/);
    await expect(page.getByRole('textbox', { name: 'Reason' })).toHaveAccessibleDescription(/Say how you know/);
    await page.getByRole('radio', { name: found, exact: true }).check();
    await page.getByRole('textbox', { name: 'Reason' }).fill('   ');
    await settle(page);
    await expect(page.getByRole('radio', { name: found, exact: true })).toBeChecked();
    await page.getByRole('textbox', { name: 'Reason' }).fill('I asked <them> by phone.');
    await settle(page);
    await expect(standing(page, word)).toBeVisible();
    await expect(page.getByRole('main')).toContainText('Ann settled');
    await expect(page.getByRole('main')).toContainText('I asked <them> by phone.');
    await expect(page.getByRole('button', { name: 'Settle' })).toHaveCount(0);
    await page.goto('/inbox');
    await expect(pinned(page)).toHaveCount(0);
    expect((await agent.act('send_mail', letter(), key)).status).toBe(repeat);
    expect(upstream.writes).toBe(1);
  });
}

test('an operator settles what they may not read', async ({ page, desk, upstream, ann, agent }) => {
  const { id, url } = await inDoubt({ desk, upstream, ann, agent });
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  await expect(pinned(page)).toHaveText(/Send a mail/);
  await pinned(page).click();
  await expect(page).toHaveURL(url);
  const mail = letter();
  for (const secret of [mail.to, mail.subject, mail.body]) expect(await page.content()).not.toContain(secret);
  // What is needed to look there: the method, the address, and when.
  await expect(page.getByRole('region', { name: 'How did it end?' })).toContainText(`POST ${upstream.url}/messages`);
  await page.getByRole('radio', { name: 'It happened' }).check();
  await page.getByRole('textbox', { name: 'Reason' }).fill('It stands in their log.');
  await settle(page);
  await expect(standing(page, 'Sent')).toBeVisible();
  expect((await agent.call(id)).status).toBe('done');
});

test('others are not asked', async ({ page, desk, upstream, ann, agent }) => {
  const { url } = await inDoubt({ desk, upstream, ann, agent });
  await signIn(page, await desk.addPerson('Ben'));
  await expect(pinned(page)).toHaveCount(0);
  expect((await page.goto(url)).status()).toBe(404);
});

test('the owner withdraws a held call', async ({ page, upstream, ann, agent }) => {
  const { id, url } = await hold(agent);
  await signIn(page, ann);
  await page.goto(url);
  await posting(page, () => page.getByRole('button', { name: 'Withdraw' }).click());
  await expect(standing(page, 'Withdrawn')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Withdraw' })).toHaveCount(0);
  expect((await agent.call(id)).status).toBe('withdrawn');
  expect(upstream.writes).toBe(0);
});
