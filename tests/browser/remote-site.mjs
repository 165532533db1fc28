// What a remote browser is sent to: a small site with a sign-in, and pages that try what they must not do. And a listener
// that nobody may ever reach.
import { createServer } from 'node:http';
import { createServer as createListener } from 'node:net';

const page = (title, body, script = '') =>
  `<!doctype html><title>${title}</title><style>body{margin:0;font:20px sans-serif}input,button,a{position:absolute;left:40px;width:300px;height:40px;box-sizing:border-box}</style>${body}<script>${script}</script>`;

const login = page('Sign in', `<form method="post" action="/login"><input name="user" style="top:40px"><input name="password" type="password" style="top:100px"><button style="top:160px">Sign in</button></form>`);

const home = (user) => page(`Home of ${user}`, `<h1 style="margin-left:400px">${user}</h1>`, `
  localStorage.setItem('who', '${user}');
  sessionStorage.setItem('tab', '${user} only');
  fetch('/api/me', { headers: { authorization: 'Bearer token-of-${user}' } });`);

const field = page('Field', '<input id="field" style="top:40px">', `
  // In order: what is told last is what counts.
  let told = Promise.resolve();
  const tell = (kind, value) => { told = told.then(() => fetch('/told/' + kind, { method: 'POST', body: value })); };
  field.addEventListener('input', () => tell('field', field.value));
  addEventListener('resize', () => tell('width', String(innerWidth)));
  addEventListener('dblclick', () => tell('double', 'yes'));
  addEventListener('wheel', (event) => tell('wheel', String(Math.sign(event.deltaY))));
  addEventListener('touchstart', () => tell('touch', 'yes'));
  tell('width', String(innerWidth));`);

const animated = page('Animated', '<canvas id="c" width="1280" height="800"></canvas>', `
  const g = c.getContext('2d');
  let n = 0;
  const draw = () => {
    n += 1;
    g.fillStyle = 'hsl(' + n % 360 + ' 60% 50%)';
    g.fillRect((n * 7) % 1200, (n * 3) % 740, 80, 60);
    g.fillStyle = '#fff';
    g.fillText('frame ' + n, (n * 5) % 1200, 20 + n % 700);
    requestAnimationFrame(draw);
  };
  draw();`);

const read = async (request) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
};

/** Serves the site; `told` has what its pages and visitors said. */
export async function serveSite(blocked) {
  const told = { signedIn: [], me: [] };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://site');
    const html = (text) => response.setHeader('content-type', 'text/html; charset=utf-8').end(text);
    const user = /sid=(\w+)-secret/.exec(request.headers.cookie ?? '')?.[1];
    if (pathname === '/login' && request.method === 'POST') {
      const form = new URLSearchParams(await read(request));
      if (form.get('password') !== `pw-${form.get('user')}`) return html(login);
      told.signedIn.push(form.get('user'));
      response.setHeader('set-cookie', `sid=${form.get('user')}-secret; HttpOnly; Path=/`);
      return response.writeHead(303, { location: '/home' }).end();
    }
    if (pathname === '/login') return html(login);
    if (pathname === '/home') return html(user ? home(user) : login);
    if (pathname === '/api/me') {
      told.me.push(user);
      return response.end('{}');
    }
    if (pathname.startsWith('/told/')) {
      told[pathname.slice(6)] = await read(request);
      return response.end();
    }
    if (pathname === '/field') return html(field);
    if (pathname === '/animated') return html(animated);
    if (pathname === '/download') return response.setHeader('content-disposition', 'attachment; filename="x.bin"').end('a file');
    if (pathname === '/dialog') return html(page('Dialog', '', `alert('hello from the page'); fetch('/told/dialog', { method: 'POST', body: 'answered' })`));
    if (pathname === '/popup') return html(page('Opener', '<a style="top:40px" href="/field" target="_blank">Open</a>'));
    if (pathname === '/reach') {
      return html(page('Reach', '', `
        const asked = ['geolocation', 'notifications', 'camera', 'microphone', 'clipboard-read'];
        Promise.all(asked.map((name) => navigator.permissions.query({ name }).then(({ state }) => state)))
          .then((states) => fetch('/told/permissions', { method: 'POST', body: states.join(' ') }));
        Promise.allSettled([fetch('${blocked}/', { mode: 'no-cors' }), new Promise((done) => { const socket = new WebSocket('${blocked.replace('http', 'ws')}/'); socket.onerror = socket.onopen = done; })])
          .then(() => fetch('/told/reached', { method: 'POST', body: 'tried' }));`));
    }
    return response.writeHead(404).end();
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  return { url: `http://127.0.0.1:${server.address().port}`, port: server.address().port, told, stop: () => server.close() };
}

/** A listener that counts who comes. */
export async function listen() {
  const seen = { connections: 0 };
  const server = createListener((socket) => {
    seen.connections += 1;
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  return { url: `http://127.0.0.1:${server.address().port}`, seen, stop: () => server.close() };
}
