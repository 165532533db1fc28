// Every page of the portal before a scanning service that puts the corpus into every field: nothing may run, leave or overflow.
// Usage: node hostile.mjs PATH_OF_BINARY
import assert from 'node:assert/strict';
import { launch, Watch } from './chromium.mjs';
import { corpus } from './corpus.mjs';
import { startDemo } from './demo.mjs';
import { look } from './look.mjs';
import { serve } from './service.mjs';
import { signIn } from './signin.mjs';

const [binary] = process.argv.slice(2);
if (!binary) throw new Error('usage: node hostile.mjs PATH_OF_BINARY');

const browser = await launch();
const service = await serve();
const demo = await startDemo(binary, { CARDEA__GATEWAY__TENANTS__ACME__SERVICE__BASE_URL: service.url });
const watch = new Watch([demo.portal, demo.sheet.idp].map((url) => new URL(url).origin));
for (const status of [400, 403, 404, 422, 500, 502, 503, 504]) watch.expect(status);

/** Opens `path` and makes sure that nothing of the corpus became anything but text. */
async function visit(page, path, name, quick = true) {
  const answer = await page.goto(demo.portal + path);
  await harmless(page, path);
  await look(page, name, watch, { quick, folder: 'hostile' });
  return answer;
}

async function harmless(page, path) {
  await page.evaluate(() => {
    document.querySelectorAll('details').forEach((one) => { one.open = true; });
  });
  const found = await page.evaluate(() => ({
    ran: window.__xss,
    scripts: [...document.scripts].filter((one) => !one.src).length,
    foreign: document.querySelectorAll('iframe, object, embed, base, svg[onload], img[onerror], style, meta[http-equiv]').length,
    handlers: [...document.querySelectorAll('*')].filter((one) => [...one.attributes].some((a) => a.name.startsWith('on'))).length,
    links: [...document.querySelectorAll('a[href], form[action]')]
      .map((one) => one.href ?? one.getAttribute('action'))
      .filter((href) => typeof href === 'string' && !/^(https?:|mailto:\?subject=|\/)/i.test(href)),
    odd: /[\u202A-\u202E\u2066-\u2069\u0000]/u.test(document.body.innerHTML),
  }));
  const expected = { ran: undefined, scripts: 0, foreign: 0, handlers: 0, links: [], odd: false };
  for (const [what, value] of Object.entries(found)) {
    if (JSON.stringify(value) !== JSON.stringify(expected[what])) watch.note(`${path}: ${what} is ${JSON.stringify(value)}`);
  }
}

