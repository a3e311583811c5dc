import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refOf, TestLineage } from '../../testing/random-journal';
import { testCall } from '../../testing/test-call';
import { epochMs, type RunId, runId, type Seq } from '../events/ids';
import type { NewEvent, RunEvent } from '../events/run-event';
import { extend } from '../journal/extend';
import { newRun } from '../journal/new-run';
import { assertDefined } from '../shared/assert';
import { evidenceOf, isInDoubt, mayHaveHappenedTwice } from './ledger';
import type { EffectRecord } from './records';

/*
 * One lineage at two consoles. The run is at home here and left a call in doubt. At the other console it is a copy, a
 * person decided there that it did not happen, and a fork sent the same occurrence itself. Then the fork is uploaded here.
 */

const call = testCall('pay');
const { key, fails, row } = call;
const root = runId('run_root');
const fork = runId('run_fork');
type Kind = 'external' | 'idempotent';

const send = (lineage: TestLineage, attempt: number, effect: Kind): NewEvent =>
  call.send(lineage, attempt, effect, { keyValidForMs: effect === 'idempotent' ? 1_000 : 86_400_000 });
const completes = (attempt: number, recorded = true): NewEvent => ({
  kind: 'step.completed',
  stepKey: key,
  attempt,
  recorded,
  receipt: `re_${attempt}`,
  ...(recorded ? { result: refOf(`paid ${attempt}`) } : { problem: '$.a: a Socket' }),
});
const stops: NewEvent = { kind: 'run.interrupted', cause: 'lease-lapsed' };
const decided = (
  lineage: TestLineage,
  outcome: 'happened' | 'did-not-happen' | 'hold',
  intentSeq: Seq,
): NewEvent => ({
  kind: 'effect.decided',
  stepKey: key,
  decision: { intentSeq, outcome, ...(outcome === 'happened' && { result: refOf('said') }) },
  actor: 'op',
  reason: '',
  commandId: lineage.nextCommand(),
});
const verified = (outcome: 'happened' | 'did-not-happen', intentSeq: Seq, withResult: boolean): NewEvent => ({
  kind: 'effect.verified',
  stepKey: key,
  intentSeq,
  outcome,
  source: 'probe',
  receipt: 're_probe',
  ...(withResult && { result: refOf('probed') }),
});
const rowOf = (lineage: TestLineage): EffectRecord => assertDefined(row(lineage), 'the occurrence has a row');

/** The run with its call in doubt, held by nobody: the same at both consoles. */
function inDoubt(effect: Kind, messages = 0): TestLineage {
  const lineage = new TestLineage();
  for (let n = 0; n < messages; n += 1)
    lineage.worker([{ kind: 'message.appended', role: 'user', message: refOf(n) }]);
  lineage.worker([
    { kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 },
    send(lineage, 1, effect),
  ]);
  lineage.now += 5_000;
  lineage.console([stops]);
  lineage.release();
  return lineage;
}

/** What became of the fork's own call at the other console, by the journal that is uploaded here. */
const endings: Readonly<Record<string, (there: TestLineage, intentSeq: Seq, effect: Kind) => void>> = {
  'in flight': () => {},
  'in doubt by a time-out': (there) => void there.worker([fails('timeout', 2)], fork),
  'in doubt by a stop': (there) => there.console([stops], fork),
  completed: (there) => void there.worker([completes(2)], fork),
  'completed, not recorded': (there) => void there.worker([completes(2, false)], fork),
  rejected: (there) => void there.worker([fails('rejected', 2)], fork),
  'not sent': (there) => void there.worker([fails('not-sent', 2)], fork),
  'decided: happened': (there, at) => there.console([stops, decided(there, 'happened', at)], fork),
  'decided: did not happen': (there, at) =>
    there.console([stops, decided(there, 'did-not-happen', at)], fork),
  'probed: happened': (there, at) => there.console([stops, verified('happened', at, true)], fork),
  'probed: happened, no result': (there, at) => there.console([stops, verified('happened', at, false)], fork),
  'probed: did not happen': (there, at) =>
    there.console([stops, verified('did-not-happen', at, false)], fork),
  'sent again and completed': (there, at, effect) => {
    there.console([stops, decided(there, 'did-not-happen', at)], fork);
    there.claim(fork);
    there.worker([send(there, 3, effect), completes(3)], fork);
  },
};
const surelyNot = new Set(['rejected', 'not sent', 'decided: did not happen', 'probed: did not happen']);
const happened = new Set(['completed', 'decided: happened', 'probed: happened', 'sent again and completed']);
const cases = Object.entries(endings).flatMap(([ending, act]) =>
  (['external', 'idempotent'] as const).map((effect) => ({ ending, effect, act })),
);

