// One's own sessions and those of the company: seen, ended, and what an ended session sees then.
// Usage: node sessions.mjs BINARY
import { startDemo } from './demo.mjs';
import { launch, Watch } from './chromium.mjs';
import { look } from './look.mjs';
import { signedIn, signOut } from './signin.mjs';

const [binary] = process.argv.slice(2);
if (!binary) throw new Error('usage: node sessions.mjs BINARY');
const phone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1';
const demo = await startDemo(binary);
const { portal, sheet } = demo;
const user = (name) => sheet.users.find((one) => one.name === name);
const watch = new Watch([portal, sheet.idp].map((url) => new URL(url).origin));
const browser = await launch();

/** A page in a browser of its own, signed in. */
const at = (name, options = {}) => signedIn(demo, name, { browser, watch, ...options });

const row = (page, words) => page.getByRole('row').filter({ hasText: words });

try {
  const alice = await at('alice');
  await alice.getByRole('link', { name: 'your sessions' }).click();
  await alice.getByRole('heading', { name: 'Your sessions' }).waitFor();
  await look(alice, 'own-sessions-alone', watch, { folder: 'sessions' });

  const onPhone = await at('alice', { userAgent: phone });
  const bob = await at('bob');
  await at('bob', { userAgent: phone });
  await alice.reload();
  await look(alice, 'own-sessions', watch, { folder: 'sessions' });
  await row(alice, 'Safari on iPhone').getByRole('button', { name: 'End' }).click();
  await alice.getByText('The session has ended').waitFor();
  await look(alice, 'own-sessions-ended', watch, { folder: 'sessions', quick: true });
  // The ended one is told why, and a password is asked for although the provider still knows this browser.
  watch.expect(401);
  await onPhone.goto(`${portal}/tasks`);
  await onPhone.getByText('You ended this session from another one.').waitFor();
  await look(onPhone, 'ended', watch, { folder: 'sessions' });
  await onPhone.getByRole('main').getByRole('link', { name: 'Sign in' }).click();
  await onPhone.getByLabel('Password').waitFor();

  await alice.getByRole('navigation', { name: 'Portal' }).getByRole('link', { name: 'Sessions' }).click();
  await alice.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
  await look(alice, 'all-sessions', watch, { folder: 'sessions' });
  for (const width of [1280, 360]) {
    await alice.setViewportSize({ width, height: 900 });
    const broken = await alice.locator('.table button').evaluateAll((all) => all.filter((one) => one.offsetHeight > 44).length);
    const cut = await alice.locator('.table').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
    if (broken + cut > 0) watch.note(`at ${width} px ${broken} buttons break and ${cut} tables are cut`);
  }
  await alice.setViewportSize({ width: 1280, height: 720 });
  await alice.getByLabel('Name or e-mail address contains').fill('bo');
  await alice.getByRole('button', { name: 'Find' }).click();
  await alice.getByRole('button', { name: 'End all' }).click();
  await alice.getByText('The sessions have ended').waitFor();
  if ((await alice.getByRole('heading', { name: 'Bob' }).count()) > 0) watch.note('Bob is still in the list');
  await alice.goto(`${portal}/admin/sessions?q=nobody-at-all`);
  await look(alice, 'all-sessions-none', watch, { folder: 'sessions' });

  // Ended by another: the next page is the sign-in.
  const response = await bob.request.get(`${portal}/session`, { headers: { accept: 'application/json' } });
  if (response.status() !== 401) watch.note(`the ended session answers ${response.status()}`);
  // A button on a page whose session was signed out in another tab says so, and leads back to its page.
  const left = await at('alice');
  await left.getByRole('link', { name: 'your sessions' }).click();
  const others = left.getByRole('button', { name: 'End all others' });
  await others.waitFor();
  const tab = await left.context().newPage();
  await tab.goto(`${portal}/tasks`);
  await signOut(tab);
  await others.click();
  await left.getByRole('heading', { name: 'Please sign in' }).waitFor();
  await left.getByText('Nothing was changed.').waitFor();
  await look(left, 'form-after-the-end', watch, { folder: 'sessions' });
  await left.getByRole('link', { name: 'Sign in' }).click();
  await left.getByLabel('Name').fill(user('alice').name);
  await left.getByLabel('Password').fill(user('alice').password);
  await left.getByRole('button', { name: 'Sign in' }).click();
  await left.getByRole('heading', { name: 'Your sessions' }).waitFor();
  // A second click, here in another tab, finds nothing left and claims no success.
  await others.waitFor();
  const second = await left.context().newPage();
  await second.goto(`${portal}/account/sessions`);
  await others.click();
  await left.getByText('The sessions have ended').waitFor();
  await second.getByRole('button', { name: 'End all others' }).click();
  await second.getByText('There was nothing to end any more.').waitFor();
  await look(second, 'own-sessions-nothing', watch, { folder: 'sessions', quick: true });
  if ((await second.locator('.note.good').count()) > 0) watch.note('a second click is shown as a success');
  // A file on its way, without script.
  const plain = await at('alice', { javaScriptEnabled: false });
  await plain.goto(`${portal}/tasks/new`);
  await plain.getByRole('button', { name: 'Begin' }).click();
  const file = plain.locator('input[type=file]').first();
  await file.setInputFiles({ name: 'shop.jar', mimeType: 'application/java-archive', buffer: Buffer.alloc(4_000_000, 7) });
  const step = new URL(plain.url()).pathname;
  const again = await plain.context().newPage();
  await again.goto(portal);
  await signOut(again);
  await plain.getByRole('button', { name: 'Upload the file' }).click();
  await plain.getByText('Nothing was changed.').waitFor();
  const way = await plain.getByRole('main').getByRole('link', { name: 'Sign in' }).getAttribute('href');
  if (way !== `/auth/login?return_to=${encodeURIComponent(step)}`) watch.note(`the way back leads to ${way}`);

  watch.expect(403);
  const member = await at('bob');
  await member.goto(`${portal}/admin/sessions`);
  await member.getByText('Only administrators of your company').waitFor();
} catch (error) {
  watch.note(`the steps stopped: ${error.stack}`);
} finally {
  await browser.close();
  await demo.stop();
}
process.exit(watch.finish('sessions in the browser'));
