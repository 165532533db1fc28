// Components, upgrade plan, exploit chains, groups and what a share shows of them, before a service that knows all of it.
// Usage: node parts.mjs PATH_OF_BINARY
import assert from 'node:assert/strict';
import { launch, Watch } from './chromium.mjs';
import { startDemo } from './demo.mjs';
import { look } from './look.mjs';
import { serve } from './parts-service.mjs';
import { signIn } from './signin.mjs';

const [binary] = process.argv.slice(2);
if (!binary) throw new Error('usage: node parts.mjs PATH_OF_BINARY');

const browser = await launch();
const service = await serve();
const demo = await startDemo(binary, { CARDEA__GATEWAY__TENANTS__ACME__SERVICE__BASE_URL: service.url });
const watch = new Watch([demo.portal, demo.sheet.idp].map((url) => new URL(url).origin));
const seen = (page, name) => look(page, name, watch, { folder: 'parts' });

async function visit(page, path, name) {
  const answer = await page.goto(demo.portal + path);
  assert.equal(answer.status(), 200, path);
  await seen(page, name);
}

/** From the task over its tabs to a component's findings. */
async function components(page) {
  await visit(page, '/tasks/t1', 'task');
  await page.getByRole('navigation', { name: 'Parts of this task' }).getByRole('link', { name: /^Components/ }).click();
  await page.getByRole('heading', { level: 1, name: /^Components of/ }).waitFor();
  assert.match(await page.locator('tbody tr').first().innerText(), /log4j-core/, 'the worst stands first');
  await seen(page, 'components');
  await page.getByLabel('Only with open findings').check();
  await page.getByLabel('Maven', { exact: true }).check();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/vulnerable=1/);
  assert.equal(await page.locator('tbody tr').count(), 3);
  await seen(page, 'components-filtered');
  await page.getByRole('link', { name: '2 Critical findings of org.apache.logging.log4j:log4j-core' }).click();
  await page.getByText('2 findings, most severe first').first().waitFor();
  await page.goto(`${demo.portal}/tasks/t1/components`);
  await page.getByRole('link', { name: 'Upgrade plan' }).click();
  const plan = page.locator('tbody tr');
  assert.match(await plan.first().innerText(), /clears all 3 findings/);
  assert.match(await plan.nth(1).innerText(), /1.2.18/);
  await seen(page, 'upgrades');
  await visit(page, '/tasks/t1/components?name=nothing-like-this', 'components-none');
  await visit(page, '/tasks/t4/components', 'components-not-offered');
  await visit(page, '/tasks/t1/downloads', 'downloads');
}

/** Reachability in the list, and the way between findings and chains. */
async function chains(page) {
  await visit(page, '/tasks/t1/findings', 'findings');
  const reach = await page.locator('tbody .reach').allTextContents();
  assert.deepEqual(reach.slice(-2), ['Not present, cleared', 'Not present, cleared'], 'what is cleared comes last');
  await page.getByLabel('Reachable', { exact: true }).check();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/reach=reachable/);
  assert.equal(await page.locator('tbody tr').count(), 2);
  await visit(page, '/tasks/t1/findings/v1', 'finding-reachable');
  assert.equal(await page.locator('.way li').count(), 5);
  await page.getByRole('link', { name: /^GET \/orders/ }).click();
  await page.getByRole('heading', { name: 'Steps, in order' }).waitFor();
  assert.equal(await page.locator('.chain > li').count(), 5);
  await page.getByRole('img', { name: /drawing of 5 steps/ }).waitFor();
  await seen(page, 'chain');
  await page.getByRole('link', { name: 'The finding this step reaches' }).click();
  await page.waitForURL(/findings\/v1$/);
  await visit(page, '/tasks/t1/findings/v6', 'finding-cleared');
  await visit(page, '/tasks/t1/chains', 'chains');
  await visit(page, '/tasks/t4/chains', 'chains-none');
}

async function groups(page) {
  await visit(page, '/tasks', 'tasks');
  await page.getByRole('link', { name: 'Group: payments' }).click();
  await page.getByText('3 tasks: 1 finished, 1 failed, 1 running').waitFor();
  await seen(page, 'group');
  await page.getByRole('link', { name: 'Delete all' }).click();
  await page.getByRole('heading', { name: 'Delete this group?' }).waitFor();
  await seen(page, 'group-delete');
  await visit(page, '/tasks?group=g1', 'tasks-of-group');
  await visit(page, '/tasks/t3', 'task-running');
}

/** What a recipient sees of chains, without script. */
async function shared(page) {
  await visit(page, '/shares/new?task=t1', 'share-new');
  await page.getByRole('button', { name: 'Create the share' }).click();
  await page.getByRole('heading', { name: 'Share created' }).waitFor();
  const code = (await page.locator('#share-code').textContent()).trim();
  const guest = await watch.follow(await browser.newContext({ javaScriptEnabled: false }));
  const door = await guest.newPage();
  await door.goto(`${demo.portal}/s/s0`);
  await door.getByLabel('Extraction code').fill(code);
  await door.getByRole('button', { name: 'Open', exact: true }).click();
  await door.getByRole('heading', { name: 'About this share' }).waitFor();
  await look(door, 'share-view', watch, { quick: true, folder: 'parts' });
  await door.getByRole('link', { name: /^GET \/orders/ }).click();
  await door.getByRole('heading', { name: 'Steps, in order' }).waitFor();
  await look(door, 'share-chain', watch, { quick: true, folder: 'parts' });
  assert.equal(await door.getByRole('navigation', { name: 'Parts of this task' }).count(), 0);
}

try {
  const page = await (await watch.follow(await browser.newContext())).newPage();
  page.setDefaultTimeout(60_000);
  await signIn(page, demo.portal, demo.sheet.users.find((one) => one.name === 'alice'), { watch });
  await components(page);
  await chains(page);
  await groups(page);
  await shared(page);
} catch (error) {
  watch.note(`stopped: ${error.stack}`);
} finally {
  await browser.close();
  await demo.stop();
  service.close();
}
process.exit(watch.finish('components, chains and groups in the browser'));
