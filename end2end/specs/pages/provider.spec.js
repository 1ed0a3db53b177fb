// Signing in through a provider: a real one, on another site.
import { AxeBuilder } from '@axe-core/playwright';
import { test as base, expect } from '../../lib/fixtures.js';
import { Provider, SECRET, agree } from '../../lib/provider.js';

const test = base.extend({
  provider: async ({}, use) => {
    const provider = await Provider.start();
    await use(provider);
    await provider.stop();
  },
  /** What else stands in `[sign_in]`. */
  signIn: ['', { option: true }],
  extras: async ({ provider, signIn }, use) => {
    await use(() => ({ more: `${signIn}${provider.table()}`, env: { OIDC_SECRET: SECRET } }));
  },
});

const way = (page) => page.getByRole('link', { name: 'Sign in with House' });

async function groups(desk) {
  const { items } = await desk.command(['group', 'list']);
  return Object.fromEntries(items.map(({ name, members }) => [name, members]));
}

/** What axe finds in both colour schemes. */
async function expectAccessible(page) {
  if (test.info().project.use.javaScriptEnabled === false) return;
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id }) => id)).toEqual([]);
  }
}

test('a person signs in through the provider, and is in the groups that it says', async ({ page, desk, provider, ann }) => {
  provider.serve(desk.url);
  await desk.command(['group', 'add', '--name', 'gardeners-of-old', '--person', ann.email]);
  await page.goto('/run');
  await way(page).click();
  await agree(page, 'ann');
  await expect(page).toHaveURL(`${desk.url}/run`);
  await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
  expect(await groups(desk)).toEqual({ mailers: [ann.email], 'gardeners-of-old': [ann.email] });
  const kept = (await page.context().cookies(desk.url)).filter(({ name }) => name.startsWith('countersign'));
  expect(kept, 'the session alone').toHaveLength(1);
  expect(kept[0]).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
  await page.goto('/account');
  await expect(page.getByRole('region', { name: 'How you sign in' })).toContainText(provider.issuer);
  await expectAccessible(page);
  // They leave the team. The provider still knows them, so it asks nothing.
  provider.people.ann.teams = [];
  await page.getByRole('button', { name: 'Sign out' }).click();
  await way(page).click();
  await expect(page).toHaveURL(`${desk.url}/inbox`);
  expect(await groups(desk)).toEqual({ 'gardeners-of-old': [ann.email] });
});

test('whoever does not agree, or is not verified, is not signed in and told what to do', async ({ page, desk, provider, ann }) => {
  provider.serve(desk.url);
  await page.goto('/sign-in');
  await way(page).click();
  await page.getByRole('link', { name: 'Cancel' }).click();
  await expect(page.getByRole('alert')).toContainText('You are not signed in');
  expect(await page.content()).not.toContain('End-User');
  await expectAccessible(page);
  await way(page).click();
  await agree(page, 'eve');
  await expect(page.getByRole('alert')).toContainText('no account that you can use');
  // The same address again: it was used.
  await page.reload();
  await expect(page.getByRole('alert')).toContainText('was used before');
  await page.goto('/inbox');
  await expect(page).toHaveURL(/\/sign-in/);
  expect(desk.server.output).not.toMatch(/hush|code=|eyJ/);
  expect(ann.email).toBe(provider.people.eve.email);
});

test('a provider that is away, or does not know the desk, is told so', async ({ page, desk, provider }) => {
  const answered = page.waitForResponse((answer) => answer.url().includes('/sign-in/oidc'));
  await page.goto('/sign-in');
  await way(page).click();
  expect((await answered).status()).toBe(502);
  await expect(page.getByRole('alert')).toContainText('did not answer');
  expect(provider.issuer).toContain('localhost');
});

test.describe('with passwords switched off', () => {
  test.use({ signIn: '[sign_in]\npasswords = false\n' });

  test('there is no box for one, and none is taken', async ({ page, desk, provider, ann, request }) => {
    provider.serve(desk.url, 'another secret');
    await page.goto('/sign-in');
    await expect(way(page)).toBeVisible();
    await expect(page.getByRole('textbox')).toHaveCount(0);
    const posted = await request.post('/do/sign-in', {
      headers: { Origin: desk.url },
      form: { email: ann.email, password: ann.password },
      maxRedirects: 0,
    });
    expect(posted.status()).toBe(403);
    expect(await posted.text()).toContain('Passwords are switched off');
    // The secret is wrong: whoever runs the desk has to know, and nobody else.
    await way(page).click();
    await agree(page, 'ann');
    await expect(page.getByRole('alert')).toContainText('does not accept this desk');
    expect(desk.server.output).not.toContain(SECRET);
  });
});