/** The fork's journal as the other console has it. */
function elsewhere(effect: Kind, act: (typeof endings)[string]): readonly RunEvent[] {
  const there = inDoubt(effect);
  const { intentSeq } = rowOf(there);
  there.fork(fork, there.of().run.headSeq);
  there.console([decided(there, 'did-not-happen', intentSeq)], fork);
  there.claim(fork);
  if (!there.worker([send(there, 2, effect)], fork)) throw new Error(JSON.stringify(there.refused));
  act(there, rowOf(there).intentSeq, effect);
  expect(there.refused).toEqual([]);
  return there.of(fork).events;
}

/** The next `count` events of the fork's journal come here. */
function upload(here: TestLineage, journal: readonly RunEvent[], count = journal.length): void {
  const known = here.runs.get(fork);
  const run =
    known?.run ??
    here.create(
      newRun({
        runId: fork,
        agent: 'random-agent',
        createdAt: epochMs(here.now),
        root,
        parent: { runId: root, seq: here.of().run.headSeq, mode: 'fork' },
        home: 'mirror',
      }),
    ).run;
  const fresh = journal.slice(run.headSeq, run.headSeq + count);
  const drafts = fresh.map(({ runId: _run, seq: _seq, version: _version, ...draft }) => draft);
  const stamp = { at: epochMs(here.now), epoch: run.epoch, by: 'worker' } as const;
  const isOurs = (id: RunId) => id === root;
  here.keep(extend(run, here.ledger(), drafts, stamp, { asRecorded: true, isOurs }));
}

/** The row; the order of its earlier intents means nothing. */
const told = (row: EffectRecord): EffectRecord => ({
  ...row,
  earlier: [...(row.earlier ?? [])].sort(
    (a, b) => a.runId.localeCompare(b.runId) || a.intentSeq - b.intentSeq,
  ),
});

const decideHere = (here: TestLineage, outcome: 'happened' | 'did-not-happen', at: Seq): void =>
  here.console([decided(here, outcome, at)]);

