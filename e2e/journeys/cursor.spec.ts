import { type Desk, expect, test } from '../fixtures/desk';
import type { Rail } from '../fixtures/rail';
import { RunPage } from '../pages/run-page';

/** A completed run about `order`, and where things began in its journal. */
async function completed({ rail, desk }: { rail: Rail; desk: Desk }, runId: string, order: string) {
  await desk.start(runId, order);
  await rail.untilStatus(runId, 'completed');
  const events = await rail.events(runId);
  const seqOf = (kind: string, name: string): number =>
    events.find((event) => event.kind === kind && (event.name ?? event.state) === name)?.seq ?? -1;
  return { events, head: events.length, seqOf };
}

const MODEL = { row: 'desk#1', state: 'plan', step: 'desk#1' };
const POLICY = { row: 'policy_library#1', state: 'check_policy', step: 'policy_library#1' };
const REFUND = { row: 'create_refund#1', state: 'issue_refund', step: 'create_refund#1' };
const MAIL = { row: 'send_mail#1', state: 'send_mail', step: 'send_mail#1' };

test('a link to a moment opens every pane there, and Back and Forward walk between the moments chosen', async ({
  rail,
  desk,
  page,
}) => {
  const { seqOf } = await completed({ rail, desk }, 'linked', 'ORD-2001');
  const refund = seqOf('step.started', 'create_refund');
  const mail = seqOf('step.started', 'send_mail');
  const run = new RunPage(page);
  await run.open('linked', refund);
  await run.standsAt(refund, REFUND);

  await run.step('desk#1').first().click();
  await run.standsAt(seqOf('step.started', 'desk'), MODEL);
  await run.step('send_mail#1').click();
  await run.standsAt(mail, MAIL);

  await page.goBack();
  await run.standsAt(seqOf('step.started', 'desk'), MODEL);
  await page.goBack();
  await run.standsAt(refund, REFUND);
  await page.goForward();
  await page.goForward();
  await run.standsAt(mail, MAIL);
});

test('whoever moves the cursor and at once leaves for the plan comes to the plan of that moment', async ({
  rail,
  desk,
  page,
}) => {
  const { head } = await completed({ rail, desk }, 'left-at-once', 'ORD-2004');
  const run = new RunPage(page);
  await run.open('left-at-once');
  await run.drawn();
  // The page that is asked for comes after the address had all the time to change once more.
  const asked: (() => void)[] = [];
  await page.route(/\/plan\?.*_rsc=/, async (route) => {
    await new Promise<void>((resolve) => asked.push(resolve));
    await route.continue();
  });
  for (const leave of [
    async () => {
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('p');
    },
    async () => {
      await run.step('send_mail#1').click();
      await page.getByRole('link', { name: 'Replay' }).click();
    },
  ]) {
    await leave();
    await expect(page).toHaveURL(/[?&]seq=\d+/);
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    for (const go of asked.splice(0)) go();
    await expect(page).toHaveURL(/\/plan\?mode=replay/);
    await page.goBack();
    await expect(run.cursor).not.toHaveAttribute('aria-valuenow', String(head));
  }
});

test('scrubber, graph and keys move one cursor in every pane', async ({ rail, desk, page }) => {
  const { events, head, seqOf } = await completed({ rail, desk }, 'scrubbed', 'ORD-2002');
  const refund = seqOf('step.started', 'create_refund');
  const policy = seqOf('step.started', 'policy_library');
  const run = new RunPage(page);
  await run.open('scrubbed');
  await run.drawn();
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(head));

  await run.scrubTo(refund);
  await run.standsAt(refund, REFUND);
  // A state that is pressed: the beginning of its last visit before the cursor.
  await run.state('plan').click();
  const plan = seqOf('state.entered', 'plan');
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(plan));
  await expect(run.state('plan')).toHaveAccessibleName(/, at the cursor/);

  await run.scrubTo(policy);
  await run.standsAt(policy, POLICY);
  await page.keyboard.press('ArrowRight');
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(policy + 1));
  await page.keyboard.press('ArrowLeft');
  await run.standsAt(policy, POLICY);
  const nextStep = events.find((event) => event.kind === 'step.started' && event.seq > policy)?.seq;
  await page.keyboard.press('Shift+ArrowRight');
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(nextStep));
  await page.keyboard.press('e');
  await run.standsAt(refund, REFUND);
  await page.keyboard.press('End');
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(head));
  await expect(page).not.toHaveURL(/seq=/);
});

test('a drag takes the cursor along, every pane with it, and Back returns to where it began', async ({
  rail,
  desk,
  page,
}) => {
  const { seqOf } = await completed({ rail, desk }, 'dragged', 'ORD-2005');
  const refund = seqOf('step.started', 'create_refund');
  const policy = seqOf('step.started', 'policy_library');
  const mail = seqOf('step.started', 'send_mail');
  const run = new RunPage(page);
  await run.open('dragged', policy);
  await run.drawn();
  await run.drag(refund, refund + 1, mail);
  await run.standsAt(mail, MAIL);
  await page.mouse.up();
  await run.standsAt(mail, MAIL);
  await page.goBack();
  await run.standsAt(policy, POLICY);
});

test('State, Diff, Messages and Effects tell the moment of the cursor and no later one', async ({
  rail,
  desk,
  page,
}) => {
  const { events, seqOf } = await completed({ rail, desk }, 'inspected', 'ORD-2003');
  const intended = seqOf('step.started', 'create_refund');
  const confirmed =
    events.find((event) => event.kind === 'step.completed' && event.seq > intended)?.seq ?? -1;
  const patched = events.find((event) => event.kind === 'variables.patched' && event.seq > confirmed)?.seq;
  const run = new RunPage(page);
  await run.open('inspected', intended);

  const state = await run.inspect('State');
  const variables = state.getByRole('region', { name: 'Variables' });
  await expect(variables.getByRole('button', { name: /^totalCents/ })).toContainText('6500');
  await expect(variables.getByRole('button', { name: /^refund [{]/ })).toHaveCount(0);
  const messages = await run.inspect('Messages');
  await expect(messages.getByRole('listitem')).toHaveCount(3);
  await expect(messages.getByRole('listitem').nth(1)).toContainText('Please refund my order ORD-2003.');
  const effects = await run.inspect('Effects');
  await expect(effects.getByRole('listitem')).toHaveCount(1);
  await expect(effects.getByRole('listitem')).toContainText('Intended');

  await run.step('send_mail, visit 1').click();
  await expect(effects.getByRole('listitem')).toContainText('Confirmed');
  await expect(effects.getByRole('listitem')).toContainText(/Receipt re_\w+/);

  await run.open('inspected', patched);
  const diff = await run.inspect('Diff');
  await expect(diff.getByRole('listitem')).toHaveCount(1);
  await expect(diff.getByRole('listitem')).toContainText('/variables/refund added');
  await diff.getByRole('button', { name: 'start' }).click();
  await expect(diff.getByRole('listitem').filter({ hasText: '/variables/totalCents' })).toContainText('6500');
});
