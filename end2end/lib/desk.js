// A running desk: the real server with a catalogue, a database and people of its own.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { Client } from './agent.js';
import { Running, command } from './binary.js';
import { catalogue } from './catalogue.js';
import { makeDatabase } from './database.js';
import { request } from './http.js';
import { SECRET } from './upstream.js';
import { until } from './wait.js';

export const PASSWORD = 'correct horse battery staple';

export class Desk {
  /**
   * @param {{database: 'sqlite' | 'postgresql', upstream: import('./upstream.js').Upstream, settings?: string, more?: string, env?: Record<string, string>}} options
   *   `settings` and `more` go into the catalogue, `env` into the server's environment
   */
  static async start({ database, upstream, env = {}, ...rest }) {
    const desk = new Desk();
    desk.env = env;
    try {
      desk.folder = await mkdtemp(path.join(os.tmpdir(), 'countersign-'));
      desk.database = await makeDatabase(database, desk.folder);
      desk.port = await freePort();
      desk.url = `http://127.0.0.1:${desk.port}`;
      const text = catalogue({ port: desk.port, database: desk.database.url, upstream: upstream.host, ...rest });
      await writeFile(path.join(desk.folder, 'countersign.toml'), text);
      await desk.serve();
    } catch (error) {
      await desk.stop();
      throw error;
    }
    return desk;
  }

  get #options() {
    return { cwd: this.folder, env: { ...this.database.env, OFFICE_TOKEN: SECRET, ...this.env } };
  }

  /** Starts the server and waits until it is ready; also after a kill. */
  async serve() {
    this.server = new Running(['serve'], this.#options);
    const answers = () => request(`${this.url}/readyz`).then(({ status }) => status === 200, () => false);
    const ready = until('the desk to be ready', answers);
    await Promise.race([ready, this.server.failed]);
  }

  /** Ends the server as a power cut would. */
  kill() {
    return this.server.stop('SIGKILL');
  }

  async stop() {
    await this.server?.stop('SIGKILL');
    await this.database?.remove();
    if (this.folder) await rm(this.folder, { recursive: true });
  }

  /** Runs a subcommand beside the running server. */
  command(args, stdin) {
    return command([...args, '--json'], { ...this.#options, stdin });
  }

  /** @returns {Promise<{id: string, email: string, name: string, password: string}>} */
  async addPerson(name, role = 'member') {
    const email = `${name.toLowerCase()}@house.test`;
    const args = ['person', 'add', '--email', email, '--name', name, '--role', role, '--password-stdin'];
    const person = await this.command(args, `${PASSWORD}\n`);
    return { ...person, name, password: PASSWORD };
  }

  /** An agent of that person; its writes need a person unless told otherwise. */
  async addAgent(name, owner, flags = ['--requires-approval']) {
    const agent = await this.command(['agent', 'add', '--name', name, '--owner', owner.email, ...flags]);
    return Object.assign(new Client(this.url, agent.key), { id: agent.id, name });
  }

  /** A person's own token. */
  async addToken(person, abilities = ['receipts:read', 'approvals:decide']) {
    const flags = abilities.flatMap((ability) => ['--ability', ability]);
    const { token } = await this.command(['token', 'add', '--person', person.email, ...flags]);
    return new Client(this.url, token);
  }
}

/** A port that is free now. The desk must know its own address before it starts: it stands in every approve_url. */
async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
