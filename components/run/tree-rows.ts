import type { CheckpointRow, GraphAt, RunSummary, StepRow } from '@/lib/client/api-types';
import type { TreeFilter } from '@/lib/client/url-state';
import type { RunEvent } from '@/lib/core/events/run-event';
import { scopeOf, visitOf } from '@/lib/core/events/step-key';

/* The step tree as flat rows, so that it can be virtualised. */

export interface VisitRow {
  readonly kind: 'visit';
  readonly id: string;
  readonly key: string;
  readonly state: string;
  readonly visit: number;
  readonly fromSeq: number;
  /** Taken after it was entered and before its first step. */
  readonly checkpoints: readonly CheckpointRow[];
  readonly steps: number;
  readonly durationMs: number | undefined;
  readonly open: boolean;
  readonly inForce: boolean;
}
export interface BranchRow {
  readonly kind: 'branch';
  readonly id: string;
  readonly label: string;
  readonly fromSeq: number;
  readonly depth: number;
}
export interface StepTreeRow {
  readonly kind: 'step';
  readonly id: string;
  readonly fromSeq: number;
  readonly step: StepRow;
  /** `#n` of the key. */
  readonly occurrence: string;
  readonly depth: number;
  /** Taken while or after this step, before anything else began; oldest first. */
  readonly checkpoints: readonly CheckpointRow[];
  readonly durationMs: number | undefined;
}
export interface BreakRow {
  readonly kind: 'break';
  readonly id: string;
  readonly fromSeq: number;
  readonly word: 'Interrupted' | 'Failed';
  readonly sentence: string;
}
export type TreeRow = VisitRow | BranchRow | StepTreeRow | BreakRow;

interface Group {
  readonly id: string;
  readonly key: string;
  readonly inForce: boolean;
  readonly steps: StepRow[];
  fromSeq: number;
}

export interface TreeInput {
  readonly steps: readonly StepRow[];
  readonly visits: readonly GraphAt['visits'][number][];
  readonly checkpoints: readonly CheckpointRow[];
  readonly breaks: readonly BreakRow[];
  readonly filter: TreeFilter;
  /** Ids of folded visits. */
  readonly folded: ReadonlySet<string>;
}

const shown = (step: StepRow, filter: TreeFilter): boolean => {
  switch (filter) {
    case 'all':
      return true;
    case 'effects':
      return step.effect === 'external' || step.effect === 'idempotent';
    case 'errors':
      return (
        step.error !== null ||
        step.attempt > 1 ||
        step.status === 'in-doubt' ||
        step.status === 'unknown' ||
        step.status === 'not-recorded'
      );
  }
};

const msBetween = (from: string, to: string | null) =>
  to === null ? undefined : Date.parse(to) - Date.parse(from);

/** Visits in force, and of what rewinds left behind a group for each line that it ran on. */
function groupsOf({ steps, visits }: TreeInput): Group[] {
  const groups = new Map<string, Group>();
  const groupAt = (key: string, leftOn: number | undefined, fromSeq: number) => {
    const id = leftOn === undefined ? key : `${key} left ${leftOn}`;
    const group = groups.get(id) ?? { id, key, inForce: leftOn === undefined, steps: [], fromSeq };
    group.fromSeq = Math.min(group.fromSeq, fromSeq);
    groups.set(id, group);
    return group;
  };
  for (const visit of visits) groupAt(visit.key, undefined, visit.enteredSeq);
  for (const step of steps)
    groupAt(
      scopeOf(step.stepKey).split('/', 1)[0] ?? '',
      step.inForce ? undefined : step.line,
      step.startedSeq,
    ).steps.push(step);
  for (const group of groups.values()) group.steps.sort((a, b) => a.startedSeq - b.startedSeq);
  return [...groups.values()].sort((a, b) => a.fromSeq - b.fromSeq);
}

const stepId = (step: StepRow) => `${step.stepKey} ${step.line}`;

/** Checkpoints by the id of the row that they stand at: the step or visit that began last before them. */
function pins({ steps, visits, checkpoints }: TreeInput): ReadonlyMap<string, readonly CheckpointRow[]> {
  const order = [
    ...visits.map((visit) => ({ id: visit.key, seq: visit.enteredSeq })),
    ...steps.map((step) => ({ id: stepId(step), seq: step.startedSeq })),
  ].sort((a, b) => a.seq - b.seq);
  const at = new Map<string, CheckpointRow[]>();
  let next = 0;
  for (const checkpoint of checkpoints.toSorted((a, b) => a.seq - b.seq)) {
    while ((order[next]?.seq ?? Number.POSITIVE_INFINITY) < checkpoint.seq) next += 1;
    const row = order[next - 1];
    if (!row) continue;
    const pinned = at.get(row.id);
    if (pinned) pinned.push(checkpoint);
    else at.set(row.id, [checkpoint]);
  }
  return at;
}

const causeWords: Readonly<Record<string, string>> = {
  'lease-lapsed': 'lease lapsed',
  recorded: 'the trace ends here',
  'order-refused': 'the order was refused, its plan had changed',
};

const interruptedWords = (cause: string, workerId: string | null | undefined): string =>
  [causeWords[cause] ?? cause, workerId == null ? undefined : `on worker ${workerId}`]
    .filter(Boolean)
    .join(' ');

/**
 * Every place where the run stopped: those that the journal tells, and the present one, which it may not tell yet.
 * Oldest first.
 */
