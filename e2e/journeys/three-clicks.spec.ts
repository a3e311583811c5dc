import { expect, test } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';

test('opening the console leads to the plan of the run that needs a person most in one click', async ({
  page,
}) => {
  // Counted in the page itself, over every page that it comes to.
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
  await page.goto('/');
  // A doubt goes before the question and the failure that the demo has too.
  await page
    .getByRole('link', { name: /^Next run that needs a person: demo-killed, 1 effect in doubt/ })
    .click();
  const plan = new PlanPage(page);
  await expect(plan.rows('create_refund#1')).toContainText('needs-decision');
  expect(await page.evaluate(() => Number(sessionStorage.getItem('clicks')))).toBe(1);
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
  await expect(page).toHaveURL(/\/runs\/demo-failed\/plan\?mode=resume/);
  await expect(new PlanPage(page).table).toBeVisible();
  await page.keyboard.press('n');
  await expect(page).toHaveURL(/\/runs\/demo-killed\/plan\?mode=resume/);
});
