// Passkeys, with Chromium's virtual authenticator: adding one, signing in with it, confirming a call, and removing it.
import { test as base, expect } from '../../lib/fixtures.js';
import { decline, expectStanding, formOf, guardPassed, posting, press, signIn, standing } from '../../lib/pages.js';
import { hold } from '../../lib/letters.js';

const test = base.extend({
  // A desk on a loopback address is “localhost” for passkeys: they take a name.
  baseURL: async ({ desk }, use) => {
    await use(desk.url.replace('127.0.0.1', 'localhost'));
  },
  extras: async ({}, use) => {
    await use((upstream) => ({
      more: `
[[action]]
name = "pay_out"
title = "Pay out"
description = "Pays money out."
effect = "external"
undo_window = "0s"
step_up = true
credential = "office"
input = { type = "object", required = ["to"], additionalProperties = false, properties = { to = { type = "string" } } }
request = { method = "POST", url = "http://${upstream.host}/messages", json = "{{ input }}" }
preview = { title = "Pay {{ input.to }}", target = "{{ input.to }}" }
`,
    }));
  },
});

/** An authenticator that is built in, and says yes for whoever looks like its owner. */
async function authenticator(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', { options });
  return {
    answers: (isUserVerified) => session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    count: async () => (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
  };
}

const list = (page) => page.getByRole('list', { name: 'Passkeys' }).getByRole('listitem');

async function add(page, name) {
  await page.goto('/account');
  await page.getByRole('textbox', { name: 'Name of a new passkey' }).fill(name);
  await posting(page, () => page.getByRole('button', { name: 'Add a passkey' }).click());
  await expect(page.getByRole('status').filter({ hasText: 'The passkey was added.' })).toBeVisible();
}

const pay = (agent) => hold(agent, { action: 'pay_out', input: { to: 'Northwind' } });

test('one is added, signs in, is renamed and removed', async ({ page, ann }) => {
  const key = await authenticator(page);
  await signIn(page, ann);
  await add(page, 'Work laptop <b>');
  await expect(list(page)).toHaveCount(1);
  await expect(list(page)).toContainText('Work laptop <b>');
  expect(await key.count()).toBe(1);
  // The same authenticator takes no second one.
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await expect(page.getByText('there is a passkey of yours on it already')).toBeVisible();

  await list(page).getByText('Rename').first().click();
  await list(page).getByRole('textbox', { name: 'New name' }).fill('Blue laptop');
  await posting(page, () => list(page).getByRole('button', { name: /^Rename/ }).click());
  await expect(list(page)).toContainText('Blue laptop');

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.goto('/sign-in?next=/account');
  await key.answers(false);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await expect(page.getByText('No passkey was used')).toBeVisible();
  await key.answers(true);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await expect(page).toHaveURL(/\/account$/);
  await expect(list(page)).toContainText('last used');

  await list(page).getByText('Remove').first().click();
  await posting(page, () => list(page).getByRole('button', { name: /^Remove it/ }).click());
  await expect(page.getByText('You have no passkey.')).toBeVisible();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await expect(page.getByRole('alert')).toContainText('This passkey is not known here');
  await expect(page).toHaveURL(/\/do\/passkey-sign-in$/);
});

test('a call is confirmed with one, and with nothing else', async ({ page, desk, ann, agent, upstream }) => {
  const key = await authenticator(page);
  await signIn(page, ann);
  const first = await pay(agent);
  await page.goto(`/inbox/${first.id}`);
  await expect(page.getByRole('button', { name: /^Confirm/ })).toHaveCount(0);
  await expect(page.getByText('you have none')).toBeVisible();
  // Over the API it says where.
  const token = await desk.addToken(ann);
  const [{ preview }] = await token.list('/v1/approvals');
  const refused = await token.ask('POST', `/v1/calls/${first.id}/decision`, { decision: 'confirm', preview_version: preview.version });
  expect(refused.status).toBe(403);
  expect(refused.json.code).toBe('step_up_required');
  expect(refused.json.context.approve_url).toBe(`${desk.url}/inbox/${first.id}`);
  await decline(page);
  await expectStanding(page, `/inbox/${first.id}`, 'Declined');

  await add(page, 'Laptop');
  const cookies = async () => (await page.context().cookies()).map(({ value }) => value).join();
  const before = await cookies();
  const second = await pay(agent);
  await page.goto(`/inbox/${second.id}`);
  // Posted without its script, it is refused.
  const { action, fields } = await formOf(page.getByRole('button', { name: /^Confirm/ }));
  const plain = await page.request.post(action, { form: fields, headers: { origin: new URL(action).origin } });
  expect([403, 422]).toContain(plain.status());
  await key.answers(false);
  await guardPassed();
  await page.getByRole('button', { name: /^Confirm/ }).click();
  await expect(page.getByText('No passkey was used, and nothing was done.')).toBeVisible();
  expect(upstream.messages).toHaveLength(0);
  await key.answers(true);
  await guardPassed();
  const decided = page.waitForResponse((answer) => answer.url().endsWith('/do/decide'));
  await page.getByRole('button', { name: /^Confirm.*with a passkey$/ }).click();
  await decided;
  await expect(standing(page, 'Sent')).toBeVisible();
  expect(await cookies()).not.toBe(before);
  await page.getByRole('link', { name: /receipt stands/ }).click();
  await expect(page.getByRole('main')).toContainText('with a passkey');
});

test('an override takes one too, also in a browser that knows no JSON of passkeys', async ({ page, desk, agent, upstream }) => {
  await page.addInitScript(() => {
    delete PublicKeyCredential.parseCreationOptionsFromJSON;
    delete PublicKeyCredential.parseRequestOptionsFromJSON;
    delete PublicKeyCredential.prototype.toJSON;
  });
  await authenticator(page);
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  const { id } = await pay(agent);
  await page.goto(`/inbox/${id}/override`);
  await expect(page.getByText('Overriding this takes a passkey, and you have none.')).toBeVisible();
  await expect(page.getByRole('button', { name: /^Override/ })).toHaveCount(0);
  await add(page, 'Key');
  await page.goto(`/inbox/${id}/override`);
  // Without words it is refused before a passkey is asked for.
  await press(page, /^Override.*with a passkey$/);
  await expect(page.getByRole('textbox', { name: 'Reason' })).toHaveAttribute('aria-invalid', 'true');
  expect(upstream.messages).toHaveLength(0);
  await page.getByRole('textbox', { name: 'Reason' }).fill('Ann is on a plane.');
  await guardPassed();
  const overridden = page.waitForResponse((answer) => answer.url().endsWith('/do/override'));
  await page.getByRole('button', { name: /^Override.*with a passkey$/ }).click();
  await overridden;
  await expectStanding(page, `/inbox/${id}`, 'Sent');
  await page.goto('/journal');
  await expect(page.getByRole('row').filter({ hasText: 'overridden by an operator, with a passkey' })).toBeVisible();
});
