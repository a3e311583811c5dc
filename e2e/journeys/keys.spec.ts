import { expect, test } from '../fixtures/desk';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';

test('Escape goes up one level each, back to the cursor, and never away from what is being typed', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('escaped', 'ORD-2051');
  await rail.untilStatus('escaped', 'completed');
  const run = new RunPage(page);
  await run.open('escaped', 5);
  await run.drawn();
  await page.keyboard.press('b');
  const plan = new PlanPage(page);
  await expect(plan.table).toBeVisible();
  const reason = page.getByRole('textbox', { name: 'Reason' });
  await reason.fill('half a sentence');
  await reason.press('Escape');
  await expect(reason).not.toBeFocused();
  await expect(reason).toHaveValue('half a sentence');

  // What was entered would be lost: it is asked first.
  page.once('dialog', (dialog) => void dialog.dismiss());
  await page.keyboard.press('Escape');
  await expect(reason).toHaveValue('half a sentence');
  await reason.fill('');
  await reason.press('Escape');
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/\/runs\/escaped\?seq=5$/);
  await expect(run.cursor).toHaveAttribute('aria-valuenow', '5');
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/\/runs$/);
});

test('the tree is walked and folded with the keyboard, and the cursor goes with it', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('walked', 'ORD-2052');
  await rail.untilStatus('walked', 'completed');
  const events = await rail.events('walked');
  const entered = events.find((event) => event.kind === 'state.entered' && event.state === 'issue_refund');
  const refund = events.find((event) => event.kind === 'step.started' && event.name === 'create_refund');
  const run = new RunPage(page);
  await run.open('walked', entered?.seq);
  await run.drawn();
  const visit = run.step('issue_refund, visit 1');
  await expect(visit).toHaveAttribute('aria-selected', 'true');
  await visit.focus();
  await page.keyboard.press('ArrowDown');
  await expect(run.step('create_refund#1')).toBeFocused();
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(refund?.seq));
  await page.keyboard.press('ArrowUp');
  await expect(visit).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect(visit).toHaveAttribute('aria-expanded', 'false');
  await expect(run.step('create_refund#1')).toHaveCount(0);
  await page.keyboard.press('ArrowRight');
  await expect(run.step('create_refund#1')).toBeVisible();
});
