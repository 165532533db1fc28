// Every step of a new scan with script, and the way without it: before a service that can be told what to answer, with a page of
// another origin in place of the embedded browser.
// Usage: node new-scan.mjs PATH_OF_BINARY
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { launch, Watch } from './chromium.mjs';
import { startDemo } from './demo.mjs';
import { look } from './look.mjs';
import { serve } from './new-scan-service.mjs';
import { signIn } from './signin.mjs';

const [binary] = process.argv.slice(2);
if (!binary) throw new Error('usage: node new-scan.mjs PATH_OF_BINARY');

const browser = await launch();
const service = await serve();
const demo = await startDemo(binary, { CARDEA__GATEWAY__TENANTS__ACME__SERVICE__BASE_URL: service.url });
const watch = new Watch([demo.portal, demo.sheet.idp, service.url].map((url) => new URL(url).origin));
for (const status of [404, 409, 422]) watch.expect(status);
const folder = 'new-scan';
const see = (page, name, options = {}) => look(page, name, watch, { folder, ...options });
const file = (name, text) => ({ name, mimeType: 'application/java-archive', buffer: Buffer.from(text) });
const user = demo.sheet.users.find((one) => one.name === 'alice');

async function artifacts(page) {
  await page.goto(`${demo.portal}/tasks/new`);
  await see(page, 'begin');
  await page.getByLabel('Project name').fill('Shop');
  await page.getByRole('button', { name: 'Begin' }).click();
  await page.getByRole('heading', { name: 'Artifact', level: 1 }).waitFor();
  await see(page, 'artifact-empty');
  const draft = new URL(page.url()).pathname.replace(/\/artifact$/, '');
  await page.getByLabel('File', { exact: true }).setInputFiles(file('cart.war', 'PK cart'));
  await page.getByRole('button', { name: 'Upload the file' }).click();
  await page.getByRole('rowheader', { name: /cart\.war/ }).waitFor();
  await page.getByText('This file is one of several services').click();
  await page.getByLabel('Name of the service').fill('payment');
  await page.getByLabel('File', { exact: true }).setInputFiles(file('pay.jar', 'PK pay'));
  await page.getByRole('button', { name: 'Upload the file' }).click();
  await page.getByRole('rowheader', { name: /pay\.jar/ }).waitFor();
  await see(page, 'artifact-group');
  return draft;
}

async function target(page, draft) {
  await page.goto(`${demo.portal}${draft}/target`);
  await see(page, 'target-empty');
  service.stages = service.refused;
  await page.getByLabel('Target address').fill('https://staging.example/app');
  await page.getByLabel('Sign-in address').fill('https://staging.example/login');
  await page.clock.install();
  await page.getByRole('button', { name: 'Save and check the connection' }).click();
  await page.locator('[data-state=running]').waitFor();
  await see(page, 'target-running', { quick: true });
  const loads = [];
  page.on('load', () => loads.push(page.url()));
  for (let n = 0; n < 10 && !(await page.locator('[data-state=failed]').count()); n += 1) {
    await page.clock.runFor(2100);
    await page.waitForTimeout(300);
  }
  await page.locator('[data-state=failed]').waitFor();
  assert.deepEqual(loads, [], 'the stages came without a load of the page');
  const again = page.getByRole('button', { name: 'Check again' });
  assert.ok(await again.isDisabled(), 'the hand button waits');
  await page.getByText('The check is repeated by itself in').waitFor();
  await see(page, 'target-failed');
  await page.clock.runFor(16_000);
  assert.ok(await again.isEnabled(), 'in the last 15 seconds the hand button is free');
  service.stages = service.reached;
  const checks = service.checks;
  await page.clock.runFor(16_000);
  for (let n = 0; n < 10 && !(await page.locator('[data-state=passed]').count()); n += 1) {
    await page.waitForTimeout(300);
    await page.clock.runFor(2100);
  }
  await page.locator('[data-state=passed]').waitFor();
  assert.equal(service.checks, checks + 1, 'the check was repeated once, by itself');
  assert.deepEqual(loads, [], 'and that without a load, too');
  await see(page, 'target-passed');
}

