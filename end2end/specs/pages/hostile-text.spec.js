// Whatever an agent writes, a person sees what it is; what is sent is never altered.
import { test, expect } from '../../lib/fixtures.js';
import { hold, letter } from '../../lib/letters.js';
import { confirm, expectStanding, signIn } from '../../lib/pages.js';

const hostile = [
  { what: 'a right-to-left override', body: 'pay \u202Edrawkcab now', chip: 'U+202E' },
  { what: 'a zero-width space', body: 'pay\u200Bpal', chip: 'U+200B' },
  { what: 'a tag character', body: 'harmless\u{E0041}', chip: 'U+E0041' },
  { what: 'an escape sequence', body: 'red \u001B[31malert', chip: 'U+001B' },
];

for (const { what, body, chip } of hostile) {
  test(`${what} is shown as a labelled chip and sent unaltered`, async ({ page, upstream, ann, agent }) => {
    const { url } = await hold(agent, { input: letter({ body }) });
    await signIn(page, ann);
    await page.goto(url);
    await expect(page.getByRole('region', { name: 'Preview' })).toContainText(chip);
    const shown = await page.getByRole('main').innerText();
    for (const character of body.match(/[\p{Cf}\p{Cc}]/gu)) expect(shown).not.toContain(character);
    await confirm(page);
    await expectStanding(page, url, 'Sent');
    expect(upstream.messages[0].body).toBe(body);
  });
}

test('HTML and Markdown are text', async ({ page, ann, agent }) => {
  const subject = '<img src=x id=pwned onerror="document.title=1"> [a](https://evil.example)';
  const body = '</textarea></title><script id="pwned">document.title = "pwned"</script><form id="pwned"><button>Confirm</button></form>';
  const { url } = await hold(agent, { input: letter({ subject, body }) });
  await signIn(page, ann);
  await page.goto(url);
  const preview = page.getByRole('region', { name: 'Preview' });
  await expect(preview).toContainText(subject);
  await expect(preview).toContainText(body);
  await expect(page.locator('#pwned')).toHaveCount(0);
  await expect(page.locator('a[href*="evil.example"]')).toHaveCount(0);
  await expect(page.getByRole('button', { name: /^Confirm/ })).toHaveCount(1);
  await expect(page).not.toHaveTitle(/pwned/);
});

test('a long body is shown whole', async ({ page, ann, agent }) => {
  const body = `${'word '.repeat(4000)}and the end.`;
  const { url } = await hold(agent, { input: letter({ body }) });
  await signIn(page, ann);
  await page.goto(url);
  const field = page.getByRole('region', { name: 'Preview' }).getByText('and the end.').first();
  await expect(field).toBeVisible();
});
