// Signing in and out through the real forms.
import { look } from './look.mjs';

/** Ends on the page where the portal sends people after sign-in. */
export async function signIn(page, portal, user, { watch, looks = false } = {}) {
  await page.goto(portal);
  if (looks) await look(page, 'welcome', watch);
  await page.getByRole('link', { name: 'Sign in' }).first().click();
  await page.getByLabel('Password').waitFor();
  if (looks) {
    await look(page, 'idp-login', watch);
    await page.getByLabel('Name').fill(user.name);
    await page.getByLabel('Password').fill('not the password');
    watch.expect(400);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await look(page, 'idp-login-refused', watch);
  }
  await page.getByLabel('Name').fill(user.name);
  await page.getByLabel('Password').fill(user.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** A page in a browser of its own, signed in at a demo as the person of that name. */
export async function signedIn({ portal, sheet }, name, { browser, watch, ...options }) {
  const context = await watch.follow(await browser.newContext(options));
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await signIn(page, portal, sheet.users.find((one) => one.name === name));
  return page;
}

/** Somebody of another company is refused at sign-in, on a page that says so. */
export async function refused(page, portal, user, watch) {
  watch.expect(403);
  await page.goto(portal);
  await page.getByRole('link', { name: 'Sign in' }).first().click();
  await page.getByLabel('Name').fill(user.name);
  await page.getByLabel('Password').fill(user.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Password').waitFor({ state: 'detached' });
  await look(page, 'idp-refused', watch);
  await page.goto(portal);
  await page.getByRole('link', { name: 'Sign in' }).first().waitFor();
}

export async function signOut(page) {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
}
