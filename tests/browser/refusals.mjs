// Pages of what did not work: forms of a draft that cannot be saved, drafts that are gone, an outage of the store. Nothing typed
// is lost, every page leads on, and each is looked at.
// Usage: node refusals.mjs PATH_OF_BINARY
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { launch, Watch } from './chromium.mjs';
import { startDemo } from './demo.mjs';
import { look } from './look.mjs';
import { serve } from './new-scan-service.mjs';
import { freePort } from './port.mjs';
import { signIn } from './signin.mjs';

const [binary] = process.argv.slice(2);
if (!binary) throw new Error('usage: node refusals.mjs PATH_OF_BINARY');

const port = await freePort();
const redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
const browser = await launch();
const service = await serve();
const demo = await startDemo(binary, {
  CARDEA__GATEWAY__TENANTS__ACME__SERVICE__BASE_URL: service.url,
  CARDEA__GATEWAY__STORE__BACKEND: 'redis',
  CARDEA__GATEWAY__STORE__REDIS_URL: `redis://127.0.0.1:${port}`,
});
const watch = new Watch([demo.portal, demo.sheet.idp, service.url].map((url) => new URL(url).origin));
for (const status of [400, 404, 409, 410, 422, 503]) watch.expect(status);
const see = (page, name, options = {}) => look(page, name, watch, { folder: 'refusals', phone: 390, ...options });
const file = (name, text) => ({ name, mimeType: 'application/java-archive', buffer: Buffer.from(text) });
const user = demo.sheet.users.find((one) => one.name === 'alice');

/** Sends the form of a file as a browser without script does. */
const sendPlainly = (page) => Promise.all([page.waitForNavigation(), page.evaluate(() => document.querySelector('form[data-upload]').submit())]);

async function files(page) {
  await page.goto(`${demo.portal}/tasks/new`);
  await page.getByLabel('Project name').fill('Shop');
  await page.getByRole('button', { name: 'Begin' }).click();
  await page.getByRole('heading', { name: 'Artifact', level: 1 }).waitFor();
  const draft = new URL(page.url()).pathname.replace(/\/artifact$/, '');
  const input = page.getByLabel('File', { exact: true });
  const upload = page.getByRole('button', { name: 'Upload the file' });
  await input.setInputFiles(file('empty.war', ''));
  await upload.click();
  await page.getByText('The file is empty: it has 0 bytes.').first().waitFor();
  await page.getByText('This file is one of several services').click();
  await page.getByLabel('Name of the service').fill('cart');
  await sendPlainly(page);
  await page.getByText('The file is empty: it has 0 bytes.').first().waitFor();
  assert.equal(await page.getByLabel('Name of the service').inputValue(), 'cart');
  await see(page, 'empty-file');
  for (const name of ['cart.war', 'pay.jar']) {
    await page.getByLabel('Name of the service').fill('');
    await input.setInputFiles(file(name, `PK ${name}`));
    await upload.click();
    await page.getByRole('rowheader', { name: new RegExp(name) }).waitFor();
    await page.getByText('This file is one of several services').click();
  }
  await input.setInputFiles(file('copy.war', 'PK cart.war'));
  await upload.click();
  await page.getByText('This file is in the draft already').first().waitFor();
  await sendPlainly(page);
  await page.getByText('This file is in the draft already').first().waitFor();
  await see(page, 'file-twice');
  await page.locator('input[name=row]').first().evaluate((row) => { row.value = '99'; });
  await page.getByRole('button', { name: /^Remove/ }).first().click();
  await page.getByText('The row that was named is not in this draft').waitFor();
  assert.equal(await page.getByRole('rowheader').count(), 2);
  await see(page, 'row-not-there');
  return draft;
}

