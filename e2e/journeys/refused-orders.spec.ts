import { expect, test } from '../fixtures/desk';
import { historyOf } from '../fixtures/histories';
import { ACTOR } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';

test('an action that is not possible is shown disabled, with the reason (S32)', async ({
  rail,
  desk,
  page,
}) => {
  type Mode = 'Resume' | 'Fork' | 'Replay' | 'Rewind' | 'Pause' | 'Cancel';
  const run = new RunPage(page);
  const reasonOf = async (mode: Mode) => {
    const { actions } = await rail.get<{ actions: Readonly<Record<string, { reason: string | null }>> }>(
      `/runs/${encodeURIComponent(run.runId)}`,
    );
    return actions[mode.toLowerCase()]?.reason ?? 'it is possible';
  };
  const locked = async (mode: 'Resume' | 'Fork' | 'Replay', key: string) => {
    const order = run.disabled(mode);
    await expect(order).toHaveAttribute('aria-disabled', 'true');
    await expect(order).toHaveAttribute('title', await reasonOf(mode));
    const here = page.url();
    await order.click({ force: true });
    await page.keyboard.press(key);
    await expect(page).toHaveURL(here);
  };
  const lockedInMenu = async (mode: 'Rewind' | 'Pause' | 'Cancel') => {
    const item = await run.inMenu(mode);
    await expect(item).toHaveAttribute('aria-disabled', 'true');
    await expect(item).toContainText(await reasonOf(mode));
    // It stays open, so that the reason can be read, and asks nothing.
    await item.click({ force: true });
    await expect(item).toBeVisible();
    await expect(page.getByRole('dialog')).toHaveCount(0);
  };

  await desk.start('nothing-to-resume', 'ORD-2063');
  await rail.untilStatus('nothing-to-resume', 'completed');
  await run.open('nothing-to-resume');
  await run.drawn();
  await desk.stopWorker();
  // A worker counts as there for ten seconds; then the page hears that nobody has the code.
  await expect(run.disabled('Replay')).toBeVisible({ timeout: 30_000 });
  await locked('Replay', 'p');
  expect(await reasonOf('Replay')).toContain('No worker');
  await locked('Resume', 'r');
  await lockedInMenu('Pause');
  await lockedInMenu('Cancel');
  await desk.replaceWorker();

  // Of a trace from elsewhere nobody knows the code.
  const { runs } = await rail.upload(historyOf('parallel.json', 'refused-imported'));
  await run.open(runs[0]?.id ?? '');
  await run.drawn();
  await locked('Fork', 'b');
  await lockedInMenu('Rewind');
});

test('a plan that changed meanwhile is refused, and the new plan is shown', async ({ rail, desk, page }) => {
  await desk.fault('shop', { match: '/tickets/T-2061/', answer: 423, message: 'locked' });
  await desk.start('outdated', 'ORD-2061');
  await rail.untilStatus('outdated', 'failed');
  const { headSeq } = await rail.run('outdated');
  const plan = new PlanPage(page);
  await plan.open('outdated');
  await expect(plan.order('Resume')).not.toHaveAttribute('aria-disabled', 'true');
  // The page keeps the plan that it shows; meanwhile a worker whose tools are declared otherwise takes the first one's place.
  await page.route('**/api/v1/workers', (route) => route.abort());
  await desk.replaceWorker({ RERAIL_DEMO_TIMEOUT_MS: '2500' });
  await plan.give('Resume');

  await expect(plan.refusal).toContainText('Refused: the plan was out of date');
  await expect(plan.refusal).toContainText('Nothing ran.');
  await expect(page.getByText(/timeoutMs/).first()).toBeVisible();
  await expect(plan.order('Resume')).toHaveAttribute('aria-disabled', 'true');
  expect((await rail.run('outdated')).headSeq).toBe(headSeq);
  await desk.replaceWorker();
});

test('of two resumes in the same second one wins, the other is told by whom, and nothing runs twice (S11)', async ({
  rail,
  desk,
  page,
  context,
}) => {
  const TICKET = '/tickets/T-2062/';
  await desk.fault('shop', { match: TICKET, answer: 423, message: 'locked' });
  await desk.start('resumed-twice', 'ORD-2062');
  await rail.untilStatus('resumed-twice', 'failed');
  // What is resumed stays under way until both have pressed.
  await desk.fault('shop', { match: TICKET, answer: 'hold' });
  const tabs = [page, await context.newPage()] as const;
  const plans = [new PlanPage(tabs[0]), new PlanPage(tabs[1])] as const;
  // Neither tab hears of the other's order before its own button is pressed.
  for (const tab of tabs) await tab.route('**/api/v1/stream**', (route) => route.abort());
  for (const plan of plans) await plan.open('resumed-twice');
  for (const plan of plans) await expect(plan.order('Resume')).not.toHaveAttribute('aria-disabled', 'true');
  await Promise.all(plans.map((plan) => plan.order('Resume').click()));
  for (const tab of tabs) await tab.unroute('**/api/v1/stream**');

  const refusals = async () => [
    ...(await plans[0].refusal.allTextContents()),
    ...(await plans[1].refusal.allTextContents()),
  ];
  await expect.poll(async () => (await refusals()).length).toBe(1);
  // By whom: the order that won, or the worker that already carries it out.
  expect((await refusals())[0]).toMatch(
    new RegExp(
      `Refused: held by (the resume of ${ACTOR}|.+-.+) since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC`,
    ),
  );
  await desk.release('shop', TICKET);
  await rail.untilStatus('resumed-twice', 'completed');
  const events = await rail.events('resumed-twice');
  expect(events.filter((event) => event.kind === 'command.accepted' && event.mode === 'resume')).toHaveLength(
    1,
  );
  expect(rail.outside.added).toEqual({ 'ORD-2062': { 'refund.create': 1, 'mail.send': 1 } });
});
