import type { Page } from '@playwright/test';
import { expect, test } from './house';
import { REFUND_RUN } from './stories';

/*
 * Every page as it looks, compared with what it looked like when somebody last looked at it and found it right. A half
 * of each pixel is kept: enough to see a line that moved or a colour that changed. `--update-snapshots` takes them anew.
 */

test.use({ deviceScaleFactor: 0.5 });

const sizes = [
  { width: 1280, height: 720 },
  { width: 1440, height: 900 },
  { width: 1920, height: 1080 },
] as const;
const themes = ['light', 'dark'] as const;

/** All that is loaded is drawn, and nothing is on its way. */
async function drawn(page: Page): Promise<void> {
  await expect(page.locator('.skeleton')).toHaveCount(0);
  await page.evaluate(() => document.fonts.ready);
}

async function look(page: Page, name: string): Promise<void> {
  await drawn(page);
  await expect(page).toHaveScreenshot(`${name}.png`, {
    scale: 'device',
    animations: 'disabled',
    caret: 'hide',
    maxDiffPixels: 60,
  });
}

const run = `/runs/${REFUND_RUN}`;
const plan = `${run}/plan`;

/** The pages that people work on, in every size and theme. */
const everywhere: readonly (readonly [name: string, path: string])[] = [
  ['runs', '/runs'],
  ['run', run],
  ['plan-undecided', `${plan}?mode=resume`],
];
for (const [name, path] of everywhere) {
  for (const { width, height } of sizes) {
    for (const theme of themes) {
      test(`${name} at ${width} by ${height}, ${theme}`, async ({ page }) => {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
        await page.goto(path);
        await look(page, `${name}-${width}-${theme}`);
      });
    }
  }
}

test.describe('of the README', () => {
  test.use({ deviceScaleFactor: 1 });
  for (const [name, path] of [
    ['run', run],
    ['plan', `${plan}?mode=resume`],
  ] as const) {
    test(name, async ({ page }) => {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
      await page.goto(path);
      await look(page, `readme-${name}`);
    });
  }
});
