import { expect, test } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';

interface Step {
  readonly stepKey: string;
  readonly effect: string | null;
  readonly status: string;
  readonly verdict: string | null;
}

test('a replay carries a run out again from the record and touches nothing outside', async ({
  rail,
  page,
}) => {
  const before = rail.ledger().length;
  const run = new RunPage(page);
  await run.open('demo-completed');
  await run.plan('Replay');
  await new PlanPage(page).give('Replay');

  await expect(page).not.toHaveURL(/demo-completed/);
  await expect(run.status).toHaveText('Completed');
  const replayed = await rail.get<{ items: readonly Step[] }>(`/runs/${run.runId}/steps?limit=1000`);
  const recorded = await rail.get<{ items: readonly Step[] }>('/runs/demo-completed/steps?limit=1000');
  expect(replayed.items.map((step) => step.stepKey).sort()).toEqual(
    recorded.items.map((step) => step.stepKey).sort(),
  );
  const pure = replayed.items.filter((step) => step.effect === 'pure');
  expect(pure.length).toBeGreaterThan(5);
  expect(pure.map((step) => [step.stepKey, step.status, step.verdict])).toEqual(
    pure.map((step) => [step.stepKey, 'completed', 'equal']),
  );
  const others = replayed.items.filter((step) => step.effect !== 'pure');
  expect(others.every((step) => step.status === 'reused' || step.status === 'skipped')).toBe(true);
  expect(rail.ledger().length).toBe(before);
});

test('a replay stops at the first difference of a changed function and shows recorded beside new', async ({
  rail,
  page,
}) => {
  await rail.stopDemo();
  await rail.startDemo({ RERAIL_DEMO_POLICY: 'strict' });
  const before = rail.ledger().length;
  const run = new RunPage(page);
  await run.open('demo-completed');
  await run.plan('Replay');
  await new PlanPage(page).give('Replay');

  await expect(page).not.toHaveURL(/demo-completed/);
  await expect(run.status).toHaveText('Failed');
  await expect(run.divergence).toContainText('check_policy#1/line_refund#1');
  await expect(run.divergence).toContainText('2900');
  await expect(run.divergence).toContainText('2610');
  await expect(page.getByText('Diverged').first()).toBeVisible();
  // What was recorded before it is still there, and so is the run that it was replayed from (S13).
  const steps = await rail.get<{ items: readonly Step[] }>('/runs/demo-completed/steps?limit=1000');
  expect(steps.items.every((step) => step.status === 'completed')).toBe(true);
  expect(rail.ledger().length).toBe(before);
});