try {
  const context = await watch.follow(await browser.newContext());
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await signIn(page, demo.portal, demo.sheet.users.find((one) => one.name === 'alice'), { watch });
  await visit(page, '/', 'home', false);
  await visit(page, '/tasks', 'tasks', false);
  await visit(page, `/tasks?project=${encodeURIComponent(corpus.join(' '))}&status=${encodeURIComponent(corpus[0])}&from=${encodeURIComponent(corpus[3])}`, 'tasks-filters');
  for (const n of [0, 1, 2, 3]) await visit(page, `/tasks/t${n}`, `task-${n}`, n !== 0);
  await visit(page, '/tasks/t0/delete', 'task-delete');
  await visit(page, '/tasks/t0/findings', 'findings', false);
  await visit(page, `/tasks/t0/findings?q=${encodeURIComponent(corpus[3])}`, 'findings-filters');
  for (let n = 0; n < corpus.length; n += 1) {
    if (n < 3) await visit(page, `/tasks/t0/findings/v${n}`, `finding-${n}`, n !== 2);
    else {
      await page.goto(`${demo.portal}/tasks/t0/findings/v${n}`);
      await harmless(page, `finding v${n}`);
    }
  }
  await visit(page, '/tasks/t0/components', 'components', false);
  await visit(page, `/tasks/t0/components?name=${encodeURIComponent('s')}&ecosystem=${encodeURIComponent(corpus[3])}`, 'components-filters');
  await visit(page, '/tasks/t0/components/upgrades', 'upgrades', false);
  await visit(page, '/tasks/t0/chains', 'chains', false);
  await visit(page, '/tasks/t0/chains/c1', 'chain-1', false);
  await visit(page, '/tasks/t0/chains/c2', 'chain-2');
  await visit(page, '/tasks/t0/downloads', 'downloads', false);
  await visit(page, '/groups/g1', 'group', false);
  await visit(page, '/groups/g1/delete', 'group-delete', false);
  await visit(page, `/groups/${encodeURIComponent(corpus[0])}`, 'error-no-group');
  await visit(page, '/tasks/t999', 'error-no-task');
  await visit(page, '/tasks/t998', 'error-service');
  await visit(page, `/${encodeURIComponent(corpus[0])}`, 'error-no-page');
  await visit(page, '/shares?state=elsewhere', 'shares-elsewhere', false);
  await visit(page, '/shares/preview?task=t0&what=report', 'share-preview', false);
  await visit(page, '/shares/preview/findings/v2?task=t0', 'share-preview-finding');
  await visit(page, '/shares/preview/chains/c1?task=t0', 'share-preview-chain');
  await visit(page, '/shares/new?task=t0&vul=v1&vul=v2', 'share-new', false);
  await page.getByLabel('Note').fill(corpus.join('\n').slice(0, 450));
  await page.getByRole('button', { name: 'Create the share' }).click();
  await page.getByRole('heading', { name: 'Share created' }).waitFor();
  await harmless(page, 'share created');
  const code = (await page.locator('#share-code').textContent()).trim();
  await look(page, 'share-created', watch, { folder: 'hostile' });
  await visit(page, '/shares', 'shares', false);
  await page.locator('tbody a code').first().click();
  await page.getByRole('heading', { name: 'How it stands' }).waitFor();
  await harmless(page, 'a share');
  await look(page, 'share', watch, { folder: 'hostile' });
  await visit(page, '/admin/keys', 'keys');
  await page.getByLabel('Label').fill(corpus[3].slice(0, 40));
  await page.getByLabel('Key', { exact: true }).fill('sk-not-a-real-key-0123456789');
  await page.getByRole('button', { name: 'Add the key' }).click();
  await page.waitForLoadState();
  await harmless(page, 'keys with a refusal');
  await look(page, 'keys-added', watch, { folder: 'hostile' });

  await page.goto(`${demo.portal}/tasks/new`);
  await page.getByLabel('Project name').fill(corpus[3]);
  await page.getByRole('button', { name: 'Begin' }).click();
  const draft = new URL(page.url()).pathname.replace(/\/artifact$/, '');
  await page.goto(`${demo.portal}${draft}/target`);
  await page.getByLabel('Target address').fill('https://staging.example/');
  await page.getByRole('button', { name: 'Save and check the connection' }).click();
  await page.locator('[data-state=failed]').waitFor();
  await visit(page, `${draft}/target`, 'new-scan-target', false);
  await visit(page, `${draft}/ownership`, 'new-scan-ownership', false);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Not found yet.').waitFor();
  await harmless(page, 'ownership with a refusal');
  await visit(page, `${draft}/accounts`, 'new-scan-accounts');
  await page.getByRole('button', { name: 'Open the browser' }).click();
  await page.locator('[data-browser-problem]:not([hidden])').waitFor();
  await harmless(page, 'accounts with a browser that is none');
  await visit(page, `${draft}/check`, 'new-scan-check');

  const guest = await watch.follow(await browser.newContext());
  const door = await guest.newPage();
  await visit(door, `/s/${encodeURIComponent(corpus[0])}`, 'door');
  await door.goto(`${demo.portal}/s/s0`);
  await door.getByLabel('Extraction code').fill(code);
  await door.getByRole('button', { name: 'Open', exact: true }).click();
  await door.getByRole('heading', { name: 'About this share' }).waitFor();
  await harmless(door, 'share');
  await look(door, 'share-view', watch, { folder: 'hostile' });
  await visit(door, '/s/s0/view/findings/v2', 'share-finding', false);
  await visit(door, '/s/s0/view/chains/c1', 'share-chain', false);
  assert.ok(service.asked.some((line) => line.includes('/shares/public/')), 'the pages came from the hostile service');
} catch (error) {
  watch.note(`stopped: ${error.stack}`);
} finally {
  await browser.close();
  await demo.stop();
  service.close();
}
process.exit(watch.finish('nothing of the corpus ran'));
