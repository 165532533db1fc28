// Administration: the overview, users, the policy with two who save it, all shares; and the platform for who runs it.
// Usage: node administration.mjs BINARY
import { createServer } from 'node:net';
import { startDemo } from './demo.mjs';
import { launch, Watch } from './chromium.mjs';
import { look } from './look.mjs';
import { serve } from './own-shares-service.mjs';
import { signedIn } from './signin.mjs';

const [binary] = process.argv.slice(2);
if (!binary) throw new Error('usage: node administration.mjs BINARY');

/** A port with two free ones behind it: the settings have to name the provider's address before it starts. */
async function freePort() {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 20_000);
    const free = await Promise.all([port, port + 1, port + 2].map((one) =>
      new Promise((resolve) => {
        const server = createServer().once('error', () => resolve(false));
        server.listen(one, '127.0.0.1', () => server.close(() => resolve(true)));
      })));
    if (free.every(Boolean)) return port;
  }
}

const port = await freePort();
const operator = 'CARDEA__GATEWAY__OPERATOR__SUBJECTS__0__';
const service = await serve();
const demo = await startDemo(binary, {
  CARDEA__GATEWAY__TENANTS__ACME__SERVICE__BASE_URL: service.url,
  [`${operator}TENANT`]: 'acme',
  [`${operator}ISSUER`]: `http://127.0.0.1:${port + 2}`,
  [`${operator}SUBJECT`]: 'alice',
}, port);
const { portal, sheet } = demo;
const watch = new Watch([portal, sheet.idp].map((url) => new URL(url).origin));
const browser = await launch();
const folder = 'administration';

/** A page in a browser of its own, signed in. */
const at = (name, options = {}) => signedIn(demo, name, { browser, watch, ...options });

/** Makes a share of one finding; `code` is what the form is told. */
async function share(page, finding, code) {
  await page.goto(`${portal}/shares/new?task=t1&vul=${finding}`);
  if (code === 'none') await page.locator('input[name=code][value=none]').check();
  await page.getByRole('button', { name: 'Create the share' }).click();
  await page.getByRole('heading', { name: 'Share created' }).waitFor();
}

/** All shares, those the policy does not allow, and an end to those of a person, with the service away in the middle. */
async function allShares(alice, bob) {
  await share(alice, 'v0', 'made');
  await share(bob, 'v1', 'made');
  await share(bob, 'v2', 'none');
  await alice.goto(`${portal}/admin/shares`);
  await alice.getByText('3 shares').first().waitFor();
  await look(alice, 'all-shares', watch, { folder });
  await alice.goto(`${portal}/admin/policy`);
  await alice.locator('input[name=without_code]').uncheck();
  await alice.getByRole('button', { name: 'Save the policy' }).click();
  await alice.getByText('The policy was saved.').waitFor();
  await alice.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name: /shares/i }).click();
  await alice.getByText('1 share is not as the policy says now.').waitFor();
  await alice.getByRole('link', { name: 'Look at it' }).click();
  await alice.getByText('needs no code').waitFor();
  if ((await alice.locator('table').first().locator('tbody tr').count()) !== 1) watch.note('others than those in breach are shown');
  await look(alice, 'all-shares-breaches', watch, { folder });
  await alice.getByLabel('Show').selectOption('living');
  await alice.getByLabel('Made by').selectOption(await alice.locator('#maker option', { hasText: /bob/i }).getAttribute('value'));
  await alice.getByRole('button', { name: 'Show' }).press('Enter');
  await alice.getByText('2 shares').first().waitFor();
  await look(alice, 'all-shares-of-a-person', watch, { folder });
  await alice.getByRole('link', { name: /^End all.*shares of bob/i }).press('Enter');
  await alice.getByRole('heading', { name: /^End all shares of bob/i }).waitFor();
  await look(alice, 'all-shares-end', watch, { folder });
  service.down = true;
  await alice.getByRole('button', { name: 'End 2 shares' }).press('Enter');
  await alice.getByText('could not be told of all').waitFor();
  await alice.getByText('was not told of the end of 2').waitFor();
  await look(alice, 'all-shares-ended-here', watch, { folder });
  if (service.shares.size !== 3) watch.note('the service was down and lost shares all the same');
  service.down = false;
  await alice.getByRole('link', { name: /^Tell the service.*shares of bob/i }).press('Enter');
  await look(alice, 'all-shares-tell', watch, { folder });
  await alice.getByRole('button', { name: 'Tell it again' }).press('Enter');
  await alice.getByText('The shares have ended.').waitFor();
  if (service.shares.size !== 1) watch.note(`the service has ${service.shares.size} shares`);
  await look(alice, 'all-shares-ended', watch, { folder });
}

