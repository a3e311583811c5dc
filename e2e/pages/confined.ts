import { expect, type Page } from '@playwright/test';
import { type InspectorTab, RunPage } from './run-page';

/** Keys of a run's page, those of the console's other pages and of orders included. */
const KEYS = [
  ...[
    'v',
    'd',
    'r',
    'b',
    'p',
    'n',
    'c',
    'e',
    '[',
    ']',
    '0',
    '+',
    '-',
    'Home',
    'End',
    'ArrowLeft',
    'ArrowRight',
  ],
  ...['Shift+ArrowLeft', 'Shift+ArrowRight', ' ', ' ', 'f', 'Escape', 'Escape', 'ControlOrMeta+k', 'Escape'],
];
const TABS: readonly InspectorTab[] = ['Step', 'State', 'Diff', 'Messages', 'Effects'];

/**
 * Goes over a page that shows one run and leads nowhere else: every tab by its key and by the mouse, every key, and on
 * every tab every button that is not said to be out of use. `check` is asked after each. Names of the buttons pressed.
 */
export async function goOver(page: Page, check: () => Promise<void>): Promise<ReadonlySet<string>> {
  const run = new RunPage(page);
  const at = new URL(page.url()).pathname;
  const sound = async (what: string) => {
    expect(new URL(page.url()).pathname, what).toBe(at);
    await expect(run.status, what).toBeVisible();
    await check();
  };
  for (const key of KEYS) {
    await page.keyboard.press(key);
    await sound(`the key ${key}`);
  }
  const pressed = new Set<string>();
  for (const [n, name] of TABS.entries()) {
    await page.keyboard.press(String(n + 1));
    const tab = run.inspector.getByRole('tab', { name });
    await expect(tab).toHaveAttribute('aria-selected', 'true');
    await expect((await run.inspect(name)).locator('.skeleton')).toHaveCount(0);
    await sound(`the tab ${name}`);
    for (const button of await namesOfButtons(page)) {
      if (pressed.has(button)) continue;
      pressed.add(button);
      // What an earlier press took away is gone.
      const place = page.getByRole('button', { name: button, exact: true }).first();
      if (!(await place.isVisible())) continue;
      await place.click();
      await sound(`the button ${button}`);
      await page.keyboard.press('Escape');
      if (await run.inspector.getByRole('tab', { name, selected: true }).isHidden()) await tab.click();
    }
  }
  return pressed;
}

const namesOfButtons = (page: Page): Promise<readonly string[]> =>
  page
    .locator('button:visible:not(:disabled):not([aria-disabled="true"]):not([role="tab"])')
    .evaluateAll((buttons) =>
      buttons
        .map((button) => button.getAttribute('aria-label') ?? (button.textContent ?? '').trim())
        .filter((name) => name !== ''),
    );
