import { expect, test } from '../fixtures/desk';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';

test('a fork with an edited variable runs to its end: the parent stays as it is, the refund they share is not sent again', async ({
  rail,
  desk,
  page,
}) => {
  const ORDER = 'ORD-2011';
  await desk.fault('mail', { match: 'customer-2011@example.com', answer: 422, message: 'no such mailbox' });
  await desk.start('mistyped', ORDER);
  await rail.untilStatus('mistyped', 'failed');
  const parent = await rail.exported('mistyped');
  // The mail that was refused is a request like any other, but under a key that no book knows.
  const refused = { '?': { 'mail.send': 1 } };
  expect(rail.outside.added).toEqual({ ...refused, [ORDER]: { 'refund.create': 1 } });
  expect(rail.outside.mailsAbout(ORDER)).toEqual([]);

  const run = new RunPage(page);
  await run.open('mistyped');
  await expect(page.getByRole('region', { name: 'What happened' })).toContainText('no such mailbox');
  await run.step('send_mail#1').click();
  await run.plan('Fork');
  const plan = new PlanPage(page);
  await plan.editVariable('order', (text) => text.replace('customer-2011@', 'moved-2011@'));
  await plan.give('Fork');

  await expect(page).not.toHaveURL(/mistyped/);
  await expect(run.status).toHaveText('Completed');
  await expect(page.getByText('fork of mistyped')).toBeVisible();
  expect(rail.outside.added).toEqual({ ...refused, [ORDER]: { 'refund.create': 1, 'mail.send': 1 } });
  expect(rail.outside.mailsAbout(ORDER)).toEqual(['moved-2011@example.com']);
  expect(await rail.exported('mistyped')).toBe(parent);
  await page.getByRole('link', { name: 'mistyped' }).click();
  await expect(run.status).toHaveText('Failed');
});
