// The Model Context Protocol with the TypeScript SDKs: what the story of mcp-clients.spec.js does not tell.
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall } from '../../lib/decision.js';
import { letter } from '../../lib/letters.js';
import { connectNew, connectOld, facts, words } from '../../lib/mcp.js';

const CONNECT = { 'SDK 1, 2025-11-25': connectOld, 'SDK 2, 2026-07-28': connectNew };

for (const [name, connect] of Object.entries(CONNECT)) {
  test(`${name}: says what it is, and how each tool behaves`, async ({ agent }) => {
    const client = await connect(agent);
    expect(client.getServerVersion()).toMatchObject({ name: 'countersign' });
    const { tools } = await client.listTools();
    const hints = (name) => tools.find((tool) => tool.name === name).annotations;
    expect(hints('wipe_customer')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(hints('count_messages')).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(words(await client.callTool({ name: 'count_messages', arguments: {} }))).toBe('0 messages were sent.');
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
