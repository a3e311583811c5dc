import { describe, expect, it } from 'vitest';
import { type RunId, type Seq, type StepKey, seq } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { StepRecord } from '@/lib/core/projections/records';
import { getStep } from './get-step';
import type { EventRange, Store } from './ports';

const KEY = 'plan#1/map#1' as StepKey;
const MOST = 100_500;

/** Begun first and ended last, with as many events of other steps in between. */
const journal = Array.from({ length: MOST }, (_, index) => {
  const at = index + 1;
  const own = at === 1 || at === MOST;
  return {
    kind: at === MOST ? 'step.completed' : 'step.started',
    stepKey: own ? KEY : `plan#1/other#${at}`,
    attempt: 1,
    recorded: true,
    seq: seq(at),
    at,
    epoch: 1,
  } as unknown as RunEvent;
});

const store = {
  run: async () => ({ runId: 'r', home: 'here', state: { seq: MOST, open: {}, stopped: {}, rewinds: [] } }),
  step: async () => [{ stepKey: KEY, line: 0, startedSeq: 1, endedSeq: MOST } as unknown as StepRecord],
  events: async (_run: RunId, range: EventRange) =>
    journal
      .slice(
        range.after ?? 0,
        Math.min((range.before ?? ((MOST + 1) as Seq)) - 1, (range.after ?? 0) + range.limit),
      )
      .filter(({ kind }) => range.kinds?.includes(kind)),
} as unknown as Store;

describe('a step with very many events between its start and its end', () => {
  it('is told with its end', async () => {
    const found = await getStep({ store }, { runId: 'r' as RunId, key: KEY });
    expect(found).toMatchObject({
      ok: true,
      value: { attempts: [{ outcome: 'completed', endedSeq: MOST }] },
    });
  });
});
