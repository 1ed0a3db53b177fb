// What the desk says about itself to programs.
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall } from '../../lib/decision.js';
import { request } from '../../lib/http.js';
import { letter } from '../../lib/letters.js';

test('the OpenAPI document describes every path of the API', async ({ desk }) => {
  const answer = await request(`${desk.url}/openapi.json`);
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toContain('application/json');
  expect(answer.json.openapi).toMatch(/^3\.1\./);
  const described = Object.entries(answer.json.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
  expect(described).toEqual(
    expect.arrayContaining([
      'get /v1/actions',
      'post /v1/actions/{name}',
      'get /v1/calls/{id}',
      'delete /v1/calls/{id}',
      'get /v1/approvals',
      'post /v1/calls/{id}/decision',
      'get /v1/receipts',
      'get /v1/receipts/{id}',
      'get /v1/events',
      'get /healthz',
      'get /readyz',
      'get /metrics',
      'get /checkpoint',
    ]),
  );
});

test('every reference of the OpenAPI document leads somewhere', async ({ desk }) => {
  const { json } = await request(`${desk.url}/openapi.json`);
  const references = [...JSON.stringify(json).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, pointer]) => pointer);
  expect(references.length).toBeGreaterThan(0);
  for (const pointer of references) {
    const found = pointer.split('/').reduce((value, step) => value?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], json);
    expect(found, pointer).toBeDefined();
  }
});

test('alive and ready', async ({ desk }) => {
  expect((await request(`${desk.url}/healthz`)).status).toBe(200);
  expect((await request(`${desk.url}/readyz`)).status).toBe(200);
});

test('every answer has a request id, and a caller\'s own is kept', async ({ desk }) => {
  expect((await request(`${desk.url}/healthz`)).headers['x-request-id']).toMatch(/\S/);
  const own = await request(`${desk.url}/healthz`, { headers: { 'X-Request-Id': 'trace-17' } });
  expect(own.headers['x-request-id']).toBe('trace-17');
});

test('a request id leads from an answer to the call, its journal and its receipt', async ({ desk, ann, agent }) => {
  const lines = () => desk.server.output.replaceAll(/\x1b\[[0-9;]*m/g, '').split('\n');
  const held = await agent.act('send_mail', letter(), { 'X-Request-Id': 'asked-17' });
  const call = held.json.call_id;
  expect(lines().find((line) => line.includes('id="asked-17"'))).toContain(`call=${call}`);

  const person = await desk.addToken(ann);
  const { json } = await confirmCall(person, call, { Prefer: 'wait=20', 'X-Request-Id': 'decided-17' });
  const sent = lines().find((line) => line.includes('a send ended'));
  for (const part of ['id="decided-17"', `call=${call}`, json.receipt_id, 'status="done"']) expect(sent).toContain(part);
  const { items } = (await person.get('/v1/events')).json;
  expect(items.filter(({ call_id, receipt_id }) => call_id === call && receipt_id === json.receipt_id)).toHaveLength(1);
});
