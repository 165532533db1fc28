// A person uses a remote browser inside a page of another origin: signs in to a site in two accounts, and tries everything
// it must refuse. Usage: node remote.mjs PATH_OF_BINARY
import assert from 'node:assert/strict';
import { launch, Watch } from './chromium.mjs';
import { look } from './look.mjs';
import { serveParent, startService, until } from './remote-service.mjs';
import { listen, serveSite } from './remote-site.mjs';

const [binary] = process.argv.slice(2);
if (!binary) throw new Error('usage: node remote.mjs PATH_OF_BINARY');

const blocked = await listen();
const site = await serveSite(blocked.url);
const parent = await serveParent();
const service = await startService(binary, { parents: [parent.portal, 'https://portal.example'], allow: [site.port], browser: 'absent_seconds = 1' });
const browser = await launch();
const watch = new (class extends Watch {
  note(words) {
    // The public client gives its frame these rights; that they are as good as none is its matter.
    if (!words.includes('can escape its sandboxing')) super.note(words);
  }
})([parent.portal, parent.stranger, service.base]);

/** Opens a browser in the portal; gives the page, its frame, and ways to use them. */
async function embed(url) {
  const context = await watch.follow(await browser.newContext({ viewport: { width: 1000, height: 700 } }));
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${parent.portal}/?frame=${encodeURIComponent(url)}`);
  await until('iframeLoaded', () => page.evaluate(() => seen.some((one) => one.type === 'iframeLoaded')));
  const frame = page.frames().find((one) => one.url().startsWith(service.base));
  const ask = (type, data) => page.evaluate(([one, two]) => ask(one, two), [type, data]);
  const done = async (type, data) => {
    const answer = await ask(type, data);
    assert.equal(answer.success, true, `${type}: ${answer.error}`);
    return answer.data;
  };
  const refused = async (type, data) => {
    const answer = await ask(type, data);
    assert.equal(answer.success, false, type);
    assert.ok(answer.error, type);
    return answer.error;
  };
  const tabs = () => done('getTabs');
  const at = async (path) => until(`a tab at ${path}`, async () => (await tabs()).find((one) => one.url === site.url + path));
  // Where the picture is, in the page.
  const click = async (x, y, how = {}) => {
    const box = await frame.locator('#screen').boundingBox();
    await page.mouse.click(box.x + x, box.y + y, how);
  };
  const painted = () => until('a picture', async () => Number(await frame.evaluate(() => document.body.dataset.frames ?? 0)) > 0);
  // A page takes input once it has been drawn; the field that is clicked then looks different.
  const shown = async (title) => {
    await frame.locator('#tabs [aria-current]:not(.loading)', { hasText: title }).waitFor();
    await frame.evaluate(() => { document.body.dataset.frames = 0; });
    await until('a picture with the field in use', async () => {
      await click(100, 60);
      return frame.evaluate(() => document.body.dataset.frames > 0);
    });
  };
  return { context, page, frame, ask, done, refused, tabs, at, click, painted, shown };
}

/** Fills in the form of the tab that is shown. */
async function signIn(it, user) {
  await it.shown('Sign in');
  await it.page.keyboard.type(user);
  await it.page.keyboard.press('Tab');
  await it.page.keyboard.type(`pw-${user}`);
  await it.page.keyboard.press('Enter');
  await until(`${user} is signed in`, () => site.told.me.includes(user));
}

async function twoAccounts(it) {
  const before = await it.tabs();
  assert.deepEqual(before.map((one) => one.url), ['about:blank']);
  assert.equal((await it.done('getSession', { targetId: before[0].targetId })).sessionInfo, null, 'no page, no session');
  await it.done('initCopyPaste');
  await it.done('clearTabs');
  assert.deepEqual(await it.tabs(), []);
  await it.done('newTab', { url: `${site.url}/login` });
  await it.at('/login');
  await it.painted();
  await until('the sign-in form', () => it.frame.evaluate(() => document.getElementById('address').value.endsWith('/login')));
  await signIn(it, 'alice');
  await it.done('newContextTab', { url: `${site.url}/login` });
  await it.at('/login');
  await signIn(it, 'bob');
  const [alice, bob] = await until('both tabs', async () => {
    const all = (await it.tabs()).filter((one) => one.url === `${site.url}/home`);
    return all.length === 2 && all;
  });
  assert.notEqual(alice.browserContextId, bob.browserContextId);
  const updates = await it.page.evaluate(() => seen.filter((one) => one.type === 'updateTabs'));
  assert.deepEqual(Object.keys(updates.at(-1).data.data[0]).sort(), ['browserContextId', 'targetId', 'url']);
  for (const [tab, own, other] of [[alice, 'alice', 'bob'], [bob, 'bob', 'alice']]) {
    const { sessionInfo } = await it.done('getSession', { targetId: tab.targetId });
    const cookie = sessionInfo.cookies.find((one) => one.name === 'sid');
    assert.equal(cookie.value, `${own}-secret`);
    assert.equal(cookie.httpOnly, true);
    assert.equal(sessionInfo.localStorage.who, own);
    assert.equal(sessionInfo.sessionStorage.tab, `${own} only`);
    const call = sessionInfo.headers.find((one) => one.url.endsWith('/api/me'));
    assert.equal(call.method, 'GET');
    const names = Object.fromEntries(Object.entries(call.requestHeaders).map(([name, value]) => [name.toLowerCase(), value]));
    assert.equal(names.authorization, `Bearer token-of-${own}`);
    assert.ok(!JSON.stringify(sessionInfo).includes(other), `${own}'s session has nothing of ${other}`);
  }
  assert.ok(!/alice|bob|secret|token-of/.test(service.log()), 'nothing of a session is logged');
  await it.done('clearSession', { targetId: bob.targetId });
  const cleared = await until('an empty session', async () => {
    const { sessionInfo } = await it.done('getSession', { targetId: bob.targetId });
    return sessionInfo.cookies.length === 0 && !sessionInfo.localStorage.who && !sessionInfo.sessionStorage.tab && sessionInfo;
  });
  assert.deepEqual(cleared.headers, []);
  assert.ok((await it.done('getSession', { targetId: alice.targetId })).sessionInfo.cookies.length > 0, 'the other one stays');
  await it.done('closeTab', { targetId: bob.targetId });
  assert.deepEqual((await it.tabs()).map((one) => one.targetId), [alice.targetId]);
}

