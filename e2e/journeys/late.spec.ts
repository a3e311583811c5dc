import type { Page, Route } from '@playwright/test';
import { expect, test } from '../fixtures/desk';
import type { Rail } from '../fixtures/rail';
import { RunPage } from '../pages/run-page';

/* Code that is fetched when it is asked for, from a console that is slow to send it, or away. */

/** Opens the page with only what its document names; whatever else of code is asked for meets `late`. */
async function openBare(page: Page, rail: Rail, path: string, late: (route: Route) => unknown) {
  const answer = await fetch(`${rail.url}${path}`, { headers: { accept: 'text/html' } });
  const early = await answer.text();
  await page.unrouteAll();
  await page.route('**/_next/static/**/*.js', async (route) => {
    if (early.includes(new URL(route.request().url()).pathname)) await route.continue();
    else await late(route);
  });
  await page.goto(path);
}

/** Holds what comes late until it is let go. */
function holding() {
  const held: Route[] = [];
  let open = false;
  return {
    late: (route: Route) => (open ? route.continue() : held.push(route)),
    letGo: async () => {
      open = true;
      await Promise.all(held.map((route) => route.continue()));
    },
  };
}

test('a press whose code still comes says so, and is answered only if nobody went on meanwhile', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('late-menu', 'ORD-2601');
  await rail.untilStatus('late-menu', 'completed');
  const { late, letGo } = holding();
  await openBare(page, rail, '/runs', late);
  const filter = page.getByRole('button', { name: 'Filter', exact: true });
  const columns = page.getByRole('button', { name: 'Columns', exact: true });
  const menu = page.getByRole('menu');
  await filter.click();
  await expect(filter).toHaveAttribute('aria-busy', 'true');
  await columns.click();
  await expect(columns).toHaveAttribute('aria-busy', 'true');
  await letGo();
  // Of two presses the last one is waited for.
  await expect(menu).toHaveCount(1);
  await expect(page.getByRole('menuitemcheckbox').first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);
  await expect(filter).not.toHaveAttribute('aria-busy');
  // It is there now: a key opens it at once, on its first line.
  await filter.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Status' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(filter).toBeFocused();
});

test('what cannot be loaded is said, and tried again by a press', async ({ rail, desk, page }) => {
  await desk.start('late-away', 'ORD-2602');
  await rail.untilStatus('late-away', 'completed');
  let away = true;
  const late = (route: Route) => (away ? route.abort() : route.continue());
  await openBare(page, rail, '/runs', late);
  const note = page.getByRole('alert').filter({ hasText: 'could not be loaded' });
  const again = note.getByRole('button', { name: 'Try again' });

  await page.getByRole('button', { name: 'Columns', exact: true }).click();
  await expect(note).toBeVisible();
  away = false;
  await again.click();
  await expect(page.getByRole('menu')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(note).toHaveCount(0);

  away = true;
  const run = new RunPage(page);
  await openBare(page, rail, '/runs/late-away', late);
  await run.inspector.getByRole('tab', { name: 'State' }).click();
  await expect(note).toBeVisible();
  await expect(run.inspector.locator('.skeleton')).toHaveCount(0);
  await page.keyboard.press('?');
  await expect(note).toHaveCount(2);
  away = false;
  await run.inspector.getByRole('button', { name: 'Try again' }).click();
  await expect(run.inspector.getByRole('tabpanel', { name: 'State' })).not.toContainText(
    'could not be loaded',
  );
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible();
});
