// A database for one desk: a file beside its catalogue, or a database of its own in the throwaway PostgreSQL.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

class Sqlite {
  /** What the catalogue says; relative to it. */
  url = 'sqlite:countersign.db';
  /** What the server's environment says. */
  env = {};

  constructor(folder) {
    this.folder = folder;
  }

  /** Whether the text stands anywhere in the folder: database, write-ahead log, journal. */
  async holds(text) {
    const names = (await readdir(this.folder)).filter((name) => name.startsWith('countersign.db'));
    if (names.length === 0) throw new Error('there is no database file to look into');
    const files = await Promise.all(names.map((name) => readFile(path.join(this.folder, name))));
    return files.some((bytes) => bytes.includes(text));
  }

  async remove() {}
}

class Postgres {
  url = 'sqlite:this-file-must-not-be-made.db'; // DATABASE_URL wins

  constructor(server, name) {
    this.server = server;
    this.name = name;
    const url = new URL(server);
    url.pathname = `/${name}`;
    this.env = {
      DATABASE_URL: url.href,
      // On PostgreSQL a key is never made silently.
      COUNTERSIGN_KEY: randomBytes(32).toString('base64'),
    };
  }

  /** Whether the text stands in a dump, as text or as bytes. */
  async holds(text) {
    const { stdout } = await run(tool('pg_dump'), [this.env.DATABASE_URL], { maxBuffer: 1 << 28 });
    if (!stdout.includes('CREATE TABLE')) throw new Error('the dump has no tables');
    return stdout.includes(text) || stdout.includes(Buffer.from(text).toString('hex'));
  }

  async remove() {
    await run(tool('psql'), [this.server, '-qc', `DROP DATABASE IF EXISTS ${this.name} WITH (FORCE)`]);
  }
}

function tool(name) {
  return process.env.PG_BIN ? path.join(process.env.PG_BIN, name) : name;
}

/**
 * @param {'sqlite' | 'postgresql'} kind
 * @param {string} folder where the catalogue stands
 */
export async function makeDatabase(kind, folder) {
  if (kind === 'sqlite') return new Sqlite(folder);
  const database = new Postgres(process.env.TEST_DATABASE_URL, `desk_${randomBytes(8).toString('hex')}`);
  await run(tool('psql'), [database.server, '-qc', `CREATE DATABASE ${database.name}`]);
  return database;
}