async function ownership(page) {
  await page.getByRole('link', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Ownership', level: 1 }).waitFor();
  for (const words of ['nginx', 'Apache', 'Object store']) await page.getByText(words, { exact: true }).click();
  await see(page, 'ownership');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download hash.txt' }).click()]);
  assert.equal(download.suggestedFilename(), 'hash.txt');
  assert.equal(readFileSync(await download.path(), 'utf8'), 'ab'.repeat(32));
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Not found yet.').waitFor();
  await see(page, 'ownership-not-yet');
  service.owned = true;
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('The domain is verified.').waitFor();
  await see(page, 'ownership-verified');
  await page.getByRole('link', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Source code', level: 1 }).waitFor();
  await see(page, 'source');
  await page.getByRole('button', { name: 'Skip this step' }).click();
}

async function accounts(page) {
  await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor();
  await see(page, 'accounts-empty');
  service.browser = false;
  await page.getByRole('button', { name: 'Open the browser' }).click();
  await page.getByText('has no browser to offer here').waitFor();
  assert.ok(await page.getByLabel('Cookies').isVisible(), 'the form is offered');
  await see(page, 'accounts-no-browser');
  service.browser = true;
  await page.getByRole('button', { name: 'Open the browser' }).click();
  const frame = page.frameLocator('iframe[title="Embedded browser"]');
  await frame.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByRole('radio', { name: 'https://staging.example/login' }).waitFor();
  assert.equal(await page.locator('iframe').getAttribute('sandbox'), 'allow-scripts allow-same-origin allow-forms allow-popups');
  assert.equal(await page.locator('iframe').getAttribute('allow'), 'clipboard-write');
  // Whoever is not that frame is not listened to.
  await page.evaluate(() => window.postMessage({ type: 'updateTabs', data: { data: [{ targetId: 'X', url: 'https://evil.example' }] } }, '*'));
  await page.getByRole('button', { name: 'Save the session' }).click();
  await page.getByText('The session was saved.').waitFor();
  await page.getByRole('rowheader', { name: 'https://staging.example/login' }).waitFor();
  assert.equal(await page.getByText('evil.example').count(), 0);
  await see(page, 'accounts-browser');
  await page.getByRole('button', { name: 'Add an account' }).click();
  await page.getByRole('radio').nth(1).check();
  await page.getByLabel('Role').first().selectOption('normal');
  await page.getByRole('button', { name: 'Save the session' }).click();
  await page.getByRole('cell', { name: 'Normal user', exact: true }).waitFor();
  const asked = await page.frames().find((one) => one.url().includes('/frame')).evaluate(() => window.asked);
  assert.deepEqual(asked.slice(0, 4).map((one) => one.type), ['initCopyPaste', 'clearTabs', 'getTabs', 'newTab'], JSON.stringify(asked));
  assert.equal(asked.filter((one) => one.type === 'newTab').length, 1, 'an emptiness that is told twice opens one tab');
  assert.equal(new Set(asked.map((one) => one.messageId)).size, asked.length, 'ids are unique');
  assert.ok(asked.every((one) => one.origin === new URL(demo.portal).origin));
  assert.ok(!(await page.content()).includes('captured-secret'), 'what was captured is on no page');
  await page.getByLabel('Cookies').fill('fine=1\nnot a cookie');
  await page.getByRole('button', { name: 'Save the account' }).click();
  await page.getByText('Line 2:').waitFor();
  assert.equal(await page.getByLabel('Cookies').inputValue(), 'fine=1\nnot a cookie');
  await see(page, 'accounts-lines');
  await page.getByRole('link', { name: 'Continue' }).click();
}

async function start(page, draft) {
  await page.getByRole('heading', { name: 'Names', level: 1 }).waitFor();
  await see(page, 'names');
  await page.getByRole('textbox', { name: 'Name of the service' }).first().fill('cart');
  const other = await page.context().newPage();
  await other.goto(`${demo.portal}${draft}/options`);
  await page.getByRole('button', { name: 'Save and continue' }).click();
  await page.getByRole('heading', { name: 'Check and start', level: 1 }).waitFor();
  await other.getByRole('button', { name: 'Save and continue' }).click();
  await other.getByText('The names were changed in another tab or window').waitFor();
  await see(other, 'stale');
  await other.goto(`${demo.portal}/tasks/new`);
  await see(other, 'drafts');
  await other.close();
  await see(page, 'check');
  await page.getByRole('button', { name: 'Start 2 scans as a group' }).click();
  await page.getByText('Confirm this first.').waitFor();
  await see(page, 'check-unsure');
  await page.getByLabel('The target is no production system').check();
  await page.getByRole('button', { name: 'Start 2 scans as a group' }).click();
  await page.getByText('All scans of the group have started.').waitFor();
  await page.getByRole('heading', { name: 'Group of tasks', level: 1 }).waitFor();
  const [sent] = service.created;
  assert.equal(sent.serviceName, 'cart');
  assert.equal(sent.primarySourceCodes[0].serviceName, 'payment');
  assert.deepEqual(sent.sandboxAuthInfos.map((one) => one.roleName), ['admin', 'normal']);
  assert.equal(sent.sandboxAuthInfos[0].originRequestData.cookies[0].value, 'captured-secret-T1');
  assert.equal(sent.browserBoxId, 'box');
}

/** The same steps for a browser that runs no script. */
async function withoutScript() {
  const context = await watch.follow(await browser.newContext({ javaScriptEnabled: false }));
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await signIn(page, demo.portal, user, { watch });
  await page.goto(`${demo.portal}/tasks/new`);
  await page.getByRole('button', { name: 'Begin' }).click();
  await page.getByLabel('File', { exact: true }).setInputFiles(file('plain.jar', 'PK plain'));
  await page.getByRole('button', { name: 'Upload the file' }).click();
  await page.getByRole('link', { name: 'Continue', exact: true }).click();
  service.stages = service.reached;
  await page.getByLabel('Target address').fill('https://staging.example/');
  await page.getByRole('button', { name: 'Save and check the connection' }).click();
  for (let n = 0; n < 20 && !(await page.getByText('Reachable', { exact: true }).count()); n += 1) {
    await page.getByRole('link', { name: 'Look again' }).click();
    await page.waitForTimeout(500);
  }
  await page.getByText('Reachable', { exact: true }).waitFor();
  await page.getByRole('link', { name: /^Accounts/ }).click();
  await page.getByText('The embedded browser needs script').waitFor();
  await page.getByText('Give cookies and headers instead').click();
  await page.getByLabel('Cookies').fill('sid=1');
  await page.getByRole('button', { name: 'Save the account' }).click();
  await page.getByText('The account was saved.').waitFor();
  await page.getByRole('link', { name: /^Check and start/ }).click();
  await page.getByLabel('The target is no production system').check();
  await page.getByRole('button', { name: 'Start the scan' }).click();
  await page.waitForURL(/\/tasks\/t1$/);
  await context.close();
}

try {
  const context = await watch.follow(await browser.newContext({ acceptDownloads: true }));
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await signIn(page, demo.portal, user, { watch });
  const draft = await artifacts(page);
  await target(page, draft);
  await ownership(page);
  await accounts(page);
  await start(page, draft);
  await withoutScript();
} catch (error) {
  watch.note(`stopped: ${error.stack}`);
} finally {
  await browser.close();
  await demo.stop();
  service.close();
}
process.exit(watch.finish('the steps of a new scan'));
