import { defineConfig } from '@playwright/test';

// Every database that is there: SQLite always, PostgreSQL where `end2end/test` (or somebody else) has started one.
const databases = process.env.TEST_DATABASE_URL ? ['sqlite', 'postgresql'] : ['sqlite'];

// What each kind of test needs. Pages have to do their whole job with and without JavaScript; what a browser without it
// sends is the same on every database, so that is tried on one.
const kinds = [
  { name: 'api', testDir: 'specs/api' },
  { name: 'with-js', testDir: 'specs', testIgnore: ['**/api/**'], use: { javaScriptEnabled: true } },
  { name: 'without-js', testDir: 'specs/pages', use: { javaScriptEnabled: false } },
];

// The demo brings a database of its own, and neither the protocol nor its clients know of one, so these are tried once.
const ONCE = ['newcomer', 'conformance', 'mcp-clients', 'connect', 'contract'].map((name) => `**/${name}.spec.js`);

export default defineConfig({
  outputDir: 'out',
  reporter: 'list',
  forbidOnly: !!process.env.CI,
  retries: 0, // a test that passes at the second try has found something
  workers: 2,
  fullyParallel: true,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  use: {
    browserName: 'chromium',
    locale: 'en-GB',
    timezoneId: 'UTC',
    trace: process.env.CI ? 'off' : 'retain-on-failure',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      // Nothing but the desk is to be asked for anything, and a container has no sandbox of its own to give.
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
  projects: databases.flatMap((database) =>
    kinds.filter(({ name }) => database === 'sqlite' || name !== 'without-js').map((kind) => project(kind, database))),
});

/** One kind of test on one database. */
function project({ name, use, testIgnore = [], ...kind }, database) {
  const ignored = database === 'sqlite' ? testIgnore : [...testIgnore, ...ONCE];
  return { ...kind, name: `${name} (${database})`, testIgnore: ignored, use: { ...use, database } };
}
