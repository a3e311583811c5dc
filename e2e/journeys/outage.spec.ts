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
  await rail.stopConsole();
  const notice = page.getByText(/^Not live since \d\d:\d\d:\d\d UTC$/);
  await expect(notice).toBeVisible();
  await expect(run.step('search_orders').first()).toBeVisible();

  await rail.startConsole();
  await expect(notice).toBeHidden();
  await run.question.getByRole('button', { name: 'Approve' }).click();
  await expect(run.status).toHaveText('Completed');
  expect(await rail.ledgerOf('demo-waiting')).toEqual({ 'refund.create': 1, 'mail.send': 1 });
});
