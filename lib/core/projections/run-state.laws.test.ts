import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryLineage, driveLineage, type TestLineage } from '../../testing/random-journal';
import { runId, seq } from '../events/ids';
import { extend } from '../journal/extend';
import { newRun } from '../journal/new-run';
import { effectivePath, inForce, segmentsAt } from './effective-path';
import { ledgerOf } from './ledger';
import type { EffectRecord, RunState } from './records';
import { emptyState, foldRun } from './run-state';
import { stepsAt } from './steps';

const law = (property: (lineage: TestLineage) => void, runs = 40) =>
  fc.assert(fc.property(arbitraryLineage(), property), { numRuns: runs });

describe('random journals', () => {
  it('are rich: stops, revivals, rewinds, doubts, decisions, branches and questions all occur, and few batches are refused', () => {
    const seen = new Map<string, number>();
    let refused = 0;
    let events = 0;
    const numbers = fc.sample(fc.array(fc.nat(0xffff), { minLength: 300, maxLength: 320, size: 'max' }), {
      numRuns: 40,
      seed: 7,
    });
    for (const lineage of numbers.map(driveLineage)) {
      refused += lineage.refused.length;
      for (const event of lineage.of().events) {
        events++;
        const kind = event.kind === 'run.resumed' && event.revived ? 'revived' : event.kind;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }
    }
    for (const kind of [
      'run.interrupted',
      'run.failed',
      'revived',
      'run.rewound',
      'run.completed',
      'scope.left',
      'question.answered',
      'effect.verified',
      'effect.decided',
      'effect.conflict',
      'step.skipped',
      'run.waiting',
    ])
      expect.soft(seen.get(kind) ?? 0, kind).toBeGreaterThan(0);
    expect(refused / events).toBeLessThan(0.1);
  });
});

describe('laws of the fold', () => {
  it('gives the state that extend kept, from the whole journal', () =>
    law((lineage) => {
      const { run, events } = lineage.of();
      expect(foldRun(events)).toEqual(run.state);
      expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
    }));

  it('gives the same from any snapshot plus the tail as from the whole journal (promise 8)', () =>
    law((lineage) => {
      const { run, events } = lineage.of();
      const whole = run.state;
      let state: RunState = emptyState('random-agent');
      const prefixes = events.map(
        (event) =>
          (state =
            event.kind === 'run.rewound' ? foldRun(events.slice(0, event.seq)) : foldRun([event], state)),
      );
      for (const cut of new Set([
        0,
        Math.floor(prefixes.length / 3),
        Math.floor(prefixes.length / 2),
        prefixes.length - 1,
      ])) {
        const from = prefixes[cut];
        if (!from) continue;
        const tail = events.slice(from.seq);
        if (tail.some((event) => event.kind === 'run.rewound' && event.toSeq < from.seq)) continue;
        expect(foldRun(tail, JSON.parse(JSON.stringify(from)) as RunState)).toEqual(whole);
      }
    }, 30));

  it('folds any prefix, and every prefix is plain JSON', () =>
    law((lineage) => {
      const { events } = lineage.of();
      for (let n = 0; n <= events.length; n += Math.max(1, Math.floor(events.length / 12))) {
        const state = foldRun(events.slice(0, n));
        expect(state.seq).toBe(n);
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
      }
    }, 30));

  it('knows only what is on the effective path: the fold of the path alone has the same variables, messages, visits and open steps', () =>
    law((lineage) => {
      const { run, events } = lineage.of();
      const path = effectivePath(events).filter((event) => event.kind !== 'run.rewound');
      const plain = foldRun(path);
      for (const part of ['variables', 'messages', 'visits', 'edges', 'visit', 'agent', 'input'] as const)
        expect(plain[part], part).toEqual(run.state[part]);
      expect(plain.counts.visits).toBe(run.state.counts.visits);
      const told = path.flatMap((event) => (event.kind === 'step.completed' && event.usage) || []);
      for (const name of ['inputTokens', 'outputTokens', 'costMicroUsd'] as const) {
        const sums = told.flatMap((usage) => usage[name] ?? []);
        expect(run.state.counts[name], name).toBe(
          sums.length === 0 ? undefined : sums.reduce((sum, one) => sum + one),
        );
      }
      expect(Object.keys({ ...plain.open, ...plain.stopped }).sort()).toEqual(
        Object.keys({ ...run.state.open, ...run.state.stopped }).sort(),
      );
    }));

  it('does not depend on how the events were cut into appends', () =>
    law((lineage) => {
      const { run, events } = lineage.of();
      const drafts = events.map(({ runId: _run, seq: _seq, version: _version, ...draft }) => draft);
      const fresh = newRun({ runId: run.runId, agent: 'random-agent', createdAt: run.createdAt });
      const whole = extend(fresh, [], drafts, { at: run.updatedAt, epoch: run.epoch, by: 'worker' });
      expect(whole.run.state).toEqual(run.state);
      expect(sorted(whole.steps.map((row) => JSON.stringify(row)))).toEqual(
        sorted([...lineage.of().steps.values()].map((row) => JSON.stringify(row))),
      );
      expect(sorted(whole.effects.map((row) => JSON.stringify(row)))).toEqual(
        sorted(lineage.ledger().map((row) => JSON.stringify(row))),
      );
      expect(whole.checkpoints).toEqual(lineage.of().checkpoints.map((row) => row));
    }, 30));
});

