import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { TestWorker } from '@/lib/testing/api-client';
import { expect, test } from '../fixtures/desk';
import { test as guardedTest } from '../fixtures/guarded';
import { historyOf } from '../fixtures/histories';
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
    await desk.startKilled(rail, runId, `ORD-267${n}`);
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

  test(`every other page and dialog is free of WCAG AA findings (${colorScheme})`, async ({
    rail,
    desk,
    page,
  }) => {
    const runId = `others-${colorScheme}`;
    await desk.startKilled(rail, runId, `ORD-276${n}`);
    await page.emulateMedia({ colorScheme });
    const clean = async (what: string, within?: string) =>
      expect(await findings(page, colorScheme, within), what).toEqual([]);
    const dialog = (name: string) => page.getByRole('dialog', { name });

    await page.goto('/audit');
    await expect(page.getByRole('table')).toBeVisible();
    await clean('the audit');
    await page.goto('/connect');
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await clean('how to connect');
    await page.goto('/api-reference');
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await clean('the reference of the API');
    await page.goto('/nowhere');
    await expect(page.getByRole('heading').first()).toBeVisible();
    await clean('a page that there is not');

    const runs = new RunsPage(page);
    await runs.open(`q=${runId}&open=save-view`);
    await expect(dialog('Save view')).toBeVisible();
    await clean('the dialog to save a view', '[role="dialog"]');
    await page.keyboard.press('Escape');
    await runs.select(runId);
    await clean('the bar of what is selected', '[role="toolbar"]');
    await runs.bulk.getByRole('button', { name: 'Cancel…' }).click();
    await expect(dialog('Cancel 1 run')).toBeVisible();
    await clean('the dialog to cancel runs', '[role="dialog"]');
    await page.keyboard.press('Escape');

    await page.goto('/runs?open=upload');
    const sent = (name: string, buffer: Buffer) => ({ name, mimeType: 'application/json', buffer });
    await page
      .getByLabel('Files to upload')
      .setInputFiles([
        sent('scanned.json', Buffer.from(historyOf('broken-parts.json', `scanned-${colorScheme}`))),
        sent('no-trace.json', Buffer.from('{"no":"trace"}')),
      ]);
    const files = dialog('Upload traces').getByRole('list', { name: 'Files' });
    await expect(files.getByRole('listitem', { name: 'scanned.json' })).toContainText(/note/);
    await expect(files.getByRole('listitem', { name: 'no-trace.json' })).toContainText('Known are:');
    await clean('the dialog to upload, with reports', '[role="dialog"]');

    await page.goto(`/runs/${runId}?open=export`);
    const export_ = dialog('Share and export');
    await export_.getByRole('button', { name: 'Make a link' }).click();
    await expect(export_.getByRole('textbox', { name: 'The link' })).toBeVisible();
    await clean('the dialog to share and export', '[role="dialog"]');

    const plan = new PlanPage(page);
    await desk.replaceWorker({ RERAIL_DEMO_POLICY: 'strict' });
    await plan.open(runId, 'fork');
    await plan.pickCheckpoint(/^1, /);
    await page.getByRole('combobox', { name: 'Edit a variable' }).selectOption({ index: 1 });
    await expect(page.getByRole('region', { name: 'Edits' }).getByRole('textbox').first()).toBeVisible();
    await clean('the plan of a fork with an edit');
    await plan.open(runId, 'rewind');
    await plan.pickCheckpoint(/^1, /);
    await expect(plan.leftBehind).toBeVisible();
    await clean('the plan of a rewind that leaves an effect behind');
    await plan.open(runId);
    await plan.effect('create_refund').getByRole('radio', { name: 'Hold' }).check();
    await clean('the plan of a hold');
    await desk.replaceWorker();
  });

  guardedTest(
    `signing in and a shared run are free of WCAG AA findings (${colorScheme})`,
    async ({ guarded, page }) => {
      await page.emulateMedia({ colorScheme });
      const clean = async (what: string) => expect(await findings(page, colorScheme), what).toEqual([]);
      await page.goto('/sign-in');
      await clean('the page to sign in');
      await page.getByLabel('Your name').fill('Ada');
      await page.getByLabel('Token').fill('none of them');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await expect(page.getByRole('alert').filter({ hasText: /token/i })).toBeVisible();
      await clean('a token that was refused');

      const worker = await TestWorker.create(guarded.api, { runId: `scanned-share-${colorScheme}` });
      await worker.write(worker.enter('plan'), worker.read('plan#1/lookup#1'));
      const { body } = await guarded.api.post(`${worker.path}/shares`, {});
      await page.goto(body.path as string);
      const run = new RunPage(page);
      await run.drawn();
      await run.step('lookup#1').click();
      await clean('a shared run');
      await page.goto('/shared/of-no-run');
      await expect(page.getByRole('alert').filter({ hasText: 'No such link' })).toBeVisible();
      await clean('a link that opens nothing');
    },
  );
}
