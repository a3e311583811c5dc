import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { newRun } from '@/lib/core/journal/new-run';
import { graphAt, type VisitEvent } from '@/lib/core/projections/graph';
import { foldRun } from '@/lib/core/projections/run-state';
import { statusNow } from '@/lib/core/projections/run-status';
import { decoded } from '@/lib/testing/importer-contract';
import type { ImportedRun } from '@/lib/usecases/ports';
import { langgraphImporter } from './langgraph-importer';

/*
 * A second reader of the same files, which shares no code with the importer and works the other way round: from each
 * leaf back to its root. What it counts must be what the runs show.
 */

interface Raw {
  readonly next: readonly string[];
  readonly tasks: readonly {
    readonly name: string;
    readonly error?: unknown;
    readonly interrupts?: readonly unknown[];
    readonly result?: unknown;
  }[];
  readonly metadata: { readonly source: string };
  readonly created_at: string;
  readonly checkpoint?: { readonly checkpoint_id: string };
  readonly checkpoint_id?: string;
  readonly parent_checkpoint?: { readonly checkpoint_id: string } | null;
  readonly parent_checkpoint_id?: string | null;
}

/** An assistant's static graph, where the file has it. */
interface RawGraph {
  readonly nodes: readonly { readonly id: string }[];
  readonly edges: readonly { readonly source: string; readonly target: string }[];
}

interface Count {
  readonly leaf: string;
  readonly checkpoints: readonly string[];
  readonly steps: number;
  readonly status: string;
  readonly provenance: string;
  /** States with how often each was visited, those of a graph beside the history too. */
  readonly states: Readonly<Record<string, number>>;
  readonly visits: readonly string[];
  readonly edges: Readonly<Record<string, number>>;
  readonly questions: number;
  readonly forkedAt: string | undefined;
}

const idOf = (state: Raw): string => state.checkpoint?.checkpoint_id ?? state.checkpoint_id ?? '';
const parentOf = (state: Raw): string | undefined =>
  state.parent_checkpoint?.checkpoint_id ?? state.parent_checkpoint_id ?? undefined;

const isNode = (name: string): boolean => name !== '__start__' && name !== '__end__';

function countByLeaf(states: readonly Raw[], graph: RawGraph | undefined): readonly Count[] {
  const declaredNodes = graph?.nodes.filter(({ id }) => isNode(id)) ?? [];
  const declaredEdges = graph?.edges.filter(({ source, target }) => isNode(source) && isNode(target)) ?? [];
  const all = new Map(states.map((state) => [idOf(state), state]));
  const children = (id: string) => states.filter((state) => parentOf(state) === id);
  const leaves = states.filter((state) => children(idOf(state)).length === 0);
  return leaves.map((leaf) => {
    const path: Raw[] = [];
    for (let at: Raw | undefined = leaf; at !== undefined; at = all.get(parentOf(at) ?? '')) path.unshift(at);
    const nodeVisits: Record<string, number> = Object.fromEntries(declaredNodes.map(({ id }) => [id, 0]));
    const visits: string[] = [];
    const edges: Record<string, number> = Object.fromEntries(
      declaredEdges.map(({ source, target }) => [`${source}→${target}`, 0]),
    );
    let steps = 0;
    let questions = 0;
    let last: readonly string[] = [];
    for (const [i, state] of path.entries()) {
      const after = path[i + 1];
      const nodes = state.tasks.filter(({ name }) => name !== '__start__');
      const stopped = nodes.filter(
        ({ error, interrupts = [] }) => (error ?? null) !== null || interrupts.length > 0,
      );
      const wentOn = after?.metadata.source === 'loop';
      const wentOnElsewhere =
        !wentOn && children(idOf(state)).some(({ metadata }) => metadata.source === 'loop');
      const withResult = wentOnElsewhere ? [] : nodes.filter(({ result }) => (result ?? null) !== null);
      if (state.next.length === 0) last = [];
      // What ran at the point of a fork belongs to the line that was forked from.
      const forkedHere = after !== undefined && !wentOn && oldestOf(children(idOf(state))) !== after;
      if (forkedHere || nodes.length === 0 || (!wentOn && stopped.length === 0 && withResult.length === 0))
        continue;
      steps += nodes.length;
      questions += stopped.reduce(
        (sum, { error, interrupts = [] }) => sum + ((error ?? null) === null ? interrupts.length : 0),
        0,
      );
      const now = [...new Set(nodes.map(({ name }) => name))];
      for (const node of now) {
        nodeVisits[node] = (nodeVisits[node] ?? 0) + 1;
        visits.push(`${node}#${nodeVisits[node]}`);
      }
      for (const from of last)
        for (const to of now) edges[`${from}→${to}`] = (edges[`${from}→${to}`] ?? 0) + 1;
      last = now;
    }
    let forkedAt: string | undefined;
    for (const [i, state] of path.entries()) {
      const parent = path[i - 1];
      if (parent === undefined) continue;
      if (oldestOf(children(idOf(parent))) !== state) forkedAt = idOf(parent);
    }
    return {
      leaf: idOf(leaf),
      checkpoints: path.map(idOf),
      steps,
      status: statusOf(leaf),
      provenance: graph === undefined ? 'mined' : 'imported',
      states: nodeVisits,
      visits: visits.sort(),
      edges,
      questions,
      forkedAt,
    };
  });
}

