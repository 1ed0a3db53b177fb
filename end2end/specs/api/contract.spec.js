// The OpenAPI document, measured by tools that know nothing of this desk: a linter, and one that asks every operation.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { test, expect } from '@playwright/test';
import { Client } from '../../lib/agent.js';
import { Demo } from '../../lib/demo.js';
import { request } from '../../lib/http.js';

const run = promisify(execFile);
const root = new URL('../../', import.meta.url).pathname;

let demo;
test.beforeAll(async () => {
  demo = await Demo.start({ quiet: true });
});
test.afterAll(() => demo.stop());

test('a linter finds nothing in the document', async ({}, info) => {
  const file = info.outputPath('openapi.json');
  await writeFile(file, (await request(`${demo.url}/openapi.json`)).text);
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const linted = run('npx', ['--no-install', 'redocly', 'lint', '--config', 'redocly.yaml', '--format', 'json', file], { cwd: root, env });
  const { stdout } = await linted.catch((failed) => failed);
  expect(JSON.parse(stdout).problems).toEqual([]);
});

test('what the document says is what the desk does: every check, every phase', async ({}, info) => {
  test.setTimeout(150_000);
  const key = (name) => demo.agents.find((agent) => agent.name === name).key;
  const [careful, quick] = ['careful', 'quick'].map((name) => new Client(demo.url, key(name)));
  const held = async (amount) => (await careful.act('refund', { order: 'O-2041', amount })).json.call_id;
  const done = await quick.act('move_ticket', { ticket: 'T-101', state: 'waiting' });
  const known = {
    CAREFUL_KEY: careful.token,
    QUICK_KEY: quick.token,
    PERSON_TOKEN: demo.person('ann@demo.test').token,
    HELD_CALL: await held('1.00'),
    OTHER_CALL: await held('2.00'),
    RECEIPT: done.json.receipt_id,
  };
  const text = await readFile(`${root}schemathesis.toml`, 'utf8');
  const file = info.outputPath('schemathesis.toml');
  await writeFile(file, text.replace(/\$\{([A-Z_]+)\}/g, (_, name) => known[name]));
  const asked = run(`${root}.venv/bin/st`, ['--config-file', file, 'run', `${demo.url}/openapi.json`, '--checks', 'all', '--no-color'], { maxBuffer: 2 ** 26 });
  const { code = 0, stdout } = await asked.catch((failed) => failed);
  expect(code, stdout).toBe(0);
  expect(stdout).toContain('Tested: 19');
});
