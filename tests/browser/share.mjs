// Making a share and opening it as somebody who has neither an account nor a browser that runs scripts.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { look } from './look.mjs';

/** Goes from a task or finding to the created page; gives link and code as they are shown there. */
export async function createShare(page, from, action, name, watch, codeless = false) {
  await page.goto(from);
  await page.getByRole('link', { name: action }).click();
  await page.getByRole('heading', { name: 'New share' }).waitFor();
  await look(page, `${name}-new`, watch);
  if (codeless) await page.getByLabel('no code', { exact: true }).check();
  await page.getByRole('button', { name: 'Create the share' }).click();
  await page.getByRole('heading', { name: 'Share created' }).waitFor();
  const link = (await page.locator('#share-link').textContent()).trim();
  if (codeless) return { link, code: '' };
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

const agents = ['Slackbot-LinkExpanding 1.0', 'Mozilla/5.0 (compatible; SafeLinks)', 'curl/8.14.1', 'WhatsApp/2.24'];

/** What mail and chat do with every link they see: fetch it, load it with script, send each of its forms. Nothing may come of it. */
export async function scanLinks(fresh, links, { watch, times = 100 }) {
  watch.expect(422);
  for (const link of links) {
    const bodies = new Set();
    for (let n = 0; n < times; n += 1) {
      const headers = { 'user-agent': agents[n % agents.length], accept: n % 3 ? '*/*' : 'application/json' };
      const got = await fetch(link, { headers, redirect: 'manual' });
      assert.equal(got.status, 200, link);
      bodies.add(await got.text());
      assert.equal((await fetch(link, { method: 'HEAD', headers })).status, 200);
      assert.equal((await fetch(link, { method: 'OPTIONS', headers })).status, 204);
    }
    const made = await fetch(link.replace(/[^/]+$/, 'nobody-has-an-id-like-this'));
    bodies.add(await made.text());
    assert.equal(bodies.size, 1, `${link} is the same each time, and the same for an id that nobody has`);
    assert.ok(!/og:image/.test([...bodies][0]) && /og:title/.test([...bodies][0]), 'what a preview shows is neutral');
    const context = await fresh();
    const page = await context.newPage();
    for (let n = 0; n < times; n += 1) {
      await page.goto(link);
      const forms = await page.locator('form').count();
      for (let at = 0; at < forms; at += 1) {
        await page.goto(link);
        const way = n % 3;
        const form = page.locator('form').nth(at);
        // What the page itself holds back is not sent: nothing moves then.
        const moves = way === 0 || await form.evaluate((form) => form.checkValidity());
        const sent = moves ? page.waitForNavigation() : null;
        await form.evaluate((form, way) => {
          if (way === 0) form.submit();
          else if (way === 1) form.requestSubmit();
          else form.querySelector('button:not([type=button])').click();
        }, way);
        if (sent) assert.equal((await sent).status(), 422, `${link} sent by itself`);
        assert.equal(new URL(page.url()).pathname, new URL(link).pathname, 'nothing opened');
      }
    }
    assert.equal((await context.cookies()).filter((cookie) => cookie.name.includes('share')).length, 0, 'and nothing was given out');
    await context.close();
  }
}

/** A share that needs no code: a box to tick, and the page says so when it is not ticked. */
export async function openWithoutCode(fresh, link, { watch }) {
  for (const scripts of [true, false]) {
    const context = await fresh({ javaScriptEnabled: scripts });
    const page = await context.newPage();
    await page.goto(link);
    await look(page, 'open-door', watch, { quick: !scripts });
    if (scripts) {
      await page.locator('form').evaluate((form) => form.submit());
      await page.getByRole('alert').waitFor();
      await look(page, 'open-door-undecided', watch);
    }
    await page.getByLabel('I was given this link').focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Open', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'About this share' }).waitFor();
    await look(page, 'open-view', watch, { quick: true });
    await context.close();
  }
}
