import type { Locator } from '@playwright/test';
import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { expect, test } from '../fixtures/desk';
import { PlanPage } from '../pages/plan-page';
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

test('heads stay where they are while a list and a plan are scrolled beneath them', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('under-heads', 'ORD-2043');
  await rail.untilStatus('under-heads', 'completed');
  for (let n = 0; n < 20; n += 1)
    await TestWorker.create(new ApiClient(rail.url), { runId: `under-heads-${n}` });
  await page.setViewportSize({ width: 1280, height: 420 });
  /** `head` stays, `body` is gone from where it was. */
  const stays = async (head: Locator, body: Locator) => {
    await expect(body).toBeVisible();
    const before = await head.boundingBox();
    await body.hover();
    await page.mouse.wheel(0, 90);
    await expect.poll(async () => (await body.boundingBox())?.y ?? -1).toBeLessThan(before?.y ?? 0);
    expect(await head.boundingBox()).toEqual(before);
    await expect(head).toBeInViewport({ ratio: 1 });
  };
  const runs = new RunsPage(page);
  await runs.open('q=under-heads');
  await stays(
    page.getByRole('columnheader', { name: /^Status/ }),
    page.getByRole('table', { name: 'Runs' }).getByRole('row').nth(1),
  );
  const plan = new PlanPage(page);
  await plan.open('under-heads', 'fork');
  await stays(plan.table.getByRole('columnheader').first(), plan.table.getByRole('row').nth(1));
});
