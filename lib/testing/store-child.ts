import { createInterface } from 'node:readline';
import { runId, seq, stepKey } from '@/lib/core/events/ids';
import { openStore } from '@/lib/stores/prisma/open-store';
import type { WriteContext } from '@/lib/usecases/ports';
import {
  append,
  appendTo,
  effectRecord,
  message,
  payload,
  refOf,
  stepRecord,
  stepStarted,
} from './store-rows';

/*
 * A process that writes to a store, for tests with several processes and with SIGKILL. Standard output, a line each:
 * `ready`, then what the mode says. It begins on the line `go` and ends when its input does.
 */

const [mode = '', url = '', name = ''] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);
const store = await openStore({ url });
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Commits without end, several at once; `ack <run> <head>` for each that was acknowledged. */
async function appendForEver(run: string): Promise<never> {
  for (;;) {
    const size = 1 + Math.floor(Math.random() * 20);
    const bodies = Array.from({ length: size }, () =>
      payload(JSON.stringify('x'.repeat(Math.floor(Math.random() * 2_000)) + Math.random())),
    );
    const head = await append(
      store,
      run,
      (context) => {
        const first = (context.run?.headSeq ?? 0) + 1;
        const last = first + size - 1;
        const batch = (context.run?.lastBatch ?? 0) + 1;
        const state = appendTo(runId(run), context, {}).run.state;
        return {
          run: { lastBatch: batch },
          bodies: bodies.map(message),
          payloads: bodies,
          rest: {
            steps: bodies.map((one, i) =>
              stepRecord(`plan#1/s#${first + i}`, { startedSeq: seq(first + i), result: refOf(one) }),
            ),
            effects: [effectRecord(runId(run), stepKey(`plan#1/e#${first}`), { intentSeq: seq(first) })],
            snapshots: [{ seq: seq(last), line: 0, state: { ...state, seq: seq(last) } }],
            batch: {
              epoch: 1 as never,
              batch,
              digest: payload(`${batch}`).sha256,
              firstSeq: seq(first),
              headSeq: seq(last),
              seenSeq: seq(0),
            },
          },
        };
      },
      { effectKeys: 'all' },
    );
    say(`ack ${run} ${head}`);
  }
}

/** Writes 60 times to a run that the other processes write to as well, and races for 20 effects; `won <count>`. */
async function race(): Promise<void> {
  const root = runId('shared');
  const own = runId(`fork_${name}`);
  let won = 0;
  const raceFor = async (i: number) => {
    const key = stepKey(`plan#1/pay#${i}`);
    const got = await store.commit<void, 'taken'>({
      runId: own,
      root,
      effectKeys: [key],
      decide: (context) => {
        if (context.effects.length > 0) return { ok: false, problem: 'taken' };
        const effect = effectRecord(root, key, { runId: own });
        const change = appendTo(own, context, {
          run: { root },
          bodies: [stepStarted(key, effect.intent)],
          rest: { effects: [effect] },
        });
        return { ok: true, value: { value: undefined, change } };
      },
    });
    if (got.ok) won += 1;
  };
  const common = payload('"the same for all"');
  await Promise.all([
    ...Array.from({ length: 60 }, (_, i) => {
      const mine = payload(JSON.stringify(`${name} ${i}`));
      return append(store, root, {
        bodies: [message(mine), message(common)],
        payloads: i % 2 === 0 ? [mine, common] : [common, mine],
      });
    }),
    ...Array.from({ length: 20 }, (_, i) => raceFor(i)),
  ]);
  say(`won ${won}`);
}

/** Writes large new runs without end, each in one commit; `ack <run> <head>` for each that was acknowledged. */
async function importForEver(): Promise<never> {
  for (let n = 0; ; n += 1) {
    const id = runId(`large_${name}_${n}`);
    const size = 2_500;
    const bodies = Array.from({ length: size }, (_, i) => payload(JSON.stringify(`${id} ${i % 100}`)));
    const [context] = await contexts(id);
    const state = appendTo(id, context, {}).run.state;
    const change = appendTo(id, context, {
      run: { lastBatch: 1 },
      bodies: bodies.map(message),
      payloads: [...new Map(bodies.map((one) => [one.sha256, one])).values()],
      rest: {
        steps: bodies.map((one, i) =>
          stepRecord(`plan#1/s#${i}`, { startedSeq: seq(i + 1), result: refOf(one) }),
        ),
        effects: [effectRecord(id, stepKey('plan#1/e#1'), { intentSeq: seq(1) })],
        snapshots: [{ seq: seq(size), line: 0, state: { ...state, seq: seq(size) } }],
      },
    });
    say(`begun ${id}`);
    await store.commit<void, never>({
      runId: id,
      inParts: true,
      decide: () => ({ ok: true, value: { value: undefined, change } }),
    });
    say(`ack ${id} ${size}`);
  }
}

async function contexts(id: ReturnType<typeof runId>): Promise<readonly [WriteContext]> {
  const seen = await store.commit<WriteContext, never>({
    runId: id,
    decide: (context) => ({ ok: true, value: { value: context, change: undefined } }),
  });
  if (!seen.ok) throw new Error('looking is never refused');
  return [seen.value];
}

say('ready');
await lines.next();
if (mode === 'import') await importForEver();
else if (mode === 'append') await Promise.all(['a', 'b', 'c', 'd'].map((run) => appendForEver(`run_${run}`)));
else await race();
await lines.next();
await store.close();
