import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { commandId, questionId, runId, type Sha256 } from '@/lib/core/events/ids';
import { claim, TestWorker } from '@/lib/testing/api-client';
import { clockedConsole } from '@/lib/testing/clocked-console';
import { giveCommand } from './give-command';

/* Who comes second is told what became of the question on the line in force, whatever stands on those left behind. */

const QUESTION = 'plan#1/approve#1';

const { api, console } = clockedConsole();

const saved = {
  kind: 'checkpoint.saved',
  trigger: 'manual',
  visit: 'plan#1',
  name: '',
  entrySeq: 0,
  othersSeq: 0,
};

/** A run that asks, with a checkpoint before the question and one while it is asked. */
async function asking() {
  let worker = await TestWorker.create(api);
  await worker.write(worker.enter('plan'), saved);
  const ask = async () => {
    const question = worker.ask(QUESTION);
    await worker.write(worker.start(QUESTION, { step: 'human' }), question);
    return question['questionDigest'] as Sha256;
  };
  const questionDigest = await ask();
  await worker.write(saved);
  const answer = async (actor: string) => {
    const command = {
      commandId: commandId(randomUUID()),
      mode: 'answer',
      reason: '',
      questionId: questionId(QUESTION),
      questionDigest,
      value: true,
    } as const;
    const given = await giveCommand({ ...console().deps, actor }, { runId: runId(worker.runId), command });
    return given.ok ? 'accepted' : given.problem;
  };
  /** Takes the run back to its first checkpoint, or to the second one. */
  const rewind = async (to: 'before' | 'while') => {
    await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'm' } });
    await worker.release('done');
    const checkpoints = (await api.get(`${worker.path}/checkpoints`)).body.items;
    const order = { mode: 'rewind', from: checkpoints[to === 'before' ? 0 : 1].id };
    const { body } = await api.plan(worker.runId, order);
    const ordered = await api.command(worker.runId, { ...order, planDigest: body.digest });
    expect(ordered.status, JSON.stringify(ordered.body)).toBe(202);
    worker = TestWorker.of(api, (await claim(api)).body, 'w2');
  };
  return { ask, answer, rewind };
}

const answered = (by: string) => expect.objectContaining({ kind: 'already-answered', by });

it('is told who answered, where the question was asked again after a rewind that left it open behind', async () => {
  const { ask, answer, rewind } = await asking();
  await rewind('before');
  await ask();
  expect(await answer('ada')).toBe('accepted');
  expect(await answer('bob')).toEqual(answered('ada'));
});

it('is told who answered, where a rewind took the run back to a point at which it was asked', async () => {
  const { answer, rewind } = await asking();
  await rewind('while');
  expect(await answer('ada')).toBe('accepted');
  expect(await answer('bob')).toEqual(answered('ada'));
});

it.each(['before', 'while'] as const)(
  'is told who answered last, not whose answer was left behind: %s it was asked',
  async (to) => {
    const { ask, answer, rewind } = await asking();
    expect(await answer('ada')).toBe('accepted');
    await rewind(to);
    if (to === 'before') await ask();
    expect(await answer('bob')).toBe('accepted');
    expect(await answer('cy')).toEqual(answered('bob'));
  },
);

it('is told of what was left behind where nothing else asks: the newest of it', async () => {
  const { ask, answer, rewind } = await asking();
  expect(await answer('ada')).toBe('accepted');
  await rewind('before');
  expect(await answer('cy')).toEqual(answered('ada'));
  await ask();
  expect(await answer('bob')).toBe('accepted');
  await rewind('before');
  expect(await answer('cy')).toEqual(answered('bob'));
  await ask();
  await rewind('before');
  expect(await answer('cy')).toMatchObject({
    kind: 'not-possible',
    detail: 'The question is not asked on the run’s line in force.',
  });
});
