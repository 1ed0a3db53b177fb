// A form made from the schema: every kind of field, lists and nested objects, with and without JavaScript.
import { test, expect } from '../../lib/fixtures.js';
import { confirm, expectStanding, posting, signIn } from '../../lib/pages.js';

const add = (page, list) => posting(page, () => page.getByRole('button', { name: `Add one to ${list}`, exact: true }).click());
const remove = (page, row) => posting(page, () => page.getByRole('button', { name: `Remove ${row}`, exact: true }).click());
const preview = (page) => posting(page, () => page.getByRole('button', { name: 'Preview' }).click());
const box = (page, name) => page.getByRole('textbox', { name, exact: true });
const line = (page, number) => page.getByRole('group', { name: `Line ${number}`, exact: true });

test.beforeEach(async ({ page, ann }) => {
  await signIn(page, ann, '/run/order_goods');
});

test('every kind of field arrives as the JSON it stands for', async ({ page, upstream }) => {
  await page.getByLabel('Due').fill('2026-12-24');
  await page.getByRole('combobox', { name: 'Speed' }).selectOption('fast');
  await page.getByLabel('Budget').fill('99.5');
  await page.getByLabel('Wrap it as a gift').check();
  await page.getByLabel('Note').fill('Ring twice.\nThen wait.');
  await add(page, 'Copies to');
  await box(page, 'Copies to 1').fill('ann@house.test');
  await page.getByLabel('Street').fill('Mill Lane 4');
  await page.getByLabel('City').fill('Bath');
  await line(page, 1).getByLabel('Article').fill('Cups');
  await line(page, 1).getByLabel('Count').fill('12');
  await page.getByLabel('Extra').fill('{"pallets": [1, 2]}');
  await preview(page);
  await expect(page.getByRole('heading', { level: 1, name: 'Order for Mill Lane 4' })).toBeVisible();
  expect(upstream.writes).toBe(0);
  const address = page.url();
  await confirm(page);
  await expectStanding(page, address, 'Sent');
  expect(upstream.messages).toEqual([{
    due: '2026-12-24', speed: 'fast', budget: 99.5, gift: true, note: 'Ring twice.\nThen wait.', copies: ['ann@house.test'],
    address: { street: 'Mill Lane 4', city: 'Bath' }, lines: [{ article: 'Cups', count: 12 }], extra: { pallets: [1, 2] },
  }]);
});

test('rows are added and removed, and nothing that was typed is lost', async ({ page }) => {
  await page.getByLabel('Street').fill('Mill "Lane" </textarea>');
  await page.getByLabel('Note').fill('first\nsecond');
  await page.getByLabel('Wrap it as a gift').check();
  await line(page, 1).getByLabel('Article').fill('Cups');
  await add(page, 'Lines');
  // The caret stands where one goes on.
  await expect(line(page, 2).getByLabel('Article')).toBeFocused();
  await expect(line(page, 2).getByLabel('Count')).toHaveValue('1');
  await line(page, 2).getByLabel('Article').fill('Plates');
  await add(page, 'Lines');
  await line(page, 3).getByLabel('Article').fill('Forks');
  await posting(page, () => line(page, 3).getByRole('button', { name: 'Add one to Marks' }).click());
  await box(page, 'Marks 1').fill('fragile');
  await remove(page, 'Line 2');
  await expect(line(page, 3)).toHaveCount(0);
  await expect(line(page, 1).getByLabel('Article')).toHaveValue('Cups');
  await expect(line(page, 2).getByLabel('Article')).toHaveValue('Forks');
  await expect(line(page, 2).getByLabel('Marks 1')).toHaveValue('fragile');
  await expect(page.getByLabel('Street')).toHaveValue('Mill "Lane" </textarea>');
  await expect(page.getByLabel('Note')).toHaveValue('first\nsecond');
  await expect(page.getByLabel('Wrap it as a gift')).toBeChecked();
  // Nothing of it went through the address.
  expect(new URL(page.url()).search).toBe('');
});

test('a list takes no more rows than the schema allows', async ({ page }) => {
  for (let rows = 0; rows < 3; rows += 1) await add(page, 'Copies to');
  await expect(page.getByRole('button', { name: 'Add one to Copies to' })).toHaveCount(0);
  await remove(page, 'Copies to 2');
  await expect(page.getByRole('button', { name: 'Add one to Copies to' })).toBeFocused();
});

test('every fault stands beside its field, however deep, and what was typed is kept', async ({ page, upstream }) => {
  await page.getByLabel('Budget').fill('much');
  await page.getByLabel('Street').fill('x');
  await line(page, 1).getByLabel('Article').fill('Cups');
  await add(page, 'Lines');
  await line(page, 2).getByLabel('Article').fill('y');
  await line(page, 2).getByLabel('Count').fill('0');
  await add(page, 'Copies to');
  await preview(page);
  await expect(page.getByRole('alert')).toContainText('Nothing was done');
  const wrong = {
    Budget: 'This has to be a number.',
    Street: 'at least 3 characters',
    City: 'This field is required.',
    'Copies to 1': 'Fill this in, or remove it.',
  };
  for (const [label, message] of Object.entries(wrong)) {
    await expect(page.getByLabel(label, { exact: true })).toHaveAccessibleDescription(new RegExp(message));
    await expect(page.getByLabel(label, { exact: true })).toHaveAttribute('aria-invalid', 'true');
  }
  await expect(line(page, 2).getByLabel('Article')).toHaveAccessibleDescription(/at least 2 characters/);
  await expect(line(page, 2).getByLabel('Count')).toHaveAccessibleDescription(/at least 1/);
  await expect(line(page, 1).getByLabel('Article')).not.toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByLabel('Budget')).toHaveValue('much');
  await expect(line(page, 2).getByLabel('Count')).toHaveValue('0');
  expect(upstream.writes).toBe(0);
  // Each is listed at the top, with the way there.
  await expect(page.getByRole('alert').getByRole('listitem')).toHaveCount(6);
  await page.getByRole('alert').getByRole('link', { name: 'Line 2, Count' }).click();
  await expect(page).toHaveURL(/#field-lines-1-count$/);
  await expect(line(page, 2).getByLabel('Count')).toBeInViewport();

  // Mended, it goes on.
  await page.getByLabel('Budget').fill('');
  await page.getByLabel('Street').fill('Mill Lane 4');
  await page.getByLabel('City').fill('Bath');
  await remove(page, 'Line 2');
  await remove(page, 'Copies to 1');
  await preview(page);
  await expect(page.getByRole('button', { name: /^Confirm/ })).toBeVisible();
});

test('Enter in a text box previews and adds no row', async ({ page }) => {
  await page.getByLabel('City').fill('Bath');
  await posting(page, () => page.getByLabel('City').press('Enter'));
  await expect(page.getByRole('alert')).toBeVisible();
  await expect(line(page, 2)).toHaveCount(0);
});

test('JSON that is none is told beside its field', async ({ page }) => {
  await page.getByLabel('Extra').fill('{');
  await preview(page);
  await expect(page.getByLabel('Extra')).toHaveAccessibleDescription(/This is not JSON/);
  await expect(page.getByLabel('Extra')).toHaveValue('{');
});
