// Starts Chromium and watches what a page must never do: complain, break its policy, or talk to a stranger.
import { chromium } from 'playwright-core';
import { existsSync } from 'node:fs';

const candidates = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export async function launch() {
  const executablePath = candidates.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error('Chromium was not found; `.ci/test` sets it up, or set CHROMIUM to its path');
  return chromium.launch({ executablePath, args });
}

/** All that was seen and should not have been. */
export class Watch {
  constructor(origins) {
    this.origins = origins;
    this.problems = [];
    this.expected = new Set();
  }

  note(words) {
    this.problems.push(words);
    console.error(`PROBLEM ${words}`);
  }

  /** Answers of this status are part of the test, and so is the browser's own complaint about them. */
  expect(status) {
    this.expected.add(status);
  }

  async follow(context) {
    await context.exposeBinding('__cspReport', (_source, words) => this.note(`policy: ${words}`)).catch(() => {});
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) =>
        window.__cspReport?.(`${event.violatedDirective} ${event.blockedURI} on ${location.pathname}`));
    });
    context.on('request', (request) => {
      const url = new URL(request.url());
      const inside = ['data:', 'blob:', 'about:'].includes(url.protocol) || this.origins.includes(url.origin);
      if (!inside) this.note(`foreign request: ${request.url().slice(0, 200)}`);
    });
    context.on('page', (page) => this.#watchPage(page));
    return context;
  }

  #watchPage(page) {
    page.on('pageerror', (error) => this.note(`script error on ${page.url()}: ${error.message}`));
    page.on('dialog', (dialog) => {
      this.note(`dialog on ${page.url()}: ${dialog.message()}`);
      dialog.dismiss().catch(() => {});
    });
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      const status = /responded with a status of (\d+)/.exec(message.text())?.[1];
      if (status && this.expected.has(Number(status))) return;
      this.note(`console ${message.type()} on ${page.url()}: ${message.text().slice(0, 300)}`);
    });
  }

  /** Prints what was found and ends the process with a fitting code. */
  finish(words) {
    if (this.problems.length === 0) {
      console.log(`ok: ${words}`);
      return 0;
    }
    console.error(`${this.problems.length} problems:\n${[...new Set(this.problems)].join('\n')}`);
    return 1;
  }
}
