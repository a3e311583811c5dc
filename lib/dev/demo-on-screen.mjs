import { createRequire } from 'node:module';
import { join } from 'node:path';

/** How the demo's runs stand after its first start. */
const ROWS = {
  'demo-completed': 'Completed',
  'demo-failed': 'Failed',
  'demo-killed': 'Interrupted',
  'demo-waiting': 'Waiting',
};
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking'];

/**
 * Loads the runs list of the console at `url` in Chromium, once, and resolves when it shows the demo's runs as they
 * should stand. Rejects where it does not `withinMs`, where the console has `ended`, and where the page told an error.
 * Playwright is that of `folder`, which is there only after `npm ci`.
 */
export async function seeDemo({ url, folder, chromium: executablePath, withinMs, ended }) {
  const giveUpAt = performance.now() + withinMs;
  const { chromium } = createRequire(join(folder, 'package.json'))('@playwright/test');
  const browser = await chromium.launch({ executablePath, args: ARGS });
  void ended.then(() => browser.close());
  const wrong = [];
  try {
    const page = await browser.newPage();
    page.on('pageerror', (error) => wrong.push(error.message));
    page.on('console', (said) => {
      if (said.type() === 'error') wrong.push(`${said.location().url}: ${said.text()}`);
    });
    await page.goto(`${url}/runs`, { timeout: withinMs });
    for (const [runId, word] of Object.entries(ROWS)) {
      const row = page
        .getByRole('row')
        .filter({ has: page.getByRole('link', { name: runId, exact: true }) })
        .filter({ has: page.getByRole('cell', { name: word, exact: true }) });
      await row.waitFor({ timeout: Math.max(1, giveUpAt - performance.now()) });
    }
  } catch (error) {
    wrong.unshift(error.message);
  } finally {
    await browser.close();
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
}