export function breaksOf(
  run: Pick<RunSummary, 'interruption' | 'failure'>,
  events: readonly RunEvent[],
): readonly BreakRow[] {
  const rows = new Map<number, BreakRow>();
  const add = (seq: number, word: BreakRow['word'], sentence: string) =>
    rows.set(seq, { kind: 'break', id: `break ${seq}`, fromSeq: seq, word, sentence });
  if (run.interruption)
    add(
      run.interruption.seq,
      'Interrupted',
      interruptedWords(run.interruption.cause, run.interruption.workerId),
    );
  if (run.failure) add(run.failure.seq, 'Failed', run.failure.error.message);
  for (const event of events) {
    if (event.kind === 'run.interrupted')
      add(event.seq, 'Interrupted', interruptedWords(event.cause, event.workerId));
    else if (event.kind === 'run.failed') add(event.seq, 'Failed', event.error.message);
  }
  return [...rows.values()].sort((a, b) => a.fromSeq - b.fromSeq);
}

/** Each break behind the newest of what had begun before it. After a rewind that is not the row above in the journal. */
function withBreaks(rows: readonly TreeRow[], breaks: readonly BreakRow[]): readonly TreeRow[] {
  const behind = new Map<number, BreakRow[]>();
  for (const each of breaks) {
    let at = -1;
    for (const [n, row] of rows.entries())
      if (row.fromSeq <= each.fromSeq && row.fromSeq >= (rows[at]?.fromSeq ?? 0)) at = n;
    behind.set(at, [...(behind.get(at) ?? []), each]);
  }
  return [...(behind.get(-1) ?? []), ...rows.flatMap((row, n) => [row, ...(behind.get(n) ?? [])])];
}

const occurrenceOf = (key: string) => key.slice(key.lastIndexOf('#'));

/** Rows in journal order: visits, below them branches and steps, and the places where the run stopped. O(n log n). */
export function treeRows(input: TreeInput): readonly TreeRow[] {
  const entered = new Map<string, number>(input.visits.map((visit) => [visit.key, visit.enteredSeq]));
  const pinned = pins(input);
  const rows: TreeRow[] = [];
  for (const group of groupsOf(input)) {
    const visible = group.steps.filter((step) => shown(step, input.filter));
    if (input.filter !== 'all' && visible.length === 0) continue;
    const { id } = group;
    const { state, visit } = visitOf(group.key);
    const enteredSeq = entered.get(group.key);
    const first = group.steps[0];
    const last = group.steps.reduce<string | undefined>(
      (end, step) =>
        step.endedAt !== null && (end === undefined || step.endedAt > end) ? step.endedAt : end,
      undefined,
    );
    const open = !input.folded.has(id);
    rows.push({
      kind: 'visit',
      id,
      key: group.key,
      state,
      visit,
      fromSeq: group.inForce ? (enteredSeq ?? group.fromSeq) : group.fromSeq,
      checkpoints: pinned.get(id) ?? [],
      steps: group.steps.length,
      durationMs: first && last !== undefined ? msBetween(first.startedAt, last) : undefined,
      open,
      inForce: group.inForce,
    });
    if (!open) continue;
    let scope = group.key;
    for (const step of visible) {
      const own = scopeOf(step.stepKey);
      const depth = own.split('/').length - 1;
      if (own !== scope && own !== group.key) {
        rows.push({
          kind: 'branch',
          id: `${id} ${own} ${step.startedSeq}`,
          label: own.slice(group.key.length + 1),
          fromSeq: step.startedSeq,
          depth,
        });
      }
      scope = own;
      rows.push({
        kind: 'step',
        id: stepId(step),
        fromSeq: step.startedSeq,
        step,
        occurrence: occurrenceOf(step.stepKey),
        depth,
        checkpoints: pinned.get(stepId(step)) ?? [],
        durationMs: msBetween(step.startedAt, step.endedAt),
      });
    }
  }
  return withBreaks(rows, input.breaks);
}

/** A row's place for those who hear the tree: level, and which of its siblings it is. */
export interface TreePlace {
  readonly level: number;
  readonly position: number;
  readonly of: number;
}

const levelOf = (row: TreeRow): number => {
  switch (row.kind) {
    case 'visit':
    case 'break':
      return 1;
    case 'branch':
      return 1 + row.depth;
    case 'step':
      return 2 + row.depth;
  }
};

/** O(n). */
export function treePlaces(rows: readonly TreeRow[]): readonly TreePlace[] {
  /** Siblings of each level that are still being counted. */
  const open: number[][] = [];
  const siblings = rows.map((row, n) => {
    // A branch below one that has no row of its own hangs on the row above.
    const level = Math.min(levelOf(row), open.length + 1);
    open.length = Math.min(open.length, level);
    const group = open[level - 1] ?? [];
    open[level - 1] = group;
    group.push(n);
    return { level, group, position: group.length };
  });
  return siblings.map(({ level, group, position }) => ({ level, position, of: group.length }));
}

/** How a step stood when the cursor's event had just been written. */
export function statusAt(step: StepRow, seq: number): StepRow['status'] | 'not-reached' {
  if (step.startedSeq > seq) return 'not-reached';
  if (step.endedSeq !== null && step.endedSeq > seq) return 'running';
  return step.status;
}

/** The step that the cursor stands in: the newest that had begun; of those still open, the newest. */
export function stepAt(steps: readonly StepRow[], seq: number): StepRow | undefined {
  let best: StepRow | undefined;
  for (const step of steps) {
    if (step.startedSeq <= seq && (best === undefined || step.startedSeq > best.startedSeq)) best = step;
  }
  return best;
}

/** Width of a duration's bar in px: log scale, 1 ms to 1 day, at most 38. */
export const barWidth = (ms: number): number =>
  Math.max(2, Math.min(38, Math.round((Math.log10(Math.max(1, ms)) / 7) * 38)));
