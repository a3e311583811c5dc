import type { Page } from '@playwright/test';
import { feedRun } from '../../lib/testing/bench/feed';
import { expect, test } from '../fixtures/desk';
import { feeder } from '../fixtures/feeder';
import type { Rail } from '../fixtures/rail';
import { RunPage } from '../pages/run-page';

/** A run of that id that nobody holds any more, so that nothing of it changes. */
async function ended(rail: Rail, runId: string, events: number): Promise<void> {
  await feedRun(feeder(rail), runId, events);
  await rail.untilStatus(runId, 'interrupted');
}

/** Notes in every frame how far below its pane's top the selected row is drawn. */
const watchSelected = (page: Page) =>
  page.addInitScript(() => {
    const tops = new Set<number>();
    Object.assign(window, { tops });
    const look = () => {
      const row = document.querySelector('[role="treeitem"][aria-selected="true"]');
      const pane = row?.closest('.tree-pane');
      if (row && pane)
        tops.add(Math.round(row.getBoundingClientRect().top - pane.getBoundingClientRect().top));
      requestAnimationFrame(look);
    };
    look();
  });
const topsOf = (page: Page) =>
  page.evaluate(() => [...(window as unknown as { readonly tops: ReadonlySet<number> }).tops]);

test('the rows around the cursor come with the document, and are in sight before any script', async ({
  rail,
  browser,
}) => {
  await ended(rail, 'opened-bare', 3_000);
  const document = async (search: string) => {
    const answer = await fetch(`${rail.url}/runs/opened-bare${search}`, { headers: { accept: 'text/html' } });
    return answer.text();
  };
  const html = await document('');
  // In their place, not in a hidden part that a script moves there.
  expect(html).not.toMatch(/<div hidden id="S:/);
  expect(html.match(/role="treeitem"/g)?.length).toBeGreaterThan(48);
  expect(html.length).toBeLessThan(190_000);
  // What matches a filter, a part of the steps cannot tell.
  expect(await document('?find=look')).not.toMatch(/aria-label="look#/);

  const context = await browser.newContext({ javaScriptEnabled: false, baseURL: rail.url });
  const page = await context.newPage();
  const { tree } = new RunPage(page);
  await page.goto('/runs/opened-bare');
  await expect(tree.getByRole('treeitem', { selected: true })).toBeInViewport({ ratio: 1 });
  await expect(tree.getByRole('treeitem', { name: /^look#10,/ }).last()).toBeInViewport({ ratio: 1 });
  await page.goto('/runs/opened-bare?seq=1500');
  await expect(tree.getByRole('treeitem', { selected: true })).toBeInViewport({ ratio: 1 });
  await page.goto('/runs/opened-bare?seq=4');
  await expect(tree.getByRole('treeitem', { name: 'work, visit 1' })).toBeInViewport({ ratio: 1 });
  await context.close();
});

test('the selected row stays where the document showed it while everything else comes', async ({
  rail,
  page,
}) => {
  await ended(rail, 'opened-still', 13_000);
  const told: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') told.push(message.text());
  });
  await watchSelected(page);
  const run = new RunPage(page);
  for (const seq of [undefined, 6_000, 100, 3]) {
    await run.open('opened-still', seq);
    await run.drawn();
    expect(await topsOf(page), `at ${seq ?? 'the head'}`).toHaveLength(1);
  }
  expect(told).toEqual([]);
  // The keys lead on from there.
  await page.keyboard.press('End');
  await run.tree.getByRole('treeitem', { selected: true }).focus();
  await page.keyboard.press('ArrowUp');
  await expect(run.tree.getByRole('treeitem', { selected: true })).toBeFocused();
  await expect(run.tree.getByRole('treeitem', { selected: true })).toHaveAccessibleName(/^look#10,/);
});

test('what was scrolled to and pressed among the first rows stays there when the others come', async ({
  rail,
  page,
}) => {
  await ended(rail, 'opened-slow', 3_000);
  let release = () => undefined as unknown;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/steps\?/, async (route) => {
    await released;
    await route.continue();
  });
  const run = new RunPage(page);
  await page.goto('/runs/opened-slow');
  await expect(page.getByText('48 of 1,200 steps', { exact: true })).toBeVisible();
  // The page has taken over once the machine is there.
  await run.drawn();
  await run.tree.hover();
  await page.mouse.wheel(0, -300);
  const row = run.tree.getByRole('treeitem', { name: /^look#3,/ }).last();
  await row.click();
  await expect(page).toHaveURL(/seq=/);
  await expect(row).toHaveAttribute('aria-selected', 'true');
  const before = await row.boundingBox();
  release();
  await run.whole();
  await expect(page.getByText('1,200 steps', { exact: true })).toBeVisible();
  const selected = run.tree.getByRole('treeitem', { selected: true });
  await expect(selected).toHaveAccessibleName(/^look#3,/);
  expect((await selected.boundingBox())?.y).toBe(before?.y);
});
