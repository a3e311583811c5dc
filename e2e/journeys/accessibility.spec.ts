import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

/** What a scan found, short enough to read in a failure. */
async function findings(page: Page): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'])
    .analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)}`));
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every page is free of WCAG AA findings (${colorScheme})`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    const runs = new RunsPage(page);
    await runs.open();
    await expect(runs.row('demo-killed')).toBeVisible();
    expect(await findings(page), 'runs').toEqual([]);

    const run = new RunPage(page);
    await run.open('demo-killed');
    await expect(run.step('create_refund').first()).toBeVisible();
    expect(await findings(page), 'run').toEqual([]);
    await run.open('demo-waiting');
    await expect(run.question.getByRole('button', { name: 'Approve' })).toBeVisible();
    expect(await findings(page), 'question').toEqual([]);

    const plan = new PlanPage(page);
    await plan.open('demo-killed');
    await plan.verify('create_refund');
    expect(await findings(page), 'plan').toEqual([]);
  });
}
