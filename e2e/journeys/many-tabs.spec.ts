import { expect, test } from '../fixtures/desk';
import { RunPage } from '../pages/run-page';

test('seven tabs are open at once: each shows its run, takes an answer and hears of it', async ({
  rail,
  desk,
  context,
}) => {
  await desk.start('seven-tabs', 'ORD-1002');
  await rail.untilStatus('seven-tabs', 'waiting');
  const tabs: RunPage[] = [];
  for (let n = 1; n <= 7; n += 1) {
    const tab = new RunPage(await context.newPage());
    await tab.open('seven-tabs');
    await tab.drawn();
    tabs.push(tab);
  }
  for (const tab of tabs) await expect(tab.question.getByRole('button', { name: 'Approve' })).toBeVisible();
  await tabs[6]?.question.getByRole('button', { name: 'Approve' }).click();
  for (const tab of tabs) {
    await expect(tab.status).toHaveText('Completed');
    await expect(tab.step('close_ticket#1')).toBeVisible();
  }
  expect(rail.outside.added).toEqual({ 'ORD-1002': { 'refund.create': 1, 'mail.send': 1 } });
});
