import type { Page } from '@playwright/test';
import { expect, test } from '../fixtures/desk';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

/** Keys that the dialog lists for a group, and those of them that do nothing on the page beneath. */
async function listed(page: Page, group: string) {
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keys' });
  await expect(dialog).toBeVisible();
  const rows = dialog.getByRole('region', { name: group, exact: true }).locator('[data-keys]');
  const all = await rows.evaluateAll((found) =>
    found.map((row) => ({
      keys: (row as HTMLElement).dataset['keys'] ?? '',
      isElsewhere: (row as HTMLElement).dataset['elsewhere'] !== undefined,
    })),
  );
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  return all;
}

test('every key that the dialog lists for a page is bound there, and every key bound there is listed', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('keyed', 'ORD-2311');
  await rail.untilStatus('keyed', 'completed');
  const runs = new RunsPage(page);
  const run = new RunPage(page);
  const openList = async () => {
    await runs.open();
    await expect(runs.row('keyed')).toBeVisible();
  };
  const openRun = async () => {
    await run.open('keyed');
    await run.drawn();
  };
  for (const [group, open] of [
    ['Lists', openList],
    ['Run', openRun],
    ['Plan', () => new PlanPage(page).open('keyed', 'fork')],
  ] as const) {
    await open();
    for (const name of ['Everywhere', group]) {
      const keys = await listed(page, name);
      expect(keys.length, `keys of ${name}`).toBeGreaterThan(2);
      expect(
        keys.filter(({ isElsewhere }) => isElsewhere),
        `listed under ${name}, not bound on the page of ${group}`,
      ).toEqual([]);
    }
    // What is bound and listed nowhere stands in a group of its own.
    expect(await listed(page, 'Here'), `bound on the page of ${group}, not listed`).toEqual([]);
  }
});

test('two keys lead to each page of the navigation, and Escape back up', async ({ desk, rail, page }) => {
  await desk.start('gone-to', 'ORD-2312');
  await rail.untilStatus('gone-to', 'completed');
  const run = new RunPage(page);
  await run.open('gone-to');
  await run.drawn();
  for (const [keys, path] of [
    ['ga', '/audit'],
    ['gc', '/connect'],
    ['gp', '/api-reference'],
    ['gr', '/runs'],
  ] as const) {
    for (const key of keys) await page.keyboard.press(key);
    await expect(page).toHaveURL(new RegExp(`${path}$`));
    const entry = page.getByRole('navigation', { name: 'Main' }).locator(`a[href="${path}"]`).last();
    await expect(entry).toHaveAttribute('aria-current', 'page');
    // Whoever moved on stands at the beginning of the page.
    await expect(page.locator('#main')).toBeFocused();
    if (path === '/runs') continue;
    await page.keyboard.press('Escape');
    await expect(page).toHaveURL(/\/runs$/);
  }
});
