import { describe, expect, it } from 'vitest';
import { epochMs, type RunId, runId, seq, stepKey } from '@/lib/core/events/ids';
import type { DecisionOutcome, NewEvent } from '@/lib/core/events/run-event';
import type { EffectRecord } from '@/lib/core/projections/records';
import { FOLD_VERSION, foldRun } from '@/lib/core/projections/run-state';
import { assertDefined } from '@/lib/core/shared/assert';
import { memoryStore } from '@/lib/testing/memory-store';
import { refOf, TestLineage, testHash } from '@/lib/testing/random-journal';
import { testIntent } from '@/lib/testing/test-call';
import { importTraces } from './import-traces';
import type { ImportedRun, Importer, Store } from './ports';
import { viewRuns } from './run-view';
import { stateAt } from './state-at';

/* What the file of a fork, decided and carried on elsewhere, does to the effects of its parent. */

const key = stepKey('work#1/pay#1');
const fork = runId('run_fork');
const grandchild = runId('run_grandchild');

const send = (lineage: TestLineage, attempt: number): NewEvent => ({
  kind: 'step.started',
  stepKey: key,
  name: 'pay',
  step: 'tool',
  effect: 'external',
  attempt,
  inputDigest: testHash('a'),
  intent: testIntent(lineage),
});

/** The parent's payment is in doubt. The fork decides it, as it may where its parent is a copy; then it may pay itself. */
function decidedElsewhere(outcome: DecisionOutcome, by: RunId): TestLineage {
  const lineage = new TestLineage();
  lineage.worker([{ kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 }, send(lineage, 1)]);
  lineage.now += 5_000;
  lineage.console([{ kind: 'run.interrupted', cause: 'lease-lapsed' }]);
  lineage.release();
  const head = lineage.of().run.headSeq;
  lineage.fork(fork, head);
  if (by === grandchild) lineage.fork(grandchild, lineage.of(fork).run.headSeq, fork);
  const { intentSeq } = assertDefined(lineage.ledger()[0], 'the payment has a row');
  lineage.console(
    [
      {
        kind: 'effect.decided',
        stepKey: key,
        decision: { intentSeq, outcome, ...(outcome === 'happened' && { result: refOf('paid') }) },
        actor: 'op',
        reason: '',
        commandId: lineage.nextCommand(),
      },
    ],
    by,
  );
  return lineage;
}

const imported = (lineage: TestLineage, ids: readonly RunId[]): readonly ImportedRun[] =>
  ids.map((id) => {
    const { run, events } = lineage.of(id);
    return {
      runId: id,
      root: run.root,
      ...(run.parent && { parent: run.parent }),
      source: run.source,
      agent: run.state.agent,
      createdAt: run.createdAt,
      epoch: run.epoch,
      events,
      payloads: new Map(),
      growth: 'exact',
    };
  });

async function upload(store: Store, runs: readonly ImportedRun[]) {
  const importer: Importer = {
    kind: 'file',
    id: 'test',
    title: 'test',
    recognises: () => true,
    decode: () => ({ ok: true, value: { runs, warnings: [] } }),
  };
  const deps = { store, hash: testHash, importers: [importer], judgedFrom: epochMs(0), maxImportDepth: 256 };
  const answer = await importTraces(deps, { bytes: new Uint8Array([1]), contentType: '' });
  if (!answer.ok) throw new Error(JSON.stringify(answer.problem));
  return answer.value;
}

/** The parent as it is at home here, before anybody decided anything. */
async function atHome(store: Store): Promise<TestLineage> {
  const lineage = decidedElsewhere('hold', fork);
  const { run, events, steps, questions, checkpoints, snapshots } = lineage.of();
  const effects = lineage.ledger().map(({ held: _held, ...row }): EffectRecord => row);
  await store.commit({
    runId: run.runId,
    decide: () => ({
      ok: true,
      value: {
        value: undefined,
        change: {
          run,
          events,
          payloads: [],
          steps: [...steps.values()],
          effects,
          questions: [...questions.values()],
          checkpoints,
          snapshots,
        },
      },
    }),
  });
  return lineage;
}

const clockAt = (lineage: TestLineage) => ({ now: () => epochMs(lineage.now) });
const outcomes = ['happened', 'did-not-happen', 'hold'] as const;
const doubtsShown = async (store: Store, id: RunId): Promise<number> => {
  const run = assertDefined(await store.run(id), 'the run is stored');
  const deps = {
    store,
    engine: { id: 'x', can: new Set<never>(), wake() {}, waitForWork: async () => {} },
    leaseMs: 1_000,
    judgedFrom: epochMs(0),
  };
  return assertDefined((await viewRuns(deps, [run]))[0], 'a view').doubts;
};

