// WCAG 2.2 AA on every page, light and dark, laptop and phone; and the whole job by keyboard.
import { AxeBuilder } from '@axe-core/playwright';
import { test, expect } from '../../lib/fixtures.js';
import { confirmCall } from '../../lib/decision.js';
import { hold, letter } from '../../lib/letters.js';
import { confirm, decline, expectStanding, guardPassed, press, signIn, posting } from '../../lib/pages.js';

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe finds on the page in both colour schemes, short enough to read. */
async function expectAccessible(page, what) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).withTags(rules).analyze();
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
    expect(found, `${what}, ${colorScheme}`).toEqual([]);
  }
}

for (const [device, viewport] of Object.entries({ laptop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } })) {
  test.describe(device, () => {
    test.use({ viewport });

    test('axe finds nothing on any page', async ({ page, desk, upstream, ann, agent }) => {
      test.slow();
      await page.goto('/sign-in');
      await expectAccessible(page, 'sign in');
      await page.getByRole('textbox', { name: 'Email' }).fill(ann.email);
      await page.getByRole('textbox', { name: 'Password' }).fill('wrong');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await expect(page.getByRole('alert')).toBeVisible();
      await expectAccessible(page, 'sign in, refused');

      await signIn(page, ann);
      await expectAccessible(page, 'empty inbox');
      await page.goto('/done');
      await expectAccessible(page, 'empty Done');

      const mail = await hold(agent, { input: letter({ body: 'pay \u202Edrawkcab\n\nnow' }) });
      const other = await hold(agent, { input: letter({ subject: 'Another' }) });
      const late = await hold(agent, { action: 'send_mail_later' });
      const wipe = await hold(agent, { action: 'wipe_customer', input: { id: '4211' } });
      const ticket = await hold(agent, { action: 'move_ticket', input: { id: '87', state: 'closed' } });
      for (const [what, address] of Object.entries({ inbox: '/inbox', 'external call': mail.url, 'destructive call': wipe.url, 'call with before and after': ticket.url })) {
        await page.goto(address);
        await expectAccessible(page, what);
      }
      upstream.tickets.get('87').state = 'waiting';
      await confirm(page);
      await expect(page.getByRole('region', { name: 'Preview' })).toContainText('waiting');
      await expectAccessible(page, 'changed since shown');

      await page.goto(late.url);
      await confirm(page);
      await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible();
      await expectAccessible(page, 'undo window');
      await page.goto(mail.url);
      await confirm(page);
      await expectStanding(page, mail.url, 'Sent');
      await expectAccessible(page, 'sent');
      await page.goto(other.url);
      await decline(page);
      await expectStanding(page, other.url, 'Declined');
      await expectAccessible(page, 'declined');

      for (const address of ['/done', `/people/${ann.id}/receipts`, '/account/notices', '/no-such-page']) {
        await page.goto(address);
        await expectAccessible(page, address);
      }
      await page.getByRole('button', { name: 'Sign out' }).click();
      await expect(page.getByRole('navigation', { name: 'Main' })).toHaveCount(0);
      await signIn(page, await desk.addPerson('Olga', 'operator'));
      await page.goto('/done');
      await expectAccessible(page, 'Done of an operator');
    });

    test('axe finds nothing on standing grants', async ({ page, ann, agent }) => {
      test.slow();
      const { url } = await hold(agent, { input: letter({ body: 'pay \u202Edrawkcab\n\nnow' }) });
      await signIn(page, ann);
      await page.goto(url);
      await page.getByText('Allow more like this').click();
      await expectAccessible(page, 'what may be let through');
      await page.getByRole('checkbox', { name: 'subject' }).check();
      await press(page, 'Allow these and confirm this call');
      await expectStanding(page, url, 'Sent');
      await expectAccessible(page, 'sent, with a grant');
      await page.goto('/grants');
      await expectAccessible(page, 'a grant that lives');
      await posting(page, () => page.getByRole('button', { name: /^Revoke/ }).click());
      await expectAccessible(page, 'a grant that has ended');
    });

    test('axe finds nothing on receipts and on the lists of operators', async ({ page, desk, ann }) => {
      test.slow();
      const mover = await desk.addAgent('mover', ann, []);
      const { json } = await mover.act('move_ticket', { id: '87', state: 'closed' });
      await signIn(page, await desk.addPerson('Olga', 'operator'));
      for (const address of [`/done/${json.receipt_id}`, '/done?from=soon&outcome=x', '/actions', '/credentials', '/journal', '/journal?type=x']) {
        await page.goto(address);
        await page.locator('details').evaluateAll((all) => all.forEach((one) => (one.open = true)));
        await expectAccessible(page, address);
      }
    });

    test('axe finds nothing on many at once', async ({ page, ann, agent }) => {
      test.slow();
      for (const state of ['open', 'closed', 'closed']) await hold(agent, { action: 'move_ticket', input: { id: '87', state } });
      await signIn(page, ann);
      await page.locator('.narrow summary').click();
      for (const box of await page.getByRole('checkbox').all()) await box.check();
      await expectAccessible(page, 'a list with calls selected');
      await guardPassed();
      await button(page, /^Confirm selected/);
      await expectAccessible(page, 'several calls shown whole');
      await confirm(page);
      await expectAccessible(page, 'what came of several calls');
      await page.getByRole('list').getByRole('link', { name: /^Move ticket/ }).last().click();
      await expectAccessible(page, 'a call with others beside it');
    });

    test('axe finds nothing on a settlement', async ({ page, desk, upstream, ann, agent }) => {
      test.slow();
      const person = await desk.addToken(ann);
      upstream.hang();
      const lost = await hold(agent);
      await confirmCall(person, lost.id);
      await upstream.received(1);
      upstream.cut();
      expect((await agent.get(`/v1/calls/${lost.id}`, { Prefer: 'wait=20' })).json.status).toBe('in_doubt');
      await hold(agent, { input: letter({ subject: 'Another' }) });
      await signIn(page, ann);
      await expectAccessible(page, 'inbox with a call in doubt');
      await page.goto(lost.url);
      await button(page, 'Settle');
      await expectAccessible(page, 'a settlement at fault');
      await page.getByRole('radio', { name: 'It happened' }).check();
      await page.getByRole('textbox', { name: 'Reason' }).fill('It stands in their log.');
      await button(page, 'Settle');
      await expectAccessible(page, 'settled');
    });

    test('axe finds nothing on the forms of actions', async ({ page, desk, ann }) => {
      test.slow();
      for (const name of ['north', 'south']) await desk.command(['tenant', 'add', '--name', name, '--person', ann.email]);
      await signIn(page, ann);
      for (const address of ['/run', '/run/tidy_shelf', '/run/order_goods']) {
        await page.goto(address);
        await expectAccessible(page, address);
      }
      await button(page, 'Add one to Lines');
      await button(page, 'Add one to Copies to');
      await expectAccessible(page, 'a form with rows');
      await button(page, 'Preview');
      await expectAccessible(page, 'a form at fault');
    });

    test('axe finds nothing on the account', async ({ page, ann }) => {
      test.slow();
      await signIn(page, ann);
      await page.goto('/account');
      await expectAccessible(page, 'account');
      await button(page, 'Make a token');
      await expectAccessible(page, 'a token at fault');
      await page.getByRole('checkbox', { name: /read receipts/ }).check();
      await button(page, 'Make a token');
      await expectAccessible(page, 'a token shown once');
      await page.getByText('Revoke', { exact: false }).first().click();
      await button(page, 'Change the password');
      await expectAccessible(page, 'a password at fault');
    });

    test('axe finds nothing on the pages of an admin', async ({ page, desk, ann }) => {
      test.slow();
      await desk.command(['tenant', 'add', '--name', 'north', '--person', ann.email]);
      await signIn(page, await desk.addPerson('Ada', 'admin'));
      for (const address of ['/people', '/people/groups', '/people/tenants']) {
        await page.goto(address);
        await expectAccessible(page, address);
      }
      await page.getByText('Remove this tenant').first().click();
      await button(page, 'Add a tenant');
      await expectAccessible(page, 'a tenant at fault');
      await page.goto(`/people/${ann.id}`);
      await page.getByText('What happens then').click();
      await expectAccessible(page, 'a person');
      await page.goto('/people');
      await button(page, 'Make a link');
      await expectAccessible(page, 'an invitation at fault');
      await page.getByRole('textbox', { name: 'Name' }).fill('Eve');
      await page.getByRole('textbox', { name: 'Email' }).fill('eve@house.test');
      await button(page, 'Make a link');
      await expectAccessible(page, 'an invitation shown once');
      const link = await page.getByText(/\/invitation\//).innerText();
      await page.goto(link);
      await expectAccessible(page, 'an invitation');
      await button(page, 'Make my account');
      await expectAccessible(page, 'an invitation at fault');
      await page.goto('/invitation/cin_nonsense');
      await expectAccessible(page, 'a link that is not good');
    });

    test('axe finds nothing on agents and their keys', async ({ page, desk, ann, agent }) => {
      test.slow();
      const { url } = await hold(agent);
      await desk.addAgent('spare-bot', ann);
      await signIn(page, await desk.addPerson('Ada', 'admin'));
      await page.goto('/agents');
      await expectAccessible(page, 'agents');
      await button(page, 'Add the agent');
      await expectAccessible(page, 'an agent at fault');
      await page.getByLabel('Name').fill('crm-bot');
      await page.getByLabel('Email of its owner').fill(ann.email);
      await button(page, 'Add the agent');
      await expect(page.getByRole('region', { name: 'The key of crm-bot' })).toBeVisible();
      await expectAccessible(page, 'a key that was made');
      await page.goto(`/agents/${agent.id}`);
      await page.getByText(/^Revoke key_/).click();
      await page.getByText('Revoke this agent').click();
      await expectAccessible(page, 'an agent');
      await page.getByRole('textbox', { name: 'Reason' }).fill('It asks for too much.');
      await button(page, 'Pause billing-bot');
      await expectAccessible(page, 'a paused agent');
      await desk.command(['agent', 'revoke', 'spare-bot']);
      await page.goto('/agents');
      await expectAccessible(page, 'agents, one paused and one revoked');
    });

    test('axe finds nothing on what is paused', async ({ page, desk, ann, agent }) => {
      test.slow();
      const { url } = await hold(agent);
      await desk.command(['agent', 'pause', 'billing-bot', '--reason', 'It asks for too much.']);
      await signIn(page, ann);
      await page.goto(url);
      await expectAccessible(page, 'a call of a paused agent');
      await page.goto('/calls');
      await expectAccessible(page, 'own agents');
      await desk.command(['agent', 'pause', '--all', '--reason', 'y'.repeat(200)]);
      for (const address of ['/inbox', '/calls', url]) {
        await page.goto(address);
        await expectAccessible(page, `${address} while everything is paused`);
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(beyond, address).toBeLessThanOrEqual(0);
      }
      await page.getByRole('button', { name: 'Sign out' }).click();
      await expect(page.getByRole('navigation', { name: 'Main' })).toHaveCount(0);
      await signIn(page, await desk.addPerson('Olga', 'operator'));
      await page.goto('/agents');
      await expectAccessible(page, 'agents while everything is paused');
    });

    test('no page scrolls sideways, and decisions are large enough to hit', async ({ page, ann, agent }) => {
      const { url } = await hold(agent, { input: letter({ body: 'x'.repeat(3000), subject: 'y'.repeat(200) }) });
      await signIn(page, ann);
      for (const address of ['/inbox', '/done', '/run/order_goods', '/account', url]) {
        await page.goto(address);
        const { scrollWidth, clientWidth } = await page.evaluate(() => {
          const { scrollWidth, clientWidth } = document.documentElement;
          return { scrollWidth, clientWidth };
        });
        expect(scrollWidth, address).toBeLessThanOrEqual(clientWidth);
      }
      for (const name of [/^Confirm/, /^Decline/]) {
        const button = page.getByRole('button', { name });
        // In view without scrolling, however long the payload.
        await expect(button).toBeInViewport({ ratio: 1 });
        const { width, height } = await button.boundingBox();
        expect(Math.min(width, height)).toBeGreaterThanOrEqual(44);
      }
    });
  });
}

test('the whole job by keyboard, focus always in sight', async ({ page, upstream, ann, agent }) => {
  const { url } = await hold(agent);
  await page.goto('/sign-in');
  await tabTo(page, page.getByRole('textbox', { name: 'Email' }));
  await page.keyboard.type(ann.email);
  await tabTo(page, page.getByRole('textbox', { name: 'Password' }));
  await page.keyboard.type(ann.password);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Inbox' })).toBeVisible();
  await tabTo(page, page.getByRole('list', { name: 'Held calls' }).getByRole('link'));
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(url);
  await tabTo(page, page.getByRole('button', { name: /^Confirm/ }));
  await guardPassed();
  await posting(page, () => page.keyboard.press('Enter'));
  await expectStanding(page, url, 'Sent');
  expect(upstream.writes).toBe(1);
});

/** Presses a button that posts a form. */
const button = (page, name) => posting(page, () => page.getByRole('button', { name }).click());

/** Presses Tab until the element has the focus and is seen to have it. */
async function tabTo(page, element) {
  await expect(element).toBeVisible();
  for (let presses = 0; presses < 60; presses += 1) {
    if (await element.evaluate((node) => node === document.activeElement)) {
      const outline = await element.evaluate((node) => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(node);
        return { visible: (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none' };
      });
      expect(outline.visible, 'the focus is visible').toBe(true);
      await expect(element).toBeInViewport();
      return;
    }
    await page.keyboard.press('Tab');
  }
  throw new Error(`sixty presses of Tab do not reach ${element}`);
}
