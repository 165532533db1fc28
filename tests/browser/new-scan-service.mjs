// A scanning service for the steps of a new scan: network checks that grow, ownership, a page that stands in for the embedded
// browser and speaks its protocol, and a group of tasks. Programmable through the object that serve() gives.
import { createServer } from 'node:http';
import { createHash } from 'node:crypto';

const stage = (stageName, status, more) => ({ stageName, status, description: '', resultInfo: '', hint: '', durationMs: 12, startedAt: '2026-01-01T00:00:00Z', ...more });
const reached = [
  stage('ADDRESS', 'PASS', { description: 'Is the address one the service may connect to?', resultInfo: 'https://staging.example/app' }),
  stage('DNS', 'PASS', { description: 'Does the name have addresses?', resultInfo: '192.0.2.7\n2001:db8::7', durationMs: 31 }),
  stage('TCP', 'PASS', { description: 'Can a connection be opened?', resultInfo: '192.0.2.7 port 443', durationMs: 120 }),
];
const refused = [
  ...reached.slice(0, 2),
  stage('TCP', 'FAIL', { description: 'Can a connection be opened?', resultInfo: '192.0.2.7 port 443: refused', durationMs: 4, hint: 'Nothing listens at this port, or a firewall refuses the service. Open port 443 for it.' }),
];

/** The embedded browser's page: answers every command, reports its tabs, keeps the log of what it was asked. */
const frame = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Browser</title></head><body><div role="region" aria-label="Page of the target"><h1>Sign in</h1><p id="said">Nothing yet</p></div><script>
let tabs = [];
let next = 1;
window.asked = [];
const tell = (message) => parent.postMessage(message, '*');
const changed = () => tell({ type: 'updateTabs', data: { data: tabs } });
const commands = {
  initCopyPaste: () => ({}),
  clearTabs: () => { tabs = []; setTimeout(changed); return {}; },
  getTabs: () => tabs,
  newTab: ({ url }) => { tabs.push({ targetId: 'T' + next, url, browserContextId: 'C1' }); next += 1; changed(); return {}; },
  newContextTab: ({ url }) => { tabs.push({ targetId: 'T' + next, url, browserContextId: 'C' + next }); next += 1; changed(); return {}; },
  go: ({ url }) => { tabs.at(-1).url = url; changed(); return {}; },
  closeTab: ({ targetId }) => { tabs = tabs.filter((one) => one.targetId !== targetId); changed(); return {}; },
  clearSession: () => ({}),
  getSession: ({ targetId }) => ({ sessionInfo: { cookies: [{ name: 'sid', value: 'captured-secret-' + targetId, httpOnly: true }], headers: [{ url: 'https://staging.example', method: 'GET', requestHeaders: { 'X-A': '1' } }], localStorage: { a: 'b' }, sessionStorage: {} } }),
};
addEventListener('message', ({ data, source, origin }) => {
  if (source !== parent || !data) return;
  window.asked.push({ ...data, origin });
  document.getElementById('said').textContent = data.type;
  const known = commands[data.type];
  tell({ type: data.type, messageId: data.messageId, data: known ? { success: true, data: known(data.data ?? {}) } : { success: false, error: 'unknown' } });
});
tell(null);
tell({ type: 'iframeLoaded' });
</script></body></html>`;

export async function serve() {
  const state = { url: '', stages: [], taken: 1, finished: false, looks: 0, checks: 0, owned: false, browser: true, created: [], files: new Set() };
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { pathname } = new URL(request.url, 'http://service');
    const json = (value, status = 200) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const end = (name) => pathname.endsWith(name);
    if (end('/frame')) return response.writeHead(200, { 'content-type': 'text/html' }).end(frame);
    if (end('/files/upload')) {
      const text = body.toString('latin1');
      const file = text.slice(text.indexOf('\r\n\r\n') + 4, text.lastIndexOf('\r\n--'));
      const sha256 = createHash('sha256').update(Buffer.from(file, 'latin1')).digest('hex');
      state.files.add(sha256);
      return json({ sha256 });
    }
    if (pathname.includes('/files/check-exist/')) return state.files.has(pathname.split('/').pop()) ? json('') : json({ message: 'no' }, 404);
    if (end('/network-diagnostics')) {
      state.checks += 1;
      state.taken = 1;
      return json({ id: `d${state.checks}` });
    }
    if (end('/next-stage')) {
      state.looks += 1;
      const stages = state.stages.slice(0, state.taken);
      state.taken += 1;
      const done = stages.length === state.stages.length;
      return json({ diagId: 'd', testUrl: 'x', status: done ? 'FINISHED' : 'IN_PROGRESS', stageCount: 5, nextStage: done ? null : 'TCP', stages });
    }
    if (end('/random-content')) return json({ content: 'ab'.repeat(32), expiredAt: new Date(Date.now() + 3 * 3600_000).toISOString(), fileName: 'hash.txt' });
    if (end('/verify')) return state.owned ? response.writeHead(200).end() : json({ message: 'Neither the file nor a record was found.', data: { errCode: 4002 } }, 400);
    if (end('/browsers')) return state.browser ? json({ url: `${state.url}/frame?sig=1`, browserBoxId: 'box' }) : json({ message: 'no browser', data: { errCode: 4042 } }, 404);
    if (end('/api/v2/tasks') || end('/create-group')) {
      state.created.push(JSON.parse(body));
      return json({ taskId: 't1', taskIds: ['t1', 't2'], groupId: 'g', status: 'CREATED', createdAt: '2026-01-01T00:00:00Z' });
    }
    const origin = { t1: { primarySourceCodeFileName: 'cart.war', lang: 'JAVA', sandboxHomePageUrl: 'https://staging.example/app?key=1', sourceCodeInfos: [{ type: 'BACKEND', sourceCode: 'ab'.repeat(32), fileName: 'code.zip' }, { type: 'FRONTEND', fileName: '<b>pages</b>.zip' }] }, t2: { primarySourceCodeFileName: 'pay.jar' } };
    const task = (taskId) => ({ taskId, groupId: 'g', projectName: 'Shop', taskStatus: 'TERMINATED', lang: 'JAVA', createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z' });
    const inGroup = state.created.some((one) => one.primarySourceCodes) ? [task('t1'), task('t2')] : [];
    if (end('/tasks/search')) return json({ data: inGroup, total: inGroup.length });
    if (end('/shares/search')) return json({ data: [], total: 0 });
    const whole = /\/tasks\/(t[12])$/.exec(pathname)?.[1];
    if (whole) return json({ ...task(whole), params: { originRequestData: origin[whole] } });
    return json({ message: `unknown ${pathname}` }, 404);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.url = `http://127.0.0.1:${server.address().port}`;
  return Object.assign(state, { reached, refused, close: () => server.close() });
}
