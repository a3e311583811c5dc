import { expect, test } from '../fixtures/desk';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';

test('a replay carries a run out again from the record and touches nothing outside', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('replayed', 'ORD-2101');
  await rail.untilStatus('replayed', 'completed');
  rail.outside.mark();
  const run = new RunPage(page);
  await run.open('replayed');
  await run.plan('Replay');
  await new PlanPage(page).give('Replay');

  await expect(page).not.toHaveURL(/replayed/);
  await expect(run.status).toHaveText('Completed');
  const [replayed, recorded] = [await rail.steps(run.runId), await rail.steps('replayed')];
  const results = (steps: typeof recorded) =>
    Object.fromEntries(steps.map((step) => [step.stepKey, step.result?.sha256]));
  expect(results(replayed)).toEqual(results(recorded));
  const pure = replayed.filter((step) => step.effect === 'pure');
  expect(pure.length).toBeGreaterThan(5);
  expect(pure.map((step) => [step.stepKey, step.status, step.executions, step.verdict])).toEqual(
    pure.map((step) => [step.stepKey, 'completed', 1, 'equal']),
  );
  const others = replayed.filter((step) => step.effect !== 'pure');
  expect(others.filter((step) => step.status !== 'reused' && step.status !== 'skipped')).toEqual([]);
  expect(rail.outside.added).toEqual({});
});

test('a replay stops at the first difference of a changed function and shows recorded beside new (S13)', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('other-policy', 'ORD-1001');
  await rail.untilStatus('other-policy', 'completed');
  rail.outside.mark();
  const recorded = await rail.exported('other-policy');
  await desk.replaceWorker({ RERAIL_DEMO_POLICY: 'strict' });
  const run = new RunPage(page);
  await run.open('other-policy');
  await run.plan('Replay');
  await new PlanPage(page).give('Replay');

  await expect(page).not.toHaveURL(/other-policy/);
  await expect(run.status).toHaveText('Failed');
  await expect(run.divergence).toContainText('check_policy#1/line_refund#1');
  await expect(run.divergence).toContainText('2900');
  await expect(run.divergence).toContainText('2610');
  await expect(page.getByText('Diverged').first()).toBeVisible();
  // What was recorded before it is still there, and so is the run that it was replayed from.
  await expect(run.step('search_orders#1')).toBeVisible();
  expect(await rail.exported('other-policy')).toBe(recorded);
  expect(rail.outside.added).toEqual({});
  await desk.replaceWorker();
});
