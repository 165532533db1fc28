// Keys and the audit log as administrators keep them: shown once, rotated, revoked with open eyes, written down; and the sign-in
// that changes of keys ask for once more. With script and without.
// Usage: node control.mjs BINARY
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { startDemo } from './demo.mjs';
import { launch, Watch } from './chromium.mjs';
import { look } from './look.mjs';
import { signedIn } from './signin.mjs';

const [binary] = process.argv.slice(2);
if (!binary) throw new Error('usage: node control.mjs BINARY');
const folder = 'control';
const path = '/scanner/api/v1/domain-ownership/random-content';
const browser = await launch();
const demos = [await startDemo(binary), await startDemo(binary, { CARDEA__GATEWAY__SESSION__STEP_UP_MINUTES: '1' })];
const watch = new Watch(demos.flatMap(({ portal, sheet }) => [portal, sheet.idp]).map((url) => new URL(url).origin));

/** A page in a browser of its own, signed in. */
const at = (demo, name, options = {}) => signedIn(demo, name, { browser, watch, ...options });

/** What a program with this key is answered. */
async function ask(portal, key) {
  const context = await browser.newContext();
  const answer = await context.request.get(portal + path, { headers: { authorization: `Bearer ${key}` } });
  const told = await answer.json();
  delete told.request_id;
  await context.close();
  return { status: answer.status(), told };
}

/** Loads the page again until `ready` says that it shows what has to come. */
async function until(page, what, ready) {
  const end = Date.now() + 120_000;
  while (!(await ready())) {
    if (Date.now() > end) throw new Error(`${what} never came`);
    await page.reload();
  }
}

async function create(page, portal, label) {
  await page.goto(`${portal}/admin/keys`);
  await page.getByRole('link', { name: 'New API key' }).click();
  await page.getByLabel('Label').fill(label);
  await page.getByLabel('Days until it expires').fill('20');
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByRole('heading', { name: 'API key created' }).waitFor();
  return page.locator('#api-key').textContent();
}

async function shownOnce(page, portal) {
  const first = await create(page, portal, 'Build server');
  await page.reload();
  await page.getByRole('heading', { name: 'The key was already shown' }).waitFor();
  assert.ok(!(await page.content()).includes(first), 'a reload shows nothing');
  await look(page, 'already-shown', watch, { folder });
  await page.goBack();
  assert.ok(!(await page.content()).includes(first), 'neither does the way back');
  await page.goto(`${portal}/admin/keys`);
  assert.equal(await page.getByRole('link', { name: /^Rotate/ }).count(), 1, 'one key was made');
  const shown = await page.locator('td[data-label="Key"] code').first().textContent();
  assert.equal(shown, `${first.slice(0, 17)}…${first.slice(-4)}`);
  await page.getByText('1 API key ends within 30 days.').waitFor();
  return first;
}

async function rotatedAndRevoked(page, portal, first) {
  assert.equal((await ask(portal, first)).status, 200);
  await page.getByRole('link', { name: 'Build server', exact: true }).first().click();
  await page.getByRole('heading', { name: 'API key Build server' }).waitFor();
  await until(page, 'the call', async () => (await page.getByText('About 1 call of 1 operation from 1 network').count()) > 0);
  await page.getByText('The same as a table').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('table', { name: /^Calls by day/ }).waitFor();
  await look(page, 'api-key', watch, { folder });
  await page.getByRole('link', { name: 'Rotate' }).click();
  await page.getByLabel('In 24 hours').check();
  await page.getByRole('button', { name: 'Rotate the key' }).click();
  const second = await page.locator('#api-key').textContent();
  for (const key of [first, second]) assert.equal((await ask(portal, key)).status, 200, 'both work while they overlap');
  await page.goto(`${portal}/admin/keys`);
  await page.getByText(/The text before it works until .*, for (1 day|23 hours and \d+ minutes?) more/).waitFor();
  await look(page, 'keys-overlap', watch, { folder });
  await page.getByRole('link', { name: 'Build server', exact: true }).first().click();
  await page.getByText(/still works for/).waitFor();
  await look(page, 'api-key-overlap', watch, { folder, quick: true });
  await page.getByRole('link', { name: 'Revoke' }).click();
  await page.getByText('It is in use.').waitFor();
  await page.getByRole('cell', { name: '127.0.0.0/24' }).waitFor();
  await look(page, 'api-key-revoke', watch, { folder });
  await page.getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('No API key yet').waitFor();
  const never = await ask(portal, `cdk_${'0'.repeat(62)}`);
  for (const key of [first, second]) {
    let told = await ask(portal, key);
    for (const end = Date.now() + 60_000; told.status !== 401 && Date.now() < end; ) told = await ask(portal, key);
    assert.deepEqual(told, never, 'a revoked key is like one that never was');
  }
  return second;
}