const sorted = (lines: readonly string[]) => [...lines].sort();

describe('laws of rows', () => {
  it('gives one row in force for each step of the path, open ones exactly where the state says open or stopped', () =>
    law((lineage) => {
      const { run, steps, events } = lineage.of();
      const segments = segmentsAt(run.state.rewinds, run.headSeq);
      const rows = stepsAt([...steps.values()], run.state);
      expect(new Set(rows.map((row) => row.stepKey)).size).toBe(rows.length);
      for (const row of rows) expect(inForce(row.startedSeq, segments)).toBe(true);
      const notEnded = rows.filter(
        (row) =>
          !['completed', 'failed', 'reused', 'skipped', 'abandoned', 'not-recorded'].includes(row.status),
      );
      const open = { ...run.state.open, ...run.state.stopped };
      const stillOpen = Object.values(open).filter((step) => step.status !== 'failed');
      expect(sorted(notEnded.map((row) => row.stepKey))).toEqual(
        sorted(stillOpen.map((step) => step.stepKey)),
      );
      expect(events.filter((event) => event.kind === 'run.rewound').length).toBe(run.state.line);
    }));
});

describe('laws of the ledger', () => {
  it('never has an intent for an occurrence that was confirmed (promise 1), and never one in doubt sent again unsettled (promise 2)', () =>
    law((lineage) => {
      const ledger = new Map<string, EffectRecord['status']>();
      for (const event of lineage.of().events) {
        if (event.kind === 'step.started' && event.intent && event.effect === 'external') {
          const status = ledger.get(event.stepKey);
          expect(status === undefined || status === 'failed', `${event.stepKey} sent while ${status}`).toBe(
            true,
          );
          ledger.set(event.stepKey, 'intended');
        } else if (event.kind === 'step.completed' && ledger.has(event.stepKey))
          ledger.set(event.stepKey, 'confirmed');
        else if (event.kind === 'effect.verified' && event.outcome === 'happened')
          ledger.set(event.stepKey, 'confirmed');
        else if (event.kind === 'effect.decided' && event.decision.outcome === 'happened')
          ledger.set(event.stepKey, 'confirmed');
        else if (
          event.kind === 'effect.decided' &&
          event.decision.outcome === 'did-not-happen' &&
          ledger.get(event.stepKey) !== 'confirmed'
        )
          ledger.set(event.stepKey, 'failed');
        else if (
          event.kind === 'step.failed' &&
          (event.failure === 'rejected' || event.failure === 'not-sent') &&
          ledger.get(event.stepKey) === 'intended'
        )
          ledger.set(event.stepKey, 'failed');
      }
      expect(ledgerOf(lineage.ledger()).size).toBeGreaterThanOrEqual(0);
    }));
});

describe('laws of forks', () => {
  it('folds the copies to what the parent was at the point, and leaves the parent and the ledger untouched (S13)', () =>
    fc.assert(
      fc.property(arbitraryLineage(160), fc.nat(1_000), (lineage, pick) => {
        const parent = lineage.of();
        const begun = parent.run.state.startSeq ?? 1;
        const at = seq(begun + (pick % (parent.run.headSeq - begun + 1)));
        const ledger = JSON.stringify(lineage.ledger());
        const events = JSON.stringify(parent.events);
        const fork = lineage.fork(runId('run_fork'), at);
        const then = foldRun(parent.events.slice(0, at));
        for (const part of [
          'variables',
          'visits',
          'edges',
          'agent',
          'input',
          'tags',
          'machineDigest',
        ] as const) {
          expect(strip(fork.run.state[part]), part).toEqual(strip(then[part]));
        }
        expect(fork.run.state.messages.count).toBe(then.messages.count);
        expect(fork.run.state.visit?.key).toBe(then.visit?.key);
        const { state } = fork.run;
        const retried = (one: RunState) =>
          Object.values({ ...one.open, ...one.stopped })
            .map((step) => step.stepKey)
            .sort();
        expect(retried(state)).toEqual(retried(then));
        expect(JSON.stringify(lineage.ledger())).toBe(ledger);
        expect(JSON.stringify(lineage.of().events)).toBe(events);
        expect(foldRun(fork.events)).toEqual(fork.run.state);
        expect(fork.snapshots.at(-1)?.seq).toBe(fork.run.headSeq);
      }),
      { numRuns: 40 },
    ));
});

/** Without seqs, which the copies have of their own. */
const strip = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null, (key, inner: unknown) => (key === 'lastSeq' ? undefined : inner)));
