// Programs that know their own service alone: its real SDK, with another base URL and another key and nothing else.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { confirmCall } from '../../lib/decision.js';
import { test as base, expect } from '../../lib/fixtures.js';
import { Services, catalogueOf, piece } from '../../lib/services.js';
import { until } from '../../lib/wait.js';

const PYTHON = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url));
const SCRIPT = fileURLToPath(new URL('../../lib/stripe_client.py', import.meta.url));

const test = base.extend({
  service: async ({}, use) => {
    await use(Services);
  },

  /** How long the desk keeps a caller waiting for a person. */
  wait: ['60s', { option: true }],

  extras: async ({ wait }, use) => {
    await use((services) => catalogueOf(services, wait));
  },

  /** Ann, as a program that decides. */
  person: async ({ desk, ann }, use) => {
    await use(await desk.addToken(ann));
  },

  openai: async ({ desk, agent }, use) => {
    await use(new OpenAI({ apiKey: agent.token, baseURL: `${desk.url}/via/openai/v1` }));
  },

  /** Asks the program that is built with the payment service's SDK. */
  stripe: async ({ desk, agent }, use) => {
    const child = spawn(PYTHON, [SCRIPT, `${desk.url}/via/stripe`, agent.token], { stdio: ['pipe', 'pipe', 'pipe'] });
    const ended = once(child, 'close');
    let faults = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (faults += text));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await use(async (...command) => {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`the program ended: ${faults}`);
      return JSON.parse(value);
    });
    child.stdin.end();
    await ended;
  },
});

/** How often each kind of event was written. */
async function counted(person) {
  const counts = {};
  for (const { type } of await person.list('/v1/events')) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

/** The one call that waits for this person. */
async function held(person) {
  return until('a held call', async () => (await person.list('/v1/approvals'))[0]);
}

test('openai (npm): reads, is held, and its retry is answered from the receipt', async ({ openai, person, upstream }) => {
  const models = await openai.models.list();
  expect(models.data.map(({ id }) => id)).toEqual(['small']);

  const say = () => openai.chat.completions.create(
    { model: 'small', messages: [{ role: 'user', content: 'Hello.' }] },
    { headers: { 'Idempotency-Key': 'hello-1' } },
  );
  const answer = say();
  const { id, preview } = await held(person);
  expect(preview.request).toMatchObject({ method: 'POST', path: '/openai/v1/chat/completions' });
  expect(upstream.writes).toHaveLength(0);
  expect((await confirmCall(person, id)).status).toBe(200);
  expect((await answer).choices[0].message.content).toBe('You said: Hello.');

  expect(await say()).toMatchObject({ replayed: true, original_status: 200 });
  expect(upstream.writes).toHaveLength(1);
  expect(upstream.writes[0].headers).toMatchObject({ 'idempotency-key': 'hello-1' });
  expect(await person.list('/v1/receipts')).toHaveLength(1);
});

test('openai (npm): a streamed answer comes piece by piece', async ({ openai, person, upstream }) => {
  const opening = openai.chat.completions.create({ model: 'small', stream: true, messages: [{ role: 'user', content: 'Go on.' }] });
  expect((await confirmCall(person, (await held(person)).id)).status).toBe(200);
  const pieces = (await opening)[Symbol.asyncIterator]();
  for (const text of ['One', 'two', 'three']) {
    // The service writes the next piece only after the one before it has come.
    await upstream.stream(piece(text));
    expect((await pieces.next()).value.choices[0].delta.content).toBe(text);
  }
  await upstream.stream('data: [DONE]\n\n');
  await upstream.stream();
  expect((await pieces.next()).done).toBe(true);
  expect(upstream.writes).toHaveLength(1);
});

test('stripe (PyPI): reads, is held, and its retry is answered from the receipt', async ({ stripe, person, upstream }) => {
  expect((await stripe('list')).answer.data).toEqual([]);
  const answer = stripe('create', 'Northwind', 'customer-1');
  const { id, preview } = await held(person);
  expect(preview.request).toMatchObject({ method: 'POST', path: '/stripe/v1/customers', body: 'name=Northwind' });
  expect((await confirmCall(person, id)).status).toBe(200);
  expect((await answer).answer).toMatchObject({ id: 'cus_1', name: 'Northwind' });

  const again = await stripe('create', 'Northwind', 'customer-1');
  expect(again.answer).toMatchObject({ replayed: true, original_status: 200 });
  expect(upstream.writes).toHaveLength(1);
  expect(upstream.writes[0].headers).toMatchObject({ 'idempotency-key': 'customer-1' });
  expect((await stripe('list')).answer.data).toHaveLength(1);
});

test('stripe (PyPI): what it repeats by itself after a lost answer reaches the service once', async ({ stripe, person, upstream, agent }) => {
  upstream.cutAnswers();
  const answer = stripe('create', 'Northwind', 'customer-1');
  const { id } = await held(person);
  await confirmCall(person, id);
  expect(await answer).toMatchObject({ status: 409, body: { code: 'outcome_unknown' } });
  expect(upstream.writes).toHaveLength(1);
  const once = { 'call.held': 1, 'call.decided': 1, 'action.in_doubt': 1 };
  expect(await counted(person), 'it repeated it twice by itself').toEqual({ ...once, 'action.refused': 2 });
  expect(await agent.call(id)).toMatchObject({ status: 'in_doubt' });
  expect(await person.list('/v1/approvals')).toEqual([]);
});

test.describe('when nobody answers in time', () => {
  test.use({ wait: '1s' });

  test('both SDKs take 409 for no success, however often they repeat it', async ({ stripe, openai, person, upstream }) => {
    const refused = await stripe('create', 'Northwind', 'customer-1');
    expect(refused).toMatchObject({ status: 409, body: { code: 'idempotency_in_flight' } });
    const say = () => openai.chat.completions.create(
      { model: 'small', messages: [{ role: 'user', content: 'Hello.' }] },
      { headers: { 'Idempotency-Key': 'hello-1' } },
    );
    await expect(say()).rejects.toMatchObject({ status: 409 });
    expect(upstream.writes).toHaveLength(0);
    expect(await counted(person), 'each repeated it twice by itself').toEqual({ 'call.held': 2, 'action.refused': 4 });
    const waiting = await person.list('/v1/approvals');
    expect(waiting, 'every repeat had the key of the first').toHaveLength(2);

    for (const { id } of waiting) {
      expect((await confirmCall(person, id, { Prefer: 'wait=20' })).json).toMatchObject({ status: 'done' });
    }
    expect((await stripe('create', 'Northwind', 'customer-1')).answer).toMatchObject({ replayed: true });
    expect(await say()).toMatchObject({ replayed: true });
    expect(upstream.writes).toHaveLength(2);
  });
});
