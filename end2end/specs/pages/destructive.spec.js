// What cannot be put back asks for its target to be typed.
import { test, expect } from '../../lib/fixtures.js';
import { hold } from '../../lib/letters.js';
import { confirm, expectStanding, signIn, standing } from '../../lib/pages.js';

test('a destructive call is confirmed by typing its target', async ({ page, upstream, ann, agent }) => {
  const { id, url } = await hold(agent, { action: 'wipe_customer', input: { id: '4211' } });
  await signIn(page, ann);
  await page.goto(url);
  const target = page.getByRole('textbox', { name: 'Type the target' });

  await target.fill('customer 4212');
  await confirm(page);
  await page.goto(url);
  await expect(standing(page, 'Held')).toBeVisible();
  expect((await agent.call(id)).status).toBe('held');
  expect(upstream.writes).toBe(0);

  await target.fill('customer 4211');
  await confirm(page);
  await expectStanding(page, url, 'Sent');
  expect(upstream.requests.at(-1)).toMatchObject({ method: 'DELETE', path: '/customers/4211', body: '' });
  expect(upstream.writes).toBe(1);
});
