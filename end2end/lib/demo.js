// What a newcomer starts: the demo, with nothing set up.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Running } from './binary.js';

export class Demo {
  /**
   * @param {{quiet?: boolean}} [options] `quiet`: without the agent that calls by itself
   */
  static async start({ quiet = false } = {}) {
    const demo = new Demo();
    demo.folder = await mkdtemp(path.join(os.tmpdir(), 'countersign-demo-'));
    demo.running = new Running(['demo', '--json', '--port', '0', ...(quiet ? ['--quiet-agent'] : [])], { cwd: demo.folder });
    try {
      /** {url, upstream_url, people: [{email, password, token}], agents: [{name, key}]} */
      Object.assign(demo, JSON.parse(await demo.running.firstLine()));
    } catch (error) {
      await demo.stop();
      throw error;
    }
    return demo;
  }

  person(email) {
    const person = this.people.find((one) => one.email === email);
    if (!person) throw new Error(`the demo has no ${email}`);
    return person;
  }

  async stop() {
    await this.running.stop();
    await rm(this.folder, { recursive: true });
  }
}
