import { expect, type Rail, test } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

const RUN = 'demo-killed';
const ONCE = { 'refund.create': 1, 'mail.send': 1 };

interface Step {
  readonly kind: string;
  readonly name?: string;
}

const timesStarted = async (rail: Rail, name: string): Promise<number> => {
  const { items } = await rail.get<{ items: readonly Step[] }>(`/runs/${RUN}/events?limit=1000`);
  return items.filter((event) => event.kind === 'step.started' && event.name === name).length;
};

/** Creates and sends only: what asked and changed nothing does not count. */
const changesOf = async (rail: Rail): Promise<Readonly<Record<string, number>>> =>
  Object.fromEntries(
    Object.entries(await rail.ledgerOf(RUN)).filter(([operation]) => !operation.endsWith('.find')),
  );

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
  const steps = await plan.dispositions();
  expect(steps.map((step) => step.step)).toEqual(
    expect.arrayContaining(['search_orders#1', 'create_refund#1']),
  );
  expect(steps.filter((step) => step.disposition === '' || step.reason === '')).toEqual([]);
  await plan.give('Resume');

  await expect(run.status).toHaveText('Completed');
  await expect(run.step('send_mail')).not.toHaveCount(0);
  expect(await rail.ledgerOf(RUN)).toEqual({ ...ONCE, 'refund.find': 1 });
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
  expect(await rail.ledgerOf(RUN)).toEqual(ONCE);
  const { items } = await rail.get<{ items: readonly { kind: string; reason?: string }[] }>(
    `/runs/${RUN}/events?limit=1000`,
  );
  expect(items.find((event) => event.kind === 'effect.decided')?.reason).toBe(
    'seen in the provider’s own list',
  );
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

  const { items } = await rail.get<{ items: readonly { kind: string }[] }>(`/runs/${RUN}/events?limit=1000`);
  expect(items.filter((event) => event.kind === 'effect.decided')).toMatchObject([
    { decision: { outcome: 'hold' }, reason: 'the provider looks into it' },
  ]);
  expect((await rail.get<{ status: string }>(`/runs/${RUN}`)).status).toBe('interrupted');
  expect(await rail.ledgerOf(RUN)).toEqual({ 'refund.create': 1 });
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
    const keep = plan.leftBehind.getByRole('checkbox', { name: 'Keep create_refund in force' });
    if (await keep.isVisible()) await keep.check();
    const readsBefore = await timesStarted(rail, 'policy_library');
    const modelBefore = await timesStarted(rail, 'desk');
    await plan.give('Rewind');

    await expect(new RunPage(page).status).toHaveText('Completed');
    expect(await timesStarted(rail, 'policy_library')).toBe(readsBefore + 2);
    // Drafting the mail, and from the start the plan as well.
    expect(await timesStarted(rail, 'desk')).toBe(modelBefore + (point === 'the start' ? 2 : 1));
    expect(await changesOf(rail)).toEqual(ONCE);
  });
}
