import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { runId, seq, sha256 } from '@/lib/core/events/ids';
import { foldRun } from '@/lib/core/projections/run-state';
import { runFaults } from '@/lib/testing/importer-contract';
import { memoryStore } from '@/lib/testing/memory-store';
import { assembled, bytesOf, request, type SpanWords, span, splitOk, TRACE } from '@/lib/testing/span-words';
import { getGraph } from '@/lib/usecases/get-graph';
import { importTraces } from '@/lib/usecases/import-traces';
import type { Store } from '@/lib/usecases/ports';
import { otlpImporter } from './otlp-importer';

/* What a trace that grows does to its run: appended to as long as nothing before changed, else a new edition. */

const turn = (n: number, parent = 'f0'): readonly SpanWords[] => [
  {
    id: `a${n}`,
    parent,
    from: 100 * n + 1,
    to: 100 * n + 40,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'atlas',
      'gen_ai.input.messages': JSON.stringify([{ role: 'user', content: `turn ${n}` }]),
    },
  },
  // Two tools of one phase, the second after the first: they share a visit.
  ...['lookup', 'note'].map(
    (name, i): SpanWords => ({
      id: `b${n}${i}`,
      parent,
      from: 100 * n + 41 + 20 * i,
      to: 100 * n + 55 + 20 * i,
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name },
    }),
  ),
];
const root: SpanWords = {
  id: 'f0',
  from: 0,
  to: 2_000,
  name: 'invoke_agent desk',
  attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'desk' },
};
const numbered = (n: number): SpanWords => ({
  id: `e${n}`,
  parent: 'f0',
  name: `step ${n}`,
  from: 100 * n + 0.5,
  to: 100 * n + 90,
});

/** As exporters send them: each span when it has ended. */
const byEnd = (spans: readonly SpanWords[]): readonly SpanWords[] =>
  spans.toSorted((left, right) => (left.to ?? 0) - (right.to ?? 0));

const flat = byEnd([root, ...[0, 1, 2, 3, 4].flatMap((n) => turn(n))]);
/** Turns that are spans of their own, which end after what is in them. */
const inTurns = byEnd([root, ...[0, 1, 2, 3, 4].flatMap((n) => [numbered(n), ...turn(n, `e${n}`)])]);

const deps = (store: Store) => ({
  store,
  hash: (content: string | Uint8Array) => sha256(createHash('sha256').update(content).digest('hex')),
  judgedFrom: store.clock.now(),
  importers: [otlpImporter],
  maxImportDepth: 256,
});

/** The run's edition after each batch. */
async function editionsOver(batches: readonly (readonly SpanWords[])[]) {
  const store = memoryStore();
  const editions: number[] = [];
  for (const batch of batches) {
    const taken = await importTraces(deps(store), {
      bytes: bytesOf(request(batch.map(span))),
      contentType: 'application/json',
      asTheyCome: true,
    });
    expect(taken.ok).toBe(true);
    editions.push((await store.edition(runId(TRACE))) ?? -1);
  }
  const events = await store.events(runId(TRACE), { limit: 10_000 });
  return { editions, events };
}

const inBatches = <Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));

describe.each([
  ['a loop', flat],
  ['a loop whose turns are spans', inTurns],
] as const)('%s', (_, spans) => {
  const whole = assembled(splitOk(bytesOf(request(spans.map(span)))).parts).run;

  /** Whether the spans begin before all of those before them: then the run itself began earlier than it seemed. */
  const beginsEarlier = (before: readonly SpanWords[], batch: readonly SpanWords[]): boolean =>
    before.length > 0 && batch.some(({ from = 0 }) => before.every((other) => from < (other.from ?? 0)));

  it.each([1, 2, 3, 7])(
    'is only appended to as spans come as they end, %i at once, but for those that began before the run did',
    async (size) => {
      const batches = inBatches(spans, size);
      const { editions, events } = await editionsOver(batches);
      let resets = 0;
      expect(editions).toEqual(
        batches.map((batch, i) => {
          if (beginsEarlier(batches.slice(0, i).flat(), batch)) resets += 1;
          return resets;
        }),
      );
      expect(resets).toBeGreaterThan(0);
      expect(resets).toBeLessThanOrEqual(2);
      expect(events).toEqual(whole.events);
    },
  );

  it('is whole and sound after every span', () => {
    for (let n = 1; n <= spans.length; n += 1) {
      const { run } = assembled(splitOk(bytesOf(request(spans.slice(0, n).map(span)))).parts);
      expect(runFaults(run)).toEqual([]);
      expect(foldRun(run.events).status).toBe(n === spans.length ? 'completed' : 'running');
    }
  });
});

describe('a loop that comes in another order', () => {
  const { events: all } = assembled(splitOk(bytesOf(request(flat.map(span)))).parts).run;

  it('is reset by what comes too late, and only then; the run is the same in the end', async () => {
    const late = [...flat.slice(1, 6), ...flat.slice(0, 1), ...flat.slice(6)];
    const { editions, events } = await editionsOver(late.map((one) => [one]));
    expect(editions).toEqual(late.map((_one, i) => (i < 5 ? 0 : i === late.length - 1 ? 2 : 1)));
    expect(events).toEqual(all);
  });

  it('is reset by every span that comes before those that are there', async () => {
    const { editions, events } = await editionsOver(flat.toReversed().map((one) => [one]));
    // The root comes first, and ends a run that goes on: every other span is late.
    expect(editions).toEqual(flat.map((_one, i) => i));
    expect(events).toEqual(all);
  });

  it('keeps every place where it is when the root comes: only the beginning of the run is another', async () => {
    const before = await editionsOver([flat.slice(0, -1)]);
    const after = await editionsOver([flat.slice(0, -1), flat.slice(-1)]);
    expect(after.editions).toEqual([0, 1]);
    expect(after.events[0]).not.toEqual(before.events[0]);
    expect(after.events.slice(1, before.events.length)).toEqual(before.events.slice(1));
  });

  it('is not reset by what it has', async () => {
    const { editions } = await editionsOver([flat, flat, flat.slice(3, 5)]);
    expect(editions).toEqual([0, 0, 0]);
  });
});

it('names no machine in its journal: the graph is what all of the journal shows, at any moment of it', async () => {
  const { run } = assembled(splitOk(bytesOf(request(flat.map(span)))).parts);
  expect(run.machine).toBeUndefined();
  expect(foldRun(run.events).machineDigest).toBeUndefined();
  const store = memoryStore();
  await importTraces(deps(store), {
    bytes: bytesOf(request(flat.map(span))),
    contentType: 'application/json',
  });
  const early = await getGraph({ store }, { runId: runId(TRACE), at: seq(4) });
  expect(early).toMatchObject({
    ok: true,
    value: { machineDigest: undefined, graph: { provenance: 'mined', initial: 'model', current: 'model' } },
  });
  const graph = early.ok ? early.value.graph : undefined;
  expect(graph?.states.map(({ name, visits, final, declared }) => [name, visits, final, declared])).toEqual([
    ['model', 1, false, true],
    ['tools', 0, true, true],
  ]);
  expect(graph?.edges.map(({ from, to, taken }) => [from, to, taken])).toEqual([
    ['model', 'tools', 0],
    ['tools', 'model', 0],
  ]);
});
