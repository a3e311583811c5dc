import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { claim, TestWorker } from '@/lib/testing/api-client';
import { describeConsole } from '@/lib/testing/describe-console';

const QUESTION = 'plan#1/ask#1';

describeConsole('the questions of a run that was rewound', ({ api }) => {
  const ask = async (worker: TestWorker) => {
    const asked = worker.ask(QUESTION);
    await worker.write(worker.start(QUESTION, { step: 'human' }), asked);
    return asked;
  };
  const checkpoint = { kind: 'checkpoint.saved', trigger: 'manual', name: 'here', visit: 'plan#1' };
  const saved = { ...checkpoint, entrySeq: 0, othersSeq: 0 };

  /** Asked, answered, and given back after a failure, with a checkpoint before the question and one while it is asked. */
  async function answered() {
    const worker = await TestWorker.create(api());
    await worker.write(worker.enter('plan'), saved);
    const { questionDigest } = await ask(worker);
    await worker.write(saved);
    const answer = { mode: 'answer', questionId: QUESTION, questionDigest, value: { approve: true } };
    expect((await api().command(worker.runId, { ...answer, commandId: randomUUID() })).status).toBe(202);
    await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'm' } });
    await worker.release('done');
    const checkpoints = (await api().get(`${worker.path}/checkpoints`)).body.items as {
      readonly id: string;
    }[];
    return { worker, answer, from: (nth: number) => checkpoints[nth]?.id };
  }

  async function rewound(worker: TestWorker, from: unknown): Promise<TestWorker> {
    const order = { mode: 'rewind', from };
    const { body } = await api().plan(worker.runId, order);
    const given = { ...order, commandId: randomUUID(), planDigest: body.digest };
    expect((await api().command(worker.runId, given)).status).toBe(202);
    const { body: lease } = await claim(api());
    return TestWorker.of(api(), lease, 'w2');
  }

  const told = async (worker: TestWorker) =>
    (await api().get(`${worker.path}/questions`)).body.items.map((item: Record<string, unknown>) => [
      item['status'],
      item['answeredBy'] !== null,
      item['inForce'],
    ]);

  it('tells of the answered one, left behind, beside the one that is asked again', async () => {
    const { worker, from, answer } = await answered();
    expect(await told(worker)).toEqual([['answered', true, true]]);
    const again = await rewound(worker, from(0));
    expect(await told(worker)).toEqual([['answered', true, false]]);
    await ask(again);
    expect(await told(worker)).toEqual([
      ['answered', true, false],
      ['open', false, true],
    ]);
    expect((await api().command(worker.runId, { ...answer, commandId: randomUUID() })).status).toBe(202);
    expect(await told(worker)).toEqual([
      ['answered', true, false],
      ['answered', true, true],
    ]);
  });

  it('tells of the answered one, left behind, where the same question is open again', async () => {
    const { worker, from } = await answered();
    await rewound(worker, from(1));
    expect(await told(worker)).toEqual([
      ['answered', true, false],
      ['open', false, true],
    ]);
  });
});
