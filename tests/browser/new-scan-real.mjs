// A new scan before the real service: its network check reaches a target that runs here, finds the ownership file there, and its
// embedded browser, where it has one, brings home the cookie the target gave it.
// Usage: node new-scan-real.mjs PATH_OF_BINARY
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { launch, Watch } from './chromium.mjs';
import { startDemo } from './demo.mjs';
import { look } from './look.mjs';
import { signIn } from './signin.mjs';

const [binary] = process.argv.slice(2);
if (!binary) throw new Error('usage: node new-scan-real.mjs PATH_OF_BINARY');
const jar = fileURLToPath(new URL('../node_modules/allure-commandline/dist/lib/snakeyaml-1.18.jar', import.meta.url));

let proof = '';
let name = '';
const target = createServer((request, response) => {
  if (request.url === '/.well-known/hash.txt') {
    response.writeHead(proof ? 200 : 404, { 'content-type': 'text/plain' }).end(proof);
    return;
  }
  const signedIn = new URL(request.url, address).searchParams.get('name');
  if (signedIn) {
    name = signedIn;
    response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'sid=given-by-the-target; HttpOnly; Path=/' });
    response.end('<!doctype html><html lang="en"><title>Signed in</title><h1>Signed in</h1>');
    return;
  }
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end('<!doctype html><html lang="en"><title>Target</title><h1>Target</h1><form action="/in"><input name="name" aria-label="Name" autofocus></form>');
});
await new Promise((resolve) => target.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${target.address().port}/`;

const browser = await launch();
const demo = await startDemo(binary);
const origins = [demo.portal, demo.sheet.idp, demo.sheet.scanner].filter(Boolean).map((url) => new URL(url).origin);
const watch = new Watch(origins);
watch.expect(422);
const see = async (page, name) => {
  // What stays in view while the page is scrolled stands where it belongs in a picture of all of it.
  await page.evaluate(() => window.scrollTo(0, 0));
  await look(page, name, watch, { folder: 'new-scan-real' });
};

try {
  const context = await watch.follow(await browser.newContext({ acceptDownloads: true }));
  const page = await context.newPage();
  page.setDefaultTimeout(90_000);
  await signIn(page, demo.portal, demo.sheet.users.find((one) => one.name === 'alice'), { watch });
  await page.goto(`${demo.portal}/tasks/new`);
  await page.getByRole('button', { name: 'Begin' }).click();
  await page.getByLabel('File', { exact: true }).setInputFiles(jar);
  await page.getByRole('button', { name: 'Upload the file' }).click();
  await page.getByRole('link', { name: 'Continue', exact: true }).click();

  await page.getByLabel('Target address').fill(address);
  await page.getByRole('button', { name: 'Save and check the connection' }).click();
  await page.locator('[data-state=passed]').waitFor();
  assert.ok((await page.locator('.stages li').count()) >= 3, 'the stages are told one by one');
  await see(page, 'target');
  await page.getByRole('link', { name: 'Continue', exact: true }).click();

  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Not found yet.').waitFor();
  await see(page, 'ownership');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download hash.txt' }).click()]);
  proof = readFileSync(await download.path(), 'utf8');
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('The domain is verified.').waitFor();
  await page.getByRole('link', { name: 'Continue', exact: true }).click();
  await page.getByRole('button', { name: 'Skip this step' }).click();

  await page.getByRole('button', { name: 'Open the browser' }).click();
  const inside = page.frameLocator('iframe[title="Embedded browser"]');
  await page.getByRole('radio', { name: address }).waitFor();
  await inside.locator('#tabs').getByRole('button', { name: 'Target', exact: true }).waitFor();
  await inside.locator('body[data-frames]').waitFor();
  // What is typed into the frame reaches the target, which answers it with the session that counts.
  await inside.locator('#keys').focus();
  await page.keyboard.type('alice');
  await page.keyboard.press('Enter');
  await inside.locator('#tabs').getByRole('button', { name: 'Signed in', exact: true }).waitFor();
  assert.equal(name, 'alice', 'the target got the name that was typed');
  assert.equal(await page.getByRole('radio').count(), 1, 'one tab is open');
  await page.getByRole('button', { name: 'Save the session' }).click();
  await page.getByText('The session was saved.').waitFor();
  await page.getByText(/1 cookie/).first().waitFor();
  await see(page, 'accounts');
  assert.ok(!(await page.content()).includes('given-by-the-target'), 'what was captured is on no page');
  await page.getByRole('link', { name: /^Check and start/ }).click();
  await see(page, 'check');
  await page.getByLabel('The target is no production system').check();
  await page.getByRole('button', { name: 'Start the scan' }).click();
  await page.locator('.badge.done', { hasText: 'Finished' }).waitFor();
  assert.ok(!(await page.content()).includes('given-by-the-target'), 'nor does the task show it');
  await page.getByRole('link', { name: /^Findings/ }).first().click();
  await page.getByText('CVE-2017-18640').first().waitFor();
} catch (error) {
  watch.note(`stopped: ${error.stack}`);
} finally {
  await browser.close();
  await demo.stop();
  target.close();
}
process.exit(watch.finish('a new scan before the real service'));