async function protocol(it) {
  await it.refused('noSuchCommand', { x: 1 });
  for (const [type, data] of [['newTab', null], ['newTab', {}], ['go', 'x'], ['closeTab', { targetId: 'nobody' }], ['getSession', { targetId: 7 }], ['clearSession', []]]) {
    await it.refused(type, data);
  }
  const answers = (id, count) => until(`${count} answers to ${id}`, () => it.page.evaluate(([one, two]) => answers(one).length === two && answers(one), [id, count]));
  await it.page.evaluate(() => {
    post({ type: 'getTabs', data: null, messageId: 'same' });
    post({ type: 'clearSession', data: { targetId: 'nobody' }, messageId: 'same' });
    post({ type: 'getTabs', messageId: 'without data' });
    post({ type: 7, data: null, messageId: 'no type' });
    post({ type: 'getTabs', data: { big: 1n }, messageId: 'not JSON' });
    post(null);
    post('text');
  });
  assert.deepEqual((await answers('same', 2)).map((one) => one.data.success).sort(), [false, true]);
  assert.equal((await answers('without data', 1))[0].data.success, true);
  assert.equal((await answers('no type', 1))[0].data.success, false);
  assert.equal((await answers('not JSON', 1))[0].data.success, false);
  await until('answers to what is no object', () => it.page.evaluate(() => answers(undefined).filter((one) => one.data?.success === false).length === 2));
  assert.ok((await it.page.evaluate(() => seen)).every((one) => one.origin === service.base));

  // Somebody else in the same window is not the parent, and a parent of another origin is not even shown a page.
  const before = (await it.tabs()).length;
  await it.page.evaluate((url) => new Promise((done) => {
    const other = document.createElement('iframe');
    other.srcdoc = `<script>parent.frames[0].postMessage({ type: 'newTab', data: { url: '${url}/field' }, messageId: 'stranger' }, '*');<\/script>`;
    other.onload = done;
    document.body.append(other);
  }), site.url);
  assert.equal((await it.tabs()).length, before, 'a command of a stranger does nothing');
  assert.equal((await it.page.evaluate(() => answers('stranger'))).length, 0);
}