describe.each(outcomes)('a decision (%s) in a file', (outcome) => {
  it.each([fork, grandchild])(
    'of run %s changes nothing of a run whose home is here, and a warning names it',
    async (by) => {
      const lineage = decidedElsewhere(outcome, by);
      const store = memoryStore(clockAt(lineage));
      await atHome(store);
      const before = await store.effects(lineage.root);
      const files = by === fork ? [fork] : [fork, grandchild];
      const { warnings } = await upload(store, imported(lineage, files));
      expect(await store.effects(lineage.root)).toEqual(before);
      expect(before).toMatchObject([{ status: 'in-doubt', runId: lineage.root }]);
      expect(warnings).toMatchObject([
        {
          path: expect.stringContaining(`run ${by}, seq `),
          message: expect.stringContaining(`${key} of run ${lineage.root}`),
        },
      ]);
      expect(await doubtsShown(store, lineage.root)).toBe(1);
      // It stays in the journal that it was made in.
      expect(await store.events(by, { limit: 1_000, kinds: ['effect.decided'] })).toHaveLength(1);
    },
  );

  it.each([
    ['the run first', [['run_root'], ['run_fork']], fork],
    ['the fork first', [['run_fork'], ['run_root']], fork],
    ['both in one file', [['run_root', 'run_fork']], fork],
    ['the grandchild, the run, the fork', [['run_grandchild'], ['run_root'], ['run_fork']], grandchild],
    ['the fork, the grandchild, the run', [['run_fork'], ['run_grandchild'], ['run_root']], grandchild],
  ] as const)('counts for the copies of a lineage, whatever came first: %s', async (_what, files, by) => {
    const lineage = decidedElsewhere(outcome, by);
    const store = memoryStore(clockAt(lineage));
    for (const ids of files) {
      const { warnings } = await upload(
        store,
        imported(
          lineage,
          ids.map((id) => runId(id)),
        ),
      );
      expect(warnings).toEqual([]);
    }
    expect(await store.effects(lineage.root)).toEqual(lineage.ledger());
    expect(await doubtsShown(store, lineage.root)).toBe(outcome === 'hold' ? 1 : 0);
    for (const ids of files)
      await upload(
        store,
        imported(
          lineage,
          ids.map((id) => runId(id)),
        ),
      );
    expect(await store.effects(lineage.root)).toEqual(lineage.ledger());
  });
});

describe('a state that another version of the fold had stored', () => {
  it('is passed over, and the journal folded anew: as snapshot and as head, rewinds among it', async () => {
    const lineage = new TestLineage();
    lineage.worker([{ kind: 'state.entered', key: 'plan#1', state: 'plan', visit: 1 }]);
    for (let n = 0; n < 300; n += 1)
      lineage.worker([{ kind: 'message.appended', role: 'user', message: refOf(n) }]);
    lineage.release();
    lineage.console([
      { kind: 'run.rewound', toSeq: seq(40), kept: [], commandId: lineage.nextCommand() },
      { kind: 'run.queued', reason: 'command' },
    ]);
    lineage.claim();
    lineage.worker([{ kind: 'message.appended', role: 'user', message: refOf('after') }]);
    const { run, events, snapshots } = lineage.of();
    const old = <State extends object>(state: State): State => ({
      ...state,
      fold: FOLD_VERSION - 1,
      agent: 'as it was',
    });
    const store = memoryStore(clockAt(lineage));
    await store.commit({
      runId: run.runId,
      decide: () => ({
        ok: true,
        value: {
          value: undefined,
          change: {
            run: { ...run, state: old(run.state) },
            events,
            payloads: [],
            steps: [],
            effects: [],
            questions: [],
            checkpoints: [],
            snapshots: snapshots.map((snapshot) => ({ ...snapshot, state: old(snapshot.state) })),
          },
        },
      }),
    });
    const stored = assertDefined(await store.run(run.runId), 'the run is stored');
    for (const at of [30, 256, 299, run.headSeq - 1, run.headSeq]) {
      const { state } = await stateAt({ store }, stored, seq(at));
      expect(state, `at ${at}`).toEqual(foldRun(events.slice(0, at)));
    }
  });
});
