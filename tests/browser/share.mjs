// Making a share and opening it as somebody who has neither an account nor a browser that runs scripts.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { look } from './look.mjs';

/** Goes from a task or finding to the created page; gives link and code as they are shown there. */
export async function createShare(page, from, action, name, watch) {
  await page.goto(from);
  await page.getByRole('link', { name: action }).click();
  await page.getByRole('heading', { name: 'New share' }).waitFor();
  await look(page, `${name}-new`, watch);
  await page.getByRole('button', { name: 'Create the share' }).click();
  await page.getByRole('heading', { name: 'Share created' }).waitFor();
  const link = (await page.locator('#share-link').textContent()).trim();
  const code = (await page.locator('#share-code').textContent()).trim();
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText('Copied', { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), link, 'the link is on the clipboard');
  await look(page, `${name}-created`, watch);
  return { link, code };
}

/** With `scripts` axe has its say, which needs them; without, everything must work all the same. */
export async function openShare(fresh, share, { name: base, hasReport, scripts, watch }) {
  const name = scripts ? base : `${base}-plain`;
  const context = await fresh({ javaScriptEnabled: scripts });
  const page = await context.newPage();
  await page.goto(share.link);
  await look(page, `${name}-door`, watch, { quick: !scripts });
  watch.expect(403);
  watch.expect(404);
  await page.getByLabel('Extraction code').fill('WRONGCODE1');
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await look(page, `${name}-door-refused`, watch, { quick: !scripts });
  await page.getByLabel('Extraction code').fill(share.code);
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByRole('heading', { name: 'About this share' }).waitFor();
  await look(page, `${name}-view`, watch, { quick: !scripts });
  await page.locator('tbody th a').first().click();
  await page.getByRole('heading', { name: 'Fix', exact: true }).waitFor();
  await look(page, `${name}-finding`, watch, { quick: !scripts });
  await page.getByRole('link', { name: 'Back to the list' }).click();
  if (hasReport) await downloadReport(page);
  await page.getByRole('button', { name: /^I am done/ }).click();
  await page.locator('h1').waitFor();
  await look(page, `${name}-closed`, watch, { quick: !scripts });
  const again = await page.goto(`${share.link}/view`);
  assert.ok((await page.locator('[id=about]').count()) === 0, `nothing is shown after the end: ${again.status()}`);
  await context.close();
}

async function downloadReport(page) {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: /report|pdf/i }).first().click(),
  ]);
  assert.ok(statSync(await download.path()).size > 5000, 'the shared report has some length');
}
