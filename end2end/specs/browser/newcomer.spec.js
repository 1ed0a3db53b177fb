// A newcomer's first command ends in an inbox with something to confirm.
import { readdir } from 'node:fs/promises';
import { test as base, expect } from '@playwright/test';
import { Client } from '../../lib/agent.js';
import { Demo } from '../../lib/demo.js';
import { request } from '../../lib/http.js';
import { confirm, expectStanding, open, receipts, signIn } from '../../lib/pages.js';
import { until } from '../../lib/wait.js';

const test = base.extend({
  demo: async ({}, use) => {
    const demo = await Demo.start();
    await use(demo);
    await demo.stop();
  },
  baseURL: async ({ demo }, use) => use(demo.url),
});

test('something to confirm, and Confirm makes it happen upstream', async ({ page, demo }) => {
  const ann = demo.person('ann@demo.test');
  await signIn(page, ann);
  await expect(async () => {
    await page.goto('/inbox');
    await expect(page.getByRole('list', { name: 'Held calls' }).getByRole('link').first()).toBeVisible({ timeout: 500 });
  }).toPass({ timeout: 30_000 });

  // One that leaves the house and asks for nothing to be typed.
  const person = new Client(demo.url, ann.token);
  const [call] = (await person.list('/v1/approvals')).filter(({ effect }) => effect === 'external');
  const url = `${demo.url}/inbox/${call.id}`;
  const upstream = async () => (await request(demo.upstream_url)).text;
  const before = await upstream();
  await page.goto(url);
  await expect(page.getByRole('heading', { name: call.preview.title })).toBeVisible();
  await confirm(page);
  await expectStanding(page, url, 'Sent');
  await until('the record upstream', async () => (await upstream()) !== before);

  await open(page, 'Done');
  const [top] = await receipts(page);
  expect(top).toMatchObject({ Method: call.preview.request.method, 'Host and path': `${call.preview.request.host}${call.preview.request.path}`, 'Approved by': 'You' });
});

test('everybody who is announced can sign in, and every key works', async ({ browser, demo }) => {
  expect(demo.people.map(({ email }) => email)).toEqual(expect.arrayContaining(['ann@demo.test', 'max@demo.test', 'olga@demo.test']));
  for (const person of demo.people) {
    const context = await browser.newContext({ baseURL: demo.url });
    await signIn(await context.newPage(), person);
    await context.close();
    expect((await new Client(demo.url, person.token).get('/v1/receipts')).status).toBe(200);
  }
  expect(demo.agents.length).toBeGreaterThanOrEqual(2);
  for (const { key } of demo.agents) {
    const actions = await new Client(demo.url, key).list('/v1/actions');
    expect(actions.length).toBeGreaterThan(0);
  }
  // It leaves nothing where it was started.
  expect(await readdir(demo.folder)).toEqual([]);
});
