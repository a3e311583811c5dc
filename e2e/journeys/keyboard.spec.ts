import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

test('the killed run is found, looked through, settled and resumed with the keyboard alone', async ({
  rail,
  page,
}) => {
  const runs = new RunsPage(page);
  await runs.open();
  await expect(runs.row('demo-killed')).toBeVisible();
  const link = page.getByRole('link', { name: 'demo-killed', exact: true });
  await expect(async () => {
    await page.keyboard.press('j');
    await expect(link).toBeFocused({ timeout: 100 });
  }).toPass();
  await page.keyboard.press('Enter');

  const run = new RunPage(page);
  await expect(run.status).toHaveText('Interrupted');
  const { headSeq } = await rail.run('demo-killed');
  const at = (seq: number) => expect(run.cursor).toHaveAttribute('aria-valuenow', String(seq));
  await at(headSeq);
  await page.keyboard.press('ArrowLeft');
  await at(headSeq - 1);
  await page.keyboard.press('Home');
  await at(1);
  await page.keyboard.press('Shift+ArrowRight');
  await expect(run.inspector.getByRole('heading', { level: 2 })).toBeVisible();
  for (const [key, tab] of [
    ['2', 'State'],
    ['3', 'Diff'],
    ['4', 'Messages'],
    ['5', 'Effects'],
    ['1', 'Step'],
  ] as const) {
    await page.keyboard.press(key);
    await expect(run.inspector.getByRole('tabpanel', { name: tab })).toBeVisible();
  }
  await page.keyboard.press('End');
  await at(headSeq);

  await page.keyboard.press('r');
  const plan = new PlanPage(page);
  await expect(plan.rows('create_refund#1')).toContainText('needs-decision');
  // Decided, and then asked about instead: nothing but the keyboard.
  const effect = plan.effect('create_refund');
  await tabTo(page, effect.getByRole('radio', { name: 'It happened' }));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press(' ');
  await expect(effect.getByRole('radio', { name: 'It happened' })).toBeChecked();
  await page.keyboard.press('v');
  await expect(plan.rows('create_refund#1')).toContainText('skip');
  await expect(plan.order('Resume')).not.toHaveAttribute('aria-disabled', 'true');
  await page.keyboard.press('Control+Enter');

  await expect(run.status).toHaveText('Completed');
  expect(rail.outside.added).toEqual({ 'ORD-1003': { 'refund.find': 1, 'mail.send': 1 } });
});