/** A finger works as well as a mouse, and the frame's own buttons do what they say. */
async function fingers(url) {
  const context = await watch.follow(await browser.newContext({ hasTouch: true, viewport: { width: 800, height: 600 } }));
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('#tabs [aria-current]').waitFor();
  const address = page.locator('#address');
  await address.fill(`127.0.0.1:${site.port}/field`);
  await address.press('Enter');
  await page.locator('#tabs [aria-current]:not(.loading)', { hasText: 'Field' }).waitFor();
  await until('a touch', async () => {
    await page.touchscreen.tap(100, 200);
    return site.told.touch;
  });
  await page.getByRole('button', { name: 'New tab' }).click();
  await page.locator('#tabs button', { hasText: 'New tab' }).waitFor();
  await page.getByRole('button', { name: 'Close the tab New tab' }).click();
  await page.locator('#tabs [aria-current]', { hasText: 'Field' }).waitFor();
  await address.fill(`${site.url}/login`);
  await address.press('Enter');
  await page.locator('#tabs [aria-current]', { hasText: 'Sign in' }).waitFor();
  await page.getByRole('button', { name: 'Back', exact: true }).click();
  await page.locator('#tabs [aria-current]', { hasText: 'Field' }).waitFor();
  const opened = await page.evaluate(() => new Promise((done) => {
    const { id, token } = document.body.dataset;
    const second = new WebSocket(`${location.origin.replace('http', 'ws')}/browsers/${id}/link`, ['cardea-browser', `token.${token}`]);
    second.onopen = () => done(true);
    second.onerror = () => done(false);
  }));
  assert.ok(opened, 'the page may connect again');
  await page.getByText('now shown in another place').waitFor();
  await context.close();
}

async function strangers(url) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const refused = new Promise((done) => { page.on('console', (message) => { if (/frame-ancestors/.test(message.text())) done(); }); });
  await page.goto(`${parent.stranger}/?frame=${encodeURIComponent(url)}`);
  await refused;
  assert.equal(await page.evaluate(() => seen.length), 0);
  await context.close();
}

async function typing(it) {
  await it.done('go', { url: `${site.url}/field` });
  await it.at('/field');
  await until('its width', () => site.told.width);
  await it.shown('Field');
  await it.page.keyboard.insertText('世界');
  await until('世界', () => site.told.field === '世界');
  await it.page.keyboard.type(' a-Z!é');
  await until('more text', () => site.told.field === '世界 a-Z!é');
  const devtools = await it.context.newCDPSession(it.frame);
  await devtools.send('Input.imeSetComposition', { text: 'ni', selectionStart: 2, selectionEnd: 2 });
  await until('an unsettled text', () => site.told.field === '世界 a-Z!éni');
  await devtools.send('Input.insertText', { text: '你' });
  await until('a settled text', () => site.told.field === '世界 a-Z!é你');
  await it.page.keyboard.press('Backspace');
  await until('one character less', () => site.told.field === '世界 a-Z!é');
  await it.frame.evaluate(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ' pasted');
    document.getElementById('keys').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  });
  await until('pasted text', () => site.told.field === '世界 a-Z!é pasted');
  await it.page.keyboard.press('Control+a');
  await it.page.keyboard.press('Control+c');
  // A frame without the right to the clipboard shows the text.
  await it.frame.locator('#copied-text').waitFor();
  assert.equal(await it.frame.locator('#copied-text').inputValue(), '世界 a-Z!é pasted');
  await it.frame.locator('#copied-close').click();
  await it.click(300, 300, { clickCount: 2 });
  await until('a double click', () => site.told.double);
  await it.page.mouse.wheel(0, 200);
  await until('the wheel', () => site.told.wheel === '1');
  await it.page.keyboard.press('Control+Alt+Tab');
  assert.equal(await it.frame.evaluate(() => document.activeElement.id), 'address', 'the keyboard leaves the page');
  await it.page.evaluate(() => { document.getElementById('browser').style.width = '700px'; });
  await until('the new width', () => site.told.width === '700');
}

