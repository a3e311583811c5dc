import { expect, test } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

interface Step {
  readonly stepKey: string;
  readonly attempt: number;
}

test('resuming a run that failed after refund and mail runs only the failed tool (S01)', async ({
  rail,
  page,
}) => {
  const steps = async () =>
    (await rail.get<{ items: readonly Step[] }>('/runs/demo-failed/steps?limit=1000')).items;
  const before = await steps();
  const run = new RunPage(page);
  await run.open('demo-failed');
  await expect(page.getByRole('region', { name: 'What happened' })).toContainText('locked by a colleague');
  await run.plan('Resume');
  const plan = new PlanPage(page);
  await expect(plan.order('Resume')).toContainText('1 step will really run');
  await plan.give('Resume');

  await expect(run.status).toHaveText('Completed');
  const again = (await steps()).filter(
    (step) => step.attempt !== before.find((was) => was.stepKey === step.stepKey)?.attempt,
  );
  expect(again.map((step) => step.stepKey)).toEqual(['close#1/close_ticket#1']);
  expect(await rail.ledgerOf('demo-failed')).toEqual({ 'refund.create': 1, 'mail.send': 1 });
});

test('an action that is not possible is shown disabled, with the reason (S32)', async ({ page }) => {
  const run = new RunPage(page);
  await run.open('demo-completed');
  const resume = page.getByRole('button', { name: /^Resume/ });
  await expect(resume).toHaveAttribute('aria-disabled', 'true');
  await expect(resume).toHaveAttribute('title', /\w+ \w+/);
});

test('a run whose worker died can be cancelled, and list, page and API agree; its doubt stays visible (S19)', async ({
  rail,
  page,
}) => {
  const run = new RunPage(page);
  await run.open('demo-killed');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: /^Cancel the run/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();

  await expect(run.status).toHaveText('Cancelled');
  expect((await rail.get<{ status: string }>('/runs/demo-killed')).status).toBe('cancelled');
  await expect(page.getByText('1 in doubt').first()).toBeVisible();
  const runs = new RunsPage(page);
  await runs.open();
  await expect(runs.row('demo-killed')).toContainText('Cancelled');
});
