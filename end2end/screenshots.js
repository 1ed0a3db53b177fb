// Makes the pictures of the README from the demo: docs/screenshots. Run after `cargo build`: node end2end/screenshots.js
import { fileURLToPath } from 'node:url';
import { chromium, expect } from '@playwright/test';
import config from './playwright.config.js';
import { Client } from './lib/agent.js';
import { confirmCall } from './lib/decision.js';
import { Demo } from './lib/demo.js';
import { guardPassed, open, signIn } from './lib/pages.js';
import { until } from './lib/wait.js';

const folder = fileURLToPath(new URL('../docs/screenshots/', import.meta.url));
const laptop = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };

const demo = await Demo.start();
const browser = await chromium.launch(config.use.launchOptions);
try {
  const ann = demo.person('ann@demo.test');
  const person = new Client(demo.url, ann.token);
  const held = () => person.list('/v1/approvals');
  await until('several held calls', async () => (await held()).length >= 3, 60_000);

  await picture('inbox', { viewport: laptop, colorScheme: 'light' }, openFirst);
  await picture('phone', { viewport: phone, colorScheme: 'light', deviceScaleFactor: 2 }, openFirst);
  // Something has to have been done before there is a Done page to show.
  for (const { id } of (await held()).filter(({ effect }) => effect !== 'destructive').slice(0, 2)) {
    await confirmCall(person, id, { Prefer: 'wait=20' });
  }
  await picture('done-dark', { viewport: laptop, colorScheme: 'dark' }, (page) => open(page, 'Done'));

  async function openFirst(page) {
    const link = page.getByRole('list', { name: 'Held calls' }).getByRole('link').first();
    await link.click();
    await expect(page.getByRole('region', { name: 'Preview' })).toBeVisible();
    await guardPassed(); // the buttons as they are when they listen
    await expect(page.locator('[data-arming]')).toHaveCount(0);
  }

  async function picture(name, options, visit) {
    const context = await browser.newContext({ baseURL: demo.url, locale: 'en-GB', ...options });
    const page = await context.newPage();
    await signIn(page, ann);
    await visit(page);
    await page.screenshot({ path: `${folder}${name}.png` });
    await context.close();
    console.log(`${folder}${name}.png`);
  }
} finally {
  await browser.close();
  await demo.stop();
}
