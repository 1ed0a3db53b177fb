// What README.md tells a user to type or to write, as it stands there.
import { readFile } from 'node:fs/promises';

const README = new URL('../../README.md', import.meta.url);

/**
 * The first block of code behind a line that begins like this.
 * @param {string} lead how the line begins, such as 'Claude Code'
 * @returns {Promise<string>}
 */
export async function block(lead) {
  const lines = (await readFile(README, 'utf8')).split('\n');
  const start = lines.findIndex((line) => line.startsWith(lead));
  if (start < 0) throw new Error(`no line of README.md begins with ${lead}`);
  const open = lines.findIndex((line, index) => index > start && line.startsWith('```'));
  const close = lines.indexOf('```', open + 1);
  return lines.slice(open + 1, close).join('\n');
}

/** A program with the block in the place of its line `README`, as deep as that line. */
export async function program(file, lead) {
  const text = await readFile(new URL(`./connect/${file}`, import.meta.url), 'utf8');
  const place = /^( *)(?:#|\/\/) README$/m;
  const code = await block(lead);
  const [, indent] = text.match(place);
  return text.replace(place, () => code.replace(/^(?=.)/gm, indent));
}
