import type { Page } from '@playwright/test';
import { expect, test } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

/** Counts clicks in the page itself, over every page that it comes to. */
async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    window.addEventListener(
      'click',
      (event) => {
        if (event.isTrusted)
          sessionStorage.setItem('clicks', String(Number(sessionStorage.getItem('clicks')) + 1));
      },
      true,
    );
  });
  return () => page.evaluate(() => Number(sessionStorage.getItem('clicks')));
}

test('opening the console leads to the plan of the run that needs a person most in one click', async ({
  page,
}) => {
  const clicks = await countClicks(page);
  await page.goto('/');
  // A doubt goes before the question that the demo has too.
  await page
    .getByRole('link', { name: /^Next run that needs a person: demo-killed, 1 effect in doubt/ })
    .click();
  const plan = new PlanPage(page);
  await expect(plan.rows('create_refund#1')).toContainText('needs-decision');
  expect(await clicks()).toBe(1);
});

test('two clicks lead to the plan of a run that failed, of which nothing is open', async ({ page }) => {
  const clicks = await countClicks(page);
  await page.goto('/');
  await new RunsPage(page).openRun('demo-failed');
  const run = new RunPage(page);
  await expect(run.status).toHaveText('Failed');
  await run.plan('Resume');
  await expect(new PlanPage(page).table).toBeVisible();
  expect(await clicks()).toBe(2);
});

test('the frame counts as many runs as the view that lists them, and leads to those alone', async ({
  page,
}) => {
  await page.goto('/');
  const next = page.getByRole('link', { name: /^Next run that needs a person/ });
  const runs = new RunsPage(page);
  const view = runs.views.getByRole('link', { name: /^Needs a person/ });
  await expect(next).toHaveText('Needs a person2');
  await expect(view).toHaveText('Needs a person2');
  await view.click();
  await expect(runs.shown).toHaveText('2 of 2 shown');
  expect([...(await runs.order())].sort()).toEqual(['demo-killed', 'demo-waiting']);
});

test('one key leads there, and on through all that need a person, in the order of their need', async ({
  page,
}) => {
  await page.goto('/');
  await expect(page.getByRole('link', { name: /^Next run that needs a person/ })).toBeVisible();
  await page.keyboard.press('n');
  await expect(page).toHaveURL(/\/runs\/demo-killed\/plan\?mode=resume/);
  await expect(new PlanPage(page).table).toBeVisible();
  await page.keyboard.press('n');
  await expect(page).toHaveURL(/\/runs\/demo-waiting$/);
  await expect(new RunPage(page).question).toBeVisible();
  await page.keyboard.press('n');
  await expect(page).toHaveURL(/\/runs\/demo-killed\/plan\?mode=resume/);
});
