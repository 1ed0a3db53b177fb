// Pausing: by an agent's owner, by an operator, and everything; and what waits goes on afterwards.
import { test, expect } from '../../lib/fixtures.js';
import { hold, letter } from '../../lib/letters.js';
import { confirm, decline, expectStanding, posting, signIn, standing } from '../../lib/pages.js';

const click = (page, target) => posting(page, () => target.click());
const row = (page, table, agent) => page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: agent });
const isPaused = { status: 503, json: { code: 'paused' } };

/** Somebody's own browser. */
async function visit(desk, browser, person, address, javaScriptEnabled) {
  const context = await browser.newContext({ baseURL: desk.url, javaScriptEnabled });
  const page = await context.newPage();
  await signIn(page, person, address);
  return page;
}

test('an owner pauses and resumes an agent of their own', async ({ page, desk, ann, agent }) => {
  await desk.addAgent('other-bot', await desk.addPerson('Ben'));
  await signIn(page, ann);
  await page.goto('/calls');
  const mine = row(page, 'Your agents', 'billing-bot');
  await expect(page.getByRole('table', { name: 'Your agents' })).not.toContainText('other-bot');
  await expect(mine).toContainText('active');
  await click(page, mine.getByRole('button', { name: 'Pause billing-bot' }));
  await expect(mine).toContainText('paused by Ann');

  const told = await agent.act('send_mail', letter());
  expect(told).toMatchObject(isPaused);
  expect(told.headers['retry-after']).toBe('60');
  expect(told.json.detail).toContain('Nothing was done');
  expect(await agent.act('no_such_action', {})).toMatchObject(isPaused);

  await click(page, mine.getByRole('button', { name: 'Resume billing-bot' }));
  await expect(mine).toContainText('active');
  await hold(agent);
});

test('what is held is not confirmed while its agent is paused', async ({ page, desk, browser, upstream, ann, agent, javaScriptEnabled }) => {
  const mail = await hold(agent);
  const other = await hold(agent, { input: letter({ subject: 'Another' }) });
  const wipe = await hold(agent, { action: 'wipe_customer', input: { id: '4211' } });
  await signIn(page, ann);
  await page.goto(mail.url);
  const olgas = await visit(desk, browser, await desk.addPerson('Olga', 'operator'), '/sign-in?next=/agents', javaScriptEnabled);
  await olgas.getByRole('link', { name: 'billing-bot', exact: true }).click();
  await olgas.getByRole('textbox', { name: 'Reason' }).fill('It asks for too much.');
  await click(olgas, olgas.getByRole('button', { name: 'Pause billing-bot' }));
  await expect(olgas.getByRole('main')).toContainText('paused by Olga');
  await expect(olgas.getByRole('main')).toContainText('It asks for too much.');

  // The page from before still has its button, and the desk says no.
  await confirm(page);
  await expect(page.getByRole('alert')).toContainText('Nothing was done');
  await expect(page.getByRole('main')).toContainText('Olga paused it');
  await expect(page.getByRole('main')).toContainText('It asks for too much.');
  await expect(page.getByRole('main')).toContainText('it cannot be confirmed until an operator resumes it');
  await expect(page.getByRole('button', { name: /^Confirm/ })).toHaveCount(0);
  await expect(standing(page, 'Held')).toBeVisible();
  await page.goto(wipe.url);
  await expect(page.getByRole('textbox', { name: 'Type the target' })).toHaveCount(0);
  await page.goto(other.url);
  await decline(page);
  await expectStanding(page, other.url, 'Declined');
  expect(upstream.writes).toBe(0);

  // What an operator has paused only operators resume.
  await page.goto('/calls');
  const mine = row(page, 'Your agents', 'billing-bot');
  await expect(mine).toContainText('Only operators can resume it');
  await expect(mine.getByRole('button')).toHaveCount(0);

  await olgas.goto('/agents');
  await click(olgas, row(olgas, 'Agents', 'billing-bot').getByRole('button', { name: 'Resume billing-bot' }));
  await olgas.getByRole('link', { name: 'billing-bot', exact: true }).click();
  await expect(olgas.getByRole('region', { name: 'Its pauses' })).toContainText('Olga resumed it');
  await page.goto(mail.url);
  await confirm(page);
  await expectStanding(page, mail.url, 'Sent');
  expect(upstream.writes).toBe(1);
});

