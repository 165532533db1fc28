// Shares of their owner: chosen in a list, looked at, made, copied, changed and ended; by keyboard, without script, by colleagues.
// Usage: node own-shares.mjs PATH_OF_BINARY
import assert from 'node:assert/strict';
import { launch, Watch } from './chromium.mjs';
import { startDemo } from './demo.mjs';
import { look } from './look.mjs';
import { serve } from './own-shares-service.mjs';
import { signIn } from './signin.mjs';

const [binary] = process.argv.slice(2);
if (!binary) throw new Error('usage: node own-shares.mjs PATH_OF_BINARY');

const browser = await launch();
const service = await serve();
const demo = await startDemo(binary, { CARDEA__GATEWAY__TENANTS__ACME__SERVICE__BASE_URL: service.url });
const watch = new Watch([demo.portal, demo.sheet.idp].map((url) => new URL(url).origin));
const seen = (page, name) => look(page, name, watch, { folder: 'shares' });
const user = (name) => demo.sheet.users.find((one) => one.name === name);
const text = async (page, selector) => (await page.locator(selector).textContent()).trim();

/** From two boxes in the list of findings to the form. */
async function choose(page) {
  await page.goto(`${demo.portal}/tasks/t1/findings`);
  await seen(page, 'findings-to-choose');
  await page.getByRole('button', { name: 'Share the chosen findings' }).click();
  await page.getByText('No finding was chosen').waitFor();
  await seen(page, 'new-none-chosen');
  await page.goBack();
  await page.getByLabel('Choose Weakness number 0').check();
  await page.getByLabel('Choose Weakness number 2').check();
  await page.getByRole('button', { name: 'Share the chosen findings' }).click();
  await page.getByRole('heading', { name: 'New share' }).waitFor();
  assert.equal(await page.locator('label[for=what-findings] strong').count(), 2);
  await seen(page, 'new-chosen');
}

/** The preview is what recipients will see, and costs nothing. */
async function preview(page) {
  await page.getByLabel('Note').fill('Please read the second one first.');
  await page.getByLabel('Your own code').fill('never-in-an-address');
  const [tab] = await Promise.all([page.context().waitForEvent('page'), page.getByRole('button', { name: 'Preview in a new tab' }).click()]);
  await tab.getByRole('heading', { name: 'About this share' }).waitFor();
  assert.ok(!tab.url().includes('never'), 'nothing that was typed stands in an address');
  assert.equal(await tab.locator('tbody').first().locator('th a').count(), 2);
  await seen(tab, 'preview');
  await tab.getByRole('link', { name: 'Weakness number 0' }).first().click();
  await tab.getByRole('heading', { level: 1, name: 'Weakness number 0' }).waitFor();
  assert.ok(!(await tab.content()).includes('SECRET'), 'as for recipients, cookies are left out');
  await seen(tab, 'preview-finding');
  await tab.getByRole('link', { name: 'From the search to the query' }).first().click();
  await tab.getByRole('heading', { level: 1, name: 'From the search to the query' }).waitFor();
  await seen(tab, 'preview-chain');
  await tab.getByRole('link', { name: 'Back to the list' }).click();
  await tab.getByRole('heading', { name: 'About this share' }).waitFor();
  await tab.close();
  assert.equal(service.shares.size, 0, 'nothing was shared by looking');
  await page.getByLabel('Your own code').fill('');
}

async function create(page) {
  watch.expect(422);
  await page.getByLabel('Views').fill('many');
  await page.getByRole('button', { name: 'Create the share' }).click();
  await page.getByRole('alert').waitFor();
  assert.equal(await page.getByLabel('Note').inputValue(), 'Please read the second one first.', 'what was typed is not lost');
  await seen(page, 'new-refused');
  await page.getByLabel('Views').fill('2');
  await page.getByLabel(/^Hide evidence/).check();
  await page.getByRole('button', { name: 'Create the share' }).click();
  await page.getByRole('heading', { name: 'Share created' }).waitFor();
  const share = { link: await text(page, '#share-link'), code: await text(page, '#share-code') };
  await page.getByText('Show the link as a QR code').click();
  await page.getByRole('img', { name: 'QR code of the link' }).waitFor();
  await seen(page, 'created');
  const message = await page.locator('#link-message').textContent();
  assert.ok(message.split('\n').includes(share.link), 'the link stands alone on its line');
  assert.ok(!message.includes(share.code), 'the code comes in another message');
  for (const [button, id] of [['Copy link', 'share-link'], ['Copy code', 'share-code'], ['Copy message with the link', 'link-message'], ['Copy both', 'share-both']]) {
    await page.getByRole('button', { name: button }).click();
    await page.getByText('Copied', { exact: true }).first().waitFor();
    const source = await page.locator(`#${id}`).textContent();
    assert.equal((await page.evaluate(() => navigator.clipboard.readText())).replaceAll('\r\n', '\n').trim(), source.trim(), button);
  }
  // As on a page without TLS, or where the clipboard is denied.
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await page.getByRole('button', { name: 'Copy code' }).click();
  await page.getByText('The text is selected: press Ctrl+C to copy it').waitFor();
  assert.equal(await page.evaluate(() => window.getSelection().toString().trim()), share.code);
  return share;
}

