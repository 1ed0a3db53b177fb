// Between Confirm and the send there is time to take it back.
import { test, expect } from '../../lib/fixtures.js';
import { hold } from '../../lib/letters.js';
import { confirm, expectStanding, press, signIn } from '../../lib/pages.js';

test('undo within the window: held again, nothing sent', async ({ page, upstream, ann, agent }) => {
  const { id, url } = await hold(agent, { action: 'send_mail_later' });
  await signIn(page, ann);
  await page.goto(url);
  await confirm(page);
  await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible();
  expect(await agent.call(id)).toMatchObject({ status: 'approved', executed: false });
  await press(page, 'Undo');
  await expectStanding(page, url, 'Held');
  expect((await agent.call(id)).status).toBe('held');
  await expect(page.getByRole('button', { name: /^Confirm/ })).toBeVisible();
  expect(upstream.writes).toBe(0);
});