test('what is confirmed waits, and its page says so', async ({ page, desk, upstream, ann, agent }) => {
  const { id, url } = await hold(agent, { action: 'send_mail_later' });
  await signIn(page, ann);
  await page.goto(url);
  await confirm(page);
  await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible();
  expect(await desk.command(['agent', 'pause', '--all', '--reason', 'Somebody looks into it.'])).toMatchObject({ all: true, paused: true, changed: true });
  await page.goto(url);
  await expect(standing(page, 'Sending is paused')).toBeVisible();
  const banner = page.getByRole('complementary', { name: 'Everything is paused' });
  await expect(banner).toContainText('It was paused from the command line');
  await expect(banner).toContainText('Somebody looks into it.');
  await click(page, page.getByRole('button', { name: 'Undo' }));
  await expectStanding(page, url, 'Held');
  expect(await desk.command(['agent', 'pause', '--all', '--resume'])).toMatchObject({ all: true, paused: false, changed: true });
  await page.goto(url);
  await confirm(page);
  await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible();
  expect((await agent.call(id)).status).toBe('approved');
  expect(upstream.writes).toBe(0);
});

test('an operator pauses everything, and every page says so', async ({ page, desk, browser, upstream, ann, agent, javaScriptEnabled }) => {
  const { url } = await hold(agent);
  await signIn(page, await desk.addPerson('Olga', 'operator'), '/sign-in?next=/agents');
  await page.getByRole('region', { name: 'Pause everything' }).getByRole('textbox', { name: 'Reason' }).fill('<b>Stop</b> \u202Enow');
  await click(page, page.getByRole('button', { name: 'Pause everything' }));
  const banner = page.getByRole('complementary', { name: 'Everything is paused' });
  await expect(banner).toContainText('Olga paused it');
  await expect(banner).toContainText('<b>Stop</b>');
  await expect(banner).toContainText('right-to-left override');
  await expect(page.getByRole('region', { name: 'Pause everything' })).toHaveCount(0);
  expect(await agent.act('send_mail', letter())).toMatchObject(isPaused);
  expect(await agent.act('no_such_action', {})).toMatchObject(isPaused);

  const anns = await visit(desk, browser, ann, '/sign-in', javaScriptEnabled);
  for (const address of ['/inbox', '/done', '/calls', '/run', url, '/no-such-page']) {
    await anns.goto(address);
    await expect(anns.getByRole('complementary', { name: 'Everything is paused' })).toContainText('Olga paused it');
    await expect(anns.getByRole('button', { name: /Resume/ })).toHaveCount(0);
  }
  await anns.goto(url);
  await expect(anns.getByRole('main')).toContainText('cannot be confirmed until an operator resumes');
  await expect(anns.getByRole('button', { name: /^Confirm/ })).toHaveCount(0);
  await anns.goto('/run/send_mail');
  for (const [field, text] of [['To', 'a@b.example'], ['Subject', 'Hello'], ['Body', 'Good day.']]) {
    await anns.getByRole('textbox', { name: field, exact: true }).fill(text);
  }
  await click(anns, anns.getByRole('button', { name: 'Preview' }));
  await expect(anns.getByRole('alert')).toContainText('Nothing was done');
  await expect(anns.getByRole('textbox', { name: 'Subject' })).toHaveValue('Hello');

  await click(page, banner.getByRole('button', { name: 'Resume everything' }));
  await expect(banner).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Pauses of everything' })).toContainText('Olga resumed it');
  await anns.goto(url);
  await confirm(anns);
  await expectStanding(anns, url, 'Sent');
  expect(upstream.writes).toBe(1);
});

test('nobody pauses what is not theirs, whatever they post', async ({ page, desk, ann, agent }) => {
  const ben = await desk.addPerson('Ben');
  await signIn(page, ben);
  const post = (form, fields) => page.request.post(form, { form: fields, headers: { Origin: desk.url }, maxRedirects: 0 });
  for (const act of ['pause', 'resume']) {
    for (const scope of [agent.id, 'everything', 'agt_01h455vb4pex5vsknk084sn02q', 'nonsense']) {
      for (const at of ['calls', 'agents', 'agent']) {
        expect((await post('/do/pause', { scope, act, at })).status(), `${act} ${scope} ${at}`).toBe(404);
      }
    }
  }
  expect((await post('/do/revoke', { agent: agent.id })).status()).toBe(404);
  const fields = { name: 'x', owner: ben.email, abilities: 'actions:read' };
  expect((await post('/do/agent', fields)).status()).toBe(404);
  expect((await post('/do/agent', { ...fields, agent: agent.id })).status()).toBe(404);
  expect((await page.goto(`/agents/${agent.id}`)).status()).toBe(404);
  await hold(agent);
  expect((await desk.command(['agent', 'list'])).items).toMatchObject([{ name: 'billing-bot', paused_at: null, revoked_at: null }]);
  // An operator sees agents and makes none.
  await page.context().clearCookies();
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  expect((await post('/do/agent', fields)).status()).toBe(404);
  await page.goto(`/agents/${agent.id}`);
  await expect(page.getByRole('heading', { name: 'A further key' })).toHaveCount(0);
  expect(ann.id).toBeTruthy();
});
