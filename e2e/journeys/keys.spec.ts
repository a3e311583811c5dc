import { expect, test } from '../fixtures/desk';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

test('Escape goes up one level each, back to the cursor, and never away from what is being typed', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('escaped', 'ORD-2051');
  await rail.untilStatus('escaped', 'completed');
  const run = new RunPage(page);
  await run.open('escaped', 5);
  await run.drawn();
  await page.keyboard.press('b');
  const plan = new PlanPage(page);
  await expect(plan.table).toBeVisible();
  const reason = page.getByRole('textbox', { name: 'Reason' });
  await reason.fill('half a sentence');
  await reason.press('Escape');
  await expect(reason).not.toBeFocused();
  await expect(reason).toHaveValue('half a sentence');

  // What was entered would be lost: it is asked first.
  page.once('dialog', (dialog) => void dialog.dismiss());
  await page.keyboard.press('Escape');
  await expect(reason).toHaveValue('half a sentence');
  await reason.fill('');
  await reason.press('Escape');
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/\/runs\/escaped\?seq=5$/);
  await expect(run.cursor).toHaveAttribute('aria-valuenow', '5');
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/\/runs$/);
});

test('the tree is walked and folded with the keyboard, and the cursor goes with it', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('walked', 'ORD-2052');
  await rail.untilStatus('walked', 'completed');
  const events = await rail.events('walked');
  const entered = events.find((event) => event.kind === 'state.entered' && event.state === 'issue_refund');
  const refund = events.find((event) => event.kind === 'step.started' && event.name === 'create_refund');
  const run = new RunPage(page);
  await run.open('walked', entered?.seq);
  await run.drawn();
  const visit = run.step('issue_refund, visit 1');
  await expect(visit).toHaveAttribute('aria-selected', 'true');
  await visit.focus();
  await page.keyboard.press('ArrowDown');
  await expect(run.step('create_refund#1')).toBeFocused();
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(refund?.seq));
  await page.keyboard.press('ArrowUp');
  await expect(visit).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect(visit).toHaveAttribute('aria-expanded', 'false');
  await expect(run.step('create_refund#1')).toHaveCount(0);
  await page.keyboard.press('ArrowRight');
  await expect(run.step('create_refund#1')).toBeVisible();
});

test('keys of a run go to checkpoints and attempts, play, find, and zoom the machine', async ({
  rail,
  desk,
  page,
}) => {
  const [RUN, ORDER] = ['pressed', 'ORD-2053'];
  await desk.fault('llm', { match: ORDER, answer: 503 });
  await desk.start(RUN, ORDER);
  await rail.untilStatus(RUN, 'completed');
  const events = await rail.events(RUN);
  const [first, second] = events.filter(({ kind, name }) => kind === 'step.started' && name === 'desk');
  const { items } = await rail.get<{ items: readonly { seq: number }[] }>(`/runs/${RUN}/checkpoints`);
  const run = new RunPage(page);
  const at = (seq: number | undefined) => expect(run.cursor).toHaveAttribute('aria-valuenow', String(seq));
  await run.open(RUN, first?.seq);
  await run.drawn();

  await page.keyboard.press(']');
  await at(second?.seq);
  await page.keyboard.press('[');
  await at(first?.seq);
  await page.keyboard.press('Home');
  for (const { seq } of items) {
    await page.keyboard.press('c');
    await at(seq);
  }
  await page.keyboard.press('c');
  await at(items[0]?.seq);

  await page.keyboard.press('Home');
  await page.keyboard.press(' ');
  await expect(run.cursor).not.toHaveAttribute('aria-valuenow', '1');
  await page.keyboard.press(' ');
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeVisible();

  await page.keyboard.press('f');
  const find = page.getByRole('searchbox', { name: 'Find in this run' });
  await expect(find).toBeFocused();
  await page.keyboard.type('policy_library');
  await expect(page.getByRole('region', { name: 'Timeline' }).getByRole('status').first()).toHaveText(
    /^\d of \d+ steps$/,
  );
  await page.keyboard.press('Enter');
  const found = run.tree.getByRole('treeitem', { name: /#\d+, / }).first();
  await expect(found).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Escape');
  await expect(find).toHaveCount(0);

  const before = await run.zoom();
  await page.keyboard.press('+');
  await expect.poll(() => run.zoom()).toBeGreaterThan(before);
  const larger = await run.zoom();
  await page.keyboard.press('0');
  await expect.poll(() => run.zoom()).toBeLessThan(larger);
  const fitted = await run.zoom();
  await page.keyboard.press('-');
  await expect.poll(() => run.zoom()).toBeLessThan(fitted);
});

test('with a doubt, one key asks downstream, and one leads to the plan that has to be decided', async ({
  rail,
  desk,
  page,
}) => {
  await desk.startKilled(rail, 'asked-by-key', 'ORD-2054');
  const run = new RunPage(page);
  await run.open('asked-by-key');
  await run.drawn();
  await page.keyboard.press('d');
  await expect(new PlanPage(page).rows('create_refund#1')).toContainText('needs-decision');
  await page.keyboard.press('Escape');
  await expect(run.doubts).toBeVisible();
  await page.keyboard.press('v');
  const verified = async () =>
    (await rail.events('asked-by-key')).filter(({ kind }) => kind === 'effect.verified').length;
  await expect.poll(verified).toBe(1);
  await expect(run.doubts).toHaveCount(0);
});

test('in the list a key searches, one plans the row in focus, and a pressed range is selected', async ({
  rail,
  desk,
  page,
}) => {
  await desk.fault('shop', { match: '/tickets/T-2058/', answer: 423, message: 'locked' });
  for (const n of [5, 6, 7, 8]) {
    await desk.start(`ranged-${n}`, `ORD-205${n}`, ['ranged']);
    await rail.untilStatus(`ranged-${n}`, n === 8 ? 'failed' : 'completed');
  }
  const runs = new RunsPage(page);
  await runs.open('tag=ranged');
  await expect(runs.shown).toHaveText('4 of 4 shown');
  const order = await runs.order();
  await runs.select(order[0] ?? '');
  await page
    .getByRole('checkbox', { name: `Select ${order[2]}`, exact: true })
    .click({ modifiers: ['Shift'] });
  await expect(runs.bulk).toHaveAccessibleName('3 runs selected');
  for (const [n, id] of order.entries())
    await expect(page.getByRole('checkbox', { name: `Select ${id}`, exact: true })).toBeChecked({
      checked: n < 3,
    });
  await page.keyboard.press('Escape');
  await expect(runs.bulk).toHaveCount(0);

  await page.keyboard.press('/');
  const search = page.getByRole('searchbox', { name: 'Search runs' });
  await expect(search).toBeFocused();
  await page.keyboard.type('ranged-8');
  await expect(runs.shown).toHaveText('1 of 1 shown');
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await expect(page.getByRole('link', { name: 'ranged-8', exact: true })).toBeFocused();
  await page.keyboard.press('r');
  await expect(page).toHaveURL(/\/runs\/ranged-8\/plan\?mode=/);
});
