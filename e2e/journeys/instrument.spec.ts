import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { feedRun } from '../../lib/testing/bench/feed';
import { firstLoadKb } from '../../lib/testing/bench/page-measures';
import { pageFigures } from '../../lib/testing/bench/rows-page';
import { feedWide, wideMachine } from '../../lib/testing/bench/wide-machine';

import { expect, test } from '../fixtures/desk';
import { feeder } from '../fixtures/feeder';
import { RunPage } from '../pages/run-page';

test('the panes are resized with the keyboard and by a drag, keep their sizes, and are given back', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('resized', 'ORD-2501');
  await rail.untilStatus('resized', 'completed');
  const run = new RunPage(page);
  await run.open('resized');
  await expect(run.step('desk#1').first()).toBeVisible();
  const width = async () => Math.round((await run.tree.boundingBox())?.width ?? 0);
  const usual = await width();
  const timeline = page.getByRole('separator', { name: 'Resize timeline' });
  await timeline.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect.poll(width).toBe(usual + 32);
  // The keys of a splitter are not the cursor's.
  await expect(page).not.toHaveURL(/seq=/);
  await expect(timeline).toHaveAttribute('aria-valuenow', String(usual + 32));

  const box = await timeline.boundingBox();
  if (box === null) throw new Error('the splitter is not shown');
  await page.mouse.move(box.x, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + 40, box.y + 120, { steps: 4 });
  await page.mouse.up();
  await expect.poll(width).toBe(usual + 72);

  await page.reload();
  await expect.poll(width).toBe(usual + 72);
  // Never so small, or so large, that a pane is lost.
  await timeline.focus();
  await page.keyboard.press('End');
  await expect.poll(async () => (await run.machine.boundingBox())?.width ?? 0).toBeGreaterThanOrEqual(258);
  await page.keyboard.press('Home');
  await expect.poll(width).toBeGreaterThanOrEqual(258);
  await timeline.dblclick();
  await expect.poll(width).toBe(usual);

  const scrubber = page.getByRole('separator', { name: 'Resize scrubber' });
  const before = (await run.cursor.boundingBox())?.height ?? 0;
  await scrubber.focus();
  await page.keyboard.press('ArrowUp');
  await expect.poll(async () => (await run.cursor.boundingBox())?.height).toBe(before + 16);
});

test('/ searches the steps: what was found stands in the address, ↵ walks through it, Esc shows all again', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('searched', 'ORD-2502');
  await rail.untilStatus('searched', 'completed');
  const run = new RunPage(page);
  await run.open('searched', 2);
  await expect(run.step('desk#1').first()).toBeVisible();
  const steps = run.tree.getByRole('treeitem', { level: 2 });
  await page.keyboard.press('/');
  const field = page.getByRole('searchbox', { name: 'Find in this run' });
  await expect(field).toBeFocused();
  await field.fill('refund');
  await expect(page).toHaveURL(/find=refund/);
  await expect(run.step('policy_library#1')).toHaveCount(0);
  await expect(run.step('create_refund#1').first()).toBeVisible();
  await field.press('Enter');
  await expect(run.tree.getByRole('treeitem', { selected: true })).toHaveAccessibleName(/refund/);
  await page.reload();
  await expect(run.step('create_refund#1')).toBeVisible();
  await expect(run.step('policy_library#1')).toHaveCount(0);
  await field.fill('no such step');
  await expect(run.tree.getByRole('treeitem')).toHaveCount(0);
  await expect(page.getByText('No step matches “no such step”')).toBeVisible();
  await field.press('Escape');
  await expect(field).toHaveCount(0);
  await expect(run.step('policy_library#1').first()).toBeVisible();
  await expect(page).not.toHaveURL(/find=/);
  expect(await steps.count()).toBeGreaterThan(5);
});

test('the axis, the scope of the graph and the tab are in the address; the tabs say how much they hold', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('addressed', 'ORD-2503');
  await rail.untilStatus('addressed', 'completed');
  const run = new RunPage(page);
  await run.open('addressed');
  await run.drawn();
  await page.getByRole('button', { name: 'Time, gaps folded' }).click();
  await page.getByRole('button', { name: 'Whole run' }).click();
  await run.inspector.getByRole('tab', { name: 'Effects' }).click();
  await expect(page).toHaveURL(/axis=time/);
  await expect(page).toHaveURL(/graph=whole/);
  await expect(page).toHaveURL(/tab=effects/);
  await page.reload();
  await expect(page.getByRole('button', { name: 'Time, gaps folded' })).toHaveAttribute(
    'aria-pressed',
    'true',
  );
  await expect(page.getByRole('button', { name: 'Whole run' })).toHaveAttribute('aria-pressed', 'true');
  const { items: effects } = await rail.get<{ items: readonly unknown[] }>('/runs/addressed/effects');
  await expect(run.inspector.getByRole('tab', { name: `Effects ${effects.length}` })).toHaveAttribute(
    'aria-selected',
    'true',
  );
  await expect(run.inspector.getByRole('tab', { name: /^Messages \d+$/ })).toBeVisible();
});