async function lateForms(page, draft) {
  const other = await page.context().newPage();
  other.setDefaultTimeout(30_000);
  service.stages = service.reached;
  await page.goto(`${demo.portal}${draft}/target`);
  await other.goto(`${demo.portal}${draft}/target`);
  await page.getByLabel('Target address').fill('https://staging.example/app');
  await page.getByRole('button', { name: 'Save and check the connection' }).click();
  await page.getByRole('heading', { name: 'Connection' }).waitFor();
  await other.getByLabel('Target address').fill('https://other.example/typed');
  await other.getByRole('button', { name: 'Save and check the connection' }).click();
  await other.getByText('The target was changed in another tab').waitFor();
  assert.equal(await other.getByLabel('Target address').inputValue(), 'https://other.example/typed');
  await see(other, 'late-target');
  await other.getByRole('button', { name: 'Save and check the connection' }).click();
  await other.getByRole('heading', { name: 'Connection' }).waitFor();
  assert.equal(await other.getByText('changed in another tab').count(), 0, 'the second time it is saved');
  await page.goto(`${demo.portal}${draft}/accounts`);
  await other.goto(`${demo.portal}${draft}/accounts`);
  await page.getByRole('button', { name: 'Open the browser' }).click();
  await page.getByRole('radio').first().waitFor();
  await other.getByText('Give cookies and headers instead').click();
  await other.getByLabel('Address they belong to').fill('https://staging.example/login?token=TOPSECRET');
  await other.getByLabel('Cookies').fill('sid=1');
  await other.getByRole('button', { name: 'Save the account' }).click();
  await other.getByText('The account was saved.').waitFor();
  await see(other, 'account-with-query');
  assert.ok(!(await other.content()).includes('TOPSECRET'));
  await page.getByRole('button', { name: 'Save the session' }).click();
  await page.getByText('Not saved yet: the draft changed').waitFor();
  await page.getByRole('rowheader', { name: /staging\.example\/login/ }).waitFor();
  await see(page, 'late-session', { quick: true });
  await page.getByRole('button', { name: 'Save the session' }).click();
  await page.getByText('The session was saved.').waitFor();
  await other.getByText('Give cookies and headers instead').click();
  await other.getByLabel('Cookies').fill('sid=kept-in-the-field');
  await other.getByLabel('Headers').fill('X-A: 1');
  await other.getByRole('button', { name: 'Save the account' }).click();
  await other.getByText('The accounts were changed in another tab').waitFor();
  assert.equal(await other.getByLabel('Cookies').inputValue(), 'sid=kept-in-the-field');
  assert.equal(await other.getByLabel('Headers').inputValue(), 'X-A: 1');
  await see(other, 'late-account');
  await page.goto(`${demo.portal}${draft}/options`);
  await other.goto(`${demo.portal}${draft}/options`);
  await page.getByRole('textbox', { name: 'Project name' }).fill('Shop of today');
  await page.getByRole('button', { name: 'Save and continue' }).click();
  await page.getByRole('heading', { name: 'Check and start', level: 1 }).waitFor();
  await other.getByRole('textbox', { name: 'Project name' }).fill('Shop as typed');
  await other.getByRole('button', { name: 'Save and continue' }).click();
  await other.getByText('The names were changed in another tab').waitFor();
  assert.equal(await other.getByRole('textbox', { name: 'Project name' }).inputValue(), 'Shop as typed');
  await see(other, 'late-names');
  await other.getByRole('button', { name: 'Save and continue' }).click();
  await other.getByRole('heading', { name: 'Check and start', level: 1 }).waitFor();
  await page.getByLabel('The target is no production system').check();
  await page.getByRole('button', { name: /^Start/ }).click();
  await page.getByText('The names were changed in another tab').waitFor();
  assert.ok(!(await page.getByLabel('The target is no production system').isChecked()), 'it is confirmed for what is shown');
  await see(page, 'late-start');
  return other;
}

async function started(page, other, draft) {
  await page.reload();
  for (const one of [page, other]) await one.goto(`${demo.portal}${draft}/check`);
  for (const one of [page, other]) await one.getByLabel('The target is no production system').check();
  await page.getByRole('button', { name: /^Start/ }).click();
  await page.getByRole('heading', { name: 'Group of tasks', level: 1 }).waitFor();
  await page.getByRole('rowheader', { name: /cart\.war/ }).waitFor();
  await page.getByRole('rowheader', { name: /pay\.jar/ }).waitFor();
  await see(page, 'group');
  await other.getByRole('button', { name: /^Start/ }).click();
  await other.getByText('This draft has become a group of tasks').waitFor();
  await see(other, 'started-already');
  await other.getByRole('link', { name: 'Go to the group' }).click();
  await other.getByRole('heading', { name: 'Group of tasks', level: 1 }).waitFor();
  assert.equal(service.created.length, 1, 'it was started once');
  await page.goto(`${demo.portal}/groups/g/delete`);
  await page.getByText('cart.war').waitFor();
  await see(page, 'group-delete');
  await page.goto(`${demo.portal}/tasks/t1`);
  await page.getByText('Settings of the scan').click();
  await page.getByText('Part: Frontend; File: <b>pages</b>.zip').waitFor();
  await see(page, 'settings');
}

async function errors(page) {
  await page.goto(`${demo.portal}/tasks/new/${'a'.repeat(22)}/check`);
  await page.getByRole('link', { name: 'Your drafts' }).waitFor();
  await see(page, 'no-draft');
  await page.goto(`${demo.portal}/nowhere`);
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
  await see(page, 'not-found');
  await page.goto(`${demo.portal}/groups/g/delete`);
  await page.locator('input[name=tasks]').evaluate((field) => { field.value = '7'; });
  await page.getByRole('button', { name: 'Delete all tasks of the group' }).click();
  await page.getByText('The group is not as it was').waitFor();
  await see(page, 'conflict');
  redis.kill('SIGKILL');
  await page.goto(`${demo.portal}/tasks`);
  await page.getByRole('heading', { name: 'Back in a moment' }).waitFor();
  await see(page, 'outage');
}

try {
  const context = await watch.follow(await browser.newContext());
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await signIn(page, demo.portal, user, { watch });
  const draft = await files(page);
  const other = await lateForms(page, draft);
  await started(page, other, draft);
  await errors(page);
} catch (error) {
  watch.note(`stopped: ${error.stack}`);
} finally {
  await browser.close();
  await demo.stop();
  service.close();
  redis.kill('SIGKILL');
}
process.exit(watch.finish('pages of what did not work'));
