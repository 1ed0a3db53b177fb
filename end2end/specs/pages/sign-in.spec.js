// The door for people.
import { test, expect } from '../../lib/fixtures.js';
import { signIn } from '../../lib/pages.js';

test('signed out, every page leads to the sign-in and back', async ({ page, desk, ann }) => {
  for (const address of ['/inbox', '/done', `/people/${ann.id}/receipts`]) {
    await page.goto(address);
    const { pathname, searchParams } = new URL(page.url());
    expect(pathname).toBe('/sign-in');
    expect(searchParams.get('next')).toBe(address);
  }
  await signIn(page, ann, page.url());
  await expect(page).toHaveURL(`${desk.url}/people/${ann.id}/receipts`);
});

test('a wrong password keeps the email, says so, and signs nobody in', async ({ page, ann }) => {
  await page.goto('/sign-in');
  await page.getByRole('textbox', { name: 'Email' }).fill(ann.email);
  await page.getByRole('textbox', { name: 'Password' }).fill('wrong horse');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Email' })).toHaveValue(ann.email);
  await expect(page.getByRole('textbox', { name: 'Password' })).toHaveValue('');
  expect(page.url()).not.toContain(ann.email);
  expect(page.url()).not.toContain('horse');
  await page.goto('/inbox');
  await expect(page).toHaveURL(/\/sign-in/);
});

test('an unknown email and a wrong password are told the same', async ({ page, ann }) => {
  const said = [];
  for (const email of [ann.email, 'nobody@house.test']) {
    await page.goto('/sign-in');
    await page.getByRole('textbox', { name: 'Email' }).fill(email);
    await page.getByRole('textbox', { name: 'Password' }).fill('wrong horse');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    said.push(await page.getByRole('alert').innerText());
  }
  expect(said[1]).toBe(said[0]);
});

test('after too many failures a try has to wait, and says for how long', async ({ page, ann }) => {
  const tried = async (password) => {
    await page.goto('/sign-in');
    await page.getByRole('textbox', { name: 'Email' }).fill(ann.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    const answered = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    return answered;
  };
  for (let failures = 0; failures < 5; failures += 1) expect((await tried('wrong horse')).status()).toBe(422);
  const answer = await tried(ann.password);
  expect(answer.status()).toBe(429);
  expect(Number(answer.headers()['retry-after'])).toBeGreaterThan(0);
  await expect(page.getByRole('alert')).toContainText('This one was not looked at');
  await expect(page.getByRole('textbox', { name: 'Email' })).toHaveValue(ann.email);
  await page.goto('/inbox');
  await expect(page).toHaveURL(/\/sign-in/);
});

for (const next of ['//evil.example/', '/\\evil.example/', 'https://evil.example/', '/\t/evil.example/', 'javascript:alert(1)']) {
  test(`next=${JSON.stringify(next)} leads nowhere else`, async ({ page, desk, ann }) => {
    await signIn(page, ann, `/sign-in?next=${encodeURIComponent(next)}`);
    expect(new URL(page.url()).origin).toBe(desk.url);
    await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
  });
}

test('signing out ends the session on the server', async ({ page, desk, ann, request }) => {
  await signIn(page, ann);
  const before = await page.context().cookies();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.goto('/inbox');
  await expect(page).toHaveURL(/\/sign-in/);
  // The old cookie is worth nothing any more.
  const Cookie = before.map(({ name, value }) => `${name}=${value}`).join('; ');
  const answer = await request.get(`${desk.url}/inbox`, { headers: { Cookie }, maxRedirects: 0 });
  expect(answer.headers().location).toMatch(/\/sign-in/);
});

test('the session cookie is out of reach of scripts and other sites', async ({ page, ann }) => {
  await signIn(page, ann);
  const cookies = await page.context().cookies();
  expect(cookies).toHaveLength(1);
  expect(cookies[0]).toMatchObject({ httpOnly: true, path: '/' });
  expect(['Lax', 'Strict']).toContain(cookies[0].sameSite);
});
