import type { Locator, Page } from '@playwright/test';
import { expect } from './house';

/*
 * Every page as it looks, compared with what it looked like when somebody last looked at it and found it right. A half
 * of each pixel is kept: enough to see a line that moved or a colour that changed. `--update-snapshots` takes them anew.
 */

const FIRST = { width: 1280, height: 720 };
const sizes = [FIRST, { width: 1440, height: 900 }, { width: 1920, height: 1080 }];
const themes = ['light', 'dark'] as const;

/** All that is loaded is drawn, and nothing is on its way. */
async function drawn(page: Page): Promise<void> {
  await expect(page.locator('.skeleton, .skeleton-row, [aria-busy="true"]')).toHaveCount(0);
  await page.evaluate(() => document.fonts.ready);
}

/** One picture as it stands. */
export async function shot(what: Page | Locator, name: string, mask: readonly Locator[] = []): Promise<void> {
  await expect.soft(what).toHaveScreenshot(`${name}.png`, {
    scale: 'device',
    animations: 'disabled',
    caret: 'hide',
    threshold: 0.1,
    maxDiffPixels: 20,
    mask: [...mask],
    maskColor: '#888',
  });
}

interface Look {
  /** What the picture is about; absent, the whole page. */
  readonly part?: Locator;
  /** As it is, without what is on its way. */
  readonly loading?: boolean;
  /** What is another one each time, and painted over. */
  readonly mask?: readonly Locator[];
}

/** The page in both themes and every size; a part of it, which has the same size everywhere, in the first. */
export async function look(
  page: Page,
  name: string,
  { part, loading = false, mask }: Look = {},
): Promise<void> {
  for (const size of part === undefined ? sizes : [FIRST]) {
    await page.setViewportSize(size);
    // Nothing is under the pointer, wherever it pressed last.
    await page.mouse.move(0, 0);
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      if (!loading) await drawn(page);
      await shot(part ?? page, [name, ...(part ? [] : [size.width]), colorScheme].join('-'), mask);
    }
  }
  await page.setViewportSize(FIRST);
}

/**
 * Writes what the console says of where it is found as on every machine: its port is another one each time.
 * For text that React does not draw anew.
 */
export async function atHome(page: Page, url: string): Promise<void> {
  await page.evaluate((found) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
      node.textContent = node.textContent?.replaceAll(found, 'http://127.0.0.1:3000') ?? '';
    for (const field of document.querySelectorAll('input'))
      field.value = field.value.replaceAll(found, 'http://127.0.0.1:3000');
  }, url);
}
