// One story, told by every client that agents are built with, each on its own terms: a client that can show its person a page
// waits in the same call; the others are told NOT DONE and ask call_status.
import { test, expect } from '../../lib/fixtures.js';
import { CLIENTS } from '../../lib/clients.js';
import { declineCall } from '../../lib/decision.js';
import { letter } from '../../lib/letters.js';
import { confirm, signIn, standing } from '../../lib/pages.js';

/** A mail that nobody has time to decide. */
const BRIEF = (host) => `
[[action]]
name = "send_brief"
title = "Send a mail at once or not at all"
description = "Sends one mail, or lapses after a second."
effect = "external"
credential = "office"
hold_ttl = "1s"
input = { type = "object", required = ["to"], additionalProperties = false, properties = { to = { type = "string" } } }
request = { method = "POST", url = "http://${host}/messages", json = "{{ input }}" }
preview = { title = "Mail to {{ input.to }}" }
`;

test.use({ extras: async ({}, use) => use(({ host }) => ({ more: BRIEF(host) })) });

for (const { name, pages, connect } of CLIENTS) {
  test(`${name}: lists, reads, and waits for a person who confirms, declines or does nothing`, async ({ page, desk, upstream, ann, agent }) => {
    test.slow(); // some clients take seconds to start, and the inspector starts for every request
    const person = await desk.addToken(ann);
    await signIn(page, ann);
    const shown = [];
    let decide;
    const client = await connect(agent, {
      home: desk.folder,
      page: (url) => {
        shown.push(url);
        decide(url);
      },
    });

    /** Asks for a write; `act` is what its person does with its page while the client waits. Gives what the client was told. */
    const wait = async (tool, args, act) => {
      let acting;
      decide = (url) => (acting = act(new URL(url).pathname.split('/').at(-1)));
      let ended = await client.call(tool, args);
      if (!pages) {
        expect(ended).toMatchObject({ error: true, structured: null, call: { status: 'held' } });
        expect(ended.words).toContain('NOT DONE');
        expect(ended.words).toContain(`${desk.url}/inbox/${ended.call.id}`);
        const asked = client.call('call_status', { call_id: ended.call.id, wait_seconds: 25 });
        decide(`${desk.url}/inbox/${ended.call.id}`);
        const { structured, words } = await asked;
        ended = { ...ended, call: structured, words };
      }
      await acting;
      return ended;
    };

    expect(client.names).toEqual([...(await agent.list('/v1/actions')).map((action) => action.name), 'call_status']);
    expect(await client.call('count_messages', {})).toMatchObject({ error: false, structured: { count: 0 } });

    const mail = { ...letter(), idempotency_key: 'first' };
    const done = await wait('send_mail', mail, async (id) => {
      expect(upstream.writes).toBe(0);
      await page.goto(`/inbox/${id}`);
      await confirm(page);
      await expect(standing(page, 'Sent')).toBeVisible();
    });
    expect(done.call).toMatchObject({ status: 'done', executed: true, result: { id: 'm1' } });
    if (pages) expect(done).toMatchObject({ error: false, structured: { id: 'm1' } });

    const again = await client.call('send_mail', mail);
    expect(again).toMatchObject({ error: false, structured: { id: 'm1' }, call: { replayed: true } });

    const no = await wait('send_mail', letter({ subject: 'Once more' }), (id) => declineCall(person, id, 'Not to this address.'));
    expect(no.call).toMatchObject({ status: 'declined', executed: false, decline_reason: 'Not to this address.' });
    expect(no.words).toContain('NOT DONE');
    expect(no.words).toContain('Not to this address.');

    const late = await wait('send_brief', { to: 'bo' }, async () => {});
    expect(late.call).toMatchObject({ status: 'expired', executed: false, problem: { code: 'expired' } });
    expect(late.words).toContain('NOT DONE');

    expect(upstream.writes).toBe(1);
    expect(shown.length).toBe(pages ? 3 : 0);
    if (pages) expect(shown[0]).toBe(`${desk.url}/inbox/${done.call.id}`);
    await client.stop();
  });
}
