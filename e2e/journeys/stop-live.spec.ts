import { expect, test } from '../fixtures/desk';
import { ACTOR } from '../fixtures/rail';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';

const ONCE = { 'refund.create': 1, 'mail.send': 1 };

test('a running run is paused at its next point, says who and why, and is resumed to its end', async ({
  rail,
  desk,
  page,
}) => {
  const ORDER = 'ORD-2021';
  await desk.fault('shop', { match: `/orders/${ORDER}`, answer: 'hold' });
  await desk.start('paused', ORDER);
  await desk.held('shop', `/orders/${ORDER}`);
  const run = new RunPage(page);
  await run.open('paused');
  await expect(run.status).toHaveText('Running');
  await run.stop('Pause', 'the shop moves house');
  await expect(page.getByRole('region', { name: 'Order under way' })).toContainText(
    new RegExp(`pause accepted from ${ACTOR}; worker .+ stops at its next point`),
  );
  await expect(run.status).toHaveText('Running');

  // Its worker takes its time to let go of it.
  let isHeld = true;
  await page.route('**/api/v1/runs/paused', async (route) => {
    const response = await route.fetch();
    const { actions, ...summary } = await response.json();
    const holder = { workerId: 'eu-1', since: summary.updatedAt, mode: 'resume' };
    const held = { holder, actions: { ...actions, resume: { possible: false, reason: 'held' } } };
    await route.fulfill({ response, json: { ...summary, actions, ...(isHeld ? held : {}) } });
  });
  await desk.release('shop', `/orders/${ORDER}`);
  await expect(run.status).toHaveText('Paused');
  await expect(page.getByRole('region', { name: 'What happened' })).toContainText(
    `Paused by ${ACTOR}, reason: the shop moves house`,
  );
  expect(rail.outside.added).toEqual({});

  // Of its worker’s letting go no event tells.
  await expect(run.disabled('Resume')).toHaveAttribute('title', 'held');
  isHeld = false;
  await run.plan('Resume');
  await new PlanPage(page).give('Resume');
  await expect(run.status).toHaveText('Completed');
  expect(rail.outside.added).toEqual({ [ORDER]: ONCE });
});

test('a running run is cancelled: what is on its way ends and is recorded, and nothing follows', async ({
  rail,
  desk,
  page,
}) => {
  const ORDER = 'ORD-2022';
  await desk.fault('payments', { match: ORDER, answer: 'hold' });
  await desk.start('cancelled', ORDER);
  await desk.held('payments', ORDER);
  const run = new RunPage(page);
  await run.open('cancelled');
  await run.stop('Cancel', 'the customer keeps it');
  await expect(page.getByRole('region', { name: 'Order under way' })).toContainText(
    /cancel accepted .+ stops at its next point/,
  );

  await desk.release('payments', ORDER);
  await expect(run.status).toHaveText('Cancelled');
  await expect(page.getByRole('region', { name: 'What happened' })).toContainText(
    `Cancelled by ${ACTOR}, reason: the customer keeps it`,
  );
  await expect(run.step('create_refund#1')).toHaveAccessibleName(/completed/);
  await expect(run.doubts).toHaveCount(0);
  await expect(page.getByRole('button', { name: /^Resume/ })).toHaveAttribute('aria-disabled', 'true');
  expect(rail.outside.added).toEqual({ [ORDER]: { 'refund.create': 1 } });
});

test('a cancelled run asks nothing any more: no form, no waiting, and an answer is refused (S32)', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('withdrawn', 'ORD-1002');
  await rail.untilStatus('withdrawn', 'waiting');
  const run = new RunPage(page);
  await run.open('withdrawn');
  await expect(run.question.getByRole('button', { name: 'Approve' })).toBeVisible();
  await run.stop('Cancel', 'asked by mistake');

  await expect(run.status).toHaveText('Cancelled');
  await expect(page.getByText('A question stayed open.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Approve' })).toHaveCount(0);
  await expect(page.getByText('waits for an answer')).toHaveCount(0);
  expect(await rail.answer('withdrawn', { approved: true })).toBe(409);
  expect((await rail.run('withdrawn')).status).toBe('cancelled');
  expect(rail.outside.added).toEqual({});
});
