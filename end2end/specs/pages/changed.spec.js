// What is sent is what was shown, or nothing is sent.
import { test, expect } from '../../lib/fixtures.js';
import { hold } from '../../lib/letters.js';
import { confirm, expectStanding, signIn, standing } from '../../lib/pages.js';

test('values that changed since the preview are shown anew, and nothing is sent', async ({ page, upstream, ann, agent }) => {
  const { id, url } = await hold(agent, { action: 'move_ticket', input: { id: '87', state: 'closed' } });
  await signIn(page, ann);
  await page.goto(url);
  const preview = page.getByRole('region', { name: 'Preview' });
  await expect(preview).toContainText('open');
  await expect(preview).toContainText('closed');

  upstream.tickets.get('87').state = 'waiting';
  await confirm(page);
  await expect(preview).toContainText('waiting');
  await expect(standing(page, 'Held')).toBeVisible();
  expect(upstream.writes).toBe(0);
  expect((await agent.call(id)).status).toBe('held');

  await confirm(page);
  await expectStanding(page, url, 'Sent');
  expect(upstream.tickets.get('87').state).toBe('closed');
  expect(upstream.writes).toBe(1);
});

test('a dry run that is refused holds nothing', async ({ upstream, agent }) => {
  const answer = await agent.act('move_ticket', { id: '88', state: 'closed' });
  expect(answer.status).toBe(422);
  expect(answer.json).toMatchObject({ code: 'invalid', errors: [{ field: '/id', message: 'There is no such ticket.' }] });
  expect(upstream.writes).toBe(0);
});