async function refusals(it) {
  for (const url of ['file:///etc/passwd', 'chrome://settings', 'javascript:alert(1)', 'view-source:http://x/', 'devtools://devtools/', 'data:text/html,x']) {
    assert.match(await it.refused('go', { url }), /Only web addresses/);
    assert.match(await it.refused('newTab', { url }), /Only web addresses/);
    assert.match(await it.refused('newContextTab', { url }), /Only web addresses/);
  }
  const address = it.frame.getByLabel('Address', { exact: true }).and(it.frame.locator('input'));
  const says = (words) => it.frame.locator('#status', { hasText: words }).waitFor();
  await address.fill('file:///etc/passwd');
  await address.press('Enter');
  await says('Only web addresses');
  await it.done('go', { url: `${site.url}/reach` });
  await until('the tries of a page', () => site.told.reached);
  await until('the permissions of a page', () => site.told.permissions);
  assert.equal(site.told.permissions, 'denied denied denied denied denied');
  await it.done('go', { url: `${blocked.url}/` });
  await until('the refusal', async () => (await it.tabs()).some((one) => one.url === `${blocked.url}/`));
  assert.equal(blocked.seen.connections, 0, 'a blocked address is never reached');
  await it.done('go', { url: `${site.url}/download` });
  await says('Files are not taken here');
  await it.done('go', { url: `${site.url}/dialog` });
  await it.frame.getByRole('alertdialog').getByText('hello from the page').waitFor();
  await until('the page goes on', () => site.told.dialog);
  await it.frame.getByRole('button', { name: 'OK' }).click();
  await it.done('go', { url: `${site.url}/popup` });
  await it.at('/popup');
  const opener = (await it.tabs()).find((one) => one.url.endsWith('/popup'));
  await until('a further tab', async () => {
    await it.click(100, 60);
    return (await it.tabs()).find((one) => one.url.endsWith('/field') && one.browserContextId === opener.browserContextId);
  });
}

async function looks(url) {
  const context = await watch.follow(await browser.newContext());
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('#tabs [aria-current]').waitFor();
  await look(page, 'remote-browser', watch);
  watch.expect(404);
  await page.goto(url);
  await page.getByText('used up or too old').waitFor();
  await context.close();
}

async function limits() {
  const short = await startService(binary, { parents: [parent.portal], allow: [site.port], browser: 'idle_seconds = 4\nlife_seconds = 600\n' });
  const brief = await startService(binary, { parents: [parent.portal], allow: [site.port], browser: 'life_seconds = 5\n' });
  const page = await browser.newPage();
  await page.goto(await short.open());
  await page.getByText('was not used for a while').waitFor();
  await page.goto(await brief.open());
  await page.getByRole('timer').getByText(/0:0\d left/).waitFor();
  await page.getByText('reached the end of its time').waitFor();
  await page.close();
  await Promise.all([short.stop(), brief.stop()]);
}

try {
  const it = await embed(await service.open());
  await twoAccounts(it);
  await protocol(it);
  await typing(it);
  await refusals(it);
  await it.context.close();
  await looks(await service.open());
  await fingers(await service.open());
  await strangers(await service.open());
  await limits();
} catch (error) {
  watch.note(error.stack);
} finally {
  await browser.close();
  await service.stop();
  for (const one of [site, parent, blocked]) one.stop();
}
process.exitCode = watch.finish('a remote browser does what it should and nothing else');
process.exit();