test('of a long run both ends are there at once, and the rest on demand, nothing silently left out (S21, S25)', async ({
  rail,
  page,
}) => {
  const head = await feedRun(feeder(rail), 'long', 26_000);
  const run = new RunPage(page);
  await run.open('long');
  await expect(page.getByText(/^[\d,]+ of 10,400 steps$/)).toBeVisible();
  await expect(run.tree.getByRole('treeitem', { selected: true })).toBeVisible();
  // A place in the middle, by its address: its steps come, and the inspector tells the one that it stands in.
  const middle = Math.round(head / 2);
  const [event, next] = (
    await rail.get<{ items: readonly { stepKey?: string; seq: number }[] }>(
      `/runs/long/events?kinds=step.started&after=${middle}&limit=2`,
    )
  ).items;
  await run.open('long', event?.seq);
  await expect(run.inspector.getByText(event?.stepKey ?? 'none', { exact: true }).first()).toBeVisible();
  await page.keyboard.press('Shift+ArrowRight');
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(next?.seq));
  // A visit that is not held is unfolded, and comes.
  await run.open('long', 3);
  const unheld = run.tree.getByRole('treeitem').filter({ hasText: 'not loaded' });
  await run.tree.hover();
  await expect
    .poll(async () => {
      if ((await unheld.count()) === 0) await page.mouse.wheel(0, 4_000);
      return unheld.count();
    })
    .toBeGreaterThan(0);
  const name = (await unheld.first().getAttribute('aria-label')) ?? '';
  await unheld
    .first()
    .getByRole('button', { name: /^Unfold/ })
    .click();
  await expect(run.tree.getByRole('treeitem', { name, exact: true })).toHaveAttribute(
    'aria-expanded',
    'true',
  );
});

test('a machine of 1,000 states is folded to what the run has seen, says so, and shows the rest when asked (S22)', async ({
  rail,
  page,
}) => {
  await feedWide(feeder(rail), 'wide', wideMachine(1_000, 3_000), 20);
  const run = new RunPage(page);
  await run.open('wide');
  await run.drawn();
  const said = run.machine.getByText(/of 1,000 states, \d+ of [\d,]+ edges/);
  await expect(said).toBeVisible();
  expect(await run.machine.getByRole('button', { name: /^State / }).count()).toBeLessThan(70);
  await run.machine.getByRole('button', { name: 'Show all' }).click();
  await expect(run.machine.getByText('All 1,000 states')).toContainText('the cursor, at state_19');
  await expect(run.state('state_19')).toBeInViewport({ ratio: 0.9 });
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await expect(run.state('state_0')).toBeInViewport({ ratio: 0.9 });
  await page.keyboard.press('End');
  await expect(run.state('state_19')).toBeInViewport({ ratio: 0.9 });
  await run.machine.getByRole('button', { name: 'Fold', exact: true }).click();
  await expect(said).toBeVisible();
});

test('what a run’s page loads first has neither React Flow nor the layout program in it', async ({
  rail,
  page,
}) => {
  const { runId } = await TestWorker.create(new ApiClient(rail.url), { runId: 'first-scripts' });
  const html = await (await fetch(`${rail.url}/runs/${runId}`)).text();
  const first = [...html.matchAll(/<script[^>]+src="([^"]+)"/g)].map(([, src = '']) => src);
  expect(first.length).toBeGreaterThan(3);
  const texts = await Promise.all(first.map(async (src) => (await fetch(new URL(src, rail.url))).text()));
  const drawing = /react-flow__viewport|org\.eclipse\.elk/;
  expect(texts.filter((text) => drawing.test(text))).toEqual([]);
  // They come after it, by scripts of their own.
  const later: string[] = [];
  page.on('response', async (response) => {
    if (response.url().endsWith('.js') && drawing.test(await response.text().catch(() => '')))
      later.push(response.url());
  });
  await page.goto(`${rail.url}/runs/${runId}`);
  await expect.poll(() => later.length).toBeGreaterThan(0);
});

test('what the bench measures of a page is measured, at a tenth of the size', async ({ rail, browser }) => {
  const figures = await pageFigures(feeder(rail), browser, {
    steps: 250,
    events: 10_000,
    openings: 1,
    moves: 20,
  });
  const by = new Map(figures.map((each) => [each.name, each]));
  for (const { name, value } of figures) expect(value, name).toBeGreaterThan(0);
  // It does not depend on the run's size. React Flow and the layout are no part of it.
  expect(by.get('page.js.first-load')?.value).toBeLessThanOrEqual(250);
  // Nor are the menus and dialogs of the list.
  expect(await firstLoadKb(`${rail.url}/runs`)).toBeLessThanOrEqual(250);
  // Bounded: what was passed by is let go.
  expect(by.get('page.heap.after-scrubbing')?.ratio).toBeLessThan(3);
});
