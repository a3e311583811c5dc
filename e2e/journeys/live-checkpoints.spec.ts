import { expect, test } from '../fixtures/desk';
import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';

test('a run resumed while it is watched shows its new checkpoints without a reload', async ({
  rail,
  desk,
  page,
}) => {
  const [RUN, ORDER] = ['watched', 'ORD-2071'];
  const checkpoints = async () =>
    (await rail.get<{ items: readonly { n: number; name: string }[] }>(`/runs/${RUN}/checkpoints`)).items;
  await desk.startKilled(rail, RUN, ORDER);
  await desk.fault('llm', { match: ORDER, answer: 'hold' });
  const known = (await checkpoints()).length;
  const run = new RunPage(page);
  // The plan has read the checkpoints when the run's page comes.
  const plan = new PlanPage(page);
  await plan.open(RUN);
  await plan.verify('create_refund');
  await plan.give('Resume');

  // What the page loads first is there before the run goes on.
  await desk.held('llm', ORDER);
  await run.drawn();
  await expect(run.status).toHaveText('Running');
  await desk.release('llm', ORDER);
  await expect(run.status).toHaveText('Completed');
  const newest = (await checkpoints()).at(-1);
  expect(newest?.n).toBeGreaterThan(known);
  await run.step('send_mail#1').click();
  await expect(run.inspector).toContainText(`Checkpoint ${newest?.n}, ${newest?.name}`);
});
