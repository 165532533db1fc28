// A port for a process that is told its address and does not choose it.
import { createServer } from 'node:net';

/** One of loopback that nobody listens on. Below those that systems hand out by themselves, so that no connection takes it. */
export async function freePort() {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer();
    const free = await new Promise((done) => {
      server.once('error', () => done(false)).listen(port, '127.0.0.1', () => server.close(() => done(true)));
    });
    if (free) return port;
  }
}
