import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  epoch,
  epochMs,
  leaseId,
  machineDigest,
  questionId,
  type RunId,
  runId,
  seq,
  sha256,
  stepKey,
  workerId,
} from '@/lib/core/events/ids';
import type { Payload, PayloadRef } from '@/lib/core/events/payload';
import type { EventBody } from '@/lib/core/events/run-event';
import type { Machine } from '@/lib/core/machine/machine';
import type {
  CheckpointRecord,
  EffectRecord,
  EffectStatus,
  QuestionRecord,
  RunRecord,
  RunState,
  RunStatus,
} from '@/lib/core/projections/records';
import { assertDefined } from '@/lib/core/shared/assert';
import type {
  AnswerRecord,
  BatchRecord,
  Change,
  PartRecord,
  RunCursor,
  RunFilter,
  RunMoved,
  Store,
  WriteContext,
} from '@/lib/usecases/ports';
import {
  append,
  appendTo,
  digest,
  effectRecord,
  message,
  newRunRecord,
  payload,
  queued,
  refOf,
  stepRecord,
  stepStarted,
} from './store-rows';

export interface OpenedStore {
  readonly store: Store;
  /** Closes the store and opens its data again; absent where nothing survives. */
  readonly reopen?: () => Promise<Store>;
  readonly close: () => Promise<void>;
}

const DAY = 86_400_000;
const awkward =
  'nul \u0000 · lone \ud800 and \udfff · pair 😀 · esc \u001b[31m · rtl \u202e · "quoted" \\ \n end';

/**
 * What every store promises, whatever it is made of. `open` gives an empty one for each test; `durable`: it has
 * `reopen`; `parts`: it writes large changes in parts, and so decides twice.
 */
