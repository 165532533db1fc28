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
const target = createServer((request, response) => {
  if (request.url === '/.well-known/hash.txt') {
    response.writeHead(proof ? 200 : 404, { 'content-type': 'text/plain' }).end(proof);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'sid=given-by-the-target; HttpOnly; Path=/' });
  response.end('<!doctype html><title>Target</title><h1>Target</h1>');
});
await new Promise((resolve) => target.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${target.address().port}/`;

const browser = await launch();
const demo = await startDemo(binary);
const origins = [demo.portal, demo.sheet.idp, demo.sheet.scanner].filter(Boolean).map((url) => new URL(url).origin);
const watch = new Watch(origins);
watch.expect(422);
const folder = 'new-scan-real';

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
  await look(page, 'target', watch, { folder });
  await page.getByRole('link', { name: 'Continue', exact: true }).click();

  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Not found yet.').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download hash.txt' }).click()]);
  proof = readFileSync(await download.path(), 'utf8');
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('The domain is verified.').waitFor();
  await page.getByRole('link', { name: 'Continue', exact: true }).click();
  await page.getByRole('button', { name: 'Skip this step' }).click();

  await page.getByRole('button', { name: 'Open the browser' }).click();
  await page.locator('[data-browser-panel]:not([hidden]), [data-browser-problem]:not([hidden])').first().waitFor();
  if (await page.locator('[data-browser-panel]').isVisible()) {
    await page.getByRole('radio', { name: address }).waitFor();
    await page.getByRole('button', { name: 'Save the session' }).click();
    await page.getByText('The session was saved.').waitFor();
    await look(page, 'accounts', watch, { folder, quick: true });
  } else {
    console.log('the service has no browser here: cookies are typed in');
    await page.getByLabel('Cookies').fill('sid=typed');
    await page.getByRole('button', { name: 'Save the account' }).click();
  }
  await page.getByText(/1 cookie/).first().waitFor();
  assert.ok(!(await page.content()).includes('given-by-the-target'), 'what was captured is on no page');
  await page.getByRole('link', { name: /^Check and start/ }).click();
  await look(page, 'check', watch, { folder });
  await page.getByLabel('The target is no production system').check();
  await page.getByRole('button', { name: 'Start the scan' }).click();
  await page.locator('.badge.done', { hasText: 'Finished' }).waitFor();
  assert.ok(!(await page.content()).includes('given-by-the-target'), 'nor does the task show it');
} catch (error) {
  watch.note(`stopped: ${error.stack}`);
} finally {
  await browser.close();
  await demo.stop();
  target.close();
}
process.exit(watch.finish('a new scan before the real service'));
