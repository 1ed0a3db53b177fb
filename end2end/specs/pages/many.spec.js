// Many at once: any calls are declined, and only what can be put back is confirmed together, each shown whole.
import { test, expect } from '../../lib/fixtures.js';
import { hold, letter } from '../../lib/letters.js';
import { confirm, cookies, formOf, guardPassed, posting, signIn } from '../../lib/pages.js';
import { request } from '../../lib/http.js';

const ticket = (agent, state = 'closed') => hold(agent, { action: 'move_ticket', input: { id: '87', state } });
const tick = (page, name) => page.getByRole('checkbox', { name }).check();

/** Posts what a page would post, and what it would not. */
async function crafted(page, desk, action, pairs) {
  const headers = { Cookie: await cookies(page), Origin: desk.url, 'Content-Type': 'application/x-www-form-urlencoded' };
  return request(action, { method: 'POST', headers, body: new URLSearchParams(pairs).toString() });
}

test('several calls are declined with the same words', async ({ page, upstream, ann, agent }) => {
  const mail = await hold(agent);
  const wipe = await hold(agent, { action: 'wipe_customer', input: { id: '4211' } });
  const kept = await ticket(agent);
  await signIn(page, ann);
  await expect(page.getByRole('button', { name: 'Decline selected' })).toHaveCount(0);
  await tick(page, 'Select: Mail to finance@northwind.example');
  await tick(page, 'Select: Wipe customer 4211');
  await page.getByRole('textbox', { name: 'Words for the agent' }).fill('Not today.');
  await guardPassed();
  await posting(page, () => page.getByRole('button', { name: 'Decline selected' }).click());
  await expect(page.getByRole('status').filter({ hasText: '2 declined.' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Mail to finance@northwind.example' })).toBeVisible();
  for (const { id } of [mail, wipe]) expect(await agent.call(id)).toMatchObject({ status: 'declined', decline_reason: 'Not today.' });
  expect((await agent.call(kept.id)).status).toBe('held');
  expect(upstream.writes).toBe(0);
});

test('writes of one action are confirmed together, each shown whole, and one that has changed is not sent', async ({ page, upstream, ann, agent }) => {
  const calls = [await ticket(agent, 'open'), await ticket(agent, 'closed')];
  await signIn(page, ann);
  await tick(page, 'Select: Move ticket 87 to open');
  await tick(page, 'Select: Move ticket 87 to closed');
  await guardPassed();
  await posting(page, () => page.getByRole('button', { name: /^Confirm selected/ }).click());
  await expect(page.getByRole('heading', { name: '2 × Move a ticket', level: 1 })).toBeVisible();
  for (const [at, state] of [['1 of 2', 'closed'], ['2 of 2', 'open']]) {
    await expect(page.getByRole('region', { name: `Preview ${at}` })).toContainText(`"state": "${state}"`);
  }
  expect(upstream.writes).toBe(0);
  await confirm(page);
  // Both start from the same state; the first that is sent changes what the other one was shown with.
  await expect(page.getByRole('status').filter({ hasText: '1 sent, 1 changed: read it again.' })).toBeVisible();
  expect(upstream.writes).toBe(1);
  const statuses = await Promise.all(calls.map(({ id }) => agent.call(id).then(({ status }) => status)));
  expect(statuses.sort()).toEqual(['done', 'held']);
});

test('what leaves the house or cannot be put back is not confirmed with others, whatever is posted', async ({ page, desk, upstream, ann, agent }) => {
  const mail = await hold(agent);
  const write = await ticket(agent);
  await signIn(page, ann);
  await tick(page, 'Select: Mail to finance@northwind.example');
  await tick(page, 'Select: Move ticket 87 to closed');
  await guardPassed();
  await posting(page, () => page.getByRole('button', { name: /^Confirm selected/ }).click());
  await expect(page.getByRole('alert')).toContainText('Nothing was done: only calls that can be put back are confirmed together.');
  await expect(page.getByRole('checkbox', { name: 'Select: Move ticket 87 to closed' })).toBeChecked();

  // The forms of both pages, put together by hand: versions and view tokens are good, and old enough.
  const pairs = [['decision', 'confirm']];
  for (const { url, id } of [mail, write]) {
    await page.goto(url);
    const { fields } = await formOf(page.getByRole('button', { name: /^Confirm/ }));
    pairs.push(['call', id], ['preview_version', fields.preview_version], ['view_token', fields.view_token]);
  }
  await guardPassed();
  for (const some of [pairs, pairs.slice(0, 4)]) {
    const answer = await crafted(page, desk, `${desk.url}/do/many`, some);
    expect(answer.status).toBe(409);
  }
  // Alone, the write is taken: what was refused is the mail.
  expect((await crafted(page, desk, `${desk.url}/do/many`, [pairs[0], ...pairs.slice(4)])).status).toBe(200);
  expect((await agent.call(write.id)).status).toBe('done');
  expect((await agent.call(mail.id)).status).toBe('held');
  expect(upstream.messages).toEqual([]);
});

test('a page that is too young, or not whole, confirms nothing', async ({ page, desk, upstream, ann, agent }) => {
  const { id } = await ticket(agent);
  await signIn(page, ann);
  const address = `${desk.url}/inbox/selected?calls=${id}`;
  const { text } = await request(address, { headers: { Cookie: await cookies(page) } });
  const value = (name) => text.match(new RegExp(`name="${name}"[^>]*value="([^"]*)"`))[1];
  const pairs = [['decision', 'confirm'], ['call', id], ['preview_version', value('preview_version')], ['view_token', value('view_token')]];
  const young = await crafted(page, desk, `${desk.url}/do/many`, pairs);
  expect([young.status, young.text.includes('within half a second')]).toEqual([422, true]);
  const torn = await crafted(page, desk, `${desk.url}/do/many`, pairs.slice(0, 3));
  expect(torn.status).toBe(422);
  expect((await agent.call(id)).status).toBe('held');
  expect(upstream.writes).toBe(0);
});

test('a double click where the buttons appear decides nothing', async ({ page, javaScriptEnabled, upstream, ann, agent }) => {
  const { id } = await ticket(agent);
  await signIn(page, ann);
  if (javaScriptEnabled) {
    await page.goto('/inbox/selected?calls=' + id);
    // In one turn of the page, so that no time can pass between.
    await page.evaluate(() => {
      dispatchEvent(new Event('focus'));
      for (let press = 0; press < 2; press += 1) document.querySelector('.bar .confirm').click();
    });
    await page.goto('/inbox');
    expect((await agent.call(id)).status).toBe('held');
  }
  // And a double click on a box, with the bar coming up under the pointer, declines nothing.
  await page.setViewportSize({ width: 1000, height: 260 });
  await page.getByRole('checkbox').dblclick();
  expect((await agent.call(id)).status).toBe('held');
  expect(upstream.writes).toBe(0);
});