export function storeContract(
  kind: { readonly durable: boolean; readonly parts?: true },
  open: () => Promise<OpenedStore>,
): void {
  let opened: OpenedStore;
  let store: Store;
  beforeEach(async () => {
    opened = await open();
    store = opened.store;
  });
  afterEach(() => opened.close());

  const contextOf = async (
    id: string,
    ask: Partial<Parameters<Store['commit']>[0]> = {},
  ): Promise<WriteContext> => {
    const seen = await store.commit<WriteContext, never>({
      ...ask,
      runId: runId(id),
      decide: (context) => ({ ok: true, value: { value: context, change: undefined } }),
    });
    if (!seen.ok) throw new Error('looking is never refused');
    return seen.value;
  };
  const heads = async (id: string) =>
    (await store.events(runId(id), { limit: 10_000 })).map((event) => event.seq);

  describe('commit', () => {
    it('stores a new run and gives it back as it was written', async () => {
      const record = newRunRecord('run_a', {
        parent: { runId: runId('run_p'), seq: seq(7), mode: 'fork' },
        root: runId('run_root'),
        home: 'mirror',
        source: 'langgraph',
        epoch: epoch(3),
        lastBatch: 2,
        updatedAt: epochMs(2_000),
        lease: {
          leaseId: leaseId('lease_1'),
          workerId: workerId('w1'),
          epoch: epoch(3),
          since: epochMs(1_500),
          expiresAt: epochMs(16_500),
          leaseMs: 15_000,
          mode: 'resume',
        },
      });
      await append(store, 'run_a', { run: record, bodies: [queued] });
      const expected = { ...record, headSeq: seq(1), state: { ...record.state, seq: seq(1) } };
      expect(await store.run(runId('run_a'))).toEqual(expected);
      expect((await contextOf('run_a')).run).toEqual(expected);
      expect(await store.run(runId('run_missing'))).toBeUndefined();
    });

    it('gives events gapless seqs from 1 and returns each as it was written', async () => {
      const text = payload(JSON.stringify('hello'));
      const bodies: readonly EventBody[] = [
        queued,
        message(text),
        stepStarted('plan#1/create_refund#1', effectRecord(runId('run_a'), stepKey('k')).intent),
        { kind: 'value.recorded', key: stepKey('plan#1/$random#1'), of: 'random', value: 0.25 },
        { kind: 'run.failed', cause: 'error', error: { type: 'TypeError', message: awkward } },
      ];
      await append(store, 'run_a', { bodies: bodies.slice(0, 2), payloads: [text] });
      await append(store, 'run_a', { bodies: bodies.slice(2) });
      const events = await store.events(runId('run_a'), { limit: 100 });
      expect(events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5]);
      for (const [i, body] of bodies.entries()) {
        const { at, ...event }: { readonly at?: number } = events[i] ?? {};
        expect(event).toEqual({ runId: 'run_a', seq: i + 1, epoch: 1, by: 'worker', version: 1, ...body });
        expect(Math.abs(Number(at) - store.clock.now())).toBeLessThan(60_000);
      }
      expect(events[0]).not.toHaveProperty('inherited');
    });

    it('keeps the version of an event and the origin of an inherited one', async () => {
      await store.commit<void, never>({
        runId: runId('run_f'),
        decide: (context) => {
          const change = appendTo(runId('run_f'), context, { bodies: [queued, queued] });
          const events = change.events.map((event, i) => ({
            ...event,
            ...(i === 1 ? { inherited: { runId: runId('run_p'), seq: seq(41) } } : {}),
          }));
          return { ok: true, value: { value: undefined, change: { ...change, events } } };
        },
      });
      const [own, copied] = await store.events(runId('run_f'), { limit: 10 });
      expect(own).toMatchObject({ version: 1 });
      expect(own).not.toHaveProperty('inherited');
      expect(copied).toMatchObject({ version: 1, inherited: { runId: 'run_p', seq: 41 } });
    });

    it('writes nothing when the decision refuses', async () => {
      const refused = await store.commit<void, 'no'>({
        runId: runId('run_a'),
        decide: () => ({ ok: false, problem: 'no' }),
      });
      expect(refused).toEqual({ ok: false, problem: 'no' });
      expect(await store.run(runId('run_a'))).toBeUndefined();
    });

    it('rejects when the decision throws, writes nothing, and goes on', async () => {
      await expect(
        store.commit({
          runId: runId('run_a'),
          decide: () => {
            throw new Error('a bug');
          },
        }),
      ).rejects.toThrow('a bug');
      expect(await append(store, 'run_a', { bodies: [queued] })).toBe(1);
    });

    it('refuses seqs that do not follow the head, as a broken invariant', async () => {
      await append(store, 'run_a', { bodies: [queued] });
      const wrong = store.commit<void, never>({
        runId: runId('run_a'),
        decide: (context) => {
          const change = appendTo(runId('run_a'), context, { bodies: [queued] });
          return {
            ok: true,
            value: {
              value: undefined,
              change: { ...change, events: change.events.map((event) => ({ ...event, seq: seq(5) })) },
            },
          };
        },
      });
      await expect(wrong).rejects.toThrow(/does not follow/);
      expect(await heads('run_a')).toEqual([1]);
    });

    it('does not fail the neighbours of a failing commit', async () => {
      const all = await Promise.allSettled(
        Array.from({ length: 12 }, (_, i) =>
          i === 5
            ? store.commit({
                runId: runId('run_bad'),
                decide: (context) => {
                  const change = appendTo(runId('run_bad'), context, { bodies: [queued] });
                  // No column takes this: the database refuses it, not the decision.
                  const run = { ...change.run, createdAt: Number.NaN as RunRecord['createdAt'] };
                  return {
                    ok: true,
                    value: {
                      value: undefined,
                      change: { ...change, run: !kind.durable ? { ...run, headSeq: seq(9) } : run },
                    },
                  };
                },
              })
            : append(store, `run_${i}`, { bodies: [queued] }),
        ),
      );
      expect(all.map((one) => one.status)).toEqual(
        Array.from({ length: 12 }, (_, i) => (i === 5 ? 'rejected' : 'fulfilled')),
      );
      expect((await store.runs({ filter: {}, sort: 'created', descending: false, limit: 50 })).total).toBe(
        11,
      );
      expect(await store.run(runId('run_bad'))).toBeUndefined();
    });

    it('answers the same batch with the batch that was stored, and a later or earlier one with none', async () => {
      const record: BatchRecord = {
        epoch: epoch(1),
        batch: 1,
        digest: digest('b1'),
        firstSeq: seq(1),
        headSeq: seq(2),
        seenSeq: seq(0),
      };
      await append(store, 'run_a', {
        bodies: [queued, queued],
        run: { lastBatch: 1 },
        rest: { batch: record },
      });
      const batchOf = async (e: number, batch: number) =>
        (await contextOf('run_a', { batch: { epoch: epoch(e), batch } })).batch;
      expect(await batchOf(1, 1)).toEqual(record);
      expect(await batchOf(1, 2)).toBeUndefined();
      expect(await batchOf(2, 1)).toBeUndefined();
      await append(store, 'run_a', { run: { epoch: epoch(2), lastBatch: 0 } });
      expect(await batchOf(1, 1)).toEqual(record);
      expect(await batchOf(0, 1)).toBeUndefined();
    });

    it('keeps an answer under its key, first for decisions and then for reads', async () => {
      const answer: AnswerRecord = {
        key: 'command:c1',
        runId: runId('run_a'),
        requestDigest: digest('r'),
        answer: JSON.stringify({ text: awkward }),
        at: epochMs(5),
      };
      expect((await contextOf('run_a', { answerKey: 'command:c1' })).answer).toBeUndefined();
      await append(store, 'run_a', { bodies: [queued], rest: { answers: [answer] } });
      expect((await contextOf('run_a', { answerKey: 'command:c1' })).answer).toEqual(answer);
      expect(await store.answer('command:c1')).toEqual(answer);
      expect(await store.answer('command:c2')).toBeUndefined();
    });

    it('S11 gives one of many claims under one key, on different runs at once, and the others its answer', async () => {
      const claim = (i: number) =>
        store.commit<string, never>({
          runId: runId(`run_${i}`),
          answerKey: 'claim:x',
          decide: (context) => {
            if (context.answer !== undefined)
              return { ok: true, value: { value: context.answer.answer, change: undefined } };
            const answer: AnswerRecord = {
              key: 'claim:x',
              runId: runId(`run_${i}`),
              requestDigest: digest('x'),
              answer: `run_${i}`,
              at: context.now,
            };
            return {
              ok: true,
              value: {
                value: answer.answer,
                change: appendTo(runId(`run_${i}`), context, {
                  bodies: [queued],
                  rest: { answers: [answer] },
                }),
              },
            };
          },
        });
      const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => claim(i)));
      expect(new Set(answers.map((one) => (one.ok ? one.value : 'refused'))).size).toBe(1);
      expect((await store.runs({ filter: {}, sort: 'created', descending: false, limit: 50 })).total).toBe(1);
    });

    it('collects what the console appended after a seq', async () => {
      await append(store, 'run_a', { bodies: [queued], by: 'console' });
      await append(store, 'run_a', { bodies: [queued, queued] });
      await append(store, 'run_a', {
        bodies: [{ kind: 'command.ended', commandId: 'c' as never, outcome: 'done' }],
        by: 'console',
      });
      await append(store, 'run_a', { bodies: [queued] });
      const others = async (after: number) =>
        (await contextOf('run_a', { othersAfter: seq(after) })).others.map((event) => event.seq);
      expect(await others(0)).toEqual([1, 4]);
      expect(await others(1)).toEqual([4]);
      expect(await others(4)).toEqual([]);
      expect((await contextOf('run_a')).others).toEqual([]);
    });

    it('gives the rows of the asked steps, of every line, and of no other run', async () => {
      const [of, other] = [stepRecord('plan#1/a#1'), stepRecord('plan#1/b#1')];
      const later = { ...of, line: 1 };
      await append(store, 'run_a', { bodies: [queued], rest: { steps: [of, other, later] } });
      await append(store, 'run_b', { bodies: [queued], rest: { steps: [of] } });
      const { steps } = await contextOf('run_a', { stepKeys: [of.stepKey, stepKey('plan#1/none#1')] });
      expect([...steps].sort((a, b) => a.line - b.line)).toEqual([of, later]);
      expect((await contextOf('run_a')).steps).toEqual([]);
      expect((await contextOf('run_c', { stepKeys: [of.stepKey] })).steps).toEqual([]);
    });

    it('names the payloads that are not stored', async () => {
      const [here, gone] = [payload('"here"'), payload('"gone"')];
      await store.payloads.put([here]);
      const asked = [here, gone, gone];
      expect(await contextOf('run_a', { payloads: asked })).toMatchObject({
        missingPayloads: [gone.sha256],
        badReferences: [],
      });
      expect(await store.payloads.missing(asked.map(({ sha256 }) => sha256))).toEqual([gone.sha256]);
    });

    it('tells what references say wrongly of payloads that are stored, deflated or as they are', async () => {
      for (const text of [
        '"short"',
        JSON.stringify('long '.repeat(200)),
        'no JSON',
        `${'no JSON '.repeat(200)}`,
        '',
      ]) {
        const stored = payload(text, 'text');
        await store.payloads.put([stored]);
        const told = async (wrong: Partial<PayloadRef>) =>
          (await contextOf('run_a', { payloads: [{ ...stored, ...wrong }] })).badReferences;
        expect(await told({})).toEqual([]);
        expect(await told({ codec: 'bytes' })).toEqual([]);
        expect(await told({ codec: 'json' })).toHaveLength(text.startsWith('"') ? 0 : 1);
        expect(await told({ bytes: stored.bytes + 1 })).toEqual([expect.stringContaining(stored.sha256)]);
        expect(await told({ bytes: stored.bytes + 1, codec: 'bytes' })).toHaveLength(1);
      }
    });

    it('tells the feed after a commit, once, and not after a refusal', async () => {
      const moved: RunMoved[] = [];
      const stop = store.feed.subscribe((change) => moved.push(change));
      await append(store, 'run_a', { bodies: [queued, queued] });
      await store.commit<void, 'no'>({ runId: runId('run_a'), decide: () => ({ ok: false, problem: 'no' }) });
      stop();
      await append(store, 'run_a', { bodies: [queued] });
      // Nobody holds it: the feed says what list and page say.
      expect(moved).toEqual([
        { runId: 'run_a', headSeq: 2, status: 'interrupted', wanted: false, edition: 0 },
      ]);
    });

    it('tells the feed the status that the list shows: of a copy that ran when it was made, that it is unknown', async () => {
      const moved: RunMoved[] = [];
      const stop = store.feed.subscribe((change) => moved.push(change));
      await append(store, 'run_copy', { bodies: [queued], run: { home: 'mirror' } });
      stop();
      expect(moved.map(({ status }) => status)).toEqual(['unknown']);
    });

    it('serialises appends of one run that race, without a gap', async () => {
      await Promise.all(
        Array.from({ length: 30 }, () => append(store, 'run_a', { bodies: [queued, queued] })),
      );
      expect(await heads('run_a')).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
      expect((await store.run(runId('run_a')))?.headSeq).toBe(60);
    });

    it('writes a large change of new runs whole, seen by nobody before its end, while others go first', async () => {
      const size = 6_000;
      const texts = Array.from({ length: 300 }, (_, i) => payload(JSON.stringify(`large ${i}`)));
      const bodies = (count: number): EventBody[] =>
        Array.from({ length: count }, (_, i) => message(texts[i % texts.length] ?? payload('""')));
      const large = (id: string, context: WriteContext, count: number) => {
        const state = newRunRecord(id).state;
        return appendTo(runId(id), context, {
          run: { root: runId('large'), home: 'mirror' },
          bodies: bodies(count),
          payloads: texts,
          rest: {
            steps: Array.from({ length: count }, (_, i) =>
              stepRecord(`plan#1/s#${i}`, { startedSeq: seq(i + 1) }),
            ),
            snapshots: [...new Set([Math.min(256, count), count])].map((at) => ({
              seq: seq(at),
              line: 0,
              state: { ...state, seq: seq(at) },
            })),
            effects: [effectRecord(runId('large'), stepKey(`plan#1/pay_${id}#1`), { runId: runId(id) })],
          },
        });
      };
      const context = await contextOf('large');
      const change = {
        ...large('large', context, size),
        also: [large('fork', context, 3_000), large('small', context, 3)],
      };
      const done = { large: false };
      const writing = store
        .commit<string, never>({
          runId: runId('large'),
          also: ['fork', 'small'].map((id) => ({ runId: runId(id), root: runId('large') })),
          inParts: true,
          decide: ({ also }) => {
            expect(also.size).toBe(0);
            return { ok: true, value: { value: 'whole', change } };
          },
        })
        .finally(() => {
          done.large = true;
        });
      let between = 0;
      while (!done.large) {
        between = Math.max(between, await append(store, 'other', { bodies: [queued] }));
        // Its events first: where they are there, so is the run.
        const events = await store.events(runId('large'), { limit: 1 });
        const seen = await store.run(runId('large'));
        if (seen === undefined) expect(events).toEqual([]);
        else expect(seen.headSeq).toBe(size);
      }
      expect(await writing).toEqual({ ok: true, value: 'whole' });
      if (kind.durable) expect(between).toBeGreaterThan(1);
      expect(await heads('large')).toEqual(Array.from({ length: size }, (_, i) => i + 1));
      expect(await heads('fork')).toHaveLength(3_000);
      expect(await heads('small')).toHaveLength(3);
      expect(await store.steps(runId('large'))).toHaveLength(size);
      expect((await store.snapshot(runId('large'), seq(300)))?.seq).toBe(256);
      expect(await store.effects(runId('large'))).toHaveLength(3);
      expect((await store.runs({ filter: {}, sort: 'created', descending: false, limit: 9 })).total).toBe(4);
      expect(await append(store, 'large', { bodies: [queued] })).toBe(size + 1);
      // Its payloads are in use: no sweep takes them.
      expect(await store.payloads.sweep(epochMs(store.clock.now() + DAY))).toBe(0);
      expect(await store.payloads.missing(texts.map(({ sha256: one }) => one))).toEqual([]);
    }, 60_000);

    it('leaves nothing of a large change that is refused in the end', async () => {
      const change = { at: 0 };
      const context = await contextOf('large');
      const large = appendTo(runId('large'), context, {
        bodies: Array.from({ length: 3_000 }, () => queued),
      });
      const refused = await store.commit<string, 'no'>({
        runId: runId('large'),
        inParts: true,
        decide: () => {
          change.at += 1;
          return change.at === 1 && kind.parts === true
            ? { ok: true, value: { value: 'yes', change: large } }
            : { ok: false, problem: 'no' };
        },
      });
      expect(refused).toEqual({ ok: false, problem: 'no' });
      expect(await store.run(runId('large'))).toBeUndefined();
      expect(await append(store, 'large', { bodies: [queued] })).toBe(1);
      expect(await heads('large')).toEqual([1]);
    });

    it('takes 200 commits of 40 runs at once', async () => {
      const done = await Promise.all(
        Array.from({ length: 200 }, (_, i) => {
          const body = payload(JSON.stringify(`value ${i}`));
          return append(store, `run_${i % 40}`, { bodies: [message(body)], payloads: [body] });
        }),
      );
      expect(done.filter((head) => head === 5)).toHaveLength(40);
      const { items, total } = await store.runs({
        filter: {},
        sort: 'created',
        descending: false,
        limit: 100,
      });
      expect(total).toBe(40);
      expect(items.every((run) => run.headSeq === 5)).toBe(true);
    });

    if (kind.durable)
      it('has everything that it acknowledged after it was closed and opened again', async () => {
        const body = payload(JSON.stringify(awkward));
        await append(store, 'run_a', {
          bodies: [message(body)],
          payloads: [body],
          rest: { steps: [stepRecord('plan#1/a#1')] },
        });
        store = await assertDefined(opened.reopen, 'a durable store is opened again')();
        expect(await heads('run_a')).toEqual([1]);
        expect((await store.payloads.get(body.sha256))?.body).toEqual(body.body);
        expect(await store.steps(runId('run_a'))).toHaveLength(1);
        expect(await append(store, 'run_a', { bodies: [queued] })).toBe(2);
      });
  });

  describe('the ledger of a lineage', () => {
    const key = stepKey('refund#1/create_refund#1');
    const root = runId('run_root');
    const race = (id: string) =>
      store.commit<number, { readonly owner: RunId }>({
        runId: runId(id),
        root,
        effectKeys: [key],
        decide: (context) => {
          const open = context.effects[0];
          if (open !== undefined) return { ok: false, problem: { owner: open.runId } };
          const change = appendTo(runId(id), context, {
            run: { root },
            bodies: [stepStarted(key, effectRecord(root, key).intent)],
            rest: { effects: [effectRecord(root, key, { runId: runId(id) })] },
          });
          return { ok: true, value: { value: context.ledgerVersion, change } };
        },
      });

    it('lets one of the runs that race for one effect have it, and shows the others whose it is', async () => {
      await append(store, 'run_root', { bodies: [queued] });
      const results = await Promise.all(['run_root', 'fork_1', 'fork_2', 'fork_3', 'fork_4'].map(race));
      const winners = results.filter((one) => one.ok);
      expect(winners).toHaveLength(1);
      const [effect, ...more] = await store.effects(root);
      expect(more).toEqual([]);
      expect(results.filter((one) => !one.ok)).toEqual(
        Array.from({ length: 4 }, () => ({ ok: false, problem: { owner: effect?.runId } })),
      );
    });

    it('raises its version with every change of an effect, on the root, whichever run changes it', async () => {
      await append(store, 'run_root', { bodies: [queued] });
      expect(await store.ledgerVersion(root)).toBe(0);
      await race('fork_1');
      expect(await store.ledgerVersion(root)).toBe(1);
      expect((await store.run(root))?.ledgerVersion).toBe(1);
      expect((await contextOf('fork_1')).ledgerVersion).toBe(1);
      await append(store, 'run_root', {
        rest: { effects: [effectRecord(root, key, { status: 'confirmed', receipt: 're_1' })] },
      });
      expect((await contextOf('run_root')).ledgerVersion).toBe(2);
      await append(store, 'run_root', { bodies: [queued] });
      expect((await store.run(root))?.ledgerVersion).toBe(2);
      expect(await store.ledgerVersion(runId('run_other'))).toBe(0);
    });

    it('gives the effects without a definite outcome that some runs own, and no others of their lineages', async () => {
      const effect = (owner: string, name: string, status: EffectStatus, of = root) =>
        effectRecord(of, stepKey(name), { runId: runId(owner), status, intentSeq: seq(name.length) });
      await append(store, 'run_root', {
        bodies: [queued],
        rest: {
          effects: [
            effect('run_root', 'aaa', 'in-doubt'),
            effect('run_root', 'bb', 'intended'),
            effect('run_root', 'cc', 'confirmed'),
            effect('run_root', 'dd', 'failed'),
            effect('run_root', 'ee', 'compensated'),
            effect('fork', 'f', 'in-doubt'),
            effect(`odd ${awkward}`, 'gggg', 'in-doubt'),
          ],
        },
      });
      const other = runId('run_else');
      await append(store, 'run_else', {
        bodies: [queued],
        rest: { effects: [effect('run_else', 'hhhhh', 'intended', other)] },
      });
      const of = async (...ids: readonly string[]) =>
        (await store.watchedEffects(ids.map(runId))).map((one) => one.stepKey);
      expect(await of('run_root')).toEqual(['bb', 'aaa']);
      expect(await of('fork', 'run_else', 'missing')).toEqual(['f', 'hhhhh']);
      expect(await of(`odd ${awkward}`)).toEqual(['gggg']);
      expect(await of()).toEqual([]);
      await append(store, 'run_root', { rest: { effects: [effect('run_root', 'bb', 'confirmed')] } });
      await append(store, 'run_root', { rest: { effects: [effect('fork', 'aaa', 'in-doubt')] } });
      expect(await of('run_root')).toEqual([]);
      expect(await of('fork')).toEqual(['f', 'aaa']);
      expect((await store.watchedEffects([other]))[0]).toEqual(
        effect('run_else', 'hhhhh', 'intended', other),
      );
    });

    it('shows a decision the asked keys in every generation, or all, or none', async () => {
      const other = stepKey('mail#1/send#1');
      await append(store, 'run_root', {
        bodies: [queued],
        rest: {
          effects: [
            effectRecord(root, key),
            effectRecord(root, key, { generation: 2, intentSeq: seq(2) }),
            effectRecord(root, other, { intentSeq: seq(3) }),
          ],
        },
      });
      const keys = async (effectKeys?: readonly (typeof key)[] | 'all') =>
        (await contextOf('run_root', effectKeys === undefined ? {} : { effectKeys })).effects.map(
          (effect) => `${effect.stepKey} ${effect.generation}`,
        );
      expect(await keys([key])).toEqual([`${key} 1`, `${key} 2`]);
      expect(await keys('all')).toEqual([`${key} 1`, `${key} 2`, `${other} 1`]);
      expect(await keys([])).toEqual([]);
      expect(await keys()).toEqual([]);
    });
  });

  describe('payloads', () => {
    const values = {
      'U+0000, lone surrogates and controls': JSON.stringify(awkward),
      'raw bytes of every value': Uint8Array.from({ length: 256 }, (_, i) => i),
      'nothing at all': new Uint8Array(),
      'S24 a value of 3 MB': JSON.stringify('x'.repeat(3_000_000)),
      'S36 a line of 300 KB with U+0000': new TextEncoder().encode(`\u0000${'long line '.repeat(30_000)}`),
    };
    it.each(Object.entries(values))('keeps %s byte for byte', async (_, content) => {
      const kept = payload(content, typeof content === 'string' ? 'json' : 'bytes');
      const inCommit = payload(new Uint8Array([...kept.body.slice(0, 1_000), 1]), 'bytes');
      await store.payloads.put([kept]);
      await append(store, 'run_a', { bodies: [message(kept), message(inCommit)], payloads: [inCommit] });
      for (const one of [kept, inCommit]) {
        const found = await store.payloads.get(one.sha256);
        expect(found).toMatchObject(refOf(one));
        expect(found?.body.byteLength).toBe(one.bytes);
        expect(found !== undefined && digest(found.body)).toBe(one.sha256);
      }
      const [event] = await store.events(runId('run_a'), { limit: 1 });
      expect(event).toMatchObject({ message: refOf(kept) });
    });

    it('stores a content once and leaves what is there', async () => {
      const first = payload('"same"', 'json');
      await store.payloads.put([first, first]);
      await store.payloads.put([{ ...first, codec: 'text' }]);
      expect((await store.payloads.get(first.sha256))?.codec).toBe('json');
    });

    it('gives many at once, and nothing for what is not there', async () => {
      const some = Array.from({ length: 30 }, (_, i) => payload(JSON.stringify(i)));
      await store.payloads.put(some);
      const found = await store.payloads.many([...some.map((one) => one.sha256), digest('gone')]);
      expect(found.size).toBe(30);
      for (const one of some) expect(found.get(one.sha256)).toMatchObject(refOf(one));
      expect(await store.payloads.get(digest('gone'))).toBeUndefined();
      expect((await store.payloads.many([])).size).toBe(0);
    });

    it('sweeps what no event refers to once it is older, and nothing else', async () => {
      const [early, used, late, alone] = ['early', 'used', 'late', 'alone'].map((text) =>
        payload(JSON.stringify(text)),
      ) as [
        ReturnType<typeof payload>,
        ReturnType<typeof payload>,
        ReturnType<typeof payload>,
        ReturnType<typeof payload>,
      ];
      await store.payloads.put([early, late]);
      await append(store, 'run_a', { bodies: [message(used), message(late)], payloads: [used, alone] });
      await store.payloads.put([used]);
      expect(await store.payloads.sweep(epochMs(store.clock.now() - DAY))).toBe(0);
      expect(await store.payloads.sweep(epochMs(store.clock.now() + DAY))).toBe(2);
      expect(await store.payloads.missing([early, used, late, alone].map((one) => one.sha256))).toEqual([
        early.sha256,
        alone.sha256,
      ]);
      expect(await store.payloads.sweep(epochMs(store.clock.now() + DAY))).toBe(0);
    });

    it('keeps a payload that was uploaded first and referred to later', async () => {
      const one = payload('"later"');
      await store.payloads.put([one]);
      await append(store, 'run_a', { bodies: [message(one)] }, { payloads: [one] });
      expect(await store.payloads.sweep(epochMs(store.clock.now() + DAY))).toBe(0);
      expect(await store.payloads.get(one.sha256)).toBeDefined();
    });
  });

  describe('rows of a run', () => {
    it('keeps a step unique by line and key, with its first startedSeq, and gives it whole', async () => {
      const key = 'plan#1/search#1';
      const full = stepRecord(key, {
        startedSeq: seq(2),
        error: { type: 'Error', message: awkward },
        intent: effectRecord(runId('run_a'), stepKey(key)).intent,
        source: { runId: runId('run_p'), seq: seq(3) },
        result: refOf(payload('1')),
      });
      await append(store, 'run_a', {
        bodies: [queued, queued],
        rest: { steps: [stepRecord(key, { startedSeq: seq(2), status: 'running' })] },
      });
      await append(store, 'run_a', {
        rest: {
          steps: [
            { ...full, startedSeq: seq(9) },
            stepRecord(key, { line: 1, startedSeq: seq(2) }),
            stepRecord('plan#1/other#1', { startedSeq: seq(1) }),
          ],
        },
      });
      const steps = await store.steps(runId('run_a'));
      expect(steps.map((step) => [step.stepKey, step.line, step.startedSeq])).toEqual([
        ['plan#1/other#1', 0, 1],
        [key, 0, 2],
        [key, 1, 2],
      ]);
      expect(steps[1]).toEqual(full);
      expect((await store.step(runId('run_a'), stepKey(key))).map((step) => step.line)).toEqual([0, 1]);
      expect(await store.step(runId('run_a'), stepKey('none'))).toEqual([]);
    });

    it('pages steps by startedSeq and never splits the steps of one seq', async () => {
      const steps = [1, 2, 2, 3, 4].map((at, i) => stepRecord(`plan#1/s${i}#1`, { startedSeq: seq(at) }));
      await append(store, 'run_a', { bodies: [queued], rest: { steps } });
      const page = async (after: number, limit?: number) =>
        (
          await store.steps(runId('run_a'), { after: seq(after), ...(limit === undefined ? {} : { limit }) })
        ).map((step) => step.startedSeq);
      expect(await page(0, 2)).toEqual([1, 2, 2]);
      expect(await page(2, 2)).toEqual([3, 4]);
      expect(await page(0, 50)).toEqual([1, 2, 2, 3, 4]);
      expect(await page(4, 2)).toEqual([]);
      expect(await page(3)).toEqual([4]);
    });

    it('counts the keys in force on a path, and gives every line of some keys', async () => {
      const row = (key: string, line: number, at: number) => stepRecord(key, { line, startedSeq: seq(at) });
      const [a, b, c] = ['plan#1/a#1', 'plan#1/b#1', `plan#1/${awkward}#1`];
      const steps = [row(a, 0, 1), row(b, 0, 2), row(a, 1, 5), row(c, 1, 6)];
      await append(store, 'run_a', { bodies: [queued], rest: { steps } });
      const id = runId('run_a');
      const count = (...path: readonly (readonly [number, number])[]) =>
        store.stepCount(
          id,
          path.map(([from, to]) => ({ from: seq(from), to: seq(to) })),
        );
      expect(await count([1, 2])).toBe(2);
      expect(await count([1, 2], [4, 9])).toBe(3);
      expect(await count([1, 1], [6, 9])).toBe(2);
      expect(await count()).toBe(0);
      expect(await store.stepCount(runId('none'), [{ from: seq(1), to: seq(9) }])).toBe(0);
      const of = async (...keys: readonly string[]) =>
        (await store.stepsOf(id, keys.map(stepKey))).map((step) => [step.stepKey, step.line]);
      expect(await of(a, c, 'none')).toEqual([
        [a, 0],
        [a, 1],
        [c, 1],
      ]);
      expect(await of()).toEqual([]);
    });

    it('gives the newest snapshot at or before a seq', async () => {
      const snapshot = (at: number) => ({
        seq: seq(at),
        line: at % 2,
        state: { ...newRunRecord('run_a').state, seq: seq(at), agent: awkward },
      });
      await append(store, 'run_a', {
        bodies: Array.from({ length: 9 }, () => queued),
        rest: { snapshots: [snapshot(3), snapshot(6)] },
      });
      expect(await store.snapshot(runId('run_a'), seq(2))).toBeUndefined();
      expect(await store.snapshot(runId('run_a'), seq(3))).toEqual(snapshot(3));
      expect(await store.snapshot(runId('run_a'), seq(5))).toEqual(snapshot(3));
      expect(await store.snapshot(runId('run_a'), seq(100))).toEqual(snapshot(6));
    });

    it('lists checkpoints by seq and questions by when they were asked, those of every line, each in its newest form', async () => {
      const checkpoint = (at: number): CheckpointRecord => ({
        id: `cp_${at}`,
        n: at,
        line: 0,
        seq: seq(at),
        entrySeq: seq(1),
        othersSeq: seq(0),
        name: `after ${awkward}`,
        trigger: 'manual',
        visit: 'plan#1',
        at: epochMs(at),
      });
      const question = (id: string, at: number, line = 0): QuestionRecord => ({
        questionId: questionId(id),
        stepKey: stepKey('ask#1/q#1'),
        line,
        question: refOf(payload('"q"')),
        questionDigest: digest('q'),
        askedSeq: seq(at),
        askedAt: epochMs(at),
        status: 'open',
      });
      await append(store, 'run_a', {
        bodies: [queued, queued, queued],
        rest: {
          checkpoints: [checkpoint(3), checkpoint(2)],
          questions: [question('q2', 3), question('q1', 1, 1), question('q1', 1)],
        },
      });
      const answered: QuestionRecord = {
        ...question('q1', 1),
        status: 'answered',
        answeredBy: 'ann',
        answer: refOf(payload('"yes"')),
      };
      await append(store, 'run_a', { rest: { questions: [answered] } });
      expect(await store.checkpoints(runId('run_a'))).toEqual([checkpoint(2), checkpoint(3)]);
      expect(await store.questions(runId('run_a'))).toEqual([
        answered,
        question('q1', 1, 1),
        question('q2', 3),
      ]);
      expect(await store.checkpoints(runId('run_b'))).toEqual([]);
    });

    it('gives a checkpoint as it was written where its own event says the same, and where it says something else', async () => {
      const saved: EventBody = {
        kind: 'checkpoint.saved',
        trigger: 'before-effect',
        visit: 'plan#1',
        name: awkward,
        entrySeq: seq(1),
        othersSeq: seq(0),
        intentSeq: seq(3),
      };
      const written: CheckpointRecord[] = [];
      await append(store, 'run_a', (context) => {
        const { kind: _, ...says } = saved;
        const same: CheckpointRecord = { id: 'cp_2', n: 1, line: 4, seq: seq(2), at: context.now, ...says };
        const other: CheckpointRecord = { ...same, id: 'cp_3', n: 2, seq: seq(3), name: 'another name' };
        written.splice(0, 2, same, other);
        return { bodies: [queued, saved, saved], rest: { checkpoints: [same, other] } };
      });
      expect(await store.checkpoints(runId('run_a'))).toEqual(written);
    });

    it('gives events between two seqs, of some kinds, from either end', async () => {
      const body = payload('"m"');
      const bodies = Array.from({ length: 12 }, (_, i) => (i % 3 === 0 ? message(body) : queued));
      await append(store, 'run_a', { bodies, payloads: [body] });
      const range = async (
        ask: Omit<Parameters<Store['events']>[1], 'limit'> & { readonly limit?: number },
      ) => (await store.events(runId('run_a'), { limit: 100, ...ask })).map((event) => event.seq);
      expect(await range({ after: seq(3), before: seq(7) })).toEqual([4, 5, 6]);
      expect(await range({ kinds: ['message.appended'] })).toEqual([1, 4, 7, 10]);
      expect(await range({ kinds: ['message.appended', 'run.queued'], limit: 3 })).toEqual([1, 2, 3]);
      expect(await range({ descending: true, limit: 2 })).toEqual([12, 11]);
      expect(
        await range({ descending: true, before: seq(8), kinds: ['message.appended'], limit: 2 }),
      ).toEqual([7, 4]);
      const manyKinds = [
        'run.queued',
        'run.paused',
        'run.failed',
        'run.cancelled',
        'state.entered',
        'state.left',
        'step.started',
        'step.failed',
        'step.completed',
        'api.recovered',
      ] as const;
      expect(await range({ kinds: manyKinds, after: seq(3), limit: 3 })).toEqual([5, 6, 8]);
      expect(await range({ kinds: [] })).toEqual([]);
      expect(await store.events(runId('none'), { limit: 5 })).toEqual([]);
    });

    it('gives the events at the seqs that it is asked for, in order, as many as there are', async () => {
      await append(store, 'run_a', { bodies: Array.from({ length: 1_200 }, () => queued) });
      await append(store, 'run_b', { bodies: [queued] });
      const at = async (id: string, ...seqs: number[]) =>
        (await store.eventsAt(runId(id), seqs.map(seq))).map((event) => [event.runId, event.seq]);
      expect(await at('run_a', 7, 3, 5_000, 3)).toEqual([
        ['run_a', 3],
        ['run_a', 7],
      ]);
      expect(await at('run_a', ...Array.from({ length: 1_200 }, (_, i) => i + 1))).toHaveLength(1_200);
      expect(await at('run_b', 7)).toEqual([]);
      expect(await at('run_b')).toEqual([]);
      expect(await at('nobody', 1)).toEqual([]);
    });

    it('gives only the intents among the steps that started, where those are asked for', async () => {
      const intent = effectRecord(runId('run_a'), stepKey('k')).intent;
      const bodies = [stepStarted('plan#1/a#1'), stepStarted('plan#1/b#1', intent), queued];
      await append(store, 'run_a', { bodies });
      const range = async (ask: Omit<Parameters<Store['events']>[1], 'limit'>) =>
        (await store.events(runId('run_a'), { limit: 9, ...ask })).map((event) => event.seq);
      expect(await range({ kinds: ['step.started', 'run.queued'], intents: true })).toEqual([2, 3]);
      expect(await range({ kinds: ['step.started'], intents: true })).toEqual([2]);
      expect(await range({ kinds: ['step.started'] })).toEqual([1, 2]);
    });

    it('counts events, intents, errors and checkpoints in even buckets', async () => {
      const failed: EventBody = {
        kind: 'step.failed',
        stepKey: stepKey('k'),
        attempt: 1,
        failure: 'error',
        error: { type: 'E', message: 'm' },
        final: true,
      };
      const saved: EventBody = {
        kind: 'checkpoint.saved',
        trigger: 'manual',
        visit: 'plan#1',
        name: 'n',
        entrySeq: seq(1),
        othersSeq: seq(0),
      };
      const intent = effectRecord(runId('run_a'), stepKey('k')).intent;
      await append(store, 'run_a', {
        bodies: [
          queued,
          stepStarted('k', intent),
          stepStarted('l'),
          failed,
          saved,
          queued,
          failed,
          saved,
          saved,
          queued,
        ],
      });
      const counted = (await store.buckets(runId('run_a'), 3)).map(
        ({ fromSeq, toSeq, events, effects, errors, checkpoints }) => [
          fromSeq,
          toSeq,
          events,
          effects,
          errors,
          checkpoints,
        ],
      );
      expect(counted).toEqual([
        [1, 3, 3, 1, 0, 0],
        [4, 6, 3, 0, 1, 1],
        [7, 10, 4, 0, 1, 2],
      ]);
      const many = await store.buckets(runId('run_a'), 400);
      expect(many).toHaveLength(10);
      expect(many.every((bucket) => bucket.fromAt === bucket.toAt && bucket.events === 1)).toBe(true);
      expect(await store.buckets(runId('none'), 3)).toEqual([]);
    });
  });

  describe('lists of runs', () => {
    const make = async (
      id: string,
      over: {
        agent?: string;
        status?: RunStatus;
        tags?: readonly string[];
        created?: number;
        updated?: number;
        failure?: string;
        home?: RunRecord['home'];
      },
    ) => {
      const base = newRunRecord(id);
      await append(store, id, {
        bodies: [queued],
        run: {
          home: over.home ?? 'here',
          createdAt: epochMs(over.created ?? 1_000),
          updatedAt: epochMs(over.updated ?? 1_000),
          state: {
            ...base.state,
            agent: over.agent ?? 'refund-desk',
            status: over.status ?? 'running',
            tags: over.tags ?? [],
            ...(over.failure === undefined
              ? {}
              : {
                  failure: {
                    cause: 'error',
                    error: { type: 'TypeError', message: over.failure },
                    seq: seq(1),
                  },
                }),
          },
        },
      });
    };
    const ids = async (filter: RunFilter) =>
      (await store.runs({ filter, sort: 'created', descending: false, limit: 100 })).items.map(
        (run) => run.runId,
      );

    it('filters by status, agent, tag, text, failure, time and lineage', async () => {
      await make('run_A', {
        status: 'failed',
        tags: ['prod', 'eu'],
        failure: `Card 50%_off DECLINED ${awkward}`,
        created: 100,
      });
      await make('run_B', { agent: 'Mail_Bot', tags: ['production'], created: 200 });
      await make('run_C', { status: 'waiting', tags: ['prod'], created: 300 });
      expect(await ids({})).toEqual(['run_A', 'run_B', 'run_C']);
      expect(await ids({ status: ['failed', 'waiting'] })).toEqual(['run_A', 'run_C']);
      expect(await ids({ agent: ['Mail_Bot'] })).toEqual(['run_B']);
      expect(await ids({ tag: ['prod'] })).toEqual(['run_A', 'run_C']);
      expect(await ids({ tag: ['prod', 'eu'] })).toEqual(['run_A']);
      expect(await ids({ q: 'RUN_b' })).toEqual(['run_B']);
      expect(await ids({ q: 'mail_bot' })).toEqual(['run_B']);
      expect(await ids({ q: 'declined' })).toEqual(['run_A']);
      expect(await ids({ q: 'EU' })).toEqual(['run_A']);
      expect(await ids({ q: '%' })).toEqual(['run_A']);
      expect(await ids({ q: 'run%a' })).toEqual([]);
      expect(await ids({ failure: '50%_OFF declined' })).toEqual(['run_A']);
      expect(await ids({ failure: 'typeerror' })).toEqual(['run_A']);
      expect(await ids({ failure: '\u0000 · lone \ud800' })).toEqual(['run_A']);
      expect(await ids({ from: epochMs(200) })).toEqual(['run_B', 'run_C']);
      expect(await ids({ to: epochMs(200) })).toEqual(['run_A']);
      expect(await ids({ root: runId('run_C') })).toEqual(['run_C']);
      expect(await ids({ status: ['failed'], tag: ['prod'], q: 'refund' })).toEqual(['run_A']);
    });

    it('filters by what a run is not: agent, tag and source', async () => {
      await make('run_A', { agent: 'desk', tags: ['smoke', 'eu'] });
      await make('run_B', { agent: 'desk', tags: ['smoke-2'] });
      await make('run_C', { agent: 'smoke-desk' });
      await append(store, 'run_D', { bodies: [queued], run: { source: 'langgraph', home: 'mirror' } });
      expect(await ids({ notAgent: ['smoke-desk', 'other'] })).toEqual(['run_A', 'run_B', 'run_D']);
      expect(await ids({ notTag: ['smoke'] })).toEqual(['run_B', 'run_C', 'run_D']);
      expect(await ids({ notTag: ['smoke', 'smoke-2'] })).toEqual(['run_C', 'run_D']);
      expect(await ids({ source: ['langgraph', 'otlp'] })).toEqual(['run_D']);
      expect(await ids({ notSource: ['langgraph'] })).toEqual(['run_A', 'run_B', 'run_C']);
      expect(await ids({ agent: ['desk'], notTag: ['eu'] })).toEqual(['run_B']);
    });

    it('filters by effects in doubt as of an instant, however the run ended, and by what waits for a person', async () => {
      const key = stepKey(`plan#1/pay_${awkward}#1`);
      const state = newRunRecord('x').state;
      const waits = (
        id: string,
        status: RunStatus,
        on: RunState['waitingOn'],
        over: Partial<RunState> = {},
      ) =>
        append(store, id, {
          bodies: [queued],
          run: { state: { ...state, status, waitingOn: on, ...over } },
        });
      const withEffect = (
        id: string,
        status: RunStatus,
        over: Partial<EffectRecord>,
        home: RunRecord['home'] = 'here',
      ) =>
        append(store, id, {
          bodies: [queued],
          run: { home, state: { ...state, status } },
          rest: { effects: [effectRecord(runId(id), key, over)] },
        });
      const question: QuestionRecord = {
        questionId: questionId('q1'),
        stepKey: key,
        line: 0,
        question: refOf(payload('"?"')),
        questionDigest: digest('"?"'),
        askedSeq: seq(1),
        askedAt: epochMs(1),
        status: 'open',
      };
      await withEffect('cancelled_doubt', 'cancelled', { status: 'in-doubt' });
      await withEffect('failed_doubt', 'failed', { status: 'in-doubt' });
      await withEffect('failed_settled', 'failed', { status: 'failed' });
      await withEffect('copied_doubt', 'failed', { status: 'in-doubt' }, 'mirror');
      // Its key is valid until 1_000 + 500: then nobody can say whether it happened.
      const { intent } = effectRecord(runId('x'), key);
      await withEffect('retried', 'completed', {
        status: 'intended',
        effect: 'idempotent',
        firstIntentAt: epochMs(1_000),
        intent: { ...intent, keyValidForMs: 500 },
      });
      await waits('asks', 'waiting', [{ stepKey: key, for: 'question' }]);
      await waits('blocked', 'waiting', [
        { stepKey: key, for: 'timer' },
        { stepKey: key, for: 'conflict' },
      ]);
      await waits('sleeps', 'waiting', [{ stepKey: key, for: 'timer' }]);
      await waits('asked', 'queued', [], { questions: { q1: { ...question, status: 'answered' } } });
      await waits('paused', 'paused', []);
      await waits('done', 'completed', []);
      const lease = {
        leaseId: leaseId('lease_1'),
        workerId: workerId('w1'),
        epoch: epoch(1),
        since: epochMs(1_000),
        expiresAt: epochMs(1_700),
        leaseMs: 500,
        mode: 'start' as const,
      };
      await append(store, 'runs', { bodies: [queued], run: { lease } });
      await append(store, 'runs_asking', {
        bodies: [queued],
        run: {
          lease: { ...lease, expiresAt: epochMs(9_000) },
          state: { ...state, questions: { q1: question } },
        },
      });
      const find = async (filter: RunFilter, now: number) =>
        (
          await store.runs({
            filter,
            judged: { now: epochMs(now), judgedFrom: epochMs(0) },
            sort: 'created',
            descending: false,
            limit: 50,
          })
        ).items.map((run) => run.runId as string);

      expect(await find({ inDoubt: true }, 1_499)).toEqual([
        'cancelled_doubt',
        'failed_doubt',
        'copied_doubt',
      ]);
      expect(await find({ inDoubt: true }, 1_500)).toEqual([
        'cancelled_doubt',
        'failed_doubt',
        'copied_doubt',
        'retried',
      ]);
      expect(await find({ inDoubt: false, status: ['failed'] }, 1_500)).toEqual(['failed_settled']);
      const always = ['cancelled_doubt', 'failed_doubt', 'asks', 'blocked', 'paused', 'runs_asking'];
      expect(await find({ attention: true }, 1_499)).toEqual(always);
      expect(await find({ attention: true }, 1_700)).toEqual([
        'cancelled_doubt',
        'failed_doubt',
        'retried',
        'asks',
        'blocked',
        'paused',
        'runs',
        'runs_asking',
      ]);
      expect(await find({ attention: false }, 1_499)).toEqual([
        'failed_settled',
        'copied_doubt',
        'retried',
        'sleeps',
        'asked',
        'done',
        'runs',
      ]);
    });

    it.each(['updated', 'created', 'agent', 'status'] as const)(
      'pages by %s in both directions without losing or repeating a run',
      async (sort) => {
        const statuses: readonly RunStatus[] = ['running', 'failed', 'completed'];
        for (let i = 0; i < 23; i += 1)
          await make(`run_${i}`, {
            agent: ['b', 'a', 'Z', 'é', '\u{1f600}', '\uffee'][i % 6] ?? 'x',
            status: statuses[i % 3] ?? 'running',
            created: 1_000 + (i % 5),
            updated: 2_000 - (i % 7),
          });
        const walk = async (descending: boolean) => {
          const seen: RunRecord[] = [];
          let cursor: RunCursor | undefined;
          do {
            const page = await store.runs({
              filter: {},
              sort,
              descending,
              limit: 4,
              ...(cursor === undefined ? {} : { cursor }),
            });
            expect(page.total).toBe(23);
            seen.push(...page.items);
            cursor = page.nextCursor;
          } while (cursor !== undefined);
          return seen;
        };
        const up = await walk(false);
        const value = (run: RunRecord) =>
          ({
            updated: run.updatedAt,
            created: run.createdAt,
            agent: run.state.agent,
            status: run.state.status,
          })[sort];
        expect(new Set(up.map((run) => run.runId)).size).toBe(23);
        const values = up.map(value);
        const inOrder = values.every((one, i) => {
          const before = values[i - 1];
          if (before === undefined) return true;
          return typeof one === 'number'
            ? Number(before) <= one
            : Buffer.compare(Buffer.from(String(before)), Buffer.from(one)) <= 0;
        });
        expect(inOrder).toBe(true);
        expect((await walk(true)).map((run) => run.runId)).toEqual(up.map((run) => run.runId).reverse());
      },
    );

    it('filters and sorts by the status of an instant: a lapsed lease, a copy and the console’s start count', async () => {
      const held = (id: string, expiresAt: number, over: Partial<RunRecord> = {}) => {
        const lease = {
          leaseId: leaseId(`lease_${id}`),
          workerId: workerId('w1'),
          epoch: epoch(1),
          since: epochMs(1_000),
          expiresAt: epochMs(expiresAt),
          leaseMs: 500,
          mode: 'start' as const,
        };
        return append(store, id, { bodies: [queued], run: { lease, ...over } });
      };
      await held('run_live', 5_000);
      await held('run_lapsed', 2_000);
      await held('run_copy', 5_000, { home: 'mirror' });
      await append(store, 'run_free', { bodies: [queued] });
      await make('run_failed', { status: 'failed' });
      const find = async (status: readonly RunStatus[], now: number, judgedFrom = 0) =>
        (
          await store.runs({
            filter: { status },
            judged: { now: epochMs(now), judgedFrom: epochMs(judgedFrom) },
            sort: 'status',
            descending: false,
            limit: 9,
          })
        ).items.map((run) => run.runId);
      expect(await find(['running'], 1_999)).toEqual(['run_live', 'run_lapsed']);
      expect(await find(['running'], 2_000)).toEqual(['run_live']);
      expect(await find(['interrupted'], 2_000)).toEqual(['run_lapsed', 'run_free']);
      // Within one lease length of the console's start nothing has lapsed.
      expect(await find(['interrupted'], 2_499, 2_000)).toEqual(['run_free']);
      expect(await find(['interrupted', 'running'], 2_500, 2_000)).toEqual([
        'run_lapsed',
        'run_free',
        'run_live',
      ]);
      expect(await find(['unknown', 'failed'], 9_000)).toEqual(['run_failed', 'run_copy']);
      const one = async (cursor?: RunCursor) =>
        store.runs({
          filter: {},
          judged: { now: epochMs(2_000), judgedFrom: epochMs(0) },
          sort: 'status',
          descending: true,
          limit: 1,
          ...(cursor === undefined ? {} : { cursor }),
        });
      const walked: string[] = [];
      for (let page = await one(); ; page = await one(page.nextCursor)) {
        expect(page.total).toBe(5);
        walked.push(...page.items.map((run) => run.runId));
        if (page.nextCursor === undefined) break;
      }
      expect(walked).toEqual(['run_copy', 'run_live', 'run_free', 'run_lapsed', 'run_failed']);
      expect(await ids({ status: ['running'] })).toEqual(['run_live', 'run_lapsed', 'run_copy', 'run_free']);
    });

    it('finds the runs that the judge looks at, oldest change first: running ones, and waiting ones with a lease, no copies', async () => {
      await make('run_A', { status: 'running', updated: 30 });
      await make('run_B', { status: 'running', updated: 20 });
      await make('run_C', { status: 'waiting', updated: 10 });
      await make('run_D', { status: 'queued', updated: 5 });
      await make('run_E', { status: 'failed', updated: 1 });
      await make('run_F', { status: 'running', updated: 2, home: 'mirror' });
      expect((await store.heldRuns()).map((run) => run.runId)).toEqual(['run_B', 'run_A']);
    });

    it('knows a lineage oldest first, and of each run its newest children with the count of all', async () => {
      const root = runId('run_A');
      const child = (id: string, parent: string, created: number, over: Partial<RunRecord> = {}) =>
        append(store, id, {
          bodies: [queued],
          run: {
            root,
            parent: { runId: runId(parent), seq: seq(1), mode: 'fork' },
            createdAt: epochMs(created),
            ...over,
          },
        });
      await make('run_A', { created: 10 });
      await child('fork_3', 'run_A', 40, { home: 'mirror' });
      await child('fork_1', 'run_A', 20);
      await child('fork_2', 'run_A', 30, {
        parent: { runId: root, seq: seq(1), mode: 'replay' },
        state: { ...newRunRecord('fork_2').state, status: 'failed' },
      });
      await child(`fork ${awkward}`, 'fork_1', 50);
      await make('run_B', {});
      expect((await store.lineage(root)).map((run) => run.runId)).toEqual([
        'run_A',
        'fork_1',
        'fork_2',
        'fork_3',
        `fork ${awkward}`,
      ]);
      const judged = { now: epochMs(9_000), judgedFrom: epochMs(0) };
      const of = [root, runId('fork_1'), runId('run_B'), runId('missing')];
      expect([...(await store.children(of, 2, judged))].sort()).toEqual([
        ['fork_1', { total: 1, newest: [{ runId: `fork ${awkward}`, mode: 'fork', status: 'interrupted' }] }],
        [
          'run_A',
          {
            total: 3,
            newest: [
              { runId: 'fork_2', mode: 'replay', status: 'failed' },
              { runId: 'fork_3', mode: 'fork', status: 'unknown' },
            ],
          },
        ],
      ]);
      expect((await store.children([root], 9, judged)).get(root)?.newest.map((run) => run.runId)).toEqual([
        'fork_1',
        'fork_2',
        'fork_3',
      ]);
      expect((await store.children([], 9, judged)).size).toBe(0);
    });
  });

  describe('what workers may claim', () => {
    const [a, b] = [machineDigest('a'.repeat(64)), machineDigest('b'.repeat(64))];
    const waiting = async (
      id: string,
      at: number,
      over: Partial<RunRecord> = {},
      state: Partial<RunRecord['state']> = {},
    ) => {
      const base = newRunRecord(id).state;
      await append(store, id, {
        bodies: [queued],
        run: {
          updatedAt: epochMs(at),
          ...over,
          state: {
            ...base,
            status: 'queued',
            machineDigest: a,
            queue: { reason: 'hand-over', seq: seq(1) },
            ...state,
          },
        },
      });
    };
    const verifies = [{ commandId: 'c', stepKey: stepKey('k'), actor: 'x', seq: seq(1) }];
    const found = async (...agents: readonly (readonly [string, typeof a])[]) => {
      const offer = agents.map(([name, machine]) => ({ name, machineDigest: machine }));
      return (await store.claimable({ agents: offer, limit: 50 })).items.map((run) => run.runId);
    };

    it('finds what waits for the agent with its machine, for the machine that an order was planned for, or for any', async () => {
      await waiting('other_machine', 1, {}, { machineDigest: b });
      await waiting('planned', 70, { plannedMachine: b }, { queue: { reason: 'command', seq: seq(1) } });
      await waiting('handed_over', 60);
      await waiting('any_machine', 50, {}, { machineDigest: undefined as never });
      await waiting('probe', 40, {}, { status: 'failed', verifies });
      await waiting('queued_with_probe', 30, {}, { machineDigest: b, verifies });
      await waiting('copy', 2, { home: 'mirror' });
      await waiting('created', 2, {}, { queue: { reason: 'created', seq: seq(1) } });
      await waiting('running', 2, {}, { status: 'running' });
      await waiting('mail', 2, {}, { agent: 'mail' });
      const anyones = ['queued_with_probe', 'probe', 'any_machine'];
      expect(await found(['refund-desk', a])).toEqual([...anyones, 'handed_over']);
      expect(await found(['refund-desk', b])).toEqual(['other_machine', ...anyones, 'planned']);
      expect(await found(['mail', a], ['refund-desk', b])).toEqual([
        'other_machine',
        'mail',
        ...anyones,
        'planned',
      ]);
      expect(await found(['refund', a], ['mail', b])).toEqual([]);
      expect((await store.run(runId('planned')))?.plannedMachine).toBe(b);
      expect(await store.run(runId('handed_over'))).not.toHaveProperty('plannedMachine');
    });

    it('gives those that have waited longest first, page by page, whatever moves them meanwhile', async () => {
      for (const [i, id] of ['run_2', 'run_1', 'run_3', 'run_4'].entries()) await waiting(id, 10 + i);
      await append(store, 'run_2', { bodies: [queued], run: { updatedAt: epochMs(99) } });
      const agents = [{ name: 'refund-desk', machineDigest: a }];
      const walked: string[][] = [];
      let cursor: RunCursor | undefined;
      do {
        const page = await store.claimable({ agents, limit: 3, ...(cursor !== undefined && { cursor }) });
        walked.push(page.items.map((run) => run.runId));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(walked).toEqual([['run_2', 'run_1', 'run_3'], ['run_4']]);
    });

    it('no longer gives a run that was claimed, and gives it as the newest once it waits again', async () => {
      await waiting('run_1', 10);
      await waiting('run_2', 20);
      await waiting('run_1', 30, {}, { status: 'running' });
      expect(await found(['refund-desk', a])).toEqual(['run_2']);
      await waiting('run_1', 40);
      expect(await found(['refund-desk', a])).toEqual(['run_2', 'run_1']);
    });

    it('takes as many agents as a claim may name', async () => {
      await waiting('run_1', 10);
      await waiting('run_2', 5, {}, { agent: 'agent 255' });
      const many = Array.from({ length: 256 }, (_, i) => [`agent ${i}`, a] as const);
      expect(await found(...many.slice(0, 128), ['refund-desk', a], ...many.slice(128))).toEqual([
        'run_2',
        'run_1',
      ]);
    });
  });

  describe('machines and workers', () => {
    const machine: Machine = {
      agent: 'refund-desk',
      provenance: 'declared',
      initial: 'z',
      states: {
        z: { transitions: ['a'], tools: [] },
        a: { transitions: [], tools: [], final: true, version: awkward },
      },
      tools: {},
    };

    it('keeps a machine under its digest, with its keys in order, and never changes it', async () => {
      const id = machineDigest('a'.repeat(64));
      expect(await store.machines.get(id)).toBeUndefined();
      await store.machines.put(id, machine);
      await store.machines.put(id, { ...machine, initial: 'a' });
      expect(JSON.stringify(await store.machines.get(id))).toBe(JSON.stringify(machine));
    });

    it('remembers when it first and last heard of a worker', async () => {
      const seen = (id: string, at: number) =>
        store.workers.seen({
          workerId: workerId(id),
          agents: [{ name: 'refund-desk', machineDigest: machineDigest('b'.repeat(64)) }],
          firstSeenAt: epochMs(at),
          seenAt: epochMs(at),
        });
      await seen('w1', 10);
      await seen('w2', 20);
      await seen('w1', 30);
      const workers = await store.workers.list();
      expect(workers.map((worker) => [worker.workerId, worker.firstSeenAt, worker.seenAt])).toEqual([
        ['w1', 10, 30],
        ['w2', 20, 20],
      ]);
      expect(workers[0]?.agents).toEqual([{ name: 'refund-desk', machineDigest: 'b'.repeat(64) }]);
      expect(await store.workers.get(workerId('w2'))).toEqual(workers[1]);
      expect(await store.workers.get(workerId('w3'))).toBeUndefined();
      const ids = async (since?: number) =>
        (await store.workers.list(since === undefined ? undefined : epochMs(since))).map(
          (one) => one.workerId,
        );
      expect(await ids(20)).toEqual(['w1', 'w2']);
      expect(await ids(21)).toEqual(['w1']);
      expect(await store.workers.prune(epochMs(20))).toBe(0);
      expect(await store.workers.prune(epochMs(21))).toBe(1);
      expect(await ids()).toEqual(['w1']);
    });
  });

  describe('links to a run', () => {
    const share = (id: string, of: string, at: number) => ({
      id,
      runId: runId(of),
      createdBy: `ada ${awkward}`,
      createdAt: epochMs(at),
      expiresAt: epochMs(at + DAY),
    });

    it('finds a link by its id, its secret and its run, and by nothing else', async () => {
      const [first, second, other] = [
        share('s1', awkward, 10),
        share('s2', awkward, 20),
        share('s3', 'r', 30),
      ];
      await store.shares.add(first, sha256(digest('one')));
      await store.shares.add(second, sha256(digest('two')));
      await store.shares.add(other, sha256(digest('three')));
      expect(await store.shares.of(runId(awkward))).toEqual([second, first]);
      expect(await store.shares.of(runId('nobody'))).toEqual([]);
      expect(await store.shares.bySecret(sha256(digest('one')))).toEqual(first);
      expect(await store.shares.bySecret(sha256(digest('nothing')))).toBeUndefined();
      expect(await store.shares.get('s3')).toEqual(other);
      expect(await store.shares.get('s4')).toBeUndefined();
    });

    it('keeps the first revocation', async () => {
      await store.shares.add(share('s1', 'r', 10), sha256(digest('one')));
      expect(await store.shares.revoke('s1', 'ada', epochMs(20))).toBe(true);
      expect(await store.shares.revoke('s1', 'bob', epochMs(30))).toBe(false);
      expect(await store.shares.revoke('s2', 'bob', epochMs(30))).toBe(false);
      const revoked = { ...share('s1', 'r', 10), revoked: { at: 20, by: 'ada' } };
      expect(await store.shares.get('s1')).toEqual(revoked);
      expect(await store.shares.bySecret(sha256(digest('one')))).toEqual(revoked);
      expect(await store.shares.of(runId('r'))).toEqual([revoked]);
    });

    if (kind.durable)
      it('has them after it was opened again', async () => {
        await store.shares.add(share('s1', 'r', 10), sha256(digest('one')));
        await store.shares.revoke('s1', 'ada', epochMs(20));
        const again = await assertDefined(opened.reopen, 'a durable store reopens')();
        expect((await again.shares.bySecret(sha256(digest('one'))))?.revoked).toEqual({ at: 20, by: 'ada' });
      });
  });

  describe('a run that is assembled from parts', () => {
    const part = (id: string, content: string): PartRecord => ({
      id,
      at: epochMs(5),
      body: new TextEncoder().encode(content),
    });
    const random = (value: number): EventBody => ({
      kind: 'value.recorded',
      key: stepKey('work#1/$random#1'),
      of: 'random',
      value,
    });
    const told = async (id: string) =>
      (await store.parts(runId(id))).map(({ id: one, body }) => [one, new TextDecoder().decode(body)]);
    /** Replaces everything after `after` with these, one edition on. */
    const rewrite = async (
      id: string,
      after: number,
      bodies: readonly EventBody[],
      rest: Partial<Change> = {},
      payloads: readonly Payload[] = [],
    ): Promise<number> => {
      const done = await store.commit<number, never>({
        runId: runId(id),
        decide: (context) => {
          const before = assertDefined(context.run, 'the run is there');
          const kept = { ...before, headSeq: seq(after), edition: before.edition + 1 };
          const cut = { after: seq(after), effects: [] };
          const change = appendTo(
            runId(id),
            { ...context, run: kept },
            { bodies, payloads, rest: { cut, ...rest } },
          );
          return { ok: true, value: { value: change.run.headSeq, change } };
        },
      });
      if (!done.ok) throw new Error('a rewriting without conditions was refused');
      return done.value;
    };

    it('keeps each part once, whatever comes under its id later, and gives those that are asked for', async () => {
      await append(store, 'run_a', {
        bodies: [queued],
        rest: { parts: [part('b', 'two'), part('a', ''), part(awkward, awkward)] },
      });
      await append(store, 'run_b', { rest: { parts: [part('a', 'of another run')] } });
      await append(store, 'run_a', { rest: { parts: [part('b', 'other'), part('c', 'three')] } });
      const all = [
        ['a', ''],
        ['b', 'two'],
        ['c', 'three'],
        [awkward, new TextDecoder().decode(new TextEncoder().encode(awkward))],
      ];
      expect((await told('run_a')).sort()).toEqual(all.sort());
      expect((await store.parts(runId('run_a'), ['c', 'x', 'a'])).map(({ id }) => id)).toEqual(['a', 'c']);
      expect(await store.parts(runId('run_x'))).toEqual([]);
    });

    it('tells a decision how many parts and children there are, where it asks', async () => {
      await append(store, 'run_a', { bodies: [queued], rest: { parts: [part('a', 'x'), part('b', 'y')] } });
      await append(store, 'run_c', {
        run: newRunRecord('run_c', {
          root: runId('run_a'),
          parent: { runId: runId('run_a'), seq: seq(1), mode: 'fork' },
        }),
        rest: { effects: [effectRecord(runId('run_a'), stepKey('k'))] },
      });
      const asked = await contextOf('run_a', {
        assembly: true,
        also: [
          { runId: runId('run_c'), root: runId('run_a') },
          { runId: runId('run_new'), root: runId('run_new') },
        ],
      });
      expect([...asked.assembly]).toEqual([
        ['run_a', { parts: 2, children: 1, ledgerVersion: 1 }],
        ['run_c', { parts: 0, children: 0, ledgerVersion: 1 }],
      ]);
      expect((await contextOf('run_a')).assembly.size).toBe(0);
      expect(await store.assembly(runId('run_a'))).toEqual({ parts: 2, children: 1, ledgerVersion: 1 });
    });

    it('cuts a journal with all that begins after the cut, and goes on from there in the same commit', async () => {
      const id = runId('run_a');
      const snapshot = (at: number) => ({
        seq: seq(at),
        line: 0,
        state: { ...newRunRecord('run_a').state, seq: seq(at) },
      });
      const checkpoint = (at: number): CheckpointRecord => ({
        id: `cp_${at}`,
        n: at,
        line: 0,
        seq: seq(at),
        entrySeq: seq(1),
        othersSeq: seq(0),
        name: 'after it',
        trigger: 'imported',
        visit: 'work#1',
        at: epochMs(1),
      });
      const saved: EventBody = {
        kind: 'checkpoint.saved',
        trigger: 'imported',
        name: 'after it',
        visit: 'work#1',
        entrySeq: seq(1),
        othersSeq: seq(0),
      };
      const [early, late] = [stepKey('early'), stepKey('late')];
      await append(store, 'run_a', {
        bodies: [queued, saved, stepStarted('early'), stepStarted('late'), saved, random(1)],
        rest: {
          steps: [stepRecord('early', { startedSeq: seq(3) }), stepRecord('late', { startedSeq: seq(4) })],
          checkpoints: [checkpoint(2), checkpoint(5)],
          snapshots: [snapshot(2), snapshot(6)],
          effects: [
            effectRecord(id, early, { intentSeq: seq(3) }),
            effectRecord(id, late, { intentSeq: seq(4) }),
          ],
        },
      });
      await append(store, 'run_b', { bodies: [queued, random(1)], rest: { snapshots: [snapshot(2)] } });
      const before = assertDefined(await store.run(id), 'the run is there');
      const moved: RunMoved[] = [];
      store.feed.subscribe((change) => moved.push(change));

      expect(
        await rewrite('run_a', 3, [random(2)], {
          cut: { after: seq(3), effects: [{ stepKey: late, generation: 1 }] },
          steps: [stepRecord('early', { startedSeq: seq(3), status: 'running' })],
          parts: [part('new', 'p')],
        }),
      ).toBe(4);
      const events = await store.events(id, { limit: 100 });
      expect(events.map(({ kind }) => kind)).toEqual([
        'run.queued',
        'checkpoint.saved',
        'step.started',
        'value.recorded',
      ]);
      expect(events[3]).toMatchObject({ seq: 4, value: 2 });
      expect((await store.steps(id)).map((step) => [step.stepKey, step.status])).toEqual([
        ['early', 'running'],
      ]);
      expect((await store.checkpoints(id)).map(({ seq: at }) => at)).toEqual([2]);
      expect((await store.snapshot(id, seq(100)))?.seq).toBe(2);
      expect((await store.effects(id)).map(({ stepKey: key }) => key)).toEqual([early]);
      expect(await store.ledgerVersion(id)).toBe(2);
      expect(await store.run(id)).toMatchObject({ edition: 1, headSeq: 4, createdAt: before.createdAt });
      expect(await store.edition(id)).toBe(1);
      expect(await told('run_a')).toEqual([['new', 'p']]);
      expect(moved.find(({ runId: of }) => of === id)).toMatchObject({ edition: 1, headSeq: 4 });
      // The neighbour keeps what it has.
      expect((await store.snapshot(runId('run_b'), seq(100)))?.seq).toBe(2);
      expect(await heads('run_b')).toEqual([1, 2]);
      expect(await store.edition(runId('run_b'))).toBe(0);
      expect(await store.edition(runId('run_x'))).toBeUndefined();
    });

    it('sweeps payloads of cut events once they are older, unless anything refers to them, then or by then', async () => {
      const [gone, kept, again, elsewhere, later, new_] = [
        'gone',
        'kept',
        'again',
        'elsewhere',
        'later',
        'new',
      ].map((text) => payload(JSON.stringify(text))) as [
        Payload,
        Payload,
        Payload,
        Payload,
        Payload,
        Payload,
      ];
      await append(store, 'run_b', { bodies: [queued, message(elsewhere)], payloads: [elsewhere] });
      await append(store, 'run_a', {
        bodies: [queued, message(kept), ...[gone, kept, again, elsewhere, later].map(message)],
        payloads: [gone, kept, again, elsewhere, later],
      });
      await rewrite('run_a', 2, [message(again), message(new_)], {}, [again, new_]);
      const sweep = (at: number) => store.payloads.sweep(epochMs(store.clock.now() + at));
      expect(await sweep(-DAY)).toBe(0);
      await append(store, 'run_c', { bodies: [queued, message(later)], payloads: [later] });
      expect(await sweep(DAY)).toBe(1);
      const all = [gone, kept, again, elsewhere, later, new_].map(({ sha256: one }) => one);
      expect(await store.payloads.missing(all)).toEqual([gone.sha256]);
      expect(await sweep(DAY)).toBe(0);
      // What goes back to what it was has its payloads again.
      await rewrite('run_a', 2, [message(gone)], {}, [gone]);
      expect(await sweep(DAY)).toBe(2);
      expect(await store.payloads.missing(all)).toEqual([again.sha256, new_.sha256]);
    });

    it('goes on after a cut as if the journal had always been so, and begins at another time where it says so', async () => {
      await append(store, 'run_a', { bodies: [queued, random(1), random(1)] });
      await rewrite('run_a', 0, [queued]);
      await append(store, 'run_a', (context) => ({
        bodies: [random(3)],
        run: { ...assertDefined(context.run, 'the run is there'), createdAt: epochMs(77) },
      }));
      expect(await heads('run_a')).toEqual([1, 2]);
      expect(await store.run(runId('run_a'))).toMatchObject({ edition: 1, headSeq: 2, createdAt: 77 });
      const { items } = await store.runs({
        filter: { from: epochMs(77), to: epochMs(78) },
        sort: 'created',
        descending: true,
        limit: 5,
      });
      expect(items.map(({ runId: id }) => id)).toEqual(['run_a']);
    });

    it('refuses a cut that takes nothing, and an edition that does not follow, as broken invariants', async () => {
      await append(store, 'run_a', { bodies: [queued, random(1)] });
      await expect(rewrite('run_a', 2, [random(2)])).rejects.toThrow('Broken invariant');
      await expect(append(store, 'run_a', { run: { edition: 1 } })).rejects.toThrow('Broken invariant');
      expect(await heads('run_a')).toEqual([1, 2]);
    });

    it('shows readers one edition or the other: what was read between two equal editions belongs together', async () => {
      const pages = 4;
      const size = 25;
      const journal = (edition: number) => Array.from({ length: pages * size }, () => random(edition));
      await append(store, 'run_a', { bodies: [queued, ...journal(0)] });
      let writing = true;
      const read = async () => {
        let whole = 0;
        while (writing || whole === 0) {
          const before = await store.edition(runId('run_a'));
          const values = new Set<unknown>();
          for (let page = 0; page < pages; page += 1) {
            const after = seq(1 + page * size);
            for (const event of await store.events(runId('run_a'), { after, limit: size }))
              values.add('value' in event ? event.value : undefined);
            // A reader's next request comes after others had their turn.
            await new Promise((resolve) => setImmediate(resolve));
          }
          if ((await store.edition(runId('run_a'))) !== before) continue;
          expect([...values]).toEqual([before]);
          whole += 1;
        }
        return whole;
      };
      const reading = Promise.all([read(), read()]);
      for (let edition = 1; edition <= 12; edition += 1) await rewrite('run_a', 1, journal(edition));
      writing = false;
      expect(Math.min(...(await reading))).toBeGreaterThan(0);
    });
  });

  it('takes ids, keys and names that hold U+0000, lone surrogates and control characters', async () => {
    const key = stepKey(`plan#1/${awkward}#1`);
    const id = `run ${awkward}`;
    await append(store, id, {
      bodies: [stepStarted(key)],
      run: { source: awkward, state: { ...newRunRecord(id).state, agent: awkward, tags: [awkward] } },
      rest: { steps: [stepRecord(key)], effects: [effectRecord(runId(id), key)] },
    });
    expect(
      (
        await store.runs({
          filter: { q: awkward, tag: [awkward], agent: [awkward] },
          sort: 'agent',
          descending: true,
          limit: 1,
        })
      ).items[0]?.runId,
    ).toBe(id);
    expect((await store.step(runId(id), key))[0]?.stepKey).toBe(key);
    expect((await contextOf(id, { effectKeys: [key] })).effects[0]?.stepKey).toBe(key);
    expect((await store.events(runId(id), { limit: 1 }))[0]).toMatchObject({ runId: id, stepKey: key });
    expect(sha256(digest(id))).toHaveLength(64);
  });
}