describe('a fork that was uploaded, which had sent a call that is in doubt here', () => {
  it.each(cases)('$ending ($effect): leaves the doubt here to be decided here', ({ effect, act, ending }) => {
    const here = inDoubt(effect);
    const { intentSeq, status } = rowOf(here);
    upload(here, elsewhere(effect, act));
    expect(rowOf(here)).toMatchObject({ runId: root, intentSeq, status });
    const evidence = evidenceOf(rowOf(here));
    if (happened.has(ending)) expect(evidence).toMatchObject([{ runId: fork }]);
    if (surelyNot.has(ending)) expect(evidence).toEqual([]);
    expect(mayHaveHappenedTwice(rowOf(here))).toBe(effect === 'external' && evidence.length > 0);
  });

  it.each(cases)(
    '$ending ($effect): once it is decided here that it did not happen, is what became of it; whatever came first',
    ({ effect, act, ending }) => {
      const journal = elsewhere(effect, act);
      const orders = Array.from({ length: journal.length + 1 }, (_, cut) => {
        const here = inDoubt(effect);
        const { intentSeq } = rowOf(here);
        upload(here, journal, cut);
        decideHere(here, 'did-not-happen', intentSeq);
        upload(here, journal);
        return here;
      });
      const rows = orders.map((here) => told(rowOf(here)));
      for (const row of rows) {
        if (surelyNot.has(ending)) expect(row.status).toBe('failed');
        else expect(row).toEqual(rows[0]);
      }
      for (const here of orders) {
        if (happened.has(ending)) expect(rowOf(here)).toMatchObject({ runId: fork, status: 'confirmed' });
        expect(mayHaveHappenedTwice(rowOf(here))).toBe(false);
        here.claim();
        expect(here.worker([send(here, 2, effect)])).toBe(surelyNot.has(ending));
      }
    },
  );

  it.each(cases.filter(({ ending }) => happened.has(ending)))(
    '$ending ($effect): raises the alarm where the one here happened as well, by decision or sent again',
    ({ effect, act }) => {
      const journal = elsewhere(effect, act);
      for (const early of [true, false]) {
        const here = inDoubt(effect);
        const { intentSeq } = rowOf(here);
        if (early) upload(here, journal);
        decideHere(here, 'happened', intentSeq);
        upload(here, journal);
        expect(rowOf(here)).toMatchObject({ runId: root, status: 'confirmed', confirmedBy: 'decision' });
        expect(evidenceOf(rowOf(here))).toMatchObject([{ runId: fork }]);
        expect(mayHaveHappenedTwice(rowOf(here))).toBe(effect === 'external');
      }
      const here = inDoubt(effect);
      decideHere(here, 'did-not-happen', rowOf(here).intentSeq);
      here.claim();
      expect(here.worker([send(here, 2, effect)])).toBe(true);
      upload(here, journal);
      expect(mayHaveHappenedTwice(rowOf(here))).toBe(effect === 'external');
      expect(rowOf(here)).toMatchObject({ runId: root, status: 'intended' });
      // Its own call turns out not to have left: the other one is what became of the occurrence.
      here.worker([fails('not-sent', 2)]);
      expect(rowOf(here)).toMatchObject({ runId: fork, status: 'confirmed' });
      expect(here.worker([send(here, 3, effect)])).toBe(false);
    },
  );

  it('is told apart from the call here where both stand at one seq: its decision is about its own', () => {
    for (const outcome of ['happened', 'did-not-happen'] as const) {
      const here = inDoubt('external', 5);
      const { intentSeq } = rowOf(here);
      const there = new TestLineage();
      there.fork(fork, there.of().run.headSeq);
      there.claim(fork);
      for (let n = there.of(fork).run.headSeq + 1; n < intentSeq; n += 1)
        there.worker([{ kind: 'message.appended', role: 'user', message: refOf(n) }], fork);
      there.worker([send(there, 1, 'external')], fork);
      expect(rowOf(there)).toMatchObject({ runId: fork, intentSeq });
      there.console([stops, decided(there, outcome, intentSeq)], fork);
      // The run is a copy, too: no home shields it.
      upload(here, there.of(fork).events.slice(0, -1));
      const run = assertDefined(here.runs.get(fork), 'it was uploaded').run;
      const last = assertDefined(there.of(fork).events.at(-1), 'a decision');
      const { runId: _run, seq: _seq, version: _version, ...draft } = last;
      here.keep(
        extend(run, here.ledger(), [draft], { at: epochMs(here.now), epoch: run.epoch, by: 'console' }),
      );
      expect(rowOf(here)).toMatchObject({ runId: root, intentSeq, status: 'in-doubt' });
      expect(evidenceOf(rowOf(here))).toHaveLength(outcome === 'happened' ? 1 : 0);
    }
  });
});

