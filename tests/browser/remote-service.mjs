// The scanning service as a process, and a page of another origin that embeds its remote browsers.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './port.mjs';

const KEY = 'sk-0123456789abcdef';

/** Starts the service; `browser` is text of its section, `allow` the loopback ports it may reach. */
export async function startService(binary, { parents, allow, browser = '' }) {
  const folder = mkdtempSync(join(tmpdir(), 'remote-'));
  const port = await freePort();
  const file = join(folder, 'cardea.toml');
  const networks = allow.map((one) => `127.0.0.1/32:${one}`);
  writeFileSync(file, `[scanner]\nlisten = "127.0.0.1:${port}"\ndata = ${JSON.stringify(join(folder, 'data'))}
[scanner.outbound]\nallow = ${JSON.stringify(networks)}
[scanner.browser]\nsandbox = false\nparents = ${JSON.stringify(parents)}\n${browser}
[scanner.accounts.acme]\nserver_keys = ["${KEY}"]\n`);
  let log = '';
  const child = spawn(binary, ['scanner', '--config', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => { log += chunk; });
  const base = `http://127.0.0.1:${port}`;
  await until('the service', async () => (await fetch(`${base}/healthz`).catch(() => null))?.ok);
  const open = async () => {
    const answer = await fetch(`${base}/scanner/api/v1/browsers`, { method: 'POST', headers: { authorization: `Bearer ${KEY}` } });
    const body = await answer.json();
    if (answer.status !== 200) throw new Error(`no browser: ${answer.status} ${JSON.stringify(body)}\n${log}`);
    return body.url;
  };
  const stop = () => new Promise((done) => {
    child.on('exit', () => {
      rmSync(folder, { recursive: true, force: true });
      done();
    });
    child.kill('SIGTERM');
  });
  return { base, open, stop, log: () => log };
}

/** Serves pages that embed `?frame=…`; `ask` in them sends a command and waits for its answer. */
export async function serveParent() {
  const server = createServer((request, response) => {
    const query = new URL(request.url, 'http://parent').searchParams;
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><title>Portal</title><style>body{margin:0}iframe{border:0;width:${query.get('width') ?? 1000}px;height:700px}</style>
<iframe id="browser" sandbox="allow-scripts allow-same-origin allow-forms allow-popups"></iframe>
<script>
  const frame = document.getElementById('browser');
  const seen = window.seen = [];
  addEventListener('message', ({ data, source, origin }) => { if (source === frame.contentWindow) seen.push({ ...data, origin }); });
  window.post = (message) => frame.contentWindow.postMessage(message, '*');
  window.answers = (messageId) => seen.filter((one) => one.messageId === messageId);
  let last = 0;
  window.ask = (type, data = null) => new Promise((done) => {
    const messageId = 'm' + ++last;
    addEventListener('message', function hear({ data: heard }) {
      if (heard?.messageId !== messageId) return;
      removeEventListener('message', hear);
      done(heard.data);
    });
    post({ type, data, messageId });
  });
  frame.src = ${JSON.stringify(query.get('frame') ?? 'about:blank')};
</script>`);
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  const { port } = server.address();
  return { portal: `http://localhost:${port}`, stranger: `http://127.0.0.1:${port}`, stop: () => server.close() };
}

/** Asks again and again until there is something. */
export async function until(what, ask) {
  const patience = Date.now() + 90_000;
  for (;;) {
    const found = await ask();
    if (found) return found;
    if (Date.now() > patience) throw new Error(`${what} never came`);
    await new Promise((done) => { setTimeout(done, 50); });
  }
}
