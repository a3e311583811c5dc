import { expect, test } from 'vitest';
import { oneState, stages } from '@/lib/testing/sdk-stage';
import { JournalForm } from './journal-form';
import type { Batch, JournalPort } from './journal-port';
import { JournalWriter, KNOWN_LIMIT } from './journal-writer';
import { store } from './values';
import type { AgentWorker } from './worker';

const stage = stages();
const { seen } = stage;

/** What a live run keeps of the calls that were made in it. */
const keptBy = (worker: AgentWorker | undefined): readonly string[] => {
  const [session] = (
    worker as unknown as {
      readonly running: ReadonlySet<{ readonly open: { readonly byKey: ReadonlyMap<string, unknown> } }>;
    }
  ).running;
  return [...(session?.open.byKey.keys() ?? [])];
};

test('a live run keeps no call that its scope has left open', async () => {
  const laps = 12;
  const look = seen('look', { effect: 'read' });
  const slow = seen('slow', { effect: 'read', answer: () => new Promise(() => undefined) });
  const agent = oneState({ look, slow }, async (ctx) => {
    for (let lap = 0; lap < laps; lap++) {
      await ctx.parallel('race', {
        a: (c) => Promise.race([c.tool('look', lap), c.tool('slow', lap)]),
      });
    }
    await ctx.ask('done', { prompt: 'done?' });
  });
  let kept: readonly string[] | undefined;
  const worker = await stage.lab.worker([agent], {
    port: (port): JournalPort => ({
      ...port,
      append: (runId, batch) => {
        if (batch.events.some(({ kind }) => kind === 'question.asked')) kept = keptBy(worker);
        return port.append(runId, batch);
      },
    }),
  });
  stage.workers.push(worker);
  void worker.start('a', { runId: 'r' });
  await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
  expect(stage.names().filter((name) => name === 'slow')).toHaveLength(laps);
  expect(kept).toEqual(['work#1/done#1']);
});

/** A writer whose batches are answered at once, and what it sent. */
function writer(answer: (batch: Batch) => 'ok' | 'unknown-payloads' = () => 'ok') {
  const sent: Batch[] = [];
  let head = 1;
  const written = new JournalWriter({
    port: {
      append: async (_runId: string, batch: Batch) => {
        sent.push(batch);
        if (answer(batch) === 'unknown-payloads')
          return { ok: false, problem: { kind: 'unknown-payloads' } } as const;
        const firstSeq = head + 1;
        head += batch.events.length;
        return { ok: true, firstSeq, headSeq: head, others: [] } as const;
      },
    } as unknown as JournalPort,
    held: { runId: 'r', epoch: 1, headSeq: 1 } as never,
    clock: stage.lab.clock,
    batchSize: 500,
    point: () => undefined,
    onOthers: () => undefined,
    onFenced: () => undefined,
    onRefused: (why) => {
      throw new Error(why);
    },
    onEffectExists: () => undefined,
  });
  const say = (n: number) => {
    const message = store({ role: 'user', content: `message ${n}` }, 'the message');
    written.push({
      event: { kind: 'message.appended', role: 'user', message: message.ref },
      payloads: [message],
    });
  };
  return { written, sent, say };
}

test('a writer knows of a bounded number of payloads that the home has, those used last', async () => {
  const { written, sent, say } = writer();
  const known = (written as unknown as { readonly known: { readonly size: number } }).known;
  for (let n = 0; n < KNOWN_LIMIT + 100; n++) {
    say(n);
    // One that is used all the time is not sent a second time, however many come between.
    say(-1);
    if (n % 400 === 0) await written.durable();
  }
  await written.durable();
  expect(known.size).toBe(KNOWN_LIMIT);
  const digests = sent.flatMap(({ payloads }) => payloads.map(({ ref }) => ref.sha256));
  expect(digests).toHaveLength(new Set(digests).size);

  // What it has forgotten is sent again, what it knows is not.
  const before = sent.length;
  say(0);
  say(KNOWN_LIMIT + 99);
  await written.durable();
  expect(sent.slice(before).flatMap(({ payloads }) => payloads.map(({ text }) => text))).toEqual([
    expect.stringContaining('message 0') as unknown,
  ]);
});

test('a home that lost a payload is sent it again', async () => {
  let isLost = false;
  const { written, sent, say } = writer((batch) =>
    isLost && batch.payloads.length === 0 ? 'unknown-payloads' : 'ok',
  );
  say(1);
  await written.durable();
  isLost = true;
  say(1);
  await written.durable();
  expect(sent.map(({ payloads }) => payloads.length)).toEqual([1, 0, 1]);
});

test('the journal’s form keeps no llm step that has ended, whatever its end', () => {
  const form = new JournalForm([]);
  const { asked } = form as unknown as { readonly asked: ReadonlySet<string> };
  const input = store({ messages: [] }, 'the input');
  const error = { type: 'E', message: '' };
  const begin = (stepKey: string) =>
    form.of({
      event: {
        kind: 'step.started',
        stepKey: stepKey as never,
        name: 'm',
        step: 'llm',
        effect: 'read',
        attempt: 1,
        input: input.ref,
        inputDigest: input.ref.sha256,
      },
      payloads: [input],
    });
  const fail = (stepKey: string, final: boolean) =>
    form.of({
      event: {
        kind: 'step.failed',
        stepKey: stepKey as never,
        attempt: 1,
        failure: 'unavailable',
        error,
        final,
      },
    });
  for (const key of ['s#1/a#1', 's#1/b#1', 's#1/c#1']) begin(key);
  fail('s#1/a#1', false);
  fail('s#1/b#1', true);
  form.of({ event: { kind: 'scope.left', scope: 's#1' } });
  expect([...asked]).toEqual(['s#1/a#1', 's#1/c#1']);
});