test('what was entered into a plan stays where the theme or the zone of the times is switched', async ({
  page,
}) => {
  const plan = new PlanPage(page);
  await plan.open('demo-killed');
  const happened = plan.effect('create_refund').getByRole('radio', { name: 'It did not happen' });
  await happened.check();
  await expect(plan.rows('create_refund#1')).not.toContainText('needs-decision');
  const reason = page.getByRole('textbox', { name: 'Reason' });
  await reason.fill('the bank says no');
  await page.getByRole('button', { name: 'Theme' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', /dark|light/);
  await page.getByRole('button', { name: /^Times in UTC/ }).click();
  await expect(page.getByRole('button', { name: /^Times in this browser/ })).toBeVisible();
  await expect(happened).toBeChecked();
  await expect(reason).toHaveValue('the bank says no');
  await expect(plan.rows('create_refund#1')).not.toContainText('needs-decision');
});

/** Moves the focus on with the Tab key until it is there. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let n = 0; n < 120; n += 1) {
    await page.keyboard.press('Tab');
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`The Tab key does not lead to ${target}`);
}

test('a question is read and approved with the keyboard alone', async ({ rail, page }) => {
  await page.goto('/runs/demo-waiting');
  const run = new RunPage(page);
  await expect(run.status).toHaveText('Waiting');
  await tabTo(page, run.question.getByRole('button', { name: 'Approve' }));
  await page.keyboard.press('Enter');
  await expect(run.status).toHaveText('Completed');
  expect((await rail.events('demo-waiting')).filter(({ kind }) => kind === 'question.answered')).toHaveLength(
    1,
  );
});

test('a run is forked with an edit, and replayed, with the keyboard alone', async ({ rail, page }) => {
  await page.goto('/runs/demo-completed');
  const run = new RunPage(page);
  await expect(run.status).toHaveText('Completed');
  await run.drawn();
  await page.keyboard.press('p');
  const plan = new PlanPage(page);
  await expect(plan.order('Replay')).not.toHaveAttribute('aria-disabled', 'true');
  await page.keyboard.press('Control+Enter');
  await expect(page).not.toHaveURL(/demo-completed/);
  await expect(page.getByText('replay of demo-completed')).toBeVisible();
  await expect(run.status).toHaveText('Completed');
  expect(rail.outside.added).toEqual({});

  const { items } = await rail.get<{ items: readonly { id: string }[] }>('/runs/demo-completed/checkpoints');
  await page.goto(`/runs/demo-completed/plan?mode=fork&from=${items.at(-2)?.id}`);
  const edits = page.getByRole('region', { name: 'Edits' });
  const variables = edits.getByRole('combobox', { name: 'Edit a variable' });
  await expect(variables).toBeEnabled();
  await tabTo(page, variables);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await tabTo(page, edits.getByRole('textbox').first());
  await page.keyboard.press('End');
  await page.keyboard.type(' ');
  await expect(edits).toContainText('1 edit, nothing runs yet');
  // What was entered is asked about before it is left.
  page.once('dialog', (dialog) => void dialog.dismiss());
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(edits).toContainText('1 edit, nothing runs yet');
  await expect(plan.order('Fork')).not.toHaveAttribute('aria-disabled', 'true');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText('fork of demo-completed')).toBeVisible();
});

test('a run is paused, rewound and cancelled, and one is found by its filters, with the keyboard alone', async ({
  rail,
  page,
}) => {
  await page.goto('/runs/demo-waiting');
  const run = new RunPage(page);
  await expect(run.status).toHaveText('Waiting');
  await run.drawn();
  const menu = page.getByRole('button', { name: 'More actions' });
  const choose = async (name: RegExp) => {
    await tabTo(page, menu);
    await page.keyboard.press('Enter');
    const item = page.getByRole('menuitem', { name });
    await expect(page.getByRole('menu')).toBeVisible();
    for (let n = 0; n < 12; n += 1) {
      if (await item.evaluate((element) => element === document.activeElement)) break;
      await page.keyboard.press('ArrowDown');
    }
    await expect(item).toBeFocused();
    await page.keyboard.press('Enter');
  };
  await choose(/^Rewind/);
  const plan = new PlanPage(page);
  await expect(plan.table).toBeVisible();
  await expect(page).toHaveURL(/mode=rewind/);
  await page.keyboard.press('Escape');
  await expect(run.status).toHaveText('Waiting');
  await run.drawn();
  await choose(/^Cancel/);
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('textbox', { name: 'Reason' })).toBeVisible();
  await tabTo(page, dialog.getByRole('textbox', { name: 'Reason' }));
  await page.keyboard.type('no longer wanted');
  await tabTo(page, dialog.getByRole('button', { name: 'Cancel the run' }));
  await page.keyboard.press('Enter');
  await expect(run.status).toHaveText('Cancelled');
  expect((await rail.run('demo-waiting')).status).toBe('cancelled');

  await page.keyboard.press('Escape');
  const runs = new RunsPage(page);
  await expect(runs.row('demo-waiting')).toBeVisible();
  await tabTo(page, page.getByRole('button', { name: 'Filter', exact: true }));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Status', exact: true })).toBeFocused();
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByRole('checkbox', { name: 'Cancelled' }));
  await page.keyboard.press(' ');
  await page.keyboard.press('Escape');
  await expect(runs.shown).toHaveText('1 of 1 shown');
  await expect(runs.row('demo-waiting')).toBeVisible();
});

test('the way to upload is reached with the keyboard alone', async ({ page }) => {
  await page.goto('/runs');
  const upload = page.getByRole('button', { name: 'Upload a trace' }).first();
  await tabTo(page, upload);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Upload traces' });
  await tabTo(page, dialog.getByRole('button', { name: 'Choose files' }));
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
});
