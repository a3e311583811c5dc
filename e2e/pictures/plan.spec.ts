import type { Page } from '@playwright/test';
import { PlanPage } from '../pages/plan-page';
import { expect, test } from './house';
import { look } from './look';
import { COMPLETED_RUN, REFUND_RUN } from './stories';
import { DOUBTS_RUN, FAILED_RUN, RUNNING_RUN } from './town';

/* The plan page in every mode and state. */

async function open(page: Page, runId: string, mode: string): Promise<PlanPage> {
  const plan = new PlanPage(page);
  await plan.open(runId, mode);
  return plan;
}
const choose = (plan: PlanPage, words: string) =>
  plan.effect('create_refund').getByRole('radio', { name: words }).check();

test('it happened', async ({ page }) => {
  const plan = await open(page, REFUND_RUN, 'resume');
  await choose(plan, 'It happened');
  await look(page, 'plan-happened');
  await plan.effect('create_refund').getByRole('textbox', { name: 'refund' }).fill('re_1Pz8');
  await plan.effect('create_refund').getByRole('combobox').selectOption('succeeded');
  await expect(plan.rows('create_refund#1')).toContainText('skip');
  await expect(plan.order('Resume')).not.toHaveAttribute('aria-disabled', 'true');
  await look(page, 'plan-decided');
});

test('it did not happen', async ({ page }) => {
  const plan = await open(page, REFUND_RUN, 'resume');
  await choose(plan, 'It did not happen');
  await expect(plan.rows('create_refund#1')).toContainText('retry-same-key');
  await expect(plan.order('Resume')).not.toHaveAttribute('aria-disabled', 'true');
  await look(page, 'plan-not');
});

test('hold', async ({ page }) => {
  const plan = await open(page, REFUND_RUN, 'resume');
  await choose(plan, 'Hold');
  await expect(page.getByRole('button', { name: 'Record the hold: nothing runs' })).toBeVisible();
  await look(page, 'plan-hold');
});

test('points to start from', async ({ page }) => {
  const plan = await open(page, REFUND_RUN, 'fork');
  await look(page, 'plan-points', { part: await plan.openPoints() });
});

test('fork, with an edit', async ({ page }) => {
  await open(page, REFUND_RUN, 'fork');
  await look(page, 'plan-fork');
  const plan = await open(page, COMPLETED_RUN, 'fork');
  await plan.pickCheckpoint('5');
  await plan.editVariable('payment', () => '"pay_9ZrT1aLm"');
  await expect(plan.order('Fork')).not.toHaveAttribute('aria-disabled', 'true');
  await look(page, 'plan-fork-edited');
});

test('replay, and rewind', async ({ page }) => {
  await open(page, COMPLETED_RUN, 'replay&from=start');
  await look(page, 'plan-replay');
  await open(page, REFUND_RUN, 'rewind');
  await look(page, 'plan-rewind');
});

test('several in doubt', async ({ page }) => {
  await open(page, DOUBTS_RUN, 'resume');
  await look(page, 'plan-doubts');
});

test('held, over, and by a worker that is not there', async ({ page }) => {
  await open(page, RUNNING_RUN, 'resume');
  await look(page, 'plan-held');
  await open(page, COMPLETED_RUN, 'resume');
  await look(page, 'plan-over');
  await open(page, FAILED_RUN, 'resume');
  await look(page, 'plan-no-worker');
});

test('narrowed to one disposition', async ({ page }) => {
  await open(page, REFUND_RUN, 'resume&only=skip');
  await look(page, 'plan-only');
});

test('on its way, not read, and of no run', async ({ page }) => {
  await page.route('**/plan', (route) =>
    route.request().method() === 'POST' ? undefined : route.continue(),
  );
  await page.goto(`/runs/${REFUND_RUN}/plan`);
  await expect(page.locator('.skeleton').first()).toBeVisible();
  await look(page, 'plan-loading', { loading: true });
  await page.unrouteAll();
  await page.route('**/plan', (route) =>
    route.request().method() === 'POST' ? route.abort() : route.continue(),
  );
  await page.goto(`/runs/${REFUND_RUN}/plan`);
  await expect(page.getByText(/No answer came/).first()).toBeVisible();
  await look(page, 'plan-unread');
  await page.goto('/runs/run_01k7nobody/plan');
  await expect(page.getByText('There is no run run_01k7nobody')).toBeVisible();
  await look(page, 'plan-no-run');
});

test('a point that does not exist', async ({ page }) => {
  await page.goto(`/runs/${REFUND_RUN}/plan?mode=fork&from=step:nowhere%231`);
  await expect(page.getByRole('alert').first()).toBeVisible();
  await look(page, 'plan-no-point');
});
