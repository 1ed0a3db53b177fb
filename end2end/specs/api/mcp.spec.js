// The Model Context Protocol with the TypeScript SDKs that agents are built with.
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall, declineCall } from '../../lib/decision.js';
import { letter } from '../../lib/letters.js';
import { connectNew, connectOld, facts, words } from '../../lib/mcp.js';

const CONNECT = { 'SDK 1, 2025-11-25': connectOld, 'SDK 2, 2026-07-28': connectNew };

for (const [name, connect] of Object.entries(CONNECT)) {
  test(`${name}: lists, reads, and a held write ends by call_status`, async ({ desk, upstream, ann, agent }) => {
    const person = await desk.addToken(ann);
    const client = await connect(agent);
    expect(client.getServerVersion()).toMatchObject({ name: 'countersign' });
    const { tools } = await client.listTools();
    const offered = (await agent.list('/v1/actions')).map((action) => action.name);
    expect(tools.map((tool) => tool.name)).toEqual([...offered, 'call_status']);
    expect(tools.find((tool) => tool.name === 'wipe_customer').annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });

    const read = await client.callTool({ name: 'count_messages', arguments: {} });
    expect(read.structuredContent).toEqual({ count: 0 });
    expect(words(read)).toBe('0 messages were sent.');

    const held = await client.callTool({ name: 'send_mail', arguments: { ...letter(), idempotency_key: 'one' } });
    expect(held.isError).toBe(true);
    expect(held.structuredContent).toBeUndefined();
    expect(words(held)).toContain('NOT DONE');
    expect(words(held)).toContain(`${desk.url}/inbox/${facts(held).id}`);
    expect(upstream.writes).toBe(0);

    const waiting = client.callTool({ name: 'call_status', arguments: { call_id: facts(held).id, wait_seconds: 25 } });
    await confirmCall(person, facts(held).id);
    const ended = await waiting;
    expect(ended.structuredContent).toMatchObject({ status: 'done', executed: true, result: { id: 'm1' } });
    expect(upstream.writes).toBe(1);

    const again = await client.callTool({ name: 'send_mail', arguments: { ...letter(), idempotency_key: 'one' } });
    expect(facts(again)).toMatchObject({ replayed: true });
    expect(upstream.writes).toBe(1);
    await client.close();
  });

  test(`${name}: a tool one may not see is an unknown tool`, async ({ desk, ann }) => {
    const client = await connect(await desk.addAgent('narrow-bot', ann, ['--toolset', 'count_messages']));
    const failure = async (name) => {
      const error = await client.callTool({ name, arguments: {} }).then(() => undefined, (error) => error);
      return { code: error?.code, message: error?.message };
    };
    expect(await failure('send_mail')).toEqual(await failure('no_such_tool'));
    expect((await failure('send_mail')).code).toBe(-32602);
    await client.close();
  });

  test(`${name}: a key that is not known is refused at the door`, async ({ desk, agent }) => {
    await expect(connect({ url: desk.url, token: `${agent.token}x` })).rejects.toThrow();
  });
}

test('SDK 2: shown the page, its person confirms, and the same call answers', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const asked = [];
  const client = await connectNew(agent, async ({ params }) => {
    asked.push(params);
    await confirmCall(person, params.url.split('/').at(-1));
    return { action: 'accept' };
  });
  const done = await client.callTool({ name: 'send_mail', arguments: letter() });
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ mode: 'url', url: expect.stringContaining(`${desk.url}/inbox/call_`) });
  expect(done.structuredContent).toMatchObject({ id: 'm1' });
  expect(facts(done)).toMatchObject({ status: 'done', executed: true });
  expect(upstream.writes).toBe(1);
  await client.close();
});

test('SDK 2: waits several rounds for a slow person', async ({ desk, upstream, ann, agent }) => {
  test.slow();
  const person = await desk.addToken(ann);
  let id;
  const client = await connectNew(agent, async ({ params }) => {
    id = params.url.split('/').at(-1);
    return { action: 'accept' };
  });
  const waiting = client.callTool({ name: 'send_mail', arguments: letter() });
  await new Promise((later) => setTimeout(later, 28_000)); // longer than one round
  expect(upstream.writes).toBe(0);
  await confirmCall(person, id);
  expect((await waiting).structuredContent).toMatchObject({ id: 'm1' });
  expect(upstream.writes).toBe(1);
  await client.close();
});

test('SDK 2: a person who declines is told with their words', async ({ desk, upstream, ann, agent }) => {
  const person = await desk.addToken(ann);
  const client = await connectNew(agent, async ({ params }) => {
    await declineCall(person, params.url.split('/').at(-1), 'Not to this address.');
    return { action: 'accept' };
  });
  const no = await client.callTool({ name: 'send_mail', arguments: letter() });
  expect(no.isError).toBe(true);
  expect(words(no)).toContain('Not to this address.');
  expect(facts(no)).toMatchObject({ status: 'declined', executed: false });
  expect(upstream.writes).toBe(0);
  await client.close();
});

test('SDK 2: declining the page withdraws the call, closing it leaves it held', async ({ upstream, agent }) => {
  for (const [action, status] of Object.entries({ decline: 'withdrawn', cancel: 'held' })) {
    const client = await connectNew(agent, async () => ({ action }));
    const answer = await client.callTool({ name: 'send_mail', arguments: letter() });
    expect(answer.isError).toBe(true);
    expect((await agent.call(facts(answer).id)).status).toBe(status);
    await client.close();
  }
  expect(upstream.writes).toBe(0);
});
