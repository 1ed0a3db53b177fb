// The Done tab: filters that are addresses, pages both ways, and files of what the filters show.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test, expect } from '../../lib/fixtures.js';
import { request } from '../../lib/http.js';
import { cookies, open, receipts, signIn } from '../../lib/pages.js';

/** Moves a ticket so many times; nobody is asked. */
async function moves(agent, count, headers) {
  for (let n = 0; n < count; n += 1) {
    const moved = await agent.act('move_ticket', { id: '87', state: n % 2 ? 'open' : 'waiting' }, headers);
    expect(moved.status, moved.text).toBe(200);
  }
}

const address = async (page) => (await receipts(page)).map((row) => row['Host and path']);
const table = (page) => page.getByRole('table', { name: 'Receipts' });

test('filters narrow the list, and the address is the filter', async ({ page, desk, upstream, ann }) => {
  const [one, two] = [await desk.addAgent('mover', ann, []), await desk.addAgent('helper', ann, [])];
  await moves(one, 2);
  await moves(two, 1);
  await signIn(page, ann);
  await open(page, 'Done');
  expect((await receipts(page)).map(({ Agent }) => Agent)).toEqual(['helper', 'mover', 'mover']);
  const filters = page.getByRole('search', { name: 'Receipts' });
  await filters.getByRole('textbox', { name: 'Agent' }).fill('mover');
  await filters.getByRole('button', { name: 'Show' }).click();
  await expect(page).toHaveURL(/agent=mover/);
  expect((await receipts(page)).map(({ Agent }) => Agent)).toEqual(['mover', 'mover']);
  await expect(filters.getByRole('textbox', { name: 'Agent' })).toHaveValue('mover');
  // A host alone means it on every port.
  await page.goto(`/done?host=127.0.0.1&action=move_ticket&outcome=done&from=2020-01-01&to=2999-01-01`);
  expect(await address(page)).toEqual(Array(3).fill(`${upstream.host}/tickets/87`));
  for (const nothing of ['host=127.0.0.2', 'action=send_mail', 'outcome=in_doubt', 'to=2020-01-01', 'agent=nobody']) {
    await page.goto(`/done?${nothing}`);
    await expect(page.getByText('No receipt fits these filters.'), nothing).toBeVisible();
    await expect(table(page)).toHaveCount(0);
  }
  await page.getByRole('link', { name: 'Show all' }).first().click();
  await expect(page).toHaveURL(/\/done$/);
});

test('a filter that cannot be read is told beside it, and nothing is shown', async ({ page, desk, ann }) => {
  await moves(await desk.addAgent('mover', ann, []), 1);
  await signIn(page, ann);
  const answer = await page.goto('/done?from=30.11.2026&outcome=perhaps&agent=mover');
  expect(answer.status()).toBe(422);
  await expect(table(page)).toHaveCount(0);
  await expect(page.getByText('Nothing is shown')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'From' })).toHaveAccessibleDescription(/This is no day/);
  await expect(page.getByRole('textbox', { name: 'From' })).toHaveValue('30.11.2026');
  await expect(page.getByRole('combobox', { name: 'Outcome' })).toHaveAccessibleDescription(/no such outcome/);
  await expect(page.getByRole('textbox', { name: 'Agent' })).toHaveValue('mover');
  await page.getByRole('textbox', { name: 'From' }).fill('2020-01-01');
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(table(page)).toBeVisible();

  const file = await request(`${desk.url}/done/export.csv?from=soon`, { headers: { Cookie: await cookies(page) } });
  expect(file.status).toBe(422);
  expect(file.text).toContain('from: This is no day');
});

test('older and newer, with the filter kept, while receipts are added', async ({ page, desk, ann }) => {
  test.slow();
  const mover = await desk.addAgent('mover', ann, []);
  await moves(mover, 60);
  await signIn(page, ann);
  await page.goto('/done?agent=mover');
  await expect(page.getByRole('link', { name: 'Newer' })).toHaveCount(0);
  const links = () => table(page).getByRole('row').getByRole('link').evaluateAll((all) => all.map(({ href }) => href));
  const first = await links();
  expect(first.length).toBe(50);
  await page.getByRole('link', { name: 'Older' }).click();
  await expect(table(page).getByRole('row')).toHaveCount(11);
  await expect(page).toHaveURL(/agent=mover&cursor=/);
  const second = await links();
  expect(new Set([...first, ...second]).size).toBe(60);
  await expect(page.getByRole('link', { name: 'Older' })).toHaveCount(0);
  await moves(mover, 3);
  await page.getByRole('link', { name: 'Newer' }).click();
  await expect(table(page).getByRole('row')).toHaveCount(51);
  expect(await links(), 'newer is what was newer').toEqual(first);
  await page.getByRole('link', { name: 'Newer' }).click();
  await expect(page.getByRole('link', { name: 'Newer' })).toHaveCount(0);
  expect((await links()).slice(3), 'the newest page is a whole one').toEqual(first.slice(0, 47));
});