const oldestOf = (states: readonly Raw[]): Raw | undefined =>
  [...states].sort(
    (a, b) => Date.parse(a.created_at) - Date.parse(b.created_at) || (idOf(a) < idOf(b) ? -1 : 1),
  )[0];

function statusOf({ next, tasks }: Raw): string {
  if (next.length === 0) return 'completed';
  if (tasks.some(({ error }) => (error ?? null) !== null)) return 'failed';
  return tasks.some(({ interrupts = [] }) => interrupts.length > 0) ? 'waiting' : 'unknown';
}

/** The same figures as the run shows them. */
function shownBy(run: ImportedRun, runs: readonly ImportedRun[]): Count {
  const state = foldRun(run.events);
  const record = {
    ...newRun({ runId: run.runId, agent: run.agent, createdAt: run.createdAt, home: 'mirror' }),
    state,
  };
  const ids = run.events.flatMap((event) =>
    event.kind === 'value.recorded' && event.of === 'id' ? [String(event.value)] : [],
  );
  const visits = run.events.filter(
    (event): event is VisitEvent => event.kind === 'state.entered' || event.kind === 'state.left',
  );
  const graph = graphAt(run.machine?.machine, state, visits, []);
  const parent = runs.find(({ runId }) => runId === run.parent?.runId);
  const point = parent?.events.slice(0, run.parent?.seq).findLast((event) => event.kind === 'value.recorded');
  return {
    leaf: ids.at(-1) ?? '',
    checkpoints: run.events.filter(({ kind }) => kind === 'checkpoint.saved').map((_, i) => ids[i] ?? ''),
    steps: new Set(run.events.flatMap((event) => (event.kind === 'step.started' ? [event.stepKey] : [])))
      .size,
    status: statusNow(record, run.createdAt),
    provenance: graph.provenance,
    states: Object.fromEntries(graph.states.map(({ name, visits }) => [name, visits])),
    visits: graph.visits.map(({ state, visit }) => `${state}#${visit}`).sort(),
    edges: Object.fromEntries(graph.edges.map(({ from, to, taken }) => [`${from}→${to}`, taken])),
    questions: run.events.filter(({ kind }) => kind === 'question.asked').length,
    forkedAt: point?.kind === 'value.recorded' ? String(point.value) : undefined,
  };
}

const byLeaf = (counts: readonly Count[]) => [...counts].sort((a, b) => (a.leaf < b.leaf ? -1 : 1));

function compare(bytes: Uint8Array): void {
  const { runs } = decoded(langgraphImporter, bytes);
  // Rounding is the importer's business; here only the structure counts.
  const file: Raw[] | { readonly history: Raw[]; readonly graph?: RawGraph } | Raw = JSON.parse(
    new TextDecoder().decode(bytes),
  );
  const states = Array.isArray(file) ? file : 'history' in file ? file.history : [file];
  const graph = 'history' in file ? file.graph : undefined;
  expect(byLeaf(runs.map((run) => shownBy(run, runs)))).toEqual(byLeaf(countByLeaf(states, graph)));
}

describe('runs, steps, checkpoints, forks, statuses and graph are what a reader without our code counts', () => {
  const fixtures = new URL('./fixtures/', import.meta.url);
  const readable = readdirSync(fixtures).filter((name) => name !== 'broken-parts.json');
  it.each(readable)('%s', (name) => compare(readFileSync(new URL(name, fixtures))));

  const shared = new URL('../../../../shared/traces/', import.meta.url);
  const real = [
    'engines/langgraph-server/thread-history.json',
    'engines/langgraph-server/thread-history-after-forks.json',
    'engines/langgraph-server/thread-state-interrupted.json',
    'langgraph/server_history_state_after_fork.json',
    'langgraph/server_state_interrupted.json',
  ];
  const there = existsSync(shared);
  if (!there)
    console.warn('skipped: real LangGraph files against the second reader (../shared/traces is not there)');
  it.skipIf(!there).each(real)('%s', (name) => compare(readFileSync(new URL(name, shared))));

  it.skipIf(!there)("a thread's history with its assistant's graph beside it", () => {
    const jsonOf = (name: string): unknown =>
      JSON.parse(readFileSync(new URL(`engines/langgraph-server/${name}`, shared), 'utf8'));
    const file = {
      history: jsonOf('thread-history-after-forks.json'),
      graph: jsonOf('assistant-graph.json'),
    };
    compare(new TextEncoder().encode(JSON.stringify(file)));
  });

  it.skipIf(!there)(
    'the thread after its forks is four runs: 10 steps completed, 8 waiting, 6 unknown, 6 waiting',
    () => {
      const { runs } = decoded(langgraphImporter, readFileSync(new URL(real[1] ?? '', shared)));
      expect(
        runs
          .map((run) => shownBy(run, runs))
          .map(({ steps, status, checkpoints }) => [steps, status, checkpoints.length]),
      ).toEqual([
        [10, 'completed', 10],
        [8, 'waiting', 8],
        [6, 'unknown', 7],
        [6, 'waiting', 7],
      ]);
    },
  );
});