/** Its page: a later end, a new code, and the words for what the service does not do. */
async function keep(page, share) {
  await page.getByRole('link', { name: 'The page of this share' }).click();
  await page.getByRole('heading', { name: 'How it stands' }).waitFor();
  assert.ok(!(await page.content()).includes(new URL(share.link).pathname.split('/').pop()), 'its id stands nowhere');
  await seen(page, 'share');
  await page.getByLabel('Last day').fill(await page.getByLabel('Last day').getAttribute('max'));
  await page.getByRole('button', { name: 'Set the last day' }).click();
  await page.getByText('The share has a new last day').waitFor();
  await page.getByRole('button', { name: 'Set a new code' }).click();
  await page.getByRole('heading', { name: 'New code set' }).waitFor();
  assert.notEqual(await text(page, '#share-code'), share.code);
  await seen(page, 'new-code');
  service.down = true;
  watch.expect(502);
  watch.expect(503);
  await page.getByRole('link', { name: 'The page of this share' }).click();
  await page.getByText('does not say at the moment').waitFor();
  await page.getByRole('button', { name: 'Set a new code' }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  service.down = false;
  await page.goto(`${demo.portal}/shares`);
  await page.getByText('Code worthless', { exact: true }).locator('visible=true').first().waitFor();
  await page.locator('tbody a code').first().click();
  await seen(page, 'share-code-worthless');
  // Whoever looks at nothing but the first page is told as well.
  await page.goto(`${demo.portal}/`);
  const told = page.getByRole('region', { name: 'Shares in need of a new code' });
  await told.waitFor();
  await seen(page, 'home-code-worthless');
  await told.getByRole('link').first().click();
  await page.getByRole('heading', { name: 'How it stands' }).waitFor();
}

async function endSeveral(page) {
  await page.goto(`${demo.portal}/shares`);
  await seen(page, 'list');
  for (const box of await page.getByLabel(/^Choose/).all()) await box.check();
  await page.getByRole('button', { name: 'End the chosen shares' }).click();
  await page.getByRole('heading', { name: 'End these shares?' }).waitFor();
  await seen(page, 'end-several');
  await page.getByRole('button', { name: /^End \d+ share/ }).click();
  await page.getByRole('heading', { name: 'Shares ended' }).waitFor();
  await seen(page, 'sheet');
  assert.equal(service.shares.size, 0);
  await page.getByRole('link', { name: 'To the shares' }).click();
  await page.getByLabel('State').selectOption('ended');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/state=ended/);
  await seen(page, 'list-ended');
  await page.locator('tbody a code').first().click();
  await page.getByText('Ended by hand').waitFor();
  await seen(page, 'share-ended');
  await page.goto(`${demo.portal}/shares?state=locked`);
  await page.getByText('No share is like that').waitFor();
  await seen(page, 'list-none');
}

/** What only the service knows. */
async function elsewhere(page) {
  service.shares.set('made-past-the-portal', { shareId: 'made-past-the-portal', taskId: 't1', projectName: 'Orders', shareType: 'REPORT', vulIds: [], createdAt: '2026-11-01T10:00:00Z', createdBy: 'somebody' });
  await page.goto(`${demo.portal}/shares?state=elsewhere`);
  await page.getByRole('heading', { name: 'Shares made elsewhere' }).waitFor();
  assert.ok(!(await page.content()).includes('made-past-the-portal'));
  await seen(page, 'elsewhere');
  await page.getByText('End', { exact: false }).locator('visible=true').and(page.locator('summary')).click();
  await page.getByRole('button', { name: 'End this share' }).click();
  await page.getByText('The share has ended').waitFor();
}

/** The same by keyboard alone in a browser without script. */
async function plain(context) {
  const page = await context.newPage();
  await page.goto(`${demo.portal}/shares/new?task=t1`);
  await page.getByRole('button', { name: 'Create the share' }).press('Enter');
  await page.getByRole('heading', { name: 'Share created' }).waitFor();
  assert.ok((await text(page, '#share-code')).length > 7);
  assert.equal(await page.getByRole('button', { name: 'Copy link' }).count(), 0, 'no button that does nothing');
  await page.getByRole('link', { name: 'The page of this share' }).press('Enter');
  await page.locator('summary', { hasText: 'End this share' }).press('Enter');
  await page.getByRole('button', { name: 'End it for good' }).press('Enter');
  await page.getByText('The share has ended').waitFor();
  await page.close();
}

try {
  const context = await watch.follow(await browser.newContext());
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(demo.portal).origin });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await signIn(page, demo.portal, user('alice'), { watch });
  await choose(page);
  await preview(page);
  const share = await create(page);
  await keep(page, share);
  const storageState = await context.storageState();
  await plain(await watch.follow(await browser.newContext({ storageState, javaScriptEnabled: false })));

  const bobs = await watch.follow(await browser.newContext());
  const bob = await bobs.newPage();
  await signIn(bob, demo.portal, user('bob'), { watch });
  await bob.goto(`${demo.portal}/shares`);
  assert.equal(await bob.locator('tbody td[data-label=Share] a').count(), 0, 'colleagues see short ids');
  await seen(bob, 'list-of-a-colleague');
  await bob.goto(`${demo.portal}/shares/new?task=t1&vul=v1`);
  await bob.getByRole('button', { name: 'Create the share' }).click();
  await bob.getByRole('heading', { name: 'Share created' }).waitFor();

  await endSeveral(page);
  await elsewhere(page);
} catch (error) {
  watch.note(`stopped: ${error.stack}`);
} finally {
  await browser.close();
  await demo.stop();
  service.close();
}
process.exit(watch.finish('shares of their owner'));
