import { ACTOR, expect, type Rail, test } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

const RUN = 'demo-killed';
const ORDER = 'ORD-1003';

const timesStarted = async (rail: Rail, name: string): Promise<number> =>
  (await rail.events(RUN)).filter((event) => event.kind === 'step.started' && event.name === name).length;

test('a killed run is found, understood, verified and resumed, and its refund is sent once (S02)', async ({
  rail,
  page,
}) => {
  const runs = new RunsPage(page);
  await runs.open();
  await expect(runs.row(RUN)).toContainText('Interrupted');
  await runs.openRun(RUN);

  const run = new RunPage(page);
  await expect(run.status).toHaveText('Interrupted');
  await expect(run.doubts).toContainText('1 effect in doubt');
  await expect(run.doubts).toContainText(/was lost: its lease lapsed/);
  await expect(run.doubts).toContainText('create_refund');
  await run.plan('Resume');

  const plan = new PlanPage(page);
  await expect(plan.rows('create_refund#1')).toContainText('needs-decision');
  await expect(plan.order('Resume')).toHaveAttribute('aria-disabled', 'true');
  await expect(await plan.verify('create_refund')).toContainText('it happened');
  await expect(plan.rows('create_refund#1')).toContainText('skip');
  // Every step that the journal has, each with what the plan will do about it and why.
  const steps = await plan.dispositions();
  expect(steps.map((step) => step.key).sort()).toEqual(
    (await rail.steps(RUN)).map((step) => step.stepKey).sort(),
  );
  expect(steps.filter((step) => step.reason === '')).toEqual([]);
  const planned = await rail.post<{ digest: string; steps: readonly { key: string; disposition: string }[] }>(
    `/runs/${RUN}/plan`,
    { mode: 'resume', from: 'latest' },
  );
  expect(steps.map((step) => [step.key, step.disposition])).toEqual(
    planned.body.steps.map((step) => [step.key, step.disposition]),
  );
  expect(await plan.envelope()).toEqual([
    'Goes live beyond the frontier what may run; anything else stops and asks',
    'may enter issue_refund send_mail close',
    'may call close_ticket IDEMPOTENT in close',
    'may call create_refund EXTERNAL new calls only: the recorded one is not repeated; in issue_refund',
    'may call send_mail EXTERNAL in send_mail',
    'limits no limit of steps, no limit of cost, may ask a person',
  ]);
  await plan.give('Resume');

  await expect(run.status).toHaveText('Completed');
  await expect(run.step('send_mail#1')).toBeVisible();
  expect(rail.outside.added).toEqual({ [ORDER]: { 'refund.find': 1, 'mail.send': 1 } });
  expect(rail.outside.about(ORDER)).toEqual({ 'refund.create': 1, 'refund.find': 1, 'mail.send': 1 });

  // The audit tells which plan the order was given on.
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('/audit');
  const order = page.getByRole('row').filter({ hasText: RUN }).filter({ hasText: 'Resume' });
  await expect(order.getByTitle(planned.body.digest)).toHaveText(planned.body.digest.slice(0, 12));
});

test('the doubt can be decided by hand, with the result that the code is given', async ({ rail, page }) => {
  const plan = new PlanPage(page);
  await plan.open(RUN);
  const effect = plan.effect('create_refund');
  await effect.getByRole('radio', { name: 'It happened' }).check();
  for (const [field, text] of [
    ['id', 're_by_hand'],
    ['orderId', 'ORD-1003'],
    ['amountCents', '14800'],
    ['currency', 'EUR'],
  ] as const) {
    await effect.getByRole('textbox', { name: field, exact: true }).fill(text);
  }
  await effect.getByRole('textbox', { name: 'Receipt' }).fill('re_by_hand');
  await page.getByRole('textbox', { name: 'Reason' }).fill('seen in the provider’s own list');
  await plan.give('Resume');

  await expect(new RunPage(page).status).toHaveText('Completed');
  expect(rail.outside.added).toEqual({ [ORDER]: { 'mail.send': 1 } });
  expect(rail.outside.about(ORDER)).toEqual({ 'refund.create': 1, 'mail.send': 1 });
  const decided = (await rail.events(RUN)).filter((event) => event.kind === 'effect.decided');
  expect(decided).toMatchObject([
    { actor: ACTOR, reason: 'seen in the provider’s own list', decision: { receipt: 're_by_hand' } },
  ]);
});

test('a hold is written down with its reason, and nothing runs', async ({ rail, page }) => {
  const plan = new PlanPage(page);
  await plan.open(RUN);
  await page.getByRole('textbox', { name: 'Reason' }).fill('the provider looks into it');
  const effect = plan.effect('create_refund');
  await effect.getByRole('radio', { name: 'Hold' }).check();
  await effect.getByRole('button', { name: 'Record the hold' }).click();
  await expect(effect).toContainText('on hold by decision');
  await expect(plan.order('Resume')).toHaveAttribute('aria-disabled', 'true');

  const decided = (await rail.events(RUN)).filter((event) => event.kind === 'effect.decided');
  expect(decided).toMatchObject([
    { actor: ACTOR, decision: { outcome: 'hold' }, reason: 'the provider looks into it' },
  ]);
  expect((await rail.run(RUN)).status).toBe('interrupted');
  expect(rail.outside.added).toEqual({});
});

for (const point of [/^1, /, 'the start'] as const) {
  test(`an older point picked (${point}): reads and the model run again, the confirmed refund is kept and not sent`, async ({
    rail,
    page,
  }) => {
    const plan = new PlanPage(page);
    await plan.open(RUN);
    await plan.verify('create_refund');
    await expect(plan.rows('create_refund#1')).toContainText('skip');
    const newest = await plan.dispositions();
    await plan.pickCheckpoint(point);
    await expect(plan.leftBehind).toContainText('create_refund');
    await expect.poll(() => plan.dispositions()).not.toEqual(newest);
    await plan.leftBehind.getByRole('checkbox', { name: 'Keep create_refund in force' }).check();
    const readsBefore = await timesStarted(rail, 'policy_library');
    const modelBefore = await timesStarted(rail, 'desk');
    const intended = (await rail.events(RUN)).find((event) => event.name === 'create_refund')?.seq;
    await plan.give('Rewind');

    const run = new RunPage(page);
    await expect(run.status).toHaveText('Completed');
    expect(await timesStarted(rail, 'policy_library')).toBe(readsBefore + 2);
    // Drafting the mail, and from the start the plan as well.
    expect(await timesStarted(rail, 'desk')).toBe(modelBefore + (point === 'the start' ? 2 : 1));
    // What is kept says where in the same run it was done, and the cursor follows.
    await run.step('create_refund#1, tool, external, skipped').click();
    await run.inspector.getByRole('link', { name: RUN, exact: true }).click();
    await expect(run.cursor).toHaveAttribute('aria-valuenow', String(intended));
    expect(rail.outside.added).toEqual({ [ORDER]: { 'refund.find': 1, 'mail.send': 1 } });
    expect(rail.outside.about(ORDER)).toEqual({ 'refund.create': 1, 'refund.find': 1, 'mail.send': 1 });
  });
}
