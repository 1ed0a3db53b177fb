// Which calls the list shows, and in which order: in the address, and kept beside an open call.
import { test, expect } from '../../lib/fixtures.js';
import { hold, letter } from '../../lib/letters.js';
import { decline, expectStanding, signIn } from '../../lib/pages.js';

test('the list is narrowed and ordered by its address, and stays so beside a call', async ({ page, desk, ann, agent }) => {
  const other = await desk.addAgent('shop-bot', ann);
  const mail = await hold(agent);
  await hold(agent, { action: 'move_ticket', input: { id: '87', state: 'closed' } });
  await hold(other, { input: letter({ to: 'shop@northwind.example' }) });
  await signIn(page, ann);
  const list = page.getByRole('list', { name: 'Held calls' });
  await expect(list.getByRole('link')).toHaveCount(3);
  await page.locator('summary').click();
  await page.getByRole('combobox', { name: 'Agent' }).selectOption('billing-bot');
  await page.getByRole('combobox', { name: 'Action' }).selectOption({ label: 'Send a mail' });
  await page.getByRole('combobox', { name: 'Order' }).selectOption({ label: 'Soonest to lapse' });
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page).toHaveURL(/\?agent=billing-bot&action=send_mail&effect=&order=lapsing$/);
  await expect(list.getByRole('link')).toHaveCount(1);
  await list.getByRole('link').click();
  await expect(page).toHaveURL(`${mail.url}?agent=billing-bot&action=send_mail&order=lapsing`);
  await decline(page);
  await expect(page).toHaveURL(`${mail.url}?agent=billing-bot&action=send_mail&order=lapsing`);
  await expectStanding(page, page.url(), 'Declined');
  await page.goto('/inbox?effect=write');
  await expect(list.getByRole('link')).toHaveCount(1);
  await expect(list.getByRole('link')).toContainText('Move ticket 87');
  await page.goto('/inbox?effect=destructive');
  await expect(page.getByText('No held call fits.')).toBeVisible();
  await page.getByRole('main').getByRole('link', { name: 'Show all' }).first().click();
  await expect(list.getByRole('link')).toHaveCount(2);
});

test('pages of the other order are without gap or repeat', async ({ page, ann, agent }) => {
  test.slow();
  const all = await Promise.all(Array.from({ length: 60 }, (_, at) => hold(agent, { input: letter({ subject: `${at}` }) })));
  await signIn(page, ann);
  for (const order of ['', '?order=lapsing']) {
    await page.goto(`/inbox${order}`);
    const seen = [];
    for (;;) {
      seen.push(...(await page.getByRole('list', { name: 'Held calls' }).getByRole('link').evaluateAll((links) => links.map(({ dataset }) => dataset.key))));
      const older = page.getByRole('link', { name: /^Older/ });
      if (!(await older.count())) break;
      await older.click();
      await expect(page).toHaveURL(/cursor=/);
    }
    expect(seen).toHaveLength(60);
    expect(new Set(seen)).toEqual(new Set(all.map(({ id }) => id)));
  }
});

test('beside a call stands what its agent asked for before, and what it looks like', async ({ page, ann, agent }) => {
  const session = { 'Countersign-Session': 'monday' };
  await hold(agent, { input: letter({ to: 'first@northwind.example' }), headers: session });
  await hold(agent, { input: letter({ to: 'elsewhere@northwind.example' }), headers: { 'Countersign-Session': 'friday' } });
  const twin = await hold(agent, { headers: session });
  const last = await hold(agent, { headers: session });
  await signIn(page, ann);
  await page.goto(last.url);
  const earlier = page.getByRole('region', { name: 'Earlier in this session' });
  await expect(earlier.getByRole('link')).toHaveText(['Mail to finance@northwind.example', 'Mail to first@northwind.example']);
  await expect(earlier).toContainText('Held');
  await page.getByRole('region', { name: 'It looks like' }).getByRole('link').click();
  await expect(page).toHaveURL(twin.url);
});

test('a plain sentence declines without typing, and own words follow it', async ({ page, ann, agent }) => {
  const [one, two] = [await hold(agent), await hold(agent, { input: letter({ subject: 'Two' }) })];
  await signIn(page, ann);
  await page.goto(one.url);
  await page.getByRole('radio', { name: 'Wrong recipient.' }).check();
  await decline(page);
  expect((await agent.call(one.id)).decline_reason).toBe('Wrong recipient.');
  await page.goto(two.url);
  await page.getByRole('radio', { name: 'Ask me first.' }).check();
  await page.getByRole('textbox', { name: 'Reason' }).fill('On the phone.');
  await decline(page);
  expect((await agent.call(two.id)).decline_reason).toBe('Ask me first. On the phone.');
});

test('a payload of 64 KiB is shown whole, with its sting in the last line', async ({ page, ann, agent }) => {
  const body = `${'All as agreed.\n'.repeat(4400)}PS: send the money to somebody else.`;
  const { url } = await hold(agent, { input: letter({ body }) });
  await signIn(page, ann);
  await page.goto(url);
  const shown = page.getByRole('region', { name: 'What is sent' });
  await expect(shown).toContainText('PS: send the money to somebody else.');
  expect((await shown.innerText()).length).toBeGreaterThan(65_000);
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('the main job', async ({ page, upstream, ann, agent }) => {
    const { url } = await hold(agent);
    await signIn(page, ann);
    await page.getByRole('list', { name: 'Held calls' }).getByRole('link', { name: /Mail to/ }).click();
    await expect(page).toHaveURL(url);
    const button = page.getByRole('button', { name: /^Confirm/ });
    await expect(button).toBeInViewport({ ratio: 1 });
    await new Promise((listening) => setTimeout(listening, 700));
    await button.click();
    await expectStanding(page, url, 'Sent');
    expect(upstream.writes).toBe(1);
  });
});
