// In and out over an OpenID provider of another origin: sign-ins that fail, the way back to where one was going, and a sign-out
// that goes on to the provider although the portal's own policy lets no form leave its origin.
// Usage: node oidc.mjs PORTAL_URL ISSUER
import assert from 'node:assert/strict';
import { launch, Watch } from './chromium.mjs';
import { look } from './look.mjs';

const [portal, issuer] = process.argv.slice(2);
if (!issuer) throw new Error('usage: node oidc.mjs PORTAL_URL ISSUER');
const watch = new Watch([portal, issuer].map((url) => new URL(url).origin));
const browser = await launch();
const folder = 'oidc';

async function signIn(page, target) {
  await page.goto(`${portal}${target}`);
  await page.locator('input[name=login]').fill('dora');
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.locator('input[name=login]').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

for (const javaScriptEnabled of [true, false]) {
  const context = await watch.follow(await browser.newContext({ javaScriptEnabled }));
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const shown = async (name) => javaScriptEnabled && look(page, name, watch, { folder });
  try {
    watch.expect(403);
    // The provider has no icon.
    watch.expect(404);
    await page.goto(`${portal}/tasks/new`);
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'The sign-in did not work' }).waitFor();
    await shown('failed');
    await page.getByRole('link', { name: 'Try again' }).click();
    await page.locator('input[name=login]').waitFor();
    await signIn(page, '/tasks/new');
    assert.equal(new URL(page.url()).pathname, '/tasks/new');

    // The page between is gone at once: kept here by a provider that says nothing, to be looked at.
    const end = (url) => url.origin === issuer && url.pathname === '/session/end';
    if (javaScriptEnabled) {
      await page.route(end, (route) => route.fulfill({ status: 204 }));
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Signing you out' }).waitFor();
      await shown('leaving');
      await page.unroute(end);
      await page.getByRole('link', { name: 'Sign out there' }).click();
    } else {
      await page.getByRole('button', { name: 'Sign out' }).click();
    }
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    await page.getByText('was asked to sign you out, too').waitFor();
    await shown('signed-out');
    await page.goBack().catch(() => {});
    await page.goto(`${portal}/tasks/new`);
    await page.locator('input[name=login]').waitFor();
  } catch (error) {
    watch.note(`scripts ${javaScriptEnabled}: stopped at ${page.url().slice(0, 120)}: ${error.stack}`);
  }
  await context.close();
}
await browser.close();
process.exit(watch.finish('in and out over another origin'));
