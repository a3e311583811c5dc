import type { Page } from '@playwright/test';
import { expect, test } from '../fixtures/desk';
import { ACTOR } from '../fixtures/rail';
import { RunPage } from '../pages/run-page';

const ORDER = 'ORD-1002';
const ONCE = { [ORDER]: { 'refund.create': 1, 'mail.send': 1 } };

test('an approval given in two tabs is consumed once, and whoever answers after it is told who gave it (S10)', async ({
  rail,
  desk,
  page,
  context,
}) => {
  await desk.start('two-tabs', ORDER);
  await rail.untilStatus('two-tabs', 'waiting');
  const one = new RunPage(page);
  await one.open('two-tabs');
  await expect(one.question).toContainText('Refund 480.00 EUR to Oskar Lindqvist');
  const late: { readonly tab: Page; readonly press: () => Promise<void> }[] = [];
  for (const name of ['Approve', 'Reject']) {
    const tab = await context.newPage();
    const other = new RunPage(tab);
    await other.open('two-tabs');
    const button = other.question.getByRole('button', { name });
    await expect(button).toBeVisible();
    // This tab hears nothing of the first one's answer before it gives its own.
    await tab.route('**/api/v1/**', (route) =>
      route.request().method() === 'POST' ? route.continue() : route.abort(),
    );
    late.push({ tab, press: () => button.click() });
  }

  await one.question.getByRole('button', { name: 'Approve' }).click();
  await rail.untilStatus('two-tabs', 'completed');
  for (const { tab, press } of late) {
    await press();
    await expect(tab.getByText(`Already answered by ${ACTOR}`)).toBeVisible();
  }
  await expect(one.status).toHaveText('Completed');
  const events = await rail.events('two-tabs');
  expect(events.filter((event) => event.kind === 'question.answered')).toHaveLength(1);
  expect(rail.outside.added).toEqual(ONCE);
});

test('a double click on Approve answers once (S10)', async ({ rail, desk, page }) => {
  await desk.start('double-click', ORDER);
  await rail.untilStatus('double-click', 'waiting');
  const run = new RunPage(page);
  await run.open('double-click');
  await run.question.getByRole('button', { name: 'Approve' }).dblclick();
  await expect(run.status).toHaveText('Completed');
  const events = await rail.events('double-click');
  expect(events.filter((event) => event.kind === 'question.answered')).toHaveLength(1);
  expect(rail.outside.added).toEqual(ONCE);
});
