import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { expect, test } from '../fixtures/desk';
import type { Rail } from '../fixtures/rail';
import { RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

const MINUTE = 60_000;

/** A run that waits for an answer, wanted by `until`, epoch ms. */
async function asks(rail: Rail, runId: string, until: number): Promise<void> {
  const worker = await TestWorker.create(new ApiClient(rail.url), { runId });
  const step = 'plan#1/approve#1';
  await worker.write(
    worker.enter('plan'),
    worker.start(step, { step: 'human' }),
    { ...worker.ask(step), until },
    { kind: 'run.waiting', on: [{ stepKey: step, for: 'question' }] },
  );
  await worker.release('waiting');
  await rail.untilStatus(runId, 'waiting');
}

test('a question says by when an answer is wanted, how far away that is, and that nothing happens then (S33)', async ({
  rail,
  page,
}) => {
  const [soon, late] = [Date.now() + 12 * MINUTE, Date.now() - 3 * MINUTE];
  await asks(rail, 'deadline-soon', soon);
  await asks(rail, 'deadline-past', late);
  const written = (at: number) => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

  const runs = new RunsPage(page);
  await runs.open('q=deadline-');
  await expect(runs.row('deadline-soon')).toContainText(`waits for a person, answer by ${written(soon)}`);

  const run = new RunPage(page);
  await run.open('deadline-soon');
  await expect(run.question).toContainText(
    new RegExp(`answer by ${written(soon)}, in \\d+ min; nothing happens by itself then`),
  );
  await run.open('deadline-past');
  await expect(run.question).toContainText(
    new RegExp(
      `an answer was wanted by ${written(late)}, \\d+ min ago: nothing has happened by itself, it can still be answered`,
    ),
  );
  await run.question.getByRole('textbox', { name: 'Answer' }).fill('yes');
  await run.question.getByRole('button', { name: 'Send the answer' }).click();
  await expect(run.question).toHaveCount(0);
  await expect(run.status).toHaveText('Queued');
});
