import { expect, test } from '../fixtures/desk';
import { RunsPage } from '../pages/runs-page';

test('the list is narrowed by tag, status and search, the address holds it, and a reload shows the same', async ({
  rail,
  desk,
  page,
}) => {
  await desk.fault('shop', { match: '/tickets/T-2032/', answer: 423, message: 'locked' });
  await desk.start('list-completed', 'ORD-2031', ['spring']);
  await desk.start('list-failed', 'ORD-2032', ['spring']);
  await desk.start('list-other', 'ORD-2033', ['autumn']);
  await rail.untilStatus('list-completed', 'completed');
  await rail.untilStatus('list-failed', 'failed');
  await rail.untilStatus('list-other', 'completed');
  const runs = new RunsPage(page);
  await runs.open();
  await expect(runs.row('list-other')).toBeVisible();
  await runs.filterByTag('spring');
  await expect(runs.shown).toHaveText('2 of 2 shown');
  await expect(runs.row('list-completed')).toContainText('Completed');
  await expect(runs.row('list-failed')).toContainText('locked');
  await runs.toggleStatus('Failed');
  await expect(runs.shown).toHaveText('1 of 1 shown');
  await expect(runs.row('list-failed')).toBeVisible();
  await expect(page).toHaveURL(/tag=spring/);
  await page.reload();
  await expect(runs.shown).toHaveText('1 of 1 shown');

  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await expect(runs.row('list-other')).toBeVisible();
  await runs.search('list-oth');
  await expect(runs.shown).toHaveText('1 of 1 shown');
  await runs.search('nothing has this name');
  await expect(page.getByText('No run matches these filters')).toBeVisible();
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await expect(runs.row('list-completed')).toBeVisible();
});

test('a row changes while it is looked at, and a new run is told and shown on request; else it takes its place', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('live-first', 'ORD-1002', ['live']);
  await rail.untilStatus('live-first', 'waiting');
  const runs = new RunsPage(page);
  await runs.open('tag=live');
  await expect(runs.row('live-first')).toContainText('Waiting');
  await runs.row('live-first').hover();
  await desk.start('live-second', 'ORD-2041', ['live']);
  await expect(page.getByText('1 run started')).toBeVisible();
  await expect(runs.row('live-second')).toHaveCount(0);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(runs.row('live-second')).toContainText('Completed');

  expect(await rail.answer('live-first', { approved: false })).toBe(202);
  await expect(runs.row('live-first')).toContainText('Completed');

  await page.getByRole('searchbox', { name: 'Search runs' }).hover();
  await desk.start('live-third', 'ORD-2042', ['live']);
  await expect(runs.row('live-third')).toContainText('Completed');
  await expect(page.getByText('1 run started')).toBeHidden();
});
