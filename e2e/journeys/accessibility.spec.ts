import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from '../fixtures/desk';
import { Palette } from '../pages/palette';
import { PlanPage } from '../pages/plan-page';
import { type InspectorTab, RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

/**
 * What of WCAG AA is scanned for in a theme. A theme is the value of `color-scheme` and nothing else: the style sheets
 * choose by it only between colours, with `light-dark()`. So dark can differ from light in the rules that compare
 * colours alone (axe's `cat.color`); structure, names, roles, focus and zoom are those that the light journey scans.
 */
const SCANS = {
  light: (axe: AxeBuilder) => axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']),
  dark: (axe: AxeBuilder) => axe.withRules(['color-contrast', 'link-in-text-block']),
} as const;
type Theme = keyof typeof SCANS;

/** What a scan found, short enough to read in a failure. What stays the same from one scan to the next is scanned once. */
async function findings(page: Page, theme: Theme, within = 'html'): Promise<readonly string[]> {
  const axe = new AxeBuilder({ page })
    .include(within)
    // No page has frames: without them axe need not open a tab of its own to put the findings of several together.
    .setLegacyMode()
    .options({ resultTypes: ['violations'] });
  const { violations } = await SCANS[theme](axe).analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)}`));
}

for (const [n, colorScheme] of (['light', 'dark'] as const).entries()) {
  test(`lists, runs, plans, their menus and dialogs are free of WCAG AA findings (${colorScheme})`, async ({
    rail,
    desk,
    page,
  }) => {
    const runId = `scanned-${colorScheme}`;
    await desk.startKilled(rail, runId, `ORD-207${n}`);
    await page.emulateMedia({ colorScheme });
    const clean = async (what: string, within?: string) =>
      expect(await findings(page, colorScheme, within), what).toEqual([]);

    const runs = new RunsPage(page);
    await runs.open();
    await expect(runs.row(runId)).toBeVisible();
    await clean('the list');
    const pane = await runs.addFilter('Status');
    await expect(pane).toBeVisible();
    await clean('the filter by status', '[role="dialog"]');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible();
    await clean('the keys', '[role="dialog"]');
    await page.keyboard.press('Escape');
    const palette = new Palette(page);
    await palette.open();
    await palette.find(runId, runId);
    await clean('the commands', '[role="dialog"]');
    await page.keyboard.press('Escape');
    await runs.search('nothing has this name');
    await expect(page.getByText('No run matches these filters')).toBeVisible();
    await clean('an empty list');

    const run = new RunPage(page);
    await run.open(runId);
    await run.drawn();
    await clean('a run');
    await run.step('create_refund#1').click();
    for (const tab of ['Step', 'State', 'Diff', 'Messages', 'Effects'] as const satisfies InspectorTab[]) {
      await expect((await run.inspect(tab)).locator('.skeleton')).toHaveCount(0);
      await clean(`the inspector's ${tab}`, '[role="tabpanel"]');
    }
    await page.getByRole('button', { name: 'More actions' }).click();
    await expect(page.getByRole('menu')).toBeVisible();
    await clean('the menu of actions', '[role="menu"]');
    await page.getByRole('menuitem', { name: 'Cancel' }).click();
    await expect(page.getByRole('dialog', { name: 'Cancel the run' })).toBeVisible();
    await clean('the dialog of an order', '[role="dialog"]');

    const plan = new PlanPage(page);
    for (const mode of ['fork', 'replay', 'rewind', 'resume']) {
      await plan.open(runId, mode);
      await clean(`the plan of a ${mode}`);
    }
    await plan.openPoints();
    await clean('the points to start from', '[role="dialog"]');
    await page.keyboard.press('Escape');
    await plan.effect('create_refund').getByRole('radio', { name: 'It happened' }).check();
    await clean('a decision', 'aside');
    await plan.verify('create_refund');
    await expect(plan.rows('create_refund#1')).toContainText('skip');
    await clean('a settled plan');
  });

  test(`questions, refusals, divergences and errors are free of WCAG AA findings (${colorScheme})`, async ({
    rail,
    desk,
    page,
  }) => {
    const [asks, replays] = [`asks-${colorScheme}`, `replays-${colorScheme}`];
    await desk.start(asks, 'ORD-1002');
    await desk.start(replays, `ORD-208${n}`);
    await rail.untilStatus(asks, 'waiting');
    await rail.untilStatus(replays, 'completed');
    await page.emulateMedia({ colorScheme });
    const clean = async (what: string) => expect(await findings(page, colorScheme), what).toEqual([]);

    const run = new RunPage(page);
    await run.open(asks);
    await run.drawn();
    await expect(run.question.getByRole('button', { name: 'Approve' })).toBeVisible();
    await clean('a question');
    await page.route('**/api/v1/**', (route) =>
      route.request().method() === 'POST' ? route.continue() : route.abort(),
    );
    expect(await rail.answer(asks, { approved: false })).toBe(202);
    await run.question.getByRole('button', { name: 'Approve' }).click();
    await expect(page.getByText(/^Already answered by/)).toBeVisible();
    await clean('a refusal');
    await page.unroute('**/api/v1/**');

    await desk.replaceWorker({ RERAIL_DEMO_POLICY: 'strict' });
    await run.open(replays);
    await run.plan('Replay');
    await new PlanPage(page).give('Replay');
    await expect(run.divergence).toContainText('line_refund#1');
    await clean('a divergence');
    await desk.replaceWorker();
    await page.goto('/runs/there-is-none');
    await expect(page.getByText('There is no run there-is-none', { exact: true })).toBeVisible();
    await clean('an error');
  });
}
