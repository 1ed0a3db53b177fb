// Being told outside the page: what a webhook and a mail say of a call that waits, and what they never say.
import { createHmac } from 'node:crypto';
import { test as base, expect } from '../../lib/fixtures.js';
import { hold, letter } from '../../lib/letters.js';
import { MailServer, Receiver } from '../../lib/receivers.js';
import { until } from '../../lib/wait.js';

const KEY = Buffer.from('0123456789abcdef0123456789abcdef');
const CANARY = 'canary-4711';

const test = base.extend({
  mail: async ({}, use) => {
    const mail = await MailServer.start();
    await use(mail);
    mail.stop();
  },
  hook: async ({}, use) => {
    const hook = await Receiver.start();
    await use(hook);
    hook.stop();
  },
  extras: async ({ mail, hook }, use) => {
    const more = `
[notices]
after = "1s"

[mail]
smtp = "smtp://${mail.address}"
from = "desk@house.test"
allow_plain = true

[[webhook]]
name = "hook"
url = "${hook.url}/hook"
secret = { env = "HOOK_SECRET" }
to = ["role:member"]
allow_http = true
allow_private = true
`;
    await use(() => ({ more, env: { HOOK_SECRET: `whsec_${KEY.toString('base64')}` } }));
  },
});

test('a call that waits is told of, signed and without its payload', async ({ agent, ann, desk, mail, hook }) => {
  const input = letter({ subject: CANARY, body: CANARY });
  const { id } = await hold(agent, { input });
  await until('a webhook and a mail', () => hook.posts.length > 0 && mail.mails.length > 0, 30_000);
  const [{ path, headers, body }] = hook.posts;
  expect(path).toBe('/hook');
  const signed = createHmac('sha256', KEY).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
  expect(headers['webhook-signature']).toBe(`v1,${signed.digest('base64')}`);
  expect(Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp']))).toBeLessThan(60);
  const told = JSON.parse(body.toString());
  expect(told).toMatchObject({ type: 'calls.waiting', data: { count: 1, url: `${desk.url}/inbox/${id}` } });
  expect(mail.mails[0].to).toBe(ann.email);
  expect(mail.mails[0].text).toContain(`${desk.url}/inbox/${id}`);
  for (const text of [body.toString(), mail.mails[0].text]) expect(text).not.toContain(CANARY);
  // The link asks for a sign-in, and looking decides nothing.
  const link = await fetch(told.data.url, { redirect: 'manual' });
  expect([link.status, link.headers.get('location')]).toEqual([303, `/sign-in?next=/inbox/${id}`]);
  expect((await agent.get(`/v1/calls/${id}`)).json.status).toBe('held');
});
