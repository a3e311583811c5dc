import { feedRun } from '../../lib/testing/bench/feed';
import { EVENTS_A_VISIT } from '../../lib/testing/bench/synthetic-run';
import { expect, test } from '../fixtures/desk';
import { feeder } from '../fixtures/feeder';
import { PlanPage } from '../pages/plan-page';

test('points are found by what had just happened, and walked along the rail; the address has them (S31)', async ({
  rail,
  desk,
  page,
}) => {
  await desk.startKilled(rail, 'pointed', 'ORD-2321');
  const { items } = await rail.get<{ items: readonly { id: string; n: number; name: string }[] }>(
    '/runs/pointed/checkpoints',
  );
  const plan = new PlanPage(page);
  await plan.open('pointed', 'fork');
  const points = await plan.openPoints();
  // All of them, the newest first, and both ends.
  await expect(points.getByRole('option')).toHaveCount(items.length + 2);
  await expect(points.getByRole('option').nth(1)).toContainText(`${items.length}, ${items.at(-1)?.name}`);
  await expect(points.getByRole('option').filter({ hasText: 'safest' })).toHaveCount(1);
  await points.getByRole('combobox').fill(`1, ${items[0]?.name}`);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`from=${items[0]?.id}`));
  await expect(page.getByRole('button', { name: 'Start from Checkpoint 1' })).toBeVisible();

  const mark = (n: number) => page.getByRole('radio', { name: new RegExp(`^Checkpoint ${n}, `) });
  await expect(mark(1)).toBeChecked();
  await mark(1).focus();
  await page.keyboard.press('ArrowRight');
  await expect(mark(2)).toBeChecked();
  await expect(page).toHaveURL(new RegExp(`from=${items[1]?.id}`));
});

test('each choice makes another plan: its digest changes, and the rows that it changed flash once', async ({
  rail,
  desk,
  page,
}) => {
  await desk.startKilled(rail, 'chosen', 'ORD-2322');
  const plan = new PlanPage(page);
  await plan.open('chosen');
  const digest = page.locator('.digest');
  const before = await digest.textContent();
  await plan.effect('create_refund').getByRole('radio', { name: 'It did not happen' }).check();
  await expect(plan.rows('create_refund#1')).toContainText('retry-same-key');
  expect(await digest.textContent()).not.toBe(before);
  await expect(plan.rows('create_refund#1')).toHaveAttribute('data-flash', /[ab]/);
  await expect(plan.table.locator('tr[data-flash]')).toHaveCount(1);
  await expect(page.getByText('create_refund 1, same key')).toBeVisible();
  await expect(plan.order('Resume')).toContainText('1 step will really run');

  // With less motion nothing moves.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await plan.effect('create_refund').getByRole('radio', { name: 'Hold' }).check();
  await expect(plan.rows('create_refund#1')).toContainText('blocked');
  expect(
    await plan
      .rows('create_refund#1')
      .evaluate((row) => getComputedStyle(row.firstElementChild ?? row).animationName),
  ).toBe('none');

  // The button says what it does now, and does it.
  const headSeq = (await rail.run('chosen')).headSeq;
  await page.getByRole('button', { name: 'Record the hold: nothing runs' }).click();
  await expect(plan.effect('create_refund')).toContainText('on hold by decision');
  expect((await rail.run('chosen')).status).toBe('interrupted');
  const after = (await rail.events('chosen')).filter(({ seq }) => seq > headSeq);
  expect(after.find(({ kind }) => kind === 'effect.decided')).toMatchObject({
    decision: { outcome: 'hold' },
  });
  expect(after.map(({ kind }) => kind).filter((kind) => /^(run|step)\./.test(kind))).toEqual([]);
});

test('counts narrow the rows, rows are walked with the arrows, and a link has what is looked at and no more', async ({
  rail,
  desk,
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await desk.startKilled(rail, 'narrowed', 'ORD-2323');
  const plan = new PlanPage(page);
  await plan.open('narrowed');
  await page.getByRole('button', { name: '1 needs-decision' }).click();
  await expect(plan.table.locator('tr[data-step]')).toHaveCount(1);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(plan.rows('create_refund#1')).toBeFocused();
  await page.getByRole('textbox', { name: 'Reason' }).fill('for my eyes');
  await plan.effect('create_refund').getByRole('radio', { name: 'Hold' }).check();
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.getByText('The link to this plan was copied')).toBeVisible();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(new URL(link).search).toBe('?mode=resume&only=needs-decision');
});

test('whoever holds the run stands where the button would be', async ({ rail, desk, page }) => {
  await desk.fault('payments', { match: 'ORD-2324', answer: 'hold' });
  await desk.start('held', 'ORD-2324');
  await desk.held('payments', 'ORD-2324');
  await new PlanPage(page).open('held');
  await expect(page.getByRole('status', { name: 'Who holds the run' })).toHaveText(
    /^Held by .+ since \d\d:\d\d:\d\d UTC$/,
  );
  await expect(page.getByRole('button', { name: /^Resume:/ })).toHaveCount(0);
  await desk.release('payments', 'ORD-2324');
  await rail.untilStatus('held', 'completed');
});

test('among 40 checkpoints each says what had just happened, and the safest is chosen, with the reason (S31)', async ({
  rail,
  page,
}) => {
  await feedRun(feeder(rail), 'forty', 14 * EVENTS_A_VISIT);
  const { items } = await rail.get<{ items: readonly { n: number }[] }>('/runs/forty/checkpoints?limit=100');
  expect(items.length).toBeGreaterThanOrEqual(40);
  const plan = new PlanPage(page);
  await plan.open('forty');
  await expect(page.getByText(/Safest: goes on from the newest point; whatever is recorded/)).toBeVisible();
  const points = await plan.openPoints();
  await expect(points.getByRole('option', { selected: true })).toContainText('safest');
  await expect(points.getByRole('option').filter({ hasText: 'safest' })).toHaveCount(1);
  const named = points.getByRole('option').filter({ hasText: /^\d+, after look/ });
  await expect(named).toHaveCount(items.length);
  await page.keyboard.type('work#3');
  await expect(named).toHaveCount(3);
});
