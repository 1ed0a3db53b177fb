// The protocol's own conformance suite, with what revision 2026-07-28 requires: of a server, through the desk's whole
// pipeline, the tools, prompts and resources being those of an MCP server behind it; and of a client, which the desk is to such a server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { test, expect } from '../../lib/fixtures.js';
import { doorman } from '../../lib/doorman.js';
import { until } from '../../lib/wait.js';

const REVISION = '2026-07-28';
const PACKAGES = fileURLToPath(new URL('../../conformance/node_modules/', import.meta.url));
/** The suite wants a newer Node.js than the rest. */
const NODE = path.join(PACKAGES, 'node/bin/node');
const CLIENT = fileURLToPath(new URL('../../lib/conformance_client.js', import.meta.url));
const SUITE = path.join(PACKAGES, '@modelcontextprotocol/conformance/dist/index.js');

const ASKS_NOBODY = 'a server behind the desk cannot ask the desk’s caller anything: what it would be told was shown to no person';

/** What fails, check by check, and why that is meant. One that begins to pass has to be taken out. */
const EXPECTED = {
  'input-required-result-basic-elicitation: sep-2322-elicitation-incomplete': ASKS_NOBODY,
  'input-required-result-basic-list-roots: sep-2322-list-roots-incomplete': ASKS_NOBODY,
  'input-required-result-basic-sampling: sep-2322-sampling-incomplete': ASKS_NOBODY,
  'input-required-result-capability-check: sep-2322-respect-client-capabilities': ASKS_NOBODY,
  'input-required-result-multi-round: sep-2322-multi-round-r1': ASKS_NOBODY,
  'input-required-result-multiple-input-requests: sep-2322-multiple-inputs-incomplete': ASKS_NOBODY,
  'input-required-result-non-tool-request: sep-2322-non-tool-incomplete': ASKS_NOBODY,
  'input-required-result-request-state: sep-2322-request-state-incomplete': ASKS_NOBODY,
  'input-required-result-result-type: sep-2322-result-type-included': ASKS_NOBODY,
  'input-required-result-tampered-state: sep-2322-reject-tampered-state': ASKS_NOBODY,
  'server-stateless: sep-2575-missing-capability-http-400': ASKS_NOBODY,
  'server-stateless: sep-2575-server-rejects-undeclared-capability': ASKS_NOBODY,
  'tools-call-with-progress: tools-call-with-progress': 'an answer is a message, not a stream: a held call may take a day, and tells how it stands as a task',
};

/** What is asked of a client about tools. The rest of its list is OAuth (auth/*): a credential of the desk is a secret. */
const AS_CLIENT = [
  'tools_call',
  'request-metadata',
  'sep-2322-client-request-state',
  'http-standard-headers',
  'http-custom-headers',
  'http-invalid-tool-headers',
  'json-schema-ref-no-deref',
];

/** The same for these. */
const EXPECTED_AS_CLIENT = {
  'http-custom-headers: sep-2243-client-omit-null': 'the tool’s own schema says boolean, so a null is refused at the desk and never sent',
  'sep-2322-client-request-state: sep-2322-client-jsonrpc-id-different': ASKS_NOBODY,
  'sep-2322-client-request-state: sep-2322-client-no-state-omitted': ASKS_NOBODY,
  'sep-2322-client-request-state: sep-2322-client-request-state-echoed': ASKS_NOBODY,
};

/** What the revision does not count, by the suite’s own list. */
const NOT_COUNTED = /^(tasks-|json-schema-2020-12$|http-header-validation$|http-custom-header-server-validation$)/;

test.use({ more: async ({ everything }, use) => use(everything.catalogue('test', 'prompts = true\nresources = ["test:"]')) });

test('of a server: what is required passes, and what does not is listed', async ({ desk, ann }) => {
  test.setTimeout(300_000);
  const agent = await desk.addAgent('conformance', ann, []);
  await until('the tools', async () => (await agent.list('/v1/actions')).some(({ name }) => name === 'test_simple_text'));
  const door = await doorman(desk, agent.token);
  try {
    const { passed, failed, told } = await suite('server', '--url', `${door.url}/mcp`, '--requirements', REVISION);
    expect(passed.length, told).toBeGreaterThan(70);
    expect(failed).toEqual(Object.keys(EXPECTED).sort());
  } finally {
    await door.stop();
  }
});

test('of a client: what is required for tools passes, and what does not is listed', async () => {
  test.setTimeout(300_000);
  const passed = [];
  const failed = [];
  for (const scenario of AS_CLIENT) {
    const run = await suite('client', '--command', `${process.execPath} ${CLIENT}`, '--scenario', scenario, '--spec-version', REVISION);
    expect(run.passed.length, run.told).toBeGreaterThan(0);
    passed.push(...run.passed);
    failed.push(...run.failed);
  }
  expect(passed.length).toBeGreaterThan(30);
  expect(failed.sort()).toEqual(Object.keys(EXPECTED_AS_CLIENT).sort());
});

/** Runs the suite: what passed, what failed, each as “scenario: check”, and what it said. */
async function suite(...args) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'countersign-conformance-'));
  try {
    const running = spawn(NODE, [SUITE, ...args, '-o', folder], { stdio: ['ignore', 'pipe', 'pipe'] });
    let told = '';
    for (const stream of [running.stdout, running.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (told += text));
    }
    await once(running, 'close');
    return { ...(await outcome(folder)), told };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Every check that counts. */
async function outcome(folder) {
  const passed = [];
  const failed = [];
  for (const entry of await readdir(folder)) {
    const scenario = entry.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    if (NOT_COUNTED.test(scenario)) continue;
    for (const { id, status } of JSON.parse(await readFile(path.join(folder, entry, 'checks.json'), 'utf8'))) {
      if (status === 'SUCCESS') passed.push(`${scenario}: ${id}`);
      if (status === 'FAILURE') failed.push(`${scenario}: ${id}`);
    }
  }
  return { passed, failed: failed.sort() };
}
