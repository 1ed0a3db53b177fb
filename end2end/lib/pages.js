// What a person does on the pages, by role and name.
import { expect } from '@playwright/test';

/** Signs in and ends on the inbox, or where the sign-in was asked to lead. */
export async function signIn(page, person, address = '/sign-in') {
  await page.goto(address);
  await page.getByRole('textbox', { name: 'Email' }).fill(person.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(person.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible();
}

/** Goes to a page of the navigation and waits until it is there. */
export async function open(page, name) {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: new RegExp(`^${name}`) }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
}

/**
 * A button of a held call does nothing for half a second after it appears. A person reads that long; this is the one
 * place where a test lets time pass.
 */
export function guardPassed() {
  return new Promise((listening) => setTimeout(listening, 700));
}

/** Presses a button of a held call once it listens. */
export async function press(page, name) {
  const button = page.getByRole('button', { name });
  await button.scrollIntoViewIfNeeded();
  await guardPassed();
  await posting(page, () => button.click());
}

/** Does what posts a form, and waits for the answer: going elsewhere before would take the request back. */
export async function posting(page, act) {
  const answered = page.waitForResponse((answer) => answer.request().method() === 'POST');
  await act();
  await answered;
}

export const confirm = (page) => press(page, /^Confirm/);
export const decline = (page) => press(page, /^Decline/);

/** The line that says where a call stands. */
export function standing(page, word) {
  return page.getByRole('status').filter({ hasText: new RegExp(`^\\s*${word}`) });
}

/** Looks at a call's page until it stands there; without JavaScript a page does not change by itself. */
export async function expectStanding(page, address, word) {
  await expect(async () => {
    await page.goto(address);
    await expect(standing(page, word)).toBeVisible({ timeout: 500 });
  }).toPass({ timeout: 20_000 });
}

/** The receipts as the Done table shows them: one object per row, by column name. */
export async function receipts(page) {
  const table = page.getByRole('table', { name: 'Receipts' });
  const columns = await table.getByRole('columnheader').allInnerTexts();
  const rows = await table.getByRole('row').filter({ has: page.getByRole('cell') }).all();
  return Promise.all(
    rows.map(async (row) => {
      const cells = await row.getByRole('cell').or(row.getByRole('rowheader')).allInnerTexts();
      return Object.fromEntries(columns.map((column, index) => [column.trim(), cells[index].trim()]));
    }),
  );
}

/**
 * What pressing a button would post, so that a test can post it otherwise. Attributes are read by name: a field called
 * "action" would stand in front of the form's own property.
 * @returns {Promise<{action: string, fields: Record<string, string>}>}
 */
export async function formOf(button) {
  await expect(button).toBeEnabled(); // a disabled button would post without its own name
  return button.evaluate((element) => {
    const { form } = element;
    const action = element.getAttribute('formaction') ?? form.getAttribute('action') ?? '';
    return { action: new URL(action, document.baseURI).href, fields: Object.fromEntries(new FormData(form, element)) };
  });
}

/** The cookies of a signed-in browser, as a request sends them. */
export async function cookies(page) {
  return (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
}
