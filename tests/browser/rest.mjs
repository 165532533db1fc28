// The pages beside the main way: server keys, filters of the task list, errors, and the company next door.
import assert from 'node:assert/strict';
import { look } from './look.mjs';
import { refused, signIn } from './signin.mjs';

/** The demo brings an active key, which lets recipients of a share download its report. */
export async function keys(page, portal, sk, watch) {
  await page.goto(`${portal}/admin/keys`);
  await page.locator('.badge', { hasText: /^Active$/ }).waitFor();
  assert.ok(!(await page.content()).includes(sk), 'a key is never shown again');
  await look(page, 'keys', watch);
  await page.getByRole('button', { name: /^Test/ }).click();
  await page.locator('td[data-label="Last test"] .badge').waitFor();
  watch.expect(422);
  await page.getByLabel('Label').fill('The same once more');
  await page.getByLabel('Key', { exact: true }).fill(sk);
  await page.getByRole('button', { name: 'Add the key' }).click();
  await page.getByRole('alert').waitFor();
  assert.ok(!(await page.content()).includes(sk), 'a refused key is not shown either');
  await look(page, 'keys-refused', watch);
  await page.getByRole('button', { name: /^Remove/ }).click();
  await page.getByRole('heading', { name: 'Remove this server key?' }).waitFor();
  await look(page, 'keys-remove', watch);
  await page.getByRole('link', { name: 'Keep it' }).click();
}

/** A key for a program: created, rotated and revoked, with its text on the screen twice and never again. */
export async function apiKeys(page, portal, watch) {
  await page.goto(`${portal}/admin/keys`);
  await page.getByRole('link', { name: 'New API key' }).click();
  await look(page, 'api-key-new', watch);
  watch.expect(422);
  await page.getByLabel('Label').fill('Build server, workshop');
  await page.getByLabel('Days until it expires').fill('9999');
  await page.getByLabel('Networks it may come from').fill('192.0.2.0/24\n2001:db8::/32');
  await page.getByText('Single operations').click();
  await page.getByLabel('deleteTasks').check();
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByRole('alert').waitFor();
  await look(page, 'api-key-refused', watch);
  await page.getByLabel('Days until it expires').fill('90');
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByRole('heading', { name: 'API key created' }).waitFor();
  const first = await page.locator('#api-key').textContent();
  assert.match(first, /^cdk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/, 'scanners for leaked keys look for this form');
  await look(page, 'api-key-created', watch);
  await page.getByRole('link', { name: 'To the keys' }).click();
  assert.ok(!(await page.content()).includes(first), 'a key is never shown again');
  await page.getByRole('link', { name: /^Rotate/ }).click();
  await look(page, 'api-key-rotate', watch);
  await page.getByLabel('In an hour').check();
  await page.getByRole('button', { name: 'Rotate the key' }).click();
  await page.getByRole('heading', { name: 'API key rotated' }).waitFor();
  assert.notEqual(await page.locator('#api-key').textContent(), first);
  await look(page, 'api-key-rotated', watch);
  await page.getByRole('link', { name: 'To the keys' }).click();
  await look(page, 'keys-with-api-key', watch);
  await page.getByRole('link', { name: /^Revoke/ }).click();
  await look(page, 'api-key-revoke', watch);
  await page.getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('No API key yet').waitFor();
}

export async function taskFilters(page, portal, task, watch) {
  await page.goto(portal);
  await look(page, 'home', watch);
  await page.goto(`${portal}/tasks`);
  await look(page, 'tasks', watch);
  await page.getByLabel('Project name contains').fill('selenium');
  await page.getByLabel('Finished').check();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/status=/);
  assert.equal(await page.locator(`tbody a[href$="${task}"]`).count(), 1, 'the task fits its own filters');
  await look(page, 'tasks-filtered', watch);
  await page.getByLabel('Finished').uncheck();
  await page.getByLabel('Failed').check();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('No task fits these filters').waitFor();
  await look(page, 'tasks-none', watch);
  await page.goto(`${portal}/tasks/${task}/delete`);
  await look(page, 'task-delete', watch);
}

/** What programs are served, for people: from the foot of any page, and for those who are not signed in too. */
export async function developers(page, fresh, portal, watch) {
  await page.goto(portal);
  await page.getByRole('link', { name: 'For developers' }).click();
  await page.getByRole('heading', { level: 1, name: 'For developers' }).waitFor();
  await page.getByRole('link', { name: /searchTasks|\/tasks\/search$/ }).first().click();
  await page.getByRole('heading', { level: 3, name: 'List tasks' }).waitFor();
  await look(page, 'developers', watch, { whole: false });
  const context = await fresh();
  const stranger = await context.newPage();
  await stranger.goto(`${portal}/developers`);
  await stranger.getByRole('link', { name: 'OpenAPI document' }).waitFor();
  await stranger.getByRole('link', { name: 'Sign in' }).waitFor();
  await context.close();
  await page.goto(portal);
}

export async function errorPages(page, portal, watch) {
  watch.expect(404);
  for (const [name, path] of [['no-page', '/no/such/page'], ['no-task', '/tasks/00000000-0000-0000-0000-000000000000']]) {
    const answer = await page.goto(portal + path);
    assert.equal(answer.status(), 404, path);
    assert.ok(await page.getByRole('button', { name: 'Sign out' }).isVisible(), 'an error page knows who reads it');
    await look(page, `error-${name}`, watch);
  }
  watch.expect(400);
  await page.goto(`${portal}/auth/callback?code=x&state=y`);
  await look(page, 'error-sign-in', watch);
  await page.goto(portal);
}

/** A user of another company signs in next door and finds nothing of this one. */
export async function otherCompany(fresh, demo, { user, stranger, task, watch }) {
  const context = await fresh();
  const page = await context.newPage();
  const portal = demo.tenants.globex.portal;
  await refused(page, portal, stranger, watch);
  await context.clearCookies();
  await signIn(page, portal, user, { watch });
  await look(page, 'globex-home', watch);
  watch.expect(404);
  assert.equal((await page.goto(`${portal}/tasks/${task}`)).status(), 404, 'a task of another company is not found');
  await context.close();
}
