// What a test starts from: an upstream, a desk on the project's database, Ann, and her agent.
import { test as base } from '@playwright/test';
import { Desk } from './desk.js';
import { Everything } from './everything.js';
import { Upstream } from './upstream.js';

export { expect } from '@playwright/test';

export const test = base.extend({
  /** The project's database. */
  database: ['sqlite', { option: true }],

  /**
   * What else stands in the catalogue, given the upstream: `settings` of its `[server]`, and `more` at its end; and `env`
   * of the server.
   */
  extras: async ({}, use) => {
    await use(() => ({}));
  },

  /** What kind of service the upstream is. */
  service: async ({}, use) => {
    await use(Upstream);
  },

  upstream: async ({ service }, use) => {
    const upstream = await service.start();
    await use(upstream);
    await upstream.stop();
  },

  /** What stands at the end of the catalogue whatever the upstream is. */
  more: '',

  desk: async ({ database, upstream, extras, more }, use, info) => {
    const desk = await Desk.start({ database, upstream, more, ...extras(upstream) });
    await use(desk);
    if (info.status !== info.expectedStatus) {
      await info.attach('server output', { body: desk.server.output, contentType: 'text/plain' });
    }
    await desk.stop();
  },

  baseURL: async ({ desk }, use) => {
    await use(desk.url);
  },

  /** An MCP server whose tools can be actions of the desk. */
  everything: async ({}, use) => {
    const everything = await Everything.start();
    await use(everything);
    await everything.stop();
  },

  /** A member. */
  ann: async ({ desk }, use) => {
    await use(await desk.addPerson('Ann'));
  },

  /** Ann's agent: all its writes need a person. */
  agent: async ({ desk, ann }, use) => {
    await use(await desk.addAgent('billing-bot', ann));
  },
});
