// Tenants and groups: an admin's pages, and where a form runs.
import { test, expect } from '../../lib/fixtures.js';
import { open, posting, signIn } from '../../lib/pages.js';

const section = (page, name) => page.getByRole('region', { name, exact: true });
const click = (page, target) => posting(page, () => target.click());

for (const [what, noun, add] of [['tenants', 'tenant', 'Add a tenant'], ['groups', 'group', 'Add a group']]) {
  test(`an admin makes ${what}, and puts people in and out`, async ({ page, desk, ann }) => {
    await signIn(page, await desk.addPerson('Ada', 'admin'));
    await open(page, 'People');
    await page.getByRole('navigation', { name: 'People' }).getByRole('link', { name: what, exact: false }).click();
    await expect(page.getByRole('heading', { level: 1, name: what, exact: false })).toBeVisible();

    const fresh = section(page, add);
    await fresh.getByLabel('Name').fill('north wing');
    await fresh.getByLabel('Email').fill('nobody@house.test');
    await click(page, fresh.getByRole('button', { name: add }));
    await expect(fresh.getByLabel('Name')).toHaveAccessibleDescription(/letters, digits/);
    await expect(fresh.getByLabel('Email')).toHaveAccessibleDescription(/nobody with this address/);
    await expect(fresh.getByLabel('Name')).toHaveValue('north wing');
    await fresh.getByLabel('Name').fill('north');
    await fresh.getByLabel('Email').fill(ann.email);
    await click(page, fresh.getByRole('button', { name: add }));
    await expect(section(page, 'north').getByRole('listitem')).toContainText([ann.email]);

    const north = section(page, 'north');
    await north.getByLabel('Email').fill('ghost@house.test');
    await click(page, north.getByRole('button', { name: 'Add to north' }));
    await expect(north.getByLabel('Email')).toHaveAccessibleDescription(/nobody with this address/);
    await expect(north.getByLabel('Email')).toHaveValue('ghost@house.test');
    await north.getByLabel('Email').fill('ada@house.test');
    await click(page, north.getByRole('button', { name: 'Add to north' }));
    await expect(north.getByRole('listitem')).toHaveCount(2);
    await click(page, north.getByRole('button', { name: 'Remove Ann from north' }));
    await expect(north.getByRole('listitem')).toHaveCount(1);
    expect((await desk.command([noun, 'list'])).items).toMatchObject([{ name: 'north', members: ['ada@house.test'] }]);

    await north.getByText(`Remove this ${noun}`).click();
    await expect(north.getByRole('listitem').filter({ hasText: '1 person is in it' })).toBeVisible();
    await click(page, north.getByRole('button', { name: 'Remove north' }));
    await expect(north).toHaveCount(0);
    expect((await desk.command([noun, 'list'])).items).toEqual([]);
  });
}

test('for everybody else there are no such pages', async ({ page, desk, ann }) => {
  for (const person of [ann, await desk.addPerson('Olga', 'operator')]) {
    await page.context().clearCookies();
    await signIn(page, person);
    for (const address of ['/people/tenants', '/people/groups']) {
      expect((await page.goto(address)).status(), `${person.name} ${address}`).toBe(404);
    }
  }
});

test('an action of a tenant is run in it, by its members alone', async ({ page, desk, ann }) => {
  await signIn(page, ann, '/run');
  await expect(page.getByRole('link', { name: /Tidy a shelf/ })).toHaveCount(0);
  expect((await page.goto('/run/tidy_shelf')).status()).toBe(404);

  await desk.command(['tenant', 'add', '--name', 'north', '--person', ann.email]);
  await page.goto('/run');
  await page.getByRole('link', { name: /Tidy a shelf/ }).click();
  await expect(page.getByRole('main')).toContainText('Runs in the tenant north');
  await expect(page.getByRole('combobox')).toHaveCount(0);

  await desk.command(['tenant', 'add', '--name', 'south', '--person', ann.email]);
  await page.reload();
  await page.getByRole('combobox', { name: 'Tenant' }).selectOption('south');
  await click(page, page.getByRole('button', { name: 'Preview' }));
  await expect(page.getByLabel('Shelf')).toHaveAccessibleDescription(/required/);
  await expect(page.getByRole('combobox', { name: 'Tenant' })).toHaveValue('south');
  await page.getByLabel('Shelf').fill('12');
  await click(page, page.getByRole('button', { name: 'Preview' }));
  await expect(page.getByRole('heading', { level: 1, name: 'Tidy shelf 12' })).toBeVisible();
  await expect(page.getByRole('main')).toContainText('tenant south');

  // Where the tenant changes nothing, nobody is asked.
  await page.goto('/run/send_mail');
  await expect(page.getByRole('combobox', { name: 'Tenant' })).toHaveCount(0);
});