test('a person\'s receipts have the same filters', async ({ page, desk, ann }) => {
  await moves(await desk.addAgent('mover', ann, []), 2);
  await signIn(page, await desk.addPerson('Olga', 'operator'));
  await page.goto(`/people/${ann.id}/receipts`);
  await expect(page.getByRole('combobox', { name: 'Person' })).toHaveCount(0);
  await page.getByRole('textbox', { name: 'Action' }).fill('move_ticket');
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page).toHaveURL(new RegExp(`/people/${ann.id}/receipts\\?.*action=move_ticket`));
  expect((await receipts(page)).length).toBe(2);
  const file = await page.getByRole('link', { name: 'CSV' }).getAttribute('href');
  expect(file).toContain(`person=${ann.id}`);
  await page.goto(`/people/${ann.id}/receipts?action=other`);
  await expect(page.getByText('No receipt fits these filters.')).toBeVisible();
});

test('the files hold what the filters show, whole, and no formula', async ({ page, desk, upstream, ann }) => {
  test.slow();
  const ben = await desk.addPerson('Ben');
  const mover = await desk.addAgent('mover', ann, []);
  await moves(mover, 2, { 'Countersign-Session': '=1+1,"x"' });
  await moves(await desk.addAgent('others', ben, []), 1);
  await signIn(page, ann);
  await open(page, 'Done');
  const ask = async (query) => request(`${desk.url}${query}`, { headers: { Cookie: await cookies(page) } });
  const csv = await ask(await page.getByRole('link', { name: 'CSV' }).getAttribute('href'));
  expect(csv.status).toBe(200);
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
  expect(csv.headers['content-disposition']).toBe('attachment; filename="receipts.csv"');
  const lines = csv.text.split('\r\n');
  expect(lines.length).toBe(4);
  expect(lines[0]).toBe('id,at,outcome,upstream_status,method,url,action,surface,person,person_id,agent,agent_id,session,credential,body_size,approval_kind,approved_by,approved_by_ids,approved_at,approval_id,approved_for,approved_for_ids,approval_reason');
  expect(lines[1]).toContain(`,done,200,PUT,${upstream.url}/tickets/87,move_ticket,api,Ann,${ann.id},mover,${mover.id},"'=1+1,""x""",office,`);
  expect(lines[3]).toBe('');

  const jsonl = await ask(await page.getByRole('link', { name: 'JSON Lines' }).getAttribute('href'));
  expect(jsonl.headers['content-type']).toBe('application/jsonl; charset=utf-8');
  const facts = jsonl.text.trimEnd().split('\n').map((line) => JSON.parse(line));
  expect(facts.length).toBe(2);
  expect(Object.keys(facts[0])).not.toContain('body_sha256');
  expect(facts[0]).toMatchObject({ person: 'Ann', agent: 'mover', session: '=1+1,"x"', method: 'PUT', outcome: 'done', approval: { kind: 'none', by: [] } });

  // Another's are not there, whatever the address says.
  expect((await ask(`/done/export.jsonl?person=${ben.id}`)).text).toBe('');
  expect((await ask('/done/export.jsonl?agent=others')).text).toBe('');
  const nobody = await request(`${desk.url}/done/export.csv`);
  expect(nobody.status).toBe(303);
  expect(nobody.headers.location).toBe('/sign-in?next=%2Fdone%2Fexport.csv');

  // More than one page of the database.
  await moves(mover, 520);
  const all = await ask('/done/export.jsonl?agent=mover');
  const ids = all.text.trimEnd().split('\n').map((line) => JSON.parse(line).id);
  expect([ids.length, new Set(ids).size]).toEqual([522, 522]);
  const told = await desk.command(['receipts', 'list', '--agent', 'mover', '--limit', '2']);
  expect(told.items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  expect(told.next_cursor).toBeTruthy();
  const out = path.join(desk.folder, 'receipts.csv');
  expect(await desk.command(['receipts', 'export', '--agent', 'mover', '--out', out])).toEqual({ out, receipts: 522 });
  const rows = (await readFile(out, 'utf8')).trimEnd().split('\r\n');
  expect(rows.slice(1).map((row) => row.split(',')[0])).toEqual(ids);
});

test('no page, no source and no file has a body, a digest, a query or a key', async ({ page, desk, upstream, ann }) => {
  const agent = await desk.addAgent('caller', ann, []);
  const canary = 'c0ffee-5e7a1d';
  const sent = await agent.ask('POST', '/v1/fetch', {
    credential: 'office',
    method: 'POST',
    url: `${upstream.url}/messages?query=q-${canary}`,
    headers: { 'X-Note': `header-${canary}` },
    body: JSON.stringify({ to: `body-${canary}` }),
    reason: `reason-${canary}`,
  }, { 'Idempotency-Key': `key-${canary}` });
  expect(sent.status, sent.text).toBe(200);
  expect(upstream.requests.at(-1).body).toContain(canary);
  const id = sent.json.receipt_id;
  const { json: receipt } = await (await desk.addToken(ann)).get(`/v1/receipts/${id}`);
  await signIn(page, ann);
  const headers = { Cookie: await cookies(page) };
  const olga = await desk.addPerson('Olga', 'operator');
  const addresses = ['/done', `/done/${id}`, `/people/${ann.id}/receipts`, '/done/export.csv', '/done/export.jsonl'];
  const look = async (cookie) => {
    for (const address of addresses) {
      const { status, text } = await request(`${desk.url}${address}`, { headers: cookie });
      expect(status, address).toBe(200);
      expect(text, address).toContain(id);
      for (const hidden of [canary, receipt.body_sha256, agent.token]) expect(text, address).not.toContain(hidden);
    }
  };
  await look(headers);
  await page.context().clearCookies();
  await signIn(page, olga);
  await look({ Cookie: await cookies(page) });
});
