import { expect, test } from '../fixtures/desk';
import { RunPage } from '../pages/run-page';

test('an answer given without a network says that there was no answer, is not sent later by itself, and counts once', async ({
  rail,
  desk,
  page,
  context,
}) => {
  await desk.start('offline', 'ORD-1002');
  await rail.untilStatus('offline', 'waiting');
  const { headSeq } = await rail.run('offline');
  const run = new RunPage(page);
  await run.open('offline');
  await expect(run.question.getByRole('button', { name: 'Approve' })).toBeVisible();
  await run.drawn();
  await context.setOffline(true);
  await run.question.getByRole('button', { name: 'Approve' }).click();
  const unanswered = page.getByText('No answer: it is not known whether “Approve” was taken');
  await expect(unanswered).toBeVisible();
  await expect(run.question.getByRole('button', { name: 'Reject' })).toHaveAttribute('aria-disabled', 'true');

  // The network is back, the page is left and opened again: nothing goes out that nobody asks for.
  const posted: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') posted.push(request.url());
  });
  await context.setOffline(false);
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await page.getByRole('link', { name: 'offline', exact: true }).click();
  await expect(unanswered).toBeVisible();
  await page.reload();
  await expect(unanswered).toBeVisible();
  expect(posted.filter((url) => url.endsWith('/commands'))).toEqual([]);
  expect((await rail.run('offline')).headSeq).toBe(headSeq);

  await page.getByRole('button', { name: 'Send it again' }).click();
  await expect(run.status).toHaveText('Completed');
  const events = await rail.events('offline');
  expect(events.filter((event) => event.kind === 'question.answered')).toHaveLength(1);
  expect(rail.outside.added).toEqual({ 'ORD-1002': { 'refund.create': 1, 'mail.send': 1 } });
});
