import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunId, runId, seq } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { StepRecord } from '@/lib/core/projections/records';
import { assertDefined } from '@/lib/core/shared/assert';
import { feedRun } from '@/lib/testing/bench/feed';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { getGraph } from './get-graph';
import { listSteps } from './list-steps';
import type { Store } from './ports';
import { stepsAround } from './steps-around';

const RUN = runId('long');
let console: TestConsole;
let head: number;

beforeAll(async () => {
  console = await startTestConsole();
  const send = async (method: string, path: string, body: string | Uint8Array) => {
    const answer = await fetch(`${console.url}/api/v1${path}`, {
      method,
      body: body as BodyInit,
      headers: { 'content-type': 'application/json' },
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.status === 204 ? undefined : ((await answer.json()) as unknown);
  };
  head = await feedRun({ send }, RUN, 5_000);
});
afterAll(() => console.close());

async function around(at: number, run: RunId = RUN) {
  const found = await stepsAround(console.deps, { runId: run, at: seq(at), before: 48, after: 12 });
  return found.ok ? found.value : found.problem;
}
async function everyStep() {
  const found = await listSteps(console.deps, { runId: RUN, after: undefined, limit: 20_000 });
  if (!found.ok) throw new Error('the run is not there');
  return found.value;
}

describe('the steps around a moment', () => {
  it('are those that began last, at the head, with how many there are', async () => {
    const { items, total } = await everyStep();
    const found = await around(head);
    expect(found).toMatchObject({ total, to: undefined });
    expect('steps' in assertDefined(found, 'steps') && found).toMatchObject({ steps: items.slice(-48) });
  });

  it('are exactly those that began in the stretch that they say, wherever it is', async () => {
    const { items } = await everyStep();
    for (const at of [2, 3, 60, 100, 777, 2_500, head - 5, head]) {
      const found = await around(at);
      if (found === undefined || !('steps' in found)) throw new Error(`no steps around ${at}`);
      const { steps, after, to = head } = found;
      expect(at > after && at <= to).toBe(true);
      expect(steps).toEqual(items.filter(({ step }) => step.startedSeq > after && step.startedSeq <= to));
      expect(steps.length).toBeGreaterThanOrEqual(48);
    }
  });

  it('come with the visits that were open there, as the graph has them', async () => {
    const graph = await getGraph(console.deps, { runId: RUN, at: undefined });
    if (!graph.ok) throw new Error('the run is not there');
    const all = graph.value.graph.visits;
    for (const at of [60, 2_500, head]) {
      const found = await around(at);
      if (found === undefined || !('steps' in found)) throw new Error(`no steps around ${at}`);
      const { visits, after, to = head } = found;
      const there = all.filter(({ enteredSeq, leftSeq }) => enteredSeq <= to && (leftSeq ?? head) > after);
      expect(visits.map(({ key, enteredSeq }) => [key, enteredSeq])).toEqual(
        there.map(({ key, enteredSeq }) => [key, enteredSeq]),
      );
    }
  });

  it('are none before anything began, and none of no run', async () => {
    const created = await around(1);
    // The run's beginning is held, with what comes next.
    expect(created).toMatchObject({ after: 0 });
    expect(await around(1, runId('nobody'))).toMatchObject({ kind: 'not-found' });
  });
});

describe('the steps around a moment of a run that was rewound', () => {
  // Two visits of ten events, a step in each; the second was left behind by a rewind at 21 and made again.
  const entered = (key: string, at: number) =>
    ({ kind: 'state.entered', key, state: key.slice(0, -2), visit: 1, seq: seq(at) }) as unknown as RunEvent;
  const events = [entered('a#1', 1), entered('b#1', 11), entered('c#1', 22)];
  const row = (stepKey: string, startedSeq: number, line: number) =>
    ({ stepKey, startedSeq: seq(startedSeq), line }) as unknown as StepRecord;
  const rows = [row('a#1/x#1', 2, 0), row('b#1/y#1', 12, 0), row('c#1/z#1', 23, 1)];
  const store = {
    run: async () => ({
      runId: RUN,
      home: 'here',
      headSeq: 30,
      state: { seq: 30, line: 1, rewinds: [{ seq: 21, toSeq: 10 }] },
    }),
    steps: async (_: RunId, { after = 0 }) => rows.filter(({ startedSeq }) => startedSeq > after),
    stepsOf: async () => rows,
    stepCount: async () => 2,
    events: async () => events.toReversed(),
  } as unknown as Store;

  it('have what was left behind, marked, and visits in force alone', async () => {
    const found = await stepsAround({ store }, { runId: RUN, at: seq(30), before: 48, after: 12 });
    expect(found).toMatchObject({
      ok: true,
      value: {
        steps: [{ inForce: true }, { inForce: false }, { inForce: true }],
        total: 2,
        after: 0,
        to: undefined,
        visits: [{ key: 'a#1' }, { key: 'c#1' }],
      },
    });
  });
});
