import { expect, test } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';

const RUN = 'demo-failed';

test('a plan that changed meanwhile is refused, and the new plan is shown', async ({ rail, page }) => {
  const plan = new PlanPage(page);
  await plan.open(RUN);
  await expect(plan.order('Resume')).not.toHaveAttribute('aria-disabled', 'true');
  // A worker whose tools are declared otherwise takes the first one's place.
  await rail.stopDemo();
  await rail.startDemo({ RERAIL_DEMO_TIMEOUT_MS: '2500' });
  const { headSeq } = await rail.get<{ headSeq: number }>(`/runs/${RUN}`);
  await plan.give('Resume');

  await expect(plan.refusal).toContainText('the plan was out of date');
  await expect(page.getByText(/timeoutMs/).first()).toBeVisible();
  expect((await rail.get<{ headSeq: number }>(`/runs/${RUN}`)).headSeq).toBe(headSeq);
});

test('of two resumes in the same second one wins, the other is told, and nothing runs twice (S11)', async ({
  rail,
  page,
  context,
}) => {
  const second = await context.newPage();
  const plans = [new PlanPage(page), new PlanPage(second)] as const;
  for (const plan of plans) await plan.open(RUN);
  for (const plan of plans) await expect(plan.order('Resume')).not.toHaveAttribute('aria-disabled', 'true');
  await Promise.all(plans.map((plan) => plan.order('Resume').click()));

  const refusals = async () => (await plans[0].refusal.count()) + (await plans[1].refusal.count());
  await expect.poll(refusals).toBe(1);
  const told = (await plans[0].refusal.count()) > 0 ? plans[0].refusal : plans[1].refusal;
  // By whom: the order that won, or the worker that already carries it out.
  await expect(told).toContainText(/held by .+ since \d\d:\d\d:\d\d UTC|out of date/);
  await rail.untilStatus(RUN, 'completed');
  const { items } = await rail.get<{ items: readonly { kind: string; mode?: string }[] }>(
    `/runs/${RUN}/events?limit=1000`,
  );
  expect(items.filter((event) => event.kind === 'command.accepted' && event.mode === 'resume')).toHaveLength(
    1,
  );
  expect(await rail.ledgerOf(RUN)).toEqual({ 'refund.create': 1, 'mail.send': 1 });
});
