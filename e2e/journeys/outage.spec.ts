import { expect, test } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';

test('a page says since when it is not live, keeps what it shows, and is live again when the console is back', async ({
  rail,
  page,
}) => {
  const run = new RunPage(page);
  await run.open('demo-waiting');
  await expect(run.question.getByRole('button', { name: 'Approve' })).toBeVisible();
  await run.drawn();
  const rows = await run.tree.getByRole('treeitem').allTextContents();
  const events = await rail.events('demo-waiting');
  await rail.stopConsole();
  const notice = page.getByText(/^Not live since \d\d:\d\d:\d\d UTC\.$/);
  await expect(notice).toBeVisible();
  await expect(run.tree.getByRole('treeitem')).toHaveText(rows);
  await expect(run.status).toHaveText('Waiting');

  await rail.startConsole();
  await expect(notice).toBeHidden();
  // The worker asked for work all the while, and nothing of the run has moved.
  expect(await rail.events('demo-waiting')).toEqual(events);
  expect(rail.outside.added).toEqual({});
  await run.question.getByRole('button', { name: 'Approve' }).click();
  await expect(run.status).toHaveText('Completed');
  expect(rail.outside.added).toEqual({ 'ORD-1002': { 'refund.create': 1, 'mail.send': 1 } });
});

test('a plan says that it may be behind, keeps what was entered, and gives the order once when the console is back', async ({
  rail,
  page,
}) => {
  const plan = new PlanPage(page);
  await plan.open('demo-killed');
  const happened = plan.effect('create_refund').getByRole('radio', { name: 'It did not happen' });
  await happened.check();
  await expect(plan.rows('create_refund#1')).toContainText('retry-same-key');
  const reason = page.getByRole('textbox', { name: 'Reason' });
  await reason.fill('the bank says no');
  await rail.stopConsole();
  const notice = page.getByText(/^Not live since \d\d:\d\d:\d\d UTC\.$/);
  await expect(notice).toBeVisible();
  // Pressed all the same, nobody knows whether it was taken.
  await plan.order('Resume').click();
  await expect(page.getByText(/No answer: it is not known whether/)).toBeVisible();
  await expect(reason).toHaveValue('the bank says no');
  await expect(happened).toBeChecked();
  const before = rail.outside.added;
  expect(before).toEqual({});

  await rail.startConsole();
  await expect(notice).toBeHidden();
  await expect(reason).toHaveValue('the bank says no');
  await page.getByRole('button', { name: 'Send it again' }).click();
  const run = new RunPage(page);
  await expect(run.status).toHaveText('Completed');
  const events = await rail.events('demo-killed');
  expect(events.filter(({ kind, mode }) => kind === 'command.accepted' && mode === 'resume')).toHaveLength(1);
  expect(rail.outside.about('ORD-1003')['mail.send']).toBe(1);
});
