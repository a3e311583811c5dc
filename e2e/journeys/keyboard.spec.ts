import { expect, test } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

test('the killed run is found, settled and resumed with the keyboard alone', async ({ rail, page }) => {
  const runs = new RunsPage(page);
  await runs.open();
  await expect(runs.row('demo-killed')).toBeVisible();
  const link = page.getByRole('link', { name: 'demo-killed', exact: true });
  await expect(async () => {
    await page.keyboard.press('j');
    await expect(link).toBeFocused({ timeout: 100 });
  }).toPass();
  await page.keyboard.press('Enter');

  const run = new RunPage(page);
  await expect(run.status).toHaveText('Interrupted');
  await page.keyboard.press('r');
  const plan = new PlanPage(page);
  await expect(plan.rows('create_refund#1')).toContainText('needs-decision');
  await page.keyboard.press('v');
  await expect(plan.rows('create_refund#1')).toContainText('skip');
  await expect(plan.order('Resume')).not.toHaveAttribute('aria-disabled', 'true');
  await page.keyboard.press('Control+Enter');

  await expect(run.status).toHaveText('Completed');
  expect(rail.outside.added).toEqual({ 'ORD-1003': { 'refund.find': 1, 'mail.send': 1 } });
});
