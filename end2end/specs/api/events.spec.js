// The journal as a stream: everything once, also for whoever was away.
import { test, expect } from '../../lib/fixtures.js';
import { declineCall } from '../../lib/decision.js';
import { hold } from '../../lib/letters.js';
import { Stream } from '../../lib/stream.js';

const told = (events) => events.map(({ type, data }) => [type, data.call_id]);

test('a stream tells what happens from now on, and goes on behind the last event seen', async ({ desk, ann, agent }) => {
  const person = await desk.addToken(ann);
  const before = await hold(agent);
  const stream = await Stream.open(person);
  expect(stream.answer.headers['content-type']).toMatch(/^text\/event-stream/);
  const { id } = await hold(agent);
  const [first] = await stream.until(1);
  expect(first).toMatchObject({ type: 'call.held', data: { id: first.id, call_id: id, action: 'send_mail', status: 'held', person_id: ann.id } });
  stream.close();

  // While nobody listens, three things happen; also over a restart.
  await declineCall(person, id, 'not that one');
  await desk.kill();
  await desk.serve();
  await declineCall(person, before.id, 'nor that one');
  const again = await Stream.open(person, first.id);
  const missed = await again.until(4);
  expect(told(missed)).toEqual([
    ['call.decided', id],
    ['action.declined', id],
    ['call.decided', before.id],
    ['action.declined', before.id],
  ]);
  // It goes on live, and says nothing twice.
  const later = await hold(agent);
  expect(told(await again.until(5)).at(-1)).toEqual(['call.held', later.id]);
  expect(new Set(again.events.map((event) => event.id)).size).toBe(5);
  again.close();

  const list = await person.list('/v1/events');
  expect(list.map((event) => event.id)).toEqual(expect.arrayContaining(again.events.map((event) => event.id)));
});

test('an event holds ids and status, never what was in the call; a stream tells nobody of another\'s calls', async ({ desk, ann, agent }) => {
  const [own, other, operator] = [
    await desk.addToken(ann),
    await desk.addToken(await desk.addPerson('Ben')),
    await desk.addToken(await desk.addPerson('Olga', 'operator')),
  ];
  const streams = [];
  for (const person of [own, other, operator]) streams.push(await Stream.open(person));
  const { id } = await hold(agent);
  await streams[0].until(1);
  await streams[2].until(1);
  expect(told(streams[2].events)).toEqual([['call.held', id]]);
  expect(JSON.stringify(streams[0].events)).not.toMatch(/northwind|Invoice/);
  // Ben's own first event is the first he is told of: nothing came before it.
  const crm = await desk.addAgent('crm-bot', { email: 'ben@house.test' });
  const his = await hold(crm);
  await streams[1].until(1);
  expect(told(streams[1].events)).toEqual([['call.held', his.id]]);
  for (const stream of streams) stream.close();
});

test('a stream needs the right token and the id of an event', async ({ desk, ann, agent }) => {
  const Accept = 'text/event-stream';
  expect((await agent.get('/v1/events', { Accept })).status).toBe(403);
  const person = await desk.addToken(ann);
  for (const seen of ['nonsense', 'call_01h455vb4pex5vsknk084sn02q']) {
    const answer = await person.get('/v1/events', { Accept, 'Last-Event-ID': seen });
    expect([answer.status, answer.json.code]).toEqual([422, 'invalid']);
  }
});
