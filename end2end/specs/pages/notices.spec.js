// The page of notices: how and when somebody is told, in which browsers, and a test.
import { test as base, expect } from '../../lib/fixtures.js';
import { posting, signIn } from '../../lib/pages.js';
import { BrowserKeys, MailServer, Receiver } from '../../lib/receivers.js';

const test = base.extend({
  mail: async ({}, use) => {
    const mail = await MailServer.start();
    await use(mail);
    mail.stop();
  },
  push: async ({}, use) => {
    const push = await Receiver.start();
    await use(push);
    push.stop();
  },
  extras: async ({ mail }, use) => {
    const more = `
[notices]
allow_http = true
allow_private = true

[mail]
smtp = "smtp://${mail.address}"
from = "Countersign <desk@house.test>"
allow_plain = true
`;
    await use(() => ({ more }));
  },
});

const press = (page, name) => posting(page, () => page.getByRole('button', { name, exact: true }).click());

/** Signs in and goes to the page of notices. */
async function open(page, person) {
  await signIn(page, person, '/sign-in?next=/account/notices');
  await expect(page.getByRole('heading', { level: 1, name: 'Notices' })).toBeVisible();
}

test('choices are kept, and what is wrong stands beside its field', async ({ page, ann }) => {
  await open(page, ann);
  await expect(page.getByRole('checkbox', { name: 'By mail' })).toBeChecked();
  await expect(page.getByRole('checkbox', { name: 'By mail' })).toHaveAccessibleDescription(ann.email);
  await page.getByRole('checkbox', { name: 'By mail' }).uncheck();
  await page.getByLabel('From').fill('22:00');
  await press(page, 'Save');
  await expect(page.getByRole('alert')).toContainText('Nothing was changed');
  await expect(page.getByLabel('From')).toHaveAccessibleDescription(/Give both times/);
  await expect(page.getByLabel('From')).toHaveValue('22:00');
  await expect(page.getByRole('checkbox', { name: 'By mail' })).not.toBeChecked();
  await page.getByLabel('Until').fill('07:30');
  await press(page, 'Save');
  await expect(page.getByText('Saved.')).toBeVisible();
  await page.goto('/account/notices');
  await expect(page.getByLabel('From')).toHaveValue('22:00');
  await expect(page.getByLabel('Until')).toHaveValue('07:30');
  await expect(page.getByRole('checkbox', { name: 'By mail' })).not.toBeChecked();
  await press(page, 'Send a test notice');
  await expect(page.getByRole('alert')).toContainText('no way to tell you');
});

test('a test notice arrives by mail, and the page says so', async ({ page, mail, ann, desk }) => {
  await open(page, ann);
  await expect(page.getByText('You were told of nothing')).toBeVisible();
  await press(page, 'Send a test notice');
  const row = page.getByRole('table', { name: 'Latest notices' }).getByRole('row').nth(1);
  await expect(row).toContainText('Handed over');
  expect(mail.mails).toHaveLength(1);
  expect(mail.mails[0].to).toBe(ann.email);
  expect(mail.mails[0].text).toContain(`\r\n${desk.url}/inbox\r\n`);
});

test('signed out it asks for a sign-in', async ({ page, ann }) => {
  await page.goto('/account/notices');
  await expect(page).toHaveURL('/sign-in?next=/account/notices');
  await open(page, ann);
});

test('a browser is told, finds itself in the list, and is taken out again', async ({ page, push, ann, javaScriptEnabled }) => {
  if (!javaScriptEnabled) {
    await open(page, ann);
    await expect(page.getByText('open this page in one that runs scripts')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Tell me in this browser' })).toHaveCount(0);
    return;
  }
  const keys = new BrowserKeys();
  await pretend(page, `${push.url}/one`, keys);
  await open(page, ann);
  await press(page, 'Tell me in this browser');
  await expect(page.getByText('You are told in this browser from now on.')).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: '(this browser)' })).toContainText('Chrome on Linux');
  await press(page, 'Send a test notice');
  await expect(page.getByRole('table', { name: 'Latest notices' })).toContainText('Chrome on Linux');
  await expect.poll(() => push.posts.length).toBe(1);
  expect(keys.read(push.posts[0].body)).toMatchObject({ title: 'A test notice from Countersign', path: '/inbox' });
  await press(page, 'Stop telling me in this browser');
  await expect(page.getByText('No browser is told yet.')).toBeVisible();
  await press(page, 'Tell me in this browser');
  await press(page, 'Remove Chrome on Linux');
  await expect(page.getByText('No browser is told yet.')).toBeVisible();
});

test('the service worker shows what comes, and nothing else', async ({ page, context, desk, ann, javaScriptEnabled }) => {
  const answer = await page.request.get('/sw.js');
  expect(answer.headers()).toMatchObject({ 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' });
  const manifest = await (await page.request.get('/manifest.webmanifest')).json();
  expect(manifest).toMatchObject({ start_url: '/inbox', display: 'standalone' });
  for (const { src, sizes, type } of manifest.icons) {
    const icon = await page.request.get(src);
    expect(icon.status(), src).toBe(200);
    expect(icon.headers()['content-type'], sizes).toBe(type);
  }
  if (!javaScriptEnabled) return;
  await context.grantPermissions(['notifications'], { origin: desk.url });
  await open(page, ann);
  const session = await context.newCDPSession(page);
  const registered = new Promise((found) => session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    if (registrations.length) found(registrations[0].registrationId);
  }));
  await session.send('ServiceWorker.enable');
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  const data = JSON.stringify({ title: '2 calls wait for you', body: 'Since 09:30.', path: '/inbox', tag: 'waiting' });
  await session.send('ServiceWorker.deliverPushMessage', { origin: desk.url, registrationId: await registered, data });
  const shown = () => page.evaluate(async () => {
    const worker = await navigator.serviceWorker.ready;
    return (await worker.getNotifications()).map(({ title, body, data: { path } }) => ({ title, body, path }));
  });
  await expect.poll(shown).toEqual([{ title: '2 calls wait for you', body: 'Since 09:30.', path: '/inbox' }]);
});

/**
 * Gives the page a push service of the test's own: no browser here may ask one on the internet. What the page does with a
 * subscription, and what the desk sends there, is real.
 */
function pretend(page, endpoint, keys) {
  const given = { endpoint, p256dh: [...keys.p256dh], auth: [...keys.auth] };
  return page.addInitScript((given) => {
    const kept = 'a test: subscribed';
    const subscription = {
      endpoint: given.endpoint,
      getKey: (name) => Uint8Array.from(given[name]).buffer,
      unsubscribe: async () => (sessionStorage.removeItem(kept), true),
    };
    Notification.requestPermission = async () => 'granted';
    PushManager.prototype.getSubscription = async () => (sessionStorage.getItem(kept) ? subscription : null);
    PushManager.prototype.subscribe = async ({ applicationServerKey, userVisibleOnly }) => {
      if (!userVisibleOnly || applicationServerKey.length !== 65) throw new Error('no key of a desk');
      sessionStorage.setItem(kept, 'yes');
      return subscription;
    };
  }, given);
}
