import { historyOf } from '../fixtures/histories';
import { Palette } from '../pages/palette';
import { RunsPage } from '../pages/runs-page';
import { expect, test } from './house';
import { look } from './look';
import { FAILED_RUN } from './town';

/* The list of runs in every state, and what the frame lays over a page. */

test('filters, and none that match', async ({ page }) => {
  const runs = new RunsPage(page);
  await runs.open('status=failed,interrupted&agent=support-router,incident-scribe&within=24h');
  await expect(runs.row(FAILED_RUN)).toBeVisible();
  await look(page, 'runs-filtered');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await look(page, 'runs-filter-menu', { part: page.getByRole('menu') });
  await page.keyboard.press('Escape');
  await look(page, 'runs-filter-status', { part: await runs.addFilter('Status') });
  await runs.open('q=ORD-0000&tag=nightly&status=waiting');
  await expect(page.getByText('No run matches these filters')).toBeVisible();
  await look(page, 'runs-none-match');
});

test('several selected, and what is done with them', async ({ page }) => {
  const runs = new RunsPage(page);
  await runs.open();
  await runs.select(FAILED_RUN);
  await runs.select('run_01k7q9zx1a9e');
  await runs.select('run_01k7q9zt8p2w');
  await expect(runs.bulk).toBeVisible();
  await look(page, 'runs-selected');
  await runs.select('run_01k7pyv0n3ed');
  await runs.bulk.getByRole('button', { name: 'Cancel' }).click();
  await look(page, 'runs-cancel', { part: page.getByRole('dialog') });
});

test('columns, and a view to be saved', async ({ page }) => {
  await page.goto('/runs?status=failed&open=save-view');
  await look(page, 'runs-save-view', { part: page.getByRole('dialog') });
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Columns' }).click();
  await look(page, 'runs-columns', { part: page.getByRole('menu') });
});

test('no runs at all', async ({ page, empty }) => {
  await page.goto(`${empty}/runs`);
  await expect(page.getByRole('heading', { name: 'No runs here yet' })).toBeVisible();
  await look(page, 'runs-no-runs');
});

test('on its way, and refused', async ({ page }) => {
  await page.route('**/api/v1/runs?**', () => undefined);
  await page.goto('/runs');
  await expect(page.locator('.skeleton-row').first()).toBeVisible();
  await look(page, 'runs-loading', { loading: true });
  await page.unroute('**/api/v1/runs?**');
  await page.route('**/api/**', (route) => route.abort());
  await page.goto('/runs');
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
  await look(page, 'runs-unread');
});

test('the console is away', async ({ page }) => {
  const runs = new RunsPage(page);
  await runs.open();
  await expect(runs.row(FAILED_RUN)).toBeVisible();
  await page.context().setOffline(true);
  await expect(page.getByText(/No answer came/).first()).toBeVisible();
  await look(page, 'runs-away');
});

test('uploads with their reports', async ({ page }) => {
  await page.goto('/runs?open=upload');
  const dialog = page.getByRole('dialog', { name: 'Upload traces' });
  await expect(dialog).toBeVisible();
  await look(page, 'upload', { part: dialog });
  const file = (name: string, text: string) => ({
    name,
    mimeType: 'application/json',
    buffer: Buffer.from(text),
  });
  await page
    .getByLabel('Files to upload')
    .setInputFiles([
      file('notes.json', '{"no":"trace"}'),
      file('cut.json', historyOf('parallel.json', 'briefing-12').slice(0, 1_000)),
      file('a-file-with-a-very-long-name-that-somebody-saved-from-a-mail-of-the-second-quarter.json', ''),
    ]);
  await expect(dialog.getByRole('button', { name: /^Send / })).toHaveCount(3);
  await look(page, 'upload-refused');
  await dialog.getByRole('button', { name: 'Clear the list' }).click();
  await page
    .getByLabel('Files to upload')
    .setInputFiles(file('forks-of-forks.json', historyOf('forks-of-forks.json', 'support-thread-7')));
  await expect(dialog.getByText(/^Nothing new/).first()).toBeVisible();
  await look(page, 'upload-known', { part: dialog });
});

test('commands and keys', async ({ page }) => {
  const palette = new Palette(page);
  await page.goto('/runs');
  await expect(new RunsPage(page).row(FAILED_RUN)).toBeVisible();
  await palette.open();
  await expect(palette.option('run_01k7r1m0ze5b')).toBeVisible();
  await page.keyboard.press('Home');
  await look(page, 'palette', { loading: true });
  await palette.find('refund', /refund/);
  await look(page, 'palette-found', { part: palette.dialog });
  await page.keyboard.press('Control+a');
  await page.keyboard.type('nothing is called this');
  await expect(palette.dialog.getByRole('option')).toHaveCount(0);
  await look(page, 'palette-none', { part: palette.dialog });
  await page.keyboard.press('Escape');
  await expect(palette.dialog).toHaveCount(0);
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible();
  await look(page, 'keys');
});