describe('word that an earlier intent happened', () => {
  const ways = {
    rejected: (lineage: TestLineage) => void lineage.worker([fails('rejected', 2)]),
    'not sent': (lineage: TestLineage) => void lineage.worker([fails('not-sent', 2)]),
    decided: (lineage: TestLineage) => {
      lineage.console([stops]);
      decideHere(lineage, 'did-not-happen', rowOf(lineage).intentSeq);
    },
    probed: (lineage: TestLineage) => {
      lineage.console([stops]);
      lineage.console([verified('did-not-happen', rowOf(lineage).intentSeq, false)]);
    },
  };
  it.each(
    Object.entries(ways).flatMap(([way, act]) =>
      [true, false].flatMap((withResult) => [true, false].map((first) => ({ way, act, withResult, first }))),
    ),
  )(
    'counts whether the newest one is found not to have happened before or after it ($way, result $withResult, word first $first)',
    ({ act, withResult, first }) => {
      const lineage = inDoubt('external');
      const { intentSeq } = rowOf(lineage);
      decideHere(lineage, 'did-not-happen', intentSeq);
      lineage.claim();
      lineage.worker([send(lineage, 2, 'external')]);
      const second = rowOf(lineage).intentSeq;
      const word = () => lineage.console([verified('happened', intentSeq, withResult)]);
      if (first) word();
      act(lineage);
      if (!first) word();
      expect(rowOf(lineage)).toMatchObject({ intentSeq, status: withResult ? 'confirmed' : 'in-doubt' });
      expect(mayHaveHappenedTwice(rowOf(lineage))).toBe(false);
      lineage.claim();
      expect(lineage.worker([send(lineage, 3, 'external')])).toBe(false);
      // Word of the newest one is not lost either.
      if (act === ways['not sent']) return;
      lineage.console([verified('happened', second, true)]);
      expect(evidenceOf(rowOf(lineage))).toContainEqual(expect.objectContaining({ intentSeq: second }));
      expect(mayHaveHappenedTwice(rowOf(lineage))).toBe(true);
    },
  );
});

it('nothing that a lineage confirmed is sent again, however two consoles decide, send and upload (promise 1)', () => {
  const arbitrary = fc.record({
    effect: fc.constantFrom('external', 'idempotent' as const),
    ending: fc.constantFrom(...Object.keys(endings)),
    acts: fc.array(
      fc.tuple(
        fc.constantFrom('upload', 'decide', 'send', 'complete', 'reject', 'time out', 'lapse', 'late word'),
        fc.nat(20),
      ),
      { maxLength: 14 },
    ),
  });
  fc.assert(
    fc.property(arbitrary, ({ effect, ending, acts }) => {
      const journal = elsewhere(effect, assertDefined(endings[ending], 'an ending'));
      const here = inDoubt(effect);
      let attempt = 1;
      for (const [act, n] of acts) {
        const row = rowOf(here);
        const own = { row, attempt };
        const isOut = row.runId === root && row.status === 'intended' && here.of().run.lease !== undefined;
        if (act === 'upload') upload(here, journal, n);
        else if (act === 'decide') {
          if (isInDoubt(row, epochMs(here.now)) && row.runId === root)
            decideHere(here, n % 2 === 0 ? 'happened' : 'did-not-happen', row.intentSeq);
        } else if (act === 'late word') {
          const places = [...(row.earlier ?? []), row].filter((one) => one.runId === root);
          const place = places[n % Math.max(1, places.length)];
          if (place) here.console([verified('happened', place.intentSeq, n % 3 !== 0)]);
        } else if (act === 'send') {
          if (here.of().run.lease === undefined || here.of().run.state.status !== 'running') here.claim();
          const wasConfirmed = row.status === 'confirmed';
          const known = evidenceOf(row).filter(({ overruled }) => !overruled);
          const before = here.now;
          if (here.worker([send(here, attempt + 1, effect)])) {
            attempt += 1;
            expect(wasConfirmed).toBe(false);
            // A repetition under a key that is still valid is one effect downstream.
            const repeats = effect === 'idempotent' && before < row.firstIntentAt + row.intent.keyValidForMs;
            if (!repeats) expect(known).toEqual([]);
          }
        } else if (isOut && act === 'complete') here.worker([completes(own.attempt)]);
        else if (isOut && act === 'reject') here.worker([fails('rejected', own.attempt)]);
        else if (isOut && act === 'time out') here.worker([fails('timeout', own.attempt)]);
        else if (act === 'lapse' && here.of().run.state.status === 'running') {
          here.now += 5_000;
          here.console([stops]);
        }
      }
    }),
    { numRuns: 400 },
  );
});
