// A person says no, with words.
import { test, expect } from '../../lib/fixtures.js';
import { hold, letter } from '../../lib/letters.js';
import { decline, expectStanding, signIn } from '../../lib/pages.js';

const words = 'The invoice goes to Mr. Ōta first, “not” to finance.';

test('a decline sends nothing, and the agent is given the words', async ({ page, upstream, ann, agent }) => {
  const { id, url } = await hold(agent, { headers: { 'Idempotency-Key': 'mail-1' } });
  await signIn(page, ann);
  await page.goto(url);
  await page.getByRole('textbox', { name: 'Reason' }).fill(words);
  await decline(page);
  await expectStanding(page, url, 'Declined');
  expect(upstream.writes).toBe(0);
  expect(await agent.call(id)).toMatchObject({
    status: 'declined',
    executed: false,
    decline_reason: words,
    receipt_id: null,
    problem: { code: 'declined', status: 403, context: { reason: words } },
  });
  // A decline frees the key: the agent may ask again.
  expect((await agent.act('send_mail', letter(), { 'Idempotency-Key': 'mail-1' })).status).toBe(202);
});

test('an agent that waits is told 403 declined, with the words', async ({ page, upstream, ann, agent }) => {
  await signIn(page, ann);
  const waiting = agent.act('send_mail', letter(), { Prefer: 'wait=60' });
  await expect(async () => {
    await page.goto('/inbox');
    await page.getByRole('link', { name: /Mail to/ }).click({ timeout: 500 });
  }).toPass();
  await page.getByRole('textbox', { name: 'Reason' }).fill(words);
  await decline(page);
  const answer = await waiting;
  expect(answer.status).toBe(403);
  expect(answer.headers['content-type']).toContain('application/problem+json');
  expect(answer.json).toMatchObject({ code: 'declined', status: 403 });
  expect(answer.json.detail).toContain(words);
  expect(upstream.writes).toBe(0);
});