async function serverKey(page, portal, sk) {
  await page.goto(`${portal}/admin/keys`);
  await page.locator('section[aria-labelledby="server-keys-heading"] tbody th a').first().click();
  await page.getByRole('heading', { name: /^Server key/ }).waitFor();
  assert.ok(!(await page.content()).includes(sk));
  await look(page, 'server-key', watch, { folder });
}

async function auditLog(page, portal, secrets) {
  await page.getByRole('navigation', { name: 'Portal' }).getByRole('link', { name: 'Audit' }).click();
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
  for (const what of ['created', 'rotated 24h', 'revoked']) {
    assert.equal(await page.getByRole('cell', { name: `API key: ${what}` }).count(), 1, `one row says ${what}`);
  }
  for (const secret of secrets) assert.ok(!(await page.content()).includes(secret.split('_').at(-1)));
  await look(page, 'audit', watch, { folder });
  await page.getByLabel('Act', { exact: true }).selectOption('api_key');
  await page.getByLabel('Person: name or mark').fill('alice');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/act=api_key/);
  assert.equal(await page.locator('tbody tr').count(), 3);
  await look(page, 'audit-filtered', watch, { folder });
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export as CSV' }).click();
  const file = await download;
  assert.match(file.suggestedFilename(), /^audit-acme-\d{4}-\d\d-\d\d\.csv$/);
  const csv = readFileSync(await file.path(), 'utf8');
  assert.equal(csv.split('\r\n').length, 5, 'the names of the columns, three events, the end');
  await page.getByLabel('Network').fill('198.51.100.0/24');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('No event fits this filter').waitFor();
  await look(page, 'audit-none', watch, { folder });
  watch.expect(400);
  await page.goto(`${portal}/admin/audit?from=yesterday`);
  await look(page, 'audit-refused', watch, { folder });
  await page.goto(`${portal}/admin/audit`);
  await page.getByRole('button', { name: 'Check it now' }).click();
  await until(page, 'the check', async () => (await page.getByText('is as it was written').count()) > 0);
  await look(page, 'audit-checked', watch, { folder, quick: true });
}

async function withoutScript(demo) {
  const page = await at(demo, 'alice', { javaScriptEnabled: false });
  const key = await create(page, demo.portal, 'Without script');
  assert.match(key, /^cdk_/);
  await page.goto(`${demo.portal}/admin/keys`);
  await page.getByRole('link', { name: 'Without script', exact: true }).first().click();
  await page.getByText('The same as a table').or(page.getByText('No use in this time.')).first().waitFor();
  await page.goto(`${demo.portal}/admin/audit?act=api_key`);
  await page.getByRole('cell', { name: 'API key: created' }).first().waitFor();
}

/** An open browser alone changes no key. */
async function stepUp(demo) {
  const page = await at(demo, 'alice');
  await page.goto(`${demo.portal}/admin/keys`);
  await page.getByLabel('Label').waitFor();
  await until(page, 'the end of the minute', async () => (await page.getByText('Sign in once more to add a key').count()) > 0);
  await look(page, 'keys-later', watch, { folder });
  watch.expect(401);
  await page.getByRole('link', { name: 'New API key' }).click();
  await page.getByRole('heading', { name: 'Please sign in once more' }).waitFor();
  await look(page, 'step-up', watch, { folder });
  await page.getByRole('link', { name: 'Sign in once more' }).click();
  const user = demo.sheet.users.find((one) => one.name === 'alice');
  await page.getByLabel('Name').fill(user.name);
  await page.getByLabel('Password').fill(user.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'New API key' }).waitFor();
}

try {
  const [demo, short] = demos;
  const alice = await at(demo, 'alice');
  const sk = demo.sheet.tenants.acme.sk;
  const first = await shownOnce(alice, demo.portal);
  const second = await rotatedAndRevoked(alice, demo.portal, first);
  await serverKey(alice, demo.portal, sk);
  await auditLog(alice, demo.portal, [first, second, sk]);
  await withoutScript(demo);
  await stepUp(short);
  watch.expect(403);
  const bob = await at(demo, 'bob');
  await bob.goto(`${demo.portal}/admin/audit`);
  await bob.getByText('Only administrators of your company').waitFor();
} catch (error) {
  watch.note(`the steps stopped: ${error.stack}`);
} finally {
  await browser.close();
  for (const demo of demos) await demo.stop();
}
process.exit(watch.finish('keys and the audit log in the browser'));
