// What README.md says under “Connect an agent”, word for word: every command is run, every program too, and every file for
// an editor is held against what that editor documents and used by a client.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test, expect } from '../../lib/fixtures.js';
import { NODE_PATH, PYTHON } from '../../lib/clients.js';
import { connectNew } from '../../lib/mcp.js';
import { block, program } from '../../lib/readme.js';

const at = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const CONFORMANCE = at('../../conformance/');
/** Connects with a file of `mcpServers`, as several programs have it, and lists the tools. */
const READER = at('../../lib/connect/mcp_servers.py');
const LANGGRAPH = at('../../langgraph/.venv/bin/python');

/** The programs, by how README.md begins to speak of them. */
const PROGRAMS = [
  { lead: 'Python (`mcp` 2)', file: 'python.py', runs: PYTHON },
  { lead: 'TypeScript (`@modelcontextprotocol/client` 2', file: 'typescript.mjs', runs: process.execPath },
  { lead: 'LangGraph (`langchain-mcp-adapters`', file: 'langgraph.py', runs: LANGGRAPH },
  { lead: 'OpenAI Agents', file: 'openai_agents.py', runs: PYTHON },
];

const run = promisify(execFile);

/** The names that are listed to an agent. */
const names = async (agent) => [...(await agent.list('/v1/actions')).map(({ name }) => name), 'call_status'];

// These are large programs: on a machine that is busy they take their time to start.
test.slow();

/** What a user has set, and nothing else. None of these programs is to ask anybody but the desk. */
const environment = (desk, agent) => ({
  DESK: desk.url,
  AGENT_KEY: agent.token,
  HOME: desk.folder,
  PATH: NODE_PATH,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
});

for (const { lead, file, runs } of PROGRAMS) {
  test(`${lead.split(' (')[0]}: the program lists, reads, and is told NOT DONE`, async ({ desk, upstream, agent }, info) => {
    // Under the folder of these tests, so that packages are found.
    const place = info.outputPath(`program${path.extname(file)}`);
    await writeFile(place, await program(file, lead));
    const { stdout } = await run(runs, [place], { env: environment(desk, agent) });
    const told = JSON.parse(stdout);
    expect(told.names).toEqual(await names(agent));
    expect(told.read).toContain('0 messages were sent.');
    expect(told.held).toContain('NOT DONE');
    expect(told.held).toContain(`${desk.url}/inbox/call_`);
    expect(upstream.writes).toBe(0);
  });
}

test('Claude Code: the command adds the desk, and it connects', async ({ desk, agent }) => {
  const shell = (line) => run('bash', ['-c', line], { cwd: desk.folder, env: environment(desk, agent) });
  await shell(await block('Claude Code:'));
  const { stdout } = await shell('claude mcp list');
  expect(stdout).toContain(`countersign: ${desk.url}/mcp (HTTP)`);
  expect(stdout).toContain('Connected');
  // The same with a key that is not known: what is listed above depends on the key.
  await shell('claude mcp remove countersign');
  await shell((await block('Claude Code:')).replace('$AGENT_KEY', '${AGENT_KEY}x'));
  expect((await shell('claude mcp list')).stdout).not.toContain('Connected');
});

test('the inspector: the command lists the tools', async ({ desk, agent }) => {
  const line = await block("The MCP inspector's command line:");
  const { stdout } = await run('bash', ['-c', line], { cwd: CONFORMANCE, env: environment(desk, agent) });
  expect(JSON.parse(stdout).tools.map(({ name }) => name)).toEqual(await names(agent));
});

test('Cursor: the file has the documented form, and a reader of such files connects with it', async ({ desk, agent }) => {
  const text = await block('Cursor, in');
  const { mcpServers, ...rest } = JSON.parse(text);
  // A remote server of Cursor's mcp.json: `url` and `headers`, with ${env:NAME} for what is in the environment.
  expect(rest).toEqual({});
  expect(Object.keys(mcpServers.countersign)).toEqual(['url', 'headers']);
  expect(mcpServers.countersign.headers).toEqual({ Authorization: 'Bearer ${env:AGENT_KEY}' });
  const file = path.join(desk.folder, 'mcp.json');
  await writeFile(file, filledIn(text, desk, { '${env:AGENT_KEY}': agent.token }));
  const { stdout } = await run(PYTHON, [READER, file], { env: environment(desk, agent) });
  expect(JSON.parse(stdout)).toEqual(await names(agent));
});

test('VS Code: the file has the documented form, and its address and key connect', async ({ desk, agent }) => {
  const text = await block('VS Code, in');
  const { inputs, servers, ...rest } = JSON.parse(text);
  // VS Code's mcp.json: servers of type "http" have `url` and `headers`; an input is asked for once, and hidden.
  expect(rest).toEqual({});
  expect(inputs).toEqual([{ type: 'promptString', id: 'key', description: expect.any(String), password: true }]);
  expect(Object.keys(servers.countersign)).toEqual(['type', 'url', 'headers']);
  expect(servers.countersign.type).toBe('http');
  const { url, headers } = JSON.parse(filledIn(text, desk, { '${input:key}': agent.token })).servers.countersign;
  const token = headers.Authorization.replace(/^Bearer /, '');
  const client = await connectNew({ url: url.replace(/\/mcp$/, ''), token });
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(await names(agent));
  await client.close();
});

/** A file of README.md for this desk, with its variables as the editor fills them in. */
function filledIn(text, desk, variables) {
  let filled = text.replaceAll('https://desk.example', desk.url);
  for (const [variable, value] of Object.entries(variables)) filled = filled.replaceAll(variable, value);
  expect(filled).not.toContain('${');
  return filled;
}
