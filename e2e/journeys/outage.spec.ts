import { expect, test } from '../fixtures/rail';
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
  const notice = page.getByText(/^Not live since \d\d:\d\d:\d\d UTC$/);
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
