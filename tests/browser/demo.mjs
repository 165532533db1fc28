// The demo as a process of its own, in a folder of its own.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Starts `binary demo` and waits for its ready line. `environment` overrides its settings; without a `port` it takes any. */
export async function startDemo(binary, environment = {}, port = 0) {
  const folder = mkdtempSync(join(tmpdir(), 'demo-'));
  const child = spawn(binary, ['demo', '--port', String(port), '--data', folder], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const portal = await new Promise((resolve, reject) => {
    let told = '';
    child.stdout.on('data', (chunk) => {
      told += chunk;
      const ready = /^ready portal=(\S+)/m.exec(told);
      if (ready) resolve(ready[1]);
    });
    child.on('exit', (code) => reject(new Error(`the demo ended with ${code} before it was ready:\n${told}`)));
    child.on('error', reject);
  });
  const stop = () =>
    new Promise((resolve) => {
      child.removeAllListeners('exit').on('exit', () => {
        rmSync(folder, { recursive: true, force: true });
        resolve();
      });
      child.kill('SIGTERM');
    });
  return { portal, sheet: JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')), stop };
}
