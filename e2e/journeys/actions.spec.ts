import { expect, test } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

test('resuming a run that failed after refund and mail runs only the failed tool (S01)', async ({
  rail,
  page,
}) => {
  const executions = async () =>
    Object.fromEntries((await rail.steps('demo-failed')).map((step) => [step.stepKey, step.executions]));
  const before = await executions();
  const run = new RunPage(page);
  await run.open('demo-failed');
  await expect(page.getByRole('region', { name: 'What happened' })).toContainText('locked by a colleague');
  await run.plan('Resume');
  const plan = new PlanPage(page);
  await expect(plan.order('Resume')).toContainText('1 step will really run');
  await plan.give('Resume');

  await expect(run.status).toHaveText('Completed');
  const failed = 'close#1/close_ticket#1';
  expect(await executions()).toEqual({ ...before, [failed]: (before[failed] ?? 0) + 1 });
  expect(rail.outside.added).toEqual({});
});

test('a run whose worker died can be cancelled, and list, page and API agree; its doubt stays visible (S19)', async ({
  rail,
  page,
}) => {
  const run = new RunPage(page);
  await run.open('demo-killed');
  await run.stop('Cancel', 'settled by telephone');

  await expect(run.status).toHaveText('Cancelled');
  expect((await rail.run('demo-killed')).status).toBe('cancelled');
  await expect(page.getByText('1 in doubt')).toBeVisible();
  await expect(run.doubts).toContainText('1 effect in doubt');
  const runs = new RunsPage(page);
  await runs.open();
  await expect(runs.row('demo-killed')).toContainText('Cancelled');
  expect(rail.outside.added).toEqual({});
});
