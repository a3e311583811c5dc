import { expect, test } from '../fixtures/desk';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';

/* Pages that stand open while an order is on its way, or while somebody else moves the run. */

test('pressed twice, and held down, an order is given once: one fork', async ({ rail, desk, page }) => {
  await desk.fault('shop', { match: '/tickets/T-2111/', answer: 423, message: 'locked' });
  await desk.start('forked-once', 'ORD-2111');
  await rail.untilStatus('forked-once', 'failed');
  const plan = new PlanPage(page);
  await plan.open('forked-once', 'fork');
  const fork = plan.order('Fork');
  await expect(fork).not.toHaveAttribute('aria-disabled', 'true');
  // The way to the new run takes as long as it likes.
  let arrive: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  await page.route(/\/runs\/[^/]+\?.*_rsc=/, async (route) => {
    await arrived;
    await route.continue();
  });
  const orders: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/commands')) orders.push(request.url());
  });
  const accepted = page.waitForResponse((response) => response.url().endsWith('/commands'));
  await fork.dblclick();
  expect((await accepted).status()).toBe(202);
  await expect(fork).toHaveAttribute('title', 'Accepted');
  await fork.click({ force: true });
  await page.keyboard.down('Control');
  for (let n = 0; n < 5; n += 1) await page.keyboard.down('Enter');
  await page.keyboard.up('Control');
  arrive();

  await expect(page).not.toHaveURL(/forked-once/);
  expect(orders).toHaveLength(1);
  const { lineage } = await rail.get<{ lineage: { childCount: number } }>('/runs/forked-once');
  expect(lineage.childCount).toBe(1);
});

test('a plan that changes by itself says what changed and is given only when that was read', async ({
  rail,
  desk,
  page,
}) => {
  const ORDER = 'ORD-2112';
  await desk.startKilled(rail, 'read-first', ORDER);
  const plan = new PlanPage(page);
  await plan.open('read-first');
  await expect(plan.rows('create_refund#1')).toContainText('needs-decision');
  const refund = (await rail.steps('read-first')).find(({ effect }) => effect === 'external');
  const { status } = await rail.post('/runs/read-first/commands', {
    commandId: 'asked-by-somebody-else',
    mode: 'verify',
    reason: '',
    stepKey: refund?.stepKey,
  });
  expect(status).toBe(202);

  await expect(plan.changed).toContainText('The plan changed: 1 step marked “changed”');
  await expect(plan.rows('create_refund#1')).toContainText('changed');
  await expect(plan.rows('create_refund#1')).toContainText('skip');
  await expect(plan.order('Resume')).toHaveAttribute('title', 'The plan changed: read it first');
  await plan.order('Resume').click({ force: true });
  await page.keyboard.press('Control+Enter');
  await plan.haveRead();
  await expect(plan.changed).toHaveCount(0);
  await expect(plan.rows('create_refund#1')).not.toContainText('changed');
  expect((await rail.run('read-first')).status).toBe('interrupted');
  await plan.give('Resume');

  await expect(new RunPage(page).status).toHaveText('Completed');
  expect(rail.outside.added).toEqual({ [ORDER]: { 'refund.create': 1, 'refund.find': 1, 'mail.send': 1 } });
});

test('where an effect stands follows the provider’s answer before the run goes on', async ({
  rail,
  desk,
  page,
}) => {
  await desk.startKilled(rail, 'answered-not-resumed', 'ORD-2113');
  const run = new RunPage(page);
  await run.open('answered-not-resumed');
  await run.step('create_refund#1').click();
  await expect(run.effectLine).toContainText('Sent?not known');
  await run.doubts.getByRole('button', { name: 'Ask downstream' }).click();

  await expect(run.effectLine).toContainText('Sent?yes');
  await expect(run.effectLine).toContainText('by downstream, asked');
  await expect(run.doubts).toHaveCount(0);
  expect((await rail.run('answered-not-resumed')).status).toBe('interrupted');
});

test('a run that ends behind the dialog can no longer be paused, and the dialog says why', async ({
  rail,
  desk,
  page,
}) => {
  const ORDER = 'ORD-2114';
  await desk.fault('shop', { match: `/orders/${ORDER}`, answer: 'hold' });
  await desk.start('too-late', ORDER);
  await desk.held('shop', `/orders/${ORDER}`);
  const run = new RunPage(page);
  await run.open('too-late');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Pause' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('stops at its next point');
  await desk.release('shop', `/orders/${ORDER}`);
  await rail.untilStatus('too-late', 'completed');

  const { actions } = await rail.get<{ actions: { pause: { reason: string } } }>('/runs/too-late');
  await expect(dialog).toContainText(actions.pause.reason);
  await expect(dialog).not.toContainText('stops at its next point');
  const pause = dialog.getByRole('button', { name: 'Pause the run' });
  await expect(pause).toHaveAttribute('aria-disabled', 'true');
  await expect(pause).toHaveAttribute('title', actions.pause.reason);
  const { headSeq } = await rail.run('too-late');
  await dialog.getByRole('textbox').press('Enter');
  await expect(dialog).toBeVisible();
  expect((await rail.run('too-late')).headSeq).toBe(headSeq);
});
