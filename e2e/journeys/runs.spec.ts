import { readFileSync } from 'node:fs';
import { expect, test } from '../fixtures/desk';
import { historyOf } from '../fixtures/histories';
import { RunsPage } from '../pages/runs-page';

test('what a person must act on is one view, with what a cancelled run left in doubt, and nothing else is in it', async ({
  rail,
  desk,
  page,
}) => {
  await desk.startKilled(rail, 'needs-killed', 'ORD-2601');
  await desk.startKilled(rail, 'needs-cancelled', 'ORD-2602');
  await desk.start('needs-asks', 'ORD-1002');
  await desk.start('needs-nobody', 'ORD-2603');
  await rail.untilStatus('needs-asks', 'waiting');
  await rail.untilStatus('needs-nobody', 'completed');
  const order = { commandId: 'cmd_needs_cancel', mode: 'cancel', reason: 'wrong order' };
  expect((await rail.post('/runs/needs-cancelled/commands', order)).status).toBe(202);
  await rail.untilStatus('needs-cancelled', 'cancelled');
  const runs = new RunsPage(page);
  await runs.open('q=needs-');
  await expect(runs.row('needs-nobody')).toBeVisible();

  await runs.views.getByRole('link', { name: /^Needs a person/ }).click();
  await expect(page).toHaveURL(/attention=true/);
  await expect(runs.row('needs-cancelled')).toContainText('Cancelled');
  await expect(runs.row('needs-killed')).toBeVisible();
  await expect(runs.row('needs-asks')).toBeVisible();
  await expect(runs.row('needs-nobody')).toHaveCount(0);
  await runs.views.getByRole('link', { name: /^Effects in doubt/ }).click();
  await expect(runs.row('needs-asks')).toHaveCount(0);
  await expect(runs.row('needs-cancelled')).toBeVisible();
  await expect(runs.views.getByRole('link', { name: /^Effects in doubt/ })).toHaveAttribute(
    'aria-current',
    'page',
  );
});

