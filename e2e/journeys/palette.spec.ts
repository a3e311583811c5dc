import { expect, test } from '../fixtures/desk';
import { Palette } from '../pages/palette';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';

test('commands find runs, states, steps and checkpoints, and lead to them', async ({ rail, desk, page }) => {
  await desk.start('commanded', 'ORD-2301');
  await rail.untilStatus('commanded', 'completed');
  const events = await rail.events('commanded');
  const refund = events.find((event) => event.kind === 'step.started' && event.name === 'create_refund');
  const entered = events.find((event) => event.kind === 'state.entered' && event.state === 'issue_refund');
  const palette = new Palette(page);
  const run = new RunPage(page);

  await page.goto('/runs');
  await palette.open();
  await palette.find('commanded', 'commanded');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/runs\/commanded$/);
  await expect(palette.dialog).toHaveCount(0);
  await run.drawn();

  await palette.open();
  await palette.find('create_refund', 'issue_refund#1/create_refund#1');
  await page.keyboard.press('Enter');
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(refund?.seq));
  await palette.open();
  await palette.find('issue_refund', 'issue_refund');
  await page.keyboard.press('Enter');
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(entered?.seq));
  await palette.open();
  await palette.find('checkpoint 1,', 'Checkpoint 1, ');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/seq=\d+$/);

  // The key of a command stands beside it, and does the same.
  await palette.open();
  await palette.find('replay against', 'Replay against');
  await expect(palette.option('Replay against')).toContainText('P');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/runs\/commanded\/plan\?mode=replay/);
  await expect(new PlanPage(page).table).toBeVisible();
});

test('what cannot be done says why, and does nothing (S32)', async ({ rail, desk, page }) => {
  await desk.start('commanded-ended', 'ORD-2302');
  await rail.untilStatus('commanded-ended', 'completed');
  const run = new RunPage(page);
  await run.open('commanded-ended');
  await run.drawn();
  const { actions } = await rail.get<{ actions: { resume: { reason: string } } }>('/runs/commanded-ended');
  const palette = new Palette(page);
  await palette.open();
  await page.keyboard.type('resume from checkpoint');
  const resume = palette.dialog.getByRole('option');
  await expect(resume).toHaveCount(1);
  await expect(resume).toContainText(/^Resume/);
  await expect(resume).toHaveAttribute('aria-disabled', 'true');
  await expect(resume).toContainText(actions.resume.reason);
  const here = page.url();
  await page.keyboard.press('Enter');
  await expect(palette.dialog).toBeVisible();
  expect(new URL(page.url()).pathname).toBe(new URL(here).pathname);
});

test('the address holds what is open and looked for; closed, the focus is where it was', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('commanded-linked', 'ORD-2303');
  await rail.untilStatus('commanded-linked', 'completed');
  await page.goto('/runs/commanded-linked?open=palette&command=send_mail');
  const palette = new Palette(page);
  await expect(palette.field).toHaveValue('send_mail');
  await expect(palette.option('send_mail#1')).not.toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(palette.dialog).toHaveCount(0);
  await expect(page).toHaveURL(/\/runs\/commanded-linked$/);

  const fork = page.getByRole('link', { name: 'Fork' });
  await fork.focus();
  await palette.open();
  await page.keyboard.type('fork');
  await expect(page).toHaveURL(/open=palette&command=fork$/);
  await page.keyboard.press('Escape');
  await expect(fork).toBeFocused();
  await expect(page).toHaveURL(/\/runs\/commanded-linked$/);

  await page.goto('/runs?open=keys');
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/\/runs$/);
});
