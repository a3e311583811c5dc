import { expect, test } from '../fixtures/rail';
import { RunPage } from '../pages/run-page';

test('an approval given in two tabs is consumed once, and the second is told who gave it (S10)', async ({
  rail,
  page,
  context,
}) => {
  const second = await context.newPage();
  const [one, other] = [new RunPage(page), new RunPage(second)];
  // The second tab never hears of the first one's answer before it gives its own.
  await second.route('**/api/v1/stream*', (route) => route.abort());
  await one.open('demo-waiting');
  await other.open('demo-waiting');
  await expect(one.question).toContainText('Refund 480.00 EUR to Oskar Lindqvist');
  await expect(other.question.getByRole('button', { name: 'Approve' })).toBeVisible();

  await second.route('**/api/v1/runs/demo-waiting', (route) => route.abort());
  await one.question.getByRole('button', { name: 'Approve' }).click();
  await rail.untilStatus('demo-waiting', 'completed');
  await other.question.getByRole('button', { name: 'Approve' }).click();

  await expect(second.getByRole('alert').filter({ hasText: 'Already answered' })).toBeVisible();
  await expect(one.status).toHaveText('Completed');
  expect(await rail.ledgerOf('demo-waiting')).toEqual({ 'refund.create': 1, 'mail.send': 1 });
});

test('a double click on Approve answers once (S10)', async ({ rail, page }) => {
  const run = new RunPage(page);
  await run.open('demo-waiting');
  await run.question.getByRole('button', { name: 'Approve' }).dblclick();
  await expect(run.status).toHaveText('Completed');
  const { items } = await rail.get<{ items: readonly { kind: string }[] }>(
    '/runs/demo-waiting/events?limit=1000',
  );
  expect(items.filter((event) => event.kind === 'question.answered')).toHaveLength(1);
  expect(await rail.ledgerOf('demo-waiting')).toEqual({ 'refund.create': 1, 'mail.send': 1 });
});
