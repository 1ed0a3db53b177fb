// A receipt's own page: its facts, and its story as a line of time.
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall } from '../../lib/decision.js';
import { hold } from '../../lib/letters.js';
import { open, posting, signIn } from '../../lib/pages.js';

const story = (page) => page.getByRole('region', { name: 'What happened' }).getByRole('listitem');
const fact = (page, name) => page.getByRole('region', { name: 'Receipt' }).locator(`dt:text-is("${name}") + dd`);

/** The words of each step, without its time. */
const steps = (page) => story(page).locator('div').allInnerTexts();

test('a confirmed mail tells who said yes, and by what right', async ({ page, desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id, url } = await hold(agent);
  const { json } = await confirmCall(person, id, { Prefer: 'wait=20' });
  await signIn(page, ann);
  await open(page, 'Done');
  await page.getByRole('table', { name: 'Receipts' }).getByRole('row').nth(1).getByRole('link').first().click();
  await expect(page).toHaveURL(new RegExp(`/done/${json.receipt_id}$`));
  await expect(page.getByRole('heading', { level: 1, name: 'Send a mail' })).toBeVisible();
  await expect(page.getByText('Sent, and the service answered 201 created.')).toBeVisible();
  expect(await steps(page)).toEqual([
    expect.stringMatching(/^Asked by billing-bot for Ann, session .*, over the API$/),
    'Held and shown to those who may decide it. Nothing had been sent.',
    'You confirmed it, as the one whose call it is',
    `Sent, once: POST ${upstream.host}/messages with the credential office`,
    'Answered 201 created',
  ]);
  await expect(story(page).first().locator('time')).toHaveAttribute('datetime', /^\d{4}-/);
  for (const [name, value] of Object.entries({
    Sent: `POST ${upstream.url}/messages`,
    Answer: '201 created',
    Outcome: 'Answered',
    Action: 'send_mail',
    'Came in by': 'over the API',
    For: 'Ann',
    Agent: 'billing-bot',
    Credential: 'office',
    Receipt: json.receipt_id,
    Approval: /^apr_/,
    'Approved by': /^You, /,
    'Size of what was sent': /bytes$/,
  })) {
    await expect(fact(page, name), name).toHaveText(value);
  }
  // The call's page leads here, and this page to the call.
  await page.getByRole('link', { name: 'The call' }).click();
  await expect(page).toHaveURL(url);
  await page.getByRole('link', { name: 'The receipt stands under Done' }).click();
  await expect(page).toHaveURL(new RegExp(`/done/${json.receipt_id}$`));
});

test('what nobody was asked about says so', async ({ page, desk, ann }) => {
  const mover = await desk.addAgent('mover', ann, []);
  const { json } = await mover.act('move_ticket', { id: '87', state: 'closed' });
  await signIn(page, ann);
  await page.goto(`/done/${json.receipt_id}`);
  expect((await steps(page)).slice(1, 2)).toEqual(['Nobody was asked: not needed']);
  await expect(fact(page, 'Approved by')).toHaveText('Nobody: not needed');
  const wipe = await mover.act('wipe_customer', { id: '4211' });
  const again = await mover.act('wipe_customer', { id: '4211', confirm_token: wipe.json.confirm_token });
  await page.goto(`/done/${again.json.receipt_id}`);
  expect((await steps(page)).slice(1, 2)).toEqual(['Confirmed by the agent itself, with the token of its prompt']);
});

test('in doubt and settled, in words', async ({ page, desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  upstream.hang();
  const { id, url } = await hold(agent);
  await confirmCall(person, id);
  await upstream.received(1);
  upstream.cut();
  const { json } = await agent.get(`/v1/calls/${id}`, { Prefer: 'wait=20' });
  expect(json.status).toBe('in_doubt');
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  await page.goto(`/done/${json.receipt_id}`);
  await expect(page.getByText(/^Not known: it was sent and its answer was lost/)).toBeVisible();
  expect((await steps(page)).at(-1)).toMatch(/^Not known:.*It was not sent again\.$/);
  expect((await steps(page))[2]).toBe('Ann confirmed it, as the one whose call it was');
  await page.goto(url);
  await page.getByRole('radio', { name: 'It happened', exact: true }).check();
  await page.getByRole('textbox', { name: 'Reason' }).fill('I asked <them>.');
  await posting(page, () => page.getByRole('button', { name: 'Settle' }).click());
  await page.goto(`/done/${json.receipt_id}`);
  await expect(page.getByText('Somebody has settled that it happened.')).toBeVisible();
  expect((await steps(page)).at(-1)).toMatch(/^Olga settled that it happened, with the words: .?I asked <them>\..?$/);
  await expect(fact(page, 'Outcome')).toHaveText('Settled: it happened');
});

test('another\'s receipt is not there', async ({ page, desk, ann }) => {
  const mover = await desk.addAgent('mover', ann, []);
  const { json } = await mover.act('move_ticket', { id: '87', state: 'closed' });
  await signIn(page, await desk.addPerson('Ben'));
  for (const id of [json.receipt_id, 'rct_01h455vb4pex5vsknk084sn02q', 'nonsense']) {
    expect((await page.goto(`/done/${id}`)).status(), id).toBe(404);
  }
  await page.context().clearCookies();
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  expect((await page.goto(`/done/${json.receipt_id}`)).status()).toBe(200);
});

test('on paper it is a clean sheet', async ({ page, desk, ann }) => {
  const mover = await desk.addAgent('mover', ann, []);
  const { json } = await mover.act('move_ticket', { id: '87', state: 'closed' });
  await signIn(page, ann);
  await page.goto(`/done/${json.receipt_id}`);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  for (const hidden of [page.getByRole('navigation', { name: 'Main' }), page.getByRole('link', { name: '← Done' })]) {
    await expect(hidden).toBeHidden();
  }
  await expect(page.locator('.mark-print')).toBeVisible();
  await expect(fact(page, 'Receipt')).toBeVisible();
  await expect(story(page).first()).toBeVisible();
  const ink = await page.getByRole('heading', { level: 1 }).evaluate((node) => getComputedStyle(node).color);
  expect(ink, 'ink on white paper, also for whoever looks at the desk in the dark').toMatch(/^(rgb\(28, 27, 25\)|#1c1b19)$/);
});