test('filters are chips that are edited in place, and a view of one’s own keeps them in this browser', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('chip-a', 'ORD-2611', ['chips', 'spring']);
  await desk.start('chip-b', 'ORD-2612', ['chips']);
  await rail.untilStatus('chip-a', 'completed');
  await rail.untilStatus('chip-b', 'completed');
  const runs = new RunsPage(page);
  await runs.open('tag=chips');
  await expect(runs.shown).toHaveText('2 of 2 shown');
  await runs.filterByTag('spring');
  await expect(runs.filters).toContainText('Tag is chips and spring');
  await expect(runs.shown).toHaveText('1 of 1 shown');

  await runs.filters.getByRole('button', { name: 'Tag is chips and spring', exact: true }).click();
  const pane = page.getByRole('dialog', { name: 'Filter by tag' });
  await pane.getByRole('button', { name: 'Take chips away' }).click();
  await pane.getByRole('radio', { name: 'is not' }).click();
  await page.keyboard.press('Escape');
  await expect(runs.filters).toContainText('Tag is not spring');
  await expect(page).toHaveURL(/notTag=spring/);
  await runs.search('chip-');
  await expect(runs.shown).toHaveText('1 of 1 shown');
  await expect(runs.row('chip-b')).toBeVisible();

  await page.getByRole('button', { name: 'Save view' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save view' });
  await expect(dialog).toContainText('kept in this browser');
  await expect(dialog).toContainText('Tag is not spring; Search “chip-”.');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('needs a PERSON');
  await expect(dialog.getByRole('button', { name: 'Save' })).toHaveAttribute('aria-disabled', 'true');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Not in spring');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const own = runs.views.getByRole('link', { name: /^Not in spring/ });
  await expect(own).toHaveAttribute('aria-current', 'page');
  await runs.views.getByRole('link', { name: /^All runs/ }).click();
  await expect(runs.row('chip-a')).toBeVisible();
  await page.reload();
  await own.click();
  await expect(runs.shown).toHaveText('1 of 1 shown');
  await expect(own).toContainText('1');

  await page.getByRole('button', { name: 'Change the view Not in spring' }).click();
  await page.getByRole('menuitem', { name: 'Rename…' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Autumn');
  await page.getByRole('button', { name: 'Rename' }).click();
  await expect(runs.views.getByRole('link', { name: /^Autumn/ })).toBeVisible();
  await page.getByRole('button', { name: 'Change the view Autumn' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(runs.views.getByRole('link', { name: /^Autumn/ })).toHaveCount(0);

  await runs.filters.getByRole('button', { name: /^Remove the filter Tag/ }).click();
  await expect(runs.shown).toHaveText('2 of 2 shown');
  await runs.search('no run is named so');
  await expect(page.getByText('No run matches these filters')).toBeVisible();
  await expect(page.getByText('Search “no run is named so”')).toBeVisible();
});

test('several runs are selected by key and exported as one file; each is cancelled by its own order', async ({
  rail,
  desk,
  page,
}) => {
  await desk.startKilled(rail, 'bulk-doubt', 'ORD-2621');
  for (const id of ['bulk-a', 'bulk-b']) {
    await desk.start(id, 'ORD-1002', ['bulk']);
    await rail.untilStatus(id, 'waiting');
  }
  await desk.start('bulk-done', 'ORD-2622', ['bulk']);
  await rail.untilStatus('bulk-done', 'completed');
  const runs = new RunsPage(page);
  await runs.open('q=bulk-&sort=agent&order=asc');
  await expect(runs.shown).toHaveText('4 of 4 shown');
  const order = await runs.order();
  await page.keyboard.press('j');
  await expect(page.getByRole('link', { name: order[0] ?? '', exact: true })).toBeFocused();
  await page.keyboard.press('x');
  await expect(runs.bulk).toContainText('1 selected');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('j');
  await page.keyboard.press('Shift+X');
  await expect(runs.bulk).toContainText('3 selected');
  await page.keyboard.press('Escape');
  await expect(runs.bulk).toHaveCount(0);

  await runs.select('bulk-doubt');
  await expect(runs.bulk.getByRole('link', { name: 'Plan a resume…' })).toHaveAttribute(
    'href',
    /bulk-doubt\/plan/,
  );
  await runs.bulk.getByRole('button', { name: 'Select all 4 in this list' }).click();
  await expect(runs.bulk).toContainText('4 selected');
  await expect(runs.bulk.getByRole('button', { name: /^Plan a resume of 4/ })).toHaveAttribute(
    'title',
    /Rescue/,
  );
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    runs.bulk.getByRole('button', { name: 'Export' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('rerail-4-runs.zip');
  const zip = readFileSync(await file.path()).toString('latin1');
  for (const id of order) expect(zip).toContain(`${id}.rerail.ndjson`);
  expect(zip).toContain(await rail.exported('bulk-done').then((text) => text.split('\n')[1] ?? 'none'));

  await runs.bulk.getByRole('button', { name: 'Cancel…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel 3 runs' });
  await expect(dialog).toContainText('1 effect');
  await expect(dialog).toContainText('will stay in doubt');
  await expect(dialog).toContainText('bulk-doubt');
  await dialog.getByText('1 run cannot be cancelled').click();
  await expect(dialog.getByRole('listitem').filter({ hasText: 'bulk-done' })).toBeVisible();
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('all of it was a test');
  await dialog.getByRole('button', { name: 'Cancel 3 runs' }).click();
  await expect(page.getByText('3 of 3 answered: 3 accepted')).toBeVisible();
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  for (const id of ['bulk-a', 'bulk-b', 'bulk-doubt']) {
    await rail.untilStatus(id, 'cancelled');
    const given = (await rail.events(id)).find(
      ({ kind, mode }) => kind === 'command.accepted' && mode === 'cancel',
    );
    expect(given).toMatchObject({ reason: 'all of it was a test' });
  }
  expect((await rail.run('bulk-done')).status).toBe('completed');
  await expect(runs.row('bulk-doubt')).toContainText('Cancelled');
});

test('columns are chosen and kept, and a press on a head sorts', async ({ rail, desk, page }) => {
  for (const [n, id] of ['col-a', 'col-b'].entries()) {
    await desk.start(id, `ORD-263${n}`, ['columns']);
    await rail.untilStatus(id, 'completed');
  }
  const runs = new RunsPage(page);
  await runs.open('tag=columns');
  await expect(runs.row('col-a')).toBeVisible();
  expect(await runs.order()).toEqual(['col-b', 'col-a']);
  const started = page.getByRole('columnheader', { name: 'Started' });
  await expect(started).toHaveAttribute('aria-sort', 'descending');
  await started.getByRole('button').click();
  await expect(started).toHaveAttribute('aria-sort', 'ascending');
  await expect.poll(() => runs.order()).toEqual(['col-a', 'col-b']);

  await page.getByRole('button', { name: 'Columns', exact: true }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Cost' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Tags' }).click();
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/columns=/);
  await expect(page.getByRole('columnheader', { name: 'Cost' })).toHaveCount(0);
  await expect(runs.row('col-a')).toContainText('columns');
  await runs.open('tag=columns');
  await expect(page.getByRole('columnheader', { name: 'Tags' })).toBeVisible();
  await page.getByRole('button', { name: 'Columns', exact: true }).click();
  await page.getByRole('menuitem', { name: 'The usual columns' }).click();
  await expect(page.getByRole('columnheader', { name: 'Cost' })).toBeVisible();
});

test('rows that cannot be read anew stay, with why and when it is tried again; without a network it says so at once', async ({
  rail,
  desk,
  page,
  context,
}) => {
  await desk.start('stale-a', 'ORD-2641');
  await rail.untilStatus('stale-a', 'completed');
  const runs = new RunsPage(page);
  await runs.open('q=stale-a');
  await expect(runs.row('stale-a')).toBeVisible();
  const live = page.getByRole('status', { name: 'Live updates' }).first();
  await expect(live).toHaveText('Live');
  await context.setOffline(true);
  await expect(live).toHaveText(/^Not live/, { timeout: 5_000 });
  await expect(page.getByText(/^Not live since \d\d:\d\d:\d\d UTC/)).toBeVisible();
  await expect(runs.row('stale-a')).toBeVisible();
  await context.setOffline(false);
  await expect(live).toHaveText('Live');

  await page.route('**/api/v1/runs?*', (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      body: JSON.stringify({ type: 'urn:rerail:busy', title: 'Busy', detail: 'the database is being moved' }),
    }),
  );
  await desk.start('stale-b', 'ORD-2642');
  const strip = page.getByRole('region', { name: 'Not live' });
  await expect(strip).toContainText('The console answered 503: the database is being moved.');
  await expect(strip).toContainText(/What is shown is from \d\d:\d\d:\d\d UTC/);
  await expect(strip).toContainText(/Next try in \d s/);
  await expect(runs.row('stale-a')).toBeVisible();
  await page.unroute('**/api/v1/runs?*');
  await strip.getByRole('button', { name: 'Try now' }).click();
  await expect(strip).toHaveCount(0);
});

test.describe('in another zone', () => {
  test.use({ timezoneId: 'America/St_Johns' });
  test('every time is in the zone that was chosen, which is kept and named', async ({ rail, desk, page }) => {
    await desk.start('zoned', 'ORD-2651');
    await rail.untilStatus('zoned', 'completed');
    const runs = new RunsPage(page);
    await runs.open('q=zoned');
    const time = runs.row('zoned').getByRole('time');
    await expect(time).toHaveAttribute('title', / UTC$/);
    await page.getByRole('button', { name: /^Times in UTC/ }).click();
    await expect(time).toHaveAttribute('title', / UTC−[23]:30$/);
    await runs.openRun('zoned');
    await expect(page.getByText(/UTC−[23]:30/).first()).toBeVisible();
    await page.reload();
    await expect(page.getByText(/UTC−[23]:30/).first()).toBeVisible();
  });
});

test('of more runs than are read by scrolling the rest is asked for, and the keys reach every row (S25)', async ({
  rail,
  page,
}) => {
  const [first] = JSON.parse(historyOf('window.json', 'many')) as { metadata: object; checkpoint: object }[];
  const many = 1_240;
  const ids = Array.from({ length: many }, (_, n) => `many-${String(n).padStart(5, '0')}`);
  const states = ids.map((id) => ({
    ...first,
    metadata: { ...first?.metadata, thread_id: id },
    checkpoint: { ...first?.checkpoint, thread_id: id },
    parent_checkpoint: null,
  }));
  expect((await rail.upload(JSON.stringify(states))).runs).toHaveLength(many);
  const runs = new RunsPage(page);
  await runs.open('q=many-');
  await expect(runs.shown).toHaveText('100 of 1,240 shown');
  const more = page.getByRole('button', { name: 'Show 240 more' });
  const list = page.getByRole('table', { name: 'Runs' });
  await list.hover();
  await expect(async () => {
    await page.mouse.wheel(0, 6_000);
    await expect(more).toBeVisible({ timeout: 200 });
  }).toPass();
  await expect(runs.shown).toHaveText('1,000 of 1,240 shown');
  expect(await list.getByRole('row').count()).toBeLessThan(120);
  await more.click();
  await expect(async () => {
    await page.mouse.wheel(0, 6_000);
    await expect(runs.shown).toHaveText('1,240 of 1,240 shown', { timeout: 200 });
  }).toPass();
  const last = (await runs.order()).at(-1) ?? '';
  await page.getByRole('link', { name: last, exact: true }).focus();
  for (let n = 0; n < 60; n += 1) await page.keyboard.press('k');
  const focused = await page.evaluate(() => document.activeElement?.getAttribute('data-run'));
  expect(await runs.order()).toContain(focused);
  expect(focused).not.toBe(last);
});