try {
  const alice = await at('alice');
  const bob = await at('bob');
  await alice.getByRole('navigation', { name: 'Portal' }).getByRole('link', { name: 'Administration' }).click();
  await alice.getByRole('heading', { name: 'Administration' }).waitFor();
  await look(alice, 'overview', watch, { folder });
  const parts = alice.getByRole('navigation', { name: 'Administration' });
  await parts.getByRole('link', { name: 'Users' }).click();
  await alice.getByRole('cell', { name: 'Administrator' }).waitFor();
  await look(alice, 'users', watch, { folder });
  await alice.getByLabel('Name or e-mail address contains').fill('nobody-at-all');
  await alice.getByRole('button', { name: 'Find' }).click();
  await alice.getByText('Nobody fits.').waitFor();
  await look(alice, 'users-none', watch, { folder });
  await alice.getByRole('link', { name: 'Show everybody' }).click();
  await alice.getByRole('link', { name: 'bob' }).click();
  await alice.getByRole('heading', { name: 'Disable this person' }).waitFor();
  await look(alice, 'user', watch, { folder });
  // By keyboard alone.
  watch.expect(422);
  await alice.getByLabel('Why').fill(' ');
  await alice.keyboard.press('Tab');
  await alice.keyboard.press('Enter');
  await alice.getByText('Say why, in 1 to 200 characters.').waitFor();
  await look(alice, 'user-refused', watch, { folder });
  await alice.getByLabel('Why').fill('Is on leave until spring');
  await alice.keyboard.press('Enter');
  await alice.getByText('This person cannot sign in any more.').waitFor();
  await look(alice, 'user-disabled', watch, { folder });
  watch.expect(401);
  await bob.goto(`${portal}/tasks`);
  await bob.getByText('has disabled your account in this portal').waitFor();
  await look(bob, 'disabled', watch, { folder });
  watch.expect(403);
  await bob.getByRole('main').getByRole('link', { name: 'Sign in' }).click();
  await bob.getByText('so you were not signed in').waitFor();
  await look(bob, 'sign-in-refused', watch, { folder });
  await alice.getByRole('button', { name: 'Enable' }).click();
  await alice.getByText('This person can sign in again.').waitFor();

  // Two who save.
  const other = await at('alice');
  await other.goto(`${portal}/admin/policy`);
  await alice.goto(`${portal}/admin/policy`);
  await look(alice, 'policy', watch, { folder });
  await alice.getByLabel('Days until a share ends at the latest').fill('0');
  await alice.getByLabel('Accent colour').fill('red');
  await alice.getByRole('button', { name: 'Save the policy' }).click();
  await alice.getByText('Nothing was saved.').waitFor();
  await look(alice, 'policy-refused', watch, { folder });
  await alice.getByRole('alert').getByRole('link', { name: 'Accent colour' }).click();
  await alice.getByLabel('Accent colour').fill('#8a1c5b');
  await alice.getByLabel('Days until a share ends at the latest').fill('30');
  await alice.getByRole('button', { name: 'Save the policy' }).click();
  await alice.getByText('The policy was saved.').waitFor();
  await look(alice, 'policy-saved', watch, { folder });
  watch.expect(409);
  await other.getByLabel('Name of the company').fill('Acme of the West');
  await other.getByRole('button', { name: 'Save the policy' }).click();
  await other.getByText('Somebody else saved the policy').waitFor();
  await look(other, 'policy-stale', watch, { folder });
  if ((await other.getByLabel('Name of the company').inputValue()) !== 'Acme of the West') watch.note('what was typed is lost');
  // Without script.
  const plain = await at('alice', { javaScriptEnabled: false });
  await plain.goto(`${portal}/admin/policy`);
  await plain.getByLabel('Name of the company').fill('Acme of the West');
  await plain.getByRole('button', { name: 'Save the policy' }).click();
  await plain.getByText('The policy was saved.').waitFor();
  await plain.getByRole('link', { name: 'Acme of the West' }).first().waitFor();

  await alice.goto(`${portal}/admin/shares`);
  await alice.getByText('Nobody has shared anything yet.').waitFor();
  await look(alice, 'all-shares-none', watch, { folder });
  await allShares(alice, await at('bob'));
  await alice.goto(`${portal}/`);
  await alice.getByRole('navigation', { name: 'Portal' }).getByRole('link', { name: 'Platform' }).click();
  await alice.getByRole('heading', { name: 'All tenants' }).waitFor();
  await look(alice, 'operator', watch, { folder });
  await alice.getByRole('link', { name: 'Globex' }).click();
  await alice.getByRole('heading', { name: 'How much there is' }).waitFor();
  await look(alice, 'operator-tenant', watch, { folder });
  watch.expect(404);
  const again = await at('bob');
  await again.goto(`${portal}/operator`);
  await again.getByRole('heading', { name: 'Nothing is here' }).waitFor();
} catch (error) {
  watch.note(`the steps stopped: ${error.stack}`);
} finally {
  await browser.close();
  await demo.stop();
  service.close();
}
process.exit(watch.finish('administration in the browser'));
