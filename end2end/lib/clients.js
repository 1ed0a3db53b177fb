// Every client that agents are built with, behind one face: what it lists, what it calls, and the pages it shows its person.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connectNew, connectOld, facts, words } from './mcp.js';

const at = (relative) => fileURLToPath(new URL(relative, import.meta.url));
export const PYTHON = at('../.venv/bin/python');
const PACKAGES = at('../conformance/node_modules/');
/** The Node.js that the newest programs want. */
export const NODE = path.join(PACKAGES, 'node/bin/node');
/** A PATH on which that Node.js comes first, and the programs that were installed beside it. */
export const NODE_PATH = [path.dirname(NODE), path.join(PACKAGES, '.bin'), process.env.PATH].join(path.delimiter);
const INSPECTOR = path.join(PACKAGES, '.bin/mcp-inspector');

/**
 * What a call of a tool came to: {error, words, structured, call}, the last being the machine's fields.
 * @typedef {{error: boolean, words: string, structured: any, call: any}} Told
 * @typedef {{names: string[], call: (tool: string, args: object) => Promise<Told>, stop: () => Promise<void>}} Connected
 */

/** A client's name, whether it shows its person pages, and how it is connected. `page` is called with every address. */
export const CLIENTS = [
  { name: 'TypeScript SDK 1', pages: false, connect: (agent) => typescript(connectOld(agent)) },
  { name: 'TypeScript SDK 2', pages: false, connect: (agent) => typescript(connectNew(agent)) },
  { name: 'TypeScript SDK 2, with pages', pages: true, connect: (agent, { page }) => typescript(connectNew(agent, shows(page))) },
  { name: 'Python SDK, legacy', pages: false, connect: (agent) => python('mcp_client.py', agent, ['legacy', 'no']) },
  { name: 'Python SDK', pages: false, connect: (agent) => python('mcp_client.py', agent, ['auto', 'no']) },
  { name: 'Python SDK, with pages', pages: true, connect: (agent, { page }) => python('mcp_client.py', agent, ['auto', 'yes'], page) },
  { name: 'FastMCP', pages: false, connect: (agent) => python('fastmcp_client.py', agent, ['no']) },
  { name: 'FastMCP, with pages', pages: true, connect: (agent, { page }) => python('fastmcp_client.py', agent, ['yes'], page) },
  { name: 'the inspector', pages: false, connect: (agent, { home }) => inspector(agent, home) },
];

/** Opening a page is all that its person does with it here. */
function shows(page) {
  return ({ params }) => {
    page(params.url);
    return { action: 'accept' };
  };
}

async function typescript(connecting) {
  const client = await connecting;
  const { tools } = await client.listTools();
  return {
    names: tools.map(({ name }) => name),
    call: async (name, args) => {
      const result = await client.callTool({ name, arguments: args });
      return { error: !!result.isError, words: words(result), structured: result.structuredContent ?? null, call: facts(result) ?? null };
    },
    stop: () => client.close(),
  };
}

/** A program in Python that does what it is told line by line. */
async function python(script, agent, args, page) {
  const child = spawn(PYTHON, [at(script), `${agent.url}/mcp`, agent.token, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let faults = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (faults += text));
  const failed = ended.then(([code]) => Promise.reject(new Error(`${script} ended (${code}):\n${faults}`)));
  // It ends where nobody waits for anything.
  failed.catch(() => {});
  const waiting = {};
  const next = (event) => Promise.race([new Promise((resolve) => (waiting[event] = resolve)), failed]);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { event, ...told } = JSON.parse(line);
    if (event === 'page') page(told.url);
    else waiting[event](told);
  });
  const { names } = await next('tools');
  return {
    names,
    call: (tool, args) => {
      const answer = next('answer');
      child.stdin.write(`${JSON.stringify({ tool, arguments: args })}\n`);
      return answer;
    },
    stop: async () => {
      child.stdin.end();
      const [code] = await ended;
      if (code !== 0) throw new Error(`${script} ended (${code}):\n${faults}`);
    },
  };
}

/** The inspector's command line: a program of its own for every request. It keeps a file of its own at home. */
async function inspector(agent, home) {
  const ask = async (method, ...rest) => {
    const header = ['--header', `Authorization: Bearer ${agent.token}`];
    const args = [INSPECTOR, '--cli', `${agent.url}/mcp`, '--transport', 'http', ...header, '--method', method, ...rest];
    // Its exit code is another one when a tool says no.
    const { stdout, stderr } = await promisify(execFile)(NODE, args, { env: { PATH: NODE_PATH, HOME: home } }).catch((told) => told);
    if (!stdout) throw new Error(`the inspector said nothing:\n${stderr}`);
    return JSON.parse(stdout);
  };
  const { tools } = await ask('tools/list');
  return {
    names: tools.map(({ name }) => name),
    call: async (tool, args) => {
      const pairs = Object.entries(args).map(([name, value]) => `${name}=${value}`);
      const result = await ask('tools/call', '--tool-name', tool, ...(pairs.length ? ['--tool-arg', ...pairs] : []));
      return { error: !!result.isError, words: words(result), structured: result.structuredContent ?? null, call: facts(result) ?? null };
    },
    stop: async () => {},
  };
}
