// Looks at a page as people do: small and large, in light and dark, with axe and with a screenshot each time.
import AxePackage from '@axe-core/playwright';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

const AxeBuilder = AxePackage.default ?? AxePackage;
const output = join(fileURLToPath(new URL('../output/', import.meta.url)), 'screenshots');
const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } };
// Colours do not depend on the size: two of the four ways cover both sizes and both schemes.
const thorough = new Set(['desktop-light', 'phone-dark']);
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

async function axe(page, where, watch) {
  const builder = new AxeBuilder({ page }).options({
    runOnly: { type: 'tag', values: tags },
    rules: { 'target-size': { enabled: true } },
  });
  const { violations } = await builder.analyze();
  for (const violation of violations) {
    for (const node of violation.nodes) {
      watch.note(`axe ${where}: ${violation.id} at ${node.target.join(' ')}: ${node.failureSummary.replaceAll('\n', ' ').slice(0, 250)}`);
    }
  }
}

async function width(page, where, watch) {
  const wide = await page.evaluate(() => {
    const root = document.scrollingElement;
    if (root.scrollWidth <= window.innerWidth) return null;
    const culprits = [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > window.innerWidth + 0.5)
      .map((element) => `${element.tagName.toLowerCase()}.${element.className}`);
    return `${root.scrollWidth} > ${window.innerWidth}: ${culprits.slice(0, 6).join(', ')}`;
  });
  if (wide) watch.note(`width ${where}: ${wide}`);
}

/**
 * `name` names the screenshots; `quick` leaves axe to another visit of the same template; `phone` is the width of a phone;
 * `whole` is whether the screenshots show all of the page, which takes too long for a very long one.
 */
export async function look(page, name, watch, { quick = false, folder = 'journey', phone = sizes.phone.width, whole = !quick } = {}) {
  const place = join(output, folder);
  mkdirSync(place, { recursive: true });
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(size === 'phone' ? { ...viewport, width: phone } : viewport);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const where = `${name}-${size}-${colorScheme}`;
      await width(page, where, watch);
      if (!quick && thorough.has(`${size}-${colorScheme}`)) await axe(page, where, watch);
      await page.screenshot({ path: join(place, `${where}.png`), fullPage: whole });
    }
  }
  await page.setViewportSize(sizes.desktop);
}
