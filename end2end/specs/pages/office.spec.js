// What operators look up: actions, credentials and the journal.
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall } from '../../lib/decision.js';
import { hold } from '../../lib/letters.js';
import { open, signIn } from '../../lib/pages.js';
import { SECRET } from '../../lib/upstream.js';

test.use({
  more: `
[[credential]]
name = "bare"
hosts = ["bare.example"]
secret = { env = "NO_SUCH_VARIABLE" }

[[action]]
name = "pay_out"
title = "Pay out"
description = "Pays an amount out."
effect = "external"
expose = ["api"]
authorize = "'payers' in caller.groups"
hold_when = "input.amount > 100"
approvers = ["role:approver"]
quorum = 2
self_approval = false
undo_window = "10s"
replay = false
credential = "bare"
input = { type = "object", required = ["amount"], additionalProperties = false, properties = { amount = { type = "integer" } } }
request = { method = "POST", url = "https://bare.example/v1/pay/{{ input.amount }}", json = "{{ input }}" }
preview = { title = "Pay {{ input.amount }}" }
`,
});

const folded = (page, name) => page.locator('details').filter({ has: page.getByRole('heading', { name, level: 2 }) });

test('actions as the catalogue has them, folded, and found by name', async ({ page, desk }) => {
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  await open(page, 'Actions');
  const payOut = folded(page, /Pay out/);
  await expect(payOut.getByText('Who decides')).toBeHidden();
  await payOut.locator('summary').click();
  for (const [name, value] of Object.entries({
    Effect: 'external: leaves the house',
    'Can be called': 'on api',
    'May be called when': "'payers' in caller.groups",
    'Waits for a person when': 'input.amount > 100',
    'Who decides': 'role:approver; 2 of them; never the one whose call it is',
    Undo: '10 s',
    Sends: 'POST https://bare.example/v1/pay/{{ input.amount }}',
    Credential: 'bare',
    'A repeat with the same key': 'done again',
  })) {
    await expect(payOut.locator(`dt:text-is("${name}") + dd`), name).toHaveText(value);
  }
  await page.getByRole('textbox', { name: 'Name, effect or host' }).fill('destructive');
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page.getByRole('heading', { level: 2 })).toHaveText(['Wipe a customer wipe_customer']);
  await page.goto('/actions?named=nothing+of+this');
  await expect(page.getByText('No action is called like this.')).toBeVisible();
});

test('credentials: names and rules, whether the secret is there, never the secret', async ({ page, desk }) => {
  await signIn(page, await desk.addPerson('Ada', 'admin'));
  await open(page, 'Credentials');
  const bare = folded(page, 'bare');
  await expect(bare.getByText('NO_SUCH_VARIABLE is not set')).toBeVisible();
  await expect(bare.locator('summary')).toContainText('missing');
  const office = folded(page, 'office');
  await office.locator('summary').click();
  for (const [name, value] of Object.entries({
    Secret: 'there, in the environment variable OFFICE_TOKEN',
    Methods: 'GET, POST, PUT, DELETE',
    Paths: '/',
    Reads: 'taint the session: not trusted',
    'Where it may go': 'plain http, and loopback or private addresses, are allowed',
  })) {
    await expect(office.locator(`dt:text-is("${name}") + dd`), name).toHaveText(value);
  }
  expect(await page.content()).not.toContain(SECRET);
});

test('the journal is narrowed, and leads to the call and to the receipt', async ({ page, desk, ann, agent }) => {
  const person = await desk.addToken(ann);
  const { id, url } = await hold(agent);
  const { json } = await confirmCall(person, id, { Prefer: 'wait=20' });
  const mover = await desk.addAgent('mover', ann, []);
  await mover.act('move_ticket', { id: '87', state: 'closed' });
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  await open(page, 'Journal');
  const what = () => page.getByRole('table', { name: 'Journal' }).getByRole('row').locator('td:nth-child(2)').allInnerTexts();
  expect(await what()).toEqual(['done', 'done', 'decided', 'held']);
  await page.getByRole('combobox', { name: 'Agent' }).selectOption({ label: 'billing-bot' });
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page).toHaveURL(/agent=agt_/);
  expect(await what()).toEqual(['done', 'decided', 'held']);
  await page.getByRole('combobox', { name: 'What' }).selectOption({ label: 'done' });
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page).toHaveURL(/type=action.completed/);
  expect(await what()).toEqual(['done']);
  // The ends of ids stand there; the whole ones are their titles.
  await page.getByRole('link', { name: json.receipt_id.slice(-8) }).click();
  await expect(page).toHaveURL(new RegExp(`/done/${json.receipt_id}$`));
  await page.goto('/journal?action=send_mail&type=call.held');
  await page.getByRole('link', { name: id.slice(-8) }).click();
  await expect(page).toHaveURL(url);
  expect((await page.goto('/journal?type=nothing')).status()).toBe(422);
  await expect(page.getByRole('combobox', { name: 'What', exact: true })).toHaveAccessibleDescription(/Nothing of this kind happens/);
  await page.goto('/journal?action=other');
  await expect(page.getByText('Nothing fits these filters.')).toBeVisible();
});
