// The real program, as a user runs it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BINARY = process.env.COUNTERSIGN_BIN ?? fileURLToPath(new URL('../../target/debug/countersign', import.meta.url));

/** Only what a program needs to run: nothing of the tests' own environment may steer it. */
function environment(extra) {
  return { PATH: process.env.PATH, HOME: process.env.HOME, ...extra };
}

/** A running program whose output is kept for the message of a failure. */
export class Running {
  output = '';

  /**
   * @param {string[]} args
   * @param {{cwd: string, env?: Record<string, string>}} options
   */
  constructor(args, { cwd, env = {} }) {
    this.child = spawn(BINARY, args, { cwd, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] });
    this.ended = once(this.child, 'close');
    this.failed = new Promise((_, reject) => {
      this.child.on('error', reject);
      this.ended.then(() => reject(new Error(`countersign ${args.join(' ')} ended (${this.child.exitCode ?? this.child.signalCode}):\n${this.output}`)), reject);
    });
    // Nobody may be waiting when it ends; that is no failure by itself.
    this.failed.catch(() => {});
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (this.output += text));
    }
  }

  /** Resolves with the first line on standard output. */
  firstLine() {
    const line = new Promise((resolve) => {
      let text = '';
      this.child.stdout.on('data', (chunk) => {
        text += chunk;
        if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
      });
    });
    return Promise.race([line, this.failed]);
  }

  async stop(signal = 'SIGTERM') {
    this.child.kill(signal);
    await this.ended;
  }
}

/**
 * Runs one command to its end and reads its JSON; fails unless it exits with 0.
 * @param {string[]} args
 * @param {{cwd: string, env?: Record<string, string>, stdin?: string}} options
 */
export async function command(args, { cwd, env, stdin = '' }) {
  const child = spawn(BINARY, args, { cwd, env: environment(env), stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (err += text));
  // A command that reads nothing may have ended before; its exit code is what counts.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`countersign ${args.join(' ')} exited with ${code}:\n${out}${err}`);
  return JSON.parse(out);
}
