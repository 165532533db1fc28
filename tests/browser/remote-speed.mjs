// How many frames of an animated page a second are painted at 1280 x 800. Usage: node remote-speed.mjs PATH_OF_BINARY
import { launch } from './chromium.mjs';
import { startService, until } from './remote-service.mjs';
import { serveSite } from './remote-site.mjs';

const [binary] = process.argv.slice(2);
const site = await serveSite('http://127.0.0.1:9');
const service = await startService(binary, { parents: ['http://portal.example'], allow: [site.port] });
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
await page.goto(await service.open());
// The stage is made exactly as large as the figure says.
await page.evaluate(() => { const stage = document.getElementById('stage'); stage.style.flex = 'none'; stage.style.width = '1280px'; stage.style.height = '800px'; });
await page.locator('#tabs [aria-current]').waitFor();
await page.locator('#address').fill(`${site.url}/animated`);
await page.locator('#address').press('Enter');
await page.locator('#tabs [aria-current]:not(.loading)', { hasText: 'Animated' }).waitFor();
const frames = () => page.evaluate(() => Number(document.body.dataset.frames ?? 0));
await until('frames', async () => (await frames()) > 30);
const size = await page.evaluate(() => { const screen = document.getElementById('screen'); return `${screen.width}x${screen.height}`; });
const [first, begun] = [await frames(), performance.now()];
await new Promise((done) => { setTimeout(done, 10_000); });
const rate = ((await frames()) - first) * 1000 / (performance.now() - begun);
console.log(`${rate.toFixed(1)} frames a second at ${size}`);
await browser.close();
await service.stop();
process.exit();
