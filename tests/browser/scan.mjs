// From the first step of a new scan to its findings and reports.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { look } from './look.mjs';

/** Uploads `jar` through the script's way and waits until the page itself says Finished; gives the task's id. */
export async function startScan(page, portal, jar, watch) {
  await page.goto(`${portal}/tasks/new`);
  await look(page, 'new-scan', watch);
  await page.getByRole('button', { name: 'Begin' }).click();
  await page.getByRole('heading', { name: 'Artifact', level: 1 }).waitFor();
  const seen = await observeUpload(page);
  await page.getByLabel('File', { exact: true }).setInputFiles(jar);
  await page.getByRole('button', { name: 'Upload the file' }).click();
  await page.getByRole('rowheader', { name: /selenium/ }).waitFor();
  await page.getByRole('link', { name: 'Go straight to the start' }).click();
  await page.getByRole('heading', { name: 'Check and start', level: 1 }).waitFor();
  let loads = 0;
  page.on('load', () => { loads += 1; });
  await page.getByRole('button', { name: 'Start the scan' }).click();
  await page.waitForURL(/\/tasks\/(?!new)[^/]+$/);
  assert.ok(seen.some((line) => line.startsWith('Reading the file:')), `the hash tells its progress: ${seen}`);
  assert.ok(seen.some((line) => line.startsWith('Uploading:')), `the upload tells its progress: ${seen}`);
  if (await page.locator('[data-live]').count()) await look(page, 'task-running', watch, { quick: true });
  await page.locator('.badge.done', { hasText: 'Finished' }).waitFor();
  await page.getByRole('heading', { name: 'By severity' }).waitFor();
  assert.ok(loads <= 3, 'the page came by itself');
  return new URL(page.url()).pathname.split('/').pop();
}

/** The lines the form shows while it works. */
async function observeUpload(page) {
  const seen = [];
  await page.exposeFunction('__uploadLine', (line) => seen.push(line));
  await page.evaluate(() => {
    const line = document.querySelector('[data-upload-line]');
    new MutationObserver(() => window.__uploadLine(line.textContent)).observe(line, { childList: true });
  });
  return seen;
}

/** Reads the task, its findings and reports; gives the address of one finding. */
export async function readTask(page, portal, task, watch) {
  await look(page, 'task-finished', watch);
  await downloadReports(page);
  await page.getByRole('link', { name: /^All findings/ }).click();
  const rows = page.locator('tbody tr');
  assert.ok((await rows.count()) > 10, 'the archive is known to have many findings');
  await look(page, 'findings', watch);
  const word = await rows.first().locator('.sev').textContent();
  await page.getByLabel(word, { exact: true }).check();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/severity=/);
  const severities = await rows.locator('.sev').allTextContents();
  assert.ok(severities.length > 0 && severities.every((one) => one === word), `only ${word}: ${severities}`);
  await look(page, 'findings-filtered', watch);
  await page.getByLabel(/^Title, CVE/).fill('no such component');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('No finding fits these filters').waitFor();
  await look(page, 'findings-none', watch);
  await page.goto(`${portal}/tasks/${task}/findings`);
  const first = rows.first().getByRole('link');
  const title = await first.textContent();
  await first.click();
  await page.getByRole('heading', { level: 1, name: title.trim() }).waitFor();
  await page.getByRole('heading', { name: 'Evidence' }).waitFor();
  await look(page, 'finding', watch);
  return page.url();
}

/** Components, chains and downloads of the task, as far as the service knows them; inventories are JSON of their own kind. */
export async function readParts(page, portal, task, watch) {
  for (const part of ['components', 'components/upgrades', 'chains', 'downloads']) {
    const answer = await page.goto(`${portal}/tasks/${task}/${part}`);
    assert.equal(answer.status(), 200, part);
    await look(page, `task-${part.replace('/', '-')}`, watch);
  }
  for (const [words, key] of [['CycloneDX', 'bomFormat'], ['SPDX', 'spdxVersion']]) {
    const link = page.getByRole('link', { name: words });
    if ((await link.count()) === 0) continue;
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    assert.ok(key in JSON.parse(readFileSync(await download.path(), 'utf8')), `${words} says what it is`);
  }
}

async function downloadReports(page) {
  for (const [words, start] of [[/PDF/i, '%PDF-'], [/HTML/i, '<!doctype html>']]) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: words }).first().click()]);
    const bytes = readFileSync(await download.path());
    assert.ok(bytes.toString('latin1', 0, 200).toLowerCase().startsWith(start.toLowerCase()), `a report begins with ${start}`);
    assert.ok(bytes.length > 5000, 'a report with findings has some length');
  }
}
