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
 * every tab every kind of button that is there and not said to be out of use. `check` is asked after each. The kinds that
 * were pressed, see `unpressed`.
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
  const selected = run.inspector.getByRole('tab', { selected: true });
  const overlays = page.getByRole('dialog').or(page.getByRole('menu'));
  for (const [n, name] of TABS.entries()) {
    await page.keyboard.press(String(n + 1));
    const tab = run.inspector.getByRole('tab', { name });
    await expect(tab).toHaveAttribute('aria-selected', 'true');
    await expect((await run.inspect(name)).locator('.skeleton')).toHaveCount(0);
    await sound(`the tab ${name}`);
    for (
      let next = await unpressed(page, pressed);
      next !== undefined;
      next = await unpressed(page, pressed)
    ) {
      const { kind, place } = next;
      await place.click();
      pressed.add(kind);
      await sound(`the button ${kind}`);
      await page.keyboard.press('Escape');
      await expect(overlays, `Escape closes what the button ${kind} opened`).toHaveCount(0);
      await expect(selected, `one tab stands after the button ${kind}`).toHaveCount(1);
      await tab.click();
      await expect(tab, `the tab ${name} opens after the button ${kind}`).toHaveAttribute(
        'aria-selected',
        'true',
      );
    }
  }
  // What every run's page has; more of it depends on the run.
  expect([...pressed]).toEqual(
    expect.arrayContaining(['Copy the run id', 'More actions', 'Whole run', 'Time, gaps folded']),
  );
  return pressed;
}

/** A button that is there now and of whose kind none was pressed. Those whose names differ in numbers alone are of a kind. */
async function unpressed(page: Page, pressed: ReadonlySet<string>) {
  const buttons = page.locator('button:visible:not(:disabled):not([aria-disabled="true"]):not([role="tab"])');
  const names = await buttons.evaluateAll((all) =>
    all.map((button) => button.getAttribute('aria-label') ?? (button.textContent ?? '').trim()),
  );
  const kinds = names.map((name) => name.replace(/\d+/g, '#'));
  const at = kinds.findIndex((kind) => !pressed.has(kind));
  const kind = kinds[at];
  return kind === undefined ? undefined : { kind, place: buttons.nth(at) };
}
