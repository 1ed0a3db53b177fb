// The reason the product exists: held, confirmed by a person, sent once, told in the Done table.
import { test, expect } from '../../lib/fixtures.js';
import { letter } from '../../lib/letters.js';
import { confirm, expectStanding, open, receipts, signIn, standing } from '../../lib/pages.js';
import { SECRET } from '../../lib/upstream.js';

test('a write is held, a person confirms it, it is sent once and the receipt is on top', async ({ page, desk, upstream, ann, agent }) => {
  const mail = letter();
  const held = await agent.act('send_mail', mail);
  expect(held.status).toBe(202);
  expect(held.json).toMatchObject({ status: 'held', executed: false });
  expect(held.json.call_id).toMatch(/^call_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  expect(held.json.approve_url).toBe(`${desk.url}/inbox/${held.json.call_id}`);
  expect(held.json.poll).toBe(`/v1/calls/${held.json.call_id}`);
  expect(held.json.message).toMatch(/^Nothing has been done\./);
  expect(held.headers.location).toContain(held.json.poll);
  expect(Number(held.headers['retry-after'])).toBeGreaterThan(0);
  expect(upstream.writes).toBe(0);
  expect((await agent.call(held.json.call_id)).status).toBe('held');

  await signIn(page, ann);
  await expect(page.getByRole('heading', { name: 'Inbox' })).toBeVisible();
  await page.getByRole('list', { name: 'Held calls' }).getByRole('link', { name: `Mail to ${mail.to}` }).click();

  await expect(page).toHaveURL(held.json.approve_url);
  await expect(page.getByRole('heading', { name: `Mail to ${mail.to}` })).toBeVisible();
  await expect(standing(page, 'Held')).toBeVisible();
  const preview = page.getByRole('region', { name: 'Preview' });
  for (const value of Object.values(mail)) await expect(preview).toContainText(value);
  // What is sent, with what the agent did not write and without the secret.
  const main = page.getByRole('main');
  for (const part of ['POST', upstream.host, '/messages', 'desk@house.test']) await expect(main).toContainText(part);
  expect(await page.content()).not.toContain(SECRET);

  await confirm(page);
  await expectStanding(page, held.json.approve_url, 'Sent');
  expect(upstream.messages).toEqual([{ ...mail, from: 'desk@house.test' }]);
  expect(upstream.writes).toBe(1);
  await expect(page.getByRole('heading', { name: 'Send a mail' })).toBeVisible();
  await expect(page.getByRole('button', { name: /^(Confirm|Decline)/ })).toHaveCount(0);

  await open(page, 'Done');
  const [first, ...others] = await receipts(page);
  expect(others).toEqual([]);
  expect(Object.keys(first)).toEqual(['When', 'Method', 'Host and path', 'Answer', 'Agent', 'Approved by']);
  expect(first).toMatchObject({ Method: 'POST', 'Host and path': `${upstream.host}/messages`, Agent: 'billing-bot', 'Approved by': 'You' });
  expect(first.Answer).toContain('201');
  expect(first.When).not.toBe('');

  expect(await agent.call(held.json.call_id)).toMatchObject({
    status: 'done',
    executed: true,
    action: 'send_mail',
    effect: 'external',
    surface: 'api',
    agent_id: agent.id,
    person_id: ann.id,
    result: { id: 'm1' },
    reply: 'The mail is queued as m1.',
    problem: null,
  });
});

test('the inbox is empty again after the last call is decided', async ({ page, ann, agent }) => {
  const held = await agent.act('send_mail', letter());
  await signIn(page, ann);
  await expect(page.getByRole('list', { name: 'Held calls' }).getByRole('link')).toHaveCount(1);
  await page.goto(held.json.approve_url);
  await confirm(page);
  await expectStanding(page, held.json.approve_url, 'Sent');
  await open(page, 'Inbox');
  await expect(page.getByRole('link', { name: /Mail to/ })).toHaveCount(0);
});

test('an agent that waits gets the final answer', async ({ page, ann, agent }) => {
  await signIn(page, ann);
  const waiting = agent.act('send_mail', letter(), { Prefer: 'wait=60' });
  await expect(async () => {
    await page.goto('/inbox');
    await page.getByRole('link', { name: /Mail to/ }).click({ timeout: 500 });
  }).toPass();
  await confirm(page);
  const answer = await waiting;
  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject({ status: 'done', executed: true, result: { id: 'm1' }, reply: 'The mail is queued as m1.' });
  expect(answer.json.receipt_id).toMatch(/^rct_/);
});

test('the upstream fails: the page and the agent are told, and there is no receipt', async ({ page, upstream, ann, agent }) => {
  upstream.failWith(503);
  const held = await agent.act('send_mail', letter());
  await signIn(page, ann);
  await page.goto(held.json.approve_url);
  await confirm(page);
  await expectStanding(page, held.json.approve_url, 'Failed');
  expect(await agent.call(held.json.call_id)).toMatchObject({
    status: 'failed',
    executed: false,
    receipt_id: null,
    problem: { code: 'upstream_failed', status: 502, context: { upstream_status: 503 } },
  });
  expect(upstream.writes).toBe(1);
  await open(page, 'Done');
  await expect(page.getByText(`${upstream.host}/messages`)).toHaveCount(0);
});
