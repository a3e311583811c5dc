import type { CheckpointRow, GraphAt, RunSummary, StepRow } from '@/lib/client/api-types';
import { holesOf, type Span } from '@/lib/client/step-windows';
import type { TreeFilter } from '@/lib/client/url-state';
import type { StepKey } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import { scopeOf, visitOf, visitPathOf } from '@/lib/core/events/step-key';

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
  /** Whether its steps are held: of a long run only some visits' are. */
  readonly held: 'all' | 'some' | 'none';
}
/** Steps of a long run that are not held: those that begin after the first seq, up to the second. */
export interface HoleRow {
  readonly kind: 'hole';
  readonly id: string;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly level: number;
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
  /** One for each attempt, where the journal's failures are known; oldest first. */
  readonly segments: readonly Segment[];
}
/** Part of a step's time: an attempt. */
export interface Segment {
  readonly ms: number;
  readonly failed: boolean;
}
/** A stretch in which nothing ran, folded to a line. */
export interface IdleRow {
  readonly kind: 'idle';
  readonly id: string;
  readonly fromSeq: number;
  readonly ms: number;
  /** What was waited for, where a step tells. */
  readonly why: string | undefined;
  readonly fromAt: number;
  readonly toAt: number;
  readonly open: boolean;
  readonly level: number;
}
/** Heads what the machine declares and the run has not entered. */
export interface AheadHeadRow {
  readonly kind: 'ahead-head';
  readonly id: string;
  readonly fromSeq: number;
  readonly states: number;
  readonly open: boolean;
}
export interface AheadRow {
  readonly kind: 'ahead';
  readonly id: string;
  readonly fromSeq: number;
  readonly name: string;
  /** Undefined for a state; of a tool its effect, null where it is not declared. */
  readonly tool: { readonly effect: StepRow['effect'] } | undefined;
  readonly tools: number;
}
export interface BreakRow {
  readonly kind: 'break';
  readonly id: string;
  readonly fromSeq: number;
  readonly word: 'Interrupted' | 'Failed' | 'Cancelled';
  /** Empty where nobody gave a reason. */
  readonly sentence: string;
}
export type TreeRow =
  | VisitRow
  | BranchRow
  | StepTreeRow
  | BreakRow
  | HoleRow
  | IdleRow
  | AheadHeadRow
  | AheadRow;

/** Rows that the cursor can stand in, and the keys lead to. */
export const isPlace = (row: TreeRow): boolean =>
  row.kind === 'visit' || row.kind === 'step' || row.kind === 'break';

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
  /** The run takes longer with every second, and so does the visit that it is in. */
  readonly goesOn?: boolean;
  /** What is searched for, lower case; empty for everything. */
  readonly find?: string;
  /** Ids of folded visits, and of what is folded unless asked for. */
  readonly folded: ReadonlySet<string>;
  /** What is held of the steps; everything where it is left out. */
  readonly spans?: readonly Span[];
  /** Attempts that failed, of the steps whose bars show them. */
  readonly failures?: readonly FailedAttempt[];
  /** What the machine declares and the run has not entered, nearest first. */
  readonly ahead?: readonly AheadState[];
}
export type FailedAttempt = Extract<RunEvent, { kind: 'step.failed' }>;
export interface AheadState {
  readonly name: string;
  readonly tools: readonly { readonly name: string; readonly effect: StepRow['effect'] }[];
}

/** So long nothing may run before the tree folds it to a line. */
export const IDLE_MS = 60_000;
/** More states ahead than these are folded until they are asked for. */
const AHEAD_OPEN = 12;
/** After everything that has happened. */
const AHEAD_SEQ = Number.MAX_SAFE_INTEGER;

const found = (step: StepRow, find: string): boolean =>
  [step.stepKey, step.kind, step.effect, step.model, step.api, step.error?.type, step.error?.message].some(
    (text) => text?.toLowerCase().includes(find) === true,
  );

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

/** Key of the visit that a step lies in: the longest that the journal entered and that its key begins with, read from the end. */
function visitKeyOf(key: StepKey, entered: ReadonlySet<string>): string {
  for (let end = key.lastIndexOf('/'); end > 0; end = key.lastIndexOf('/', end - 1)) {
    const path = key.slice(0, end);
    if (entered.has(path)) return path;
  }
  return visitPathOf(key);
}

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
  const entered = new Set(visits.map(({ key }) => key));
  for (const visit of visits) groupAt(visit.key, undefined, visit.enteredSeq);
  for (const step of steps)
    groupAt(
      visitKeyOf(step.stepKey, entered),
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

function interruptedWords(cause: string, workerId: string | null | undefined): string {
  const on = workerId == null ? '' : ` on worker ${workerId}`;
  switch (cause) {
    case 'lease-lapsed':
      return `lease lapsed${on}`;
    case 'hand-over':
      return `given back by ${workerId == null ? 'its worker' : `worker ${workerId}`}`;
    case 'recorded':
      return 'the trace ends here';
    case 'order-refused':
      return 'the order was refused, its plan had changed';
    default:
      return `${cause}${on}`;
  }
}

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
    else if (event.kind === 'run.cancelled') add(event.seq, 'Cancelled', event.reason ?? '');
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

/** A step's attempts as parts of its time: each failure ends one, and the next begins after the delay that it told. */
function segmentsOf(step: StepRow, failures: readonly FailedAttempt[]): readonly Segment[] {
  const to = step.endedAt === null ? undefined : Date.parse(step.endedAt);
  const segments: Segment[] = [];
  let from = Date.parse(step.startedAt);
  for (const each of failures) {
    segments.push({ ms: Math.max(0, each.at - from), failed: true });
    from = each.at + (each.final ? 0 : (each.nextDelayMs ?? 0));
  }
  const ends = step.status === 'failed' && failures.at(-1)?.final === true;
  if (to !== undefined && !ends)
    segments.push({ ms: Math.max(0, to - from), failed: step.status === 'failed' });
  return segments;
}

function failuresByStep(failures: readonly FailedAttempt[]): ReadonlyMap<string, readonly FailedAttempt[]> {
  const by = new Map<string, FailedAttempt[]>();
  for (const each of failures.toSorted((a, b) => a.seq - b.seq)) {
    const known = by.get(each.stepKey);
    if (known) known.push(each);
    else by.set(each.stepKey, [each]);
  }
  return by;
}

const waitsFor: Partial<Record<StepRow['kind'], string>> = {
  human: 'waiting for a person',
  wait: 'waiting for a timer',
};

/** Finds the stretches in which nothing ran, step by step in the journal's order. */
function idleFinder() {
  /** When the last of what had begun before ended; undefined while something still runs. */
  let quietSince: number | undefined;
  return (step: StepRow): Pick<IdleRow, 'fromAt' | 'toAt' | 'ms' | 'why'> | undefined => {
    const began = Date.parse(step.startedAt);
    const ended = step.endedAt === null ? undefined : Date.parse(step.endedAt);
    const before = quietSince;
    const why = waitsFor[step.kind];
    quietSince = ended === undefined ? Number.POSITIVE_INFINITY : Math.max(quietSince ?? 0, ended);
    if (why !== undefined && ended !== undefined && ended - began > IDLE_MS)
      return { fromAt: began, toAt: ended, ms: ended - began, why };
    return before !== undefined && began - before > IDLE_MS
      ? { fromAt: before, toAt: began, ms: began - before, why: undefined }
      : undefined;
  };
}

function aheadRows({ ahead = [], folded }: TreeInput): readonly TreeRow[] {
  if (ahead.length === 0) return [];
  const id = 'ahead';
  // Many are folded until they are asked for, few until they are sent away: the mark means the other one.
  const open = folded.has(id) !== ahead.length <= AHEAD_OPEN;
  const head: TreeRow = { kind: 'ahead-head', id, fromSeq: AHEAD_SEQ, states: ahead.length, open };
  if (!open) return [head];
  return [
    head,
    ...ahead.flatMap(({ name, tools }): TreeRow[] => [
      { kind: 'ahead', id: `ahead ${name}`, fromSeq: AHEAD_SEQ, name, tool: undefined, tools: tools.length },
      ...tools.map(
        (tool): TreeRow => ({
          kind: 'ahead',
          id: `ahead ${name} ${tool.name}`,
          fromSeq: AHEAD_SEQ,
          name: tool.name,
          tool: { effect: tool.effect },
          tools: 0,
        }),
      ),
    ]),
  ];
}

/** From the first start to the last end: of a visit that a rewind left behind nobody tells when it was entered. */
function msOf(steps: readonly StepRow[]): number | undefined {
  const ends = steps.flatMap(({ endedAt }) => (endedAt === null ? [] : [Date.parse(endedAt)]));
  const [first] = steps;
  return first === undefined || ends.length === 0
    ? undefined
    : ends.reduce((last, end) => Math.max(last, end)) - Date.parse(first.startedAt);
}

/** Undefined where it is not known, or grows while it is looked at. */
const timeIn = ({ leftSeq, ms }: GraphAt['visits'][number], goesOn = false): number | undefined =>
  ms === null || (leftSeq === null && goesOn) ? undefined : ms;

/** How many scopes deep in the visit a scope lies. */
function scopesBelow(visit: string, scope: string): number {
  let depth = 0;
  for (let at = scope; at.length > visit.length; at = scopeOf(at)) depth += 1;
  return depth;
}

/** What of the holes lies in a visit, from its entry until it was left. */
const holesIn = (holes: readonly Span[], entered: number, left: number): Span[] =>
  holes
    .map(([after, to]): Span => [Math.max(after, entered), Math.min(to, left)])
    .filter(([after, to]) => after < to);

const occurrenceOf = (key: string) => key.slice(key.lastIndexOf('#'));

/** Rows in journal order: visits, below them branches and steps, and the places where the run stopped. O(n log n). */
export function treeRows(input: TreeInput): readonly TreeRow[] {
  const visits = new Map(input.visits.map((visit) => [visit.key, visit]));
  const holes = holesOf(input.spans ?? []);
  const heldTo = input.spans?.at(-1)?.[1] ?? AHEAD_SEQ;
  const pinned = pins(input);
  const failed = failuresByStep(input.failures ?? []);
  const find = input.find ?? '';
  const whole = input.filter === 'all' && find === '';
  const idle = idleFinder();
  const rows: TreeRow[] = [];
  for (const group of groupsOf(input)) {
    const visible = group.steps.filter(
      (step) => shown(step, input.filter) && (find === '' || found(step, find)),
    );
    if (!whole && visible.length === 0) continue;
    const gaps = new Map(
      group.steps.flatMap((step) => {
        const gap = idle(step);
        return gap === undefined ? [] : [[step, gap] as const];
      }),
    );
    const idleRow = (step: StepRow, level: number): readonly TreeRow[] => {
      const gap = whole ? gaps.get(step) : undefined;
      if (gap === undefined) return [];
      const id = `idle ${stepId(step)}`;
      return [{ kind: 'idle', id, fromSeq: step.startedSeq, level, open: input.folded.has(id), ...gap }];
    };
    const { id } = group;
    const entered = visits.get(group.key);
    const { state, visit } = entered ?? visitOf(group.key);
    const first = group.steps[0];
    const missing =
      whole && group.inForce ? holesIn(holes, entered?.enteredSeq ?? 0, entered?.leftSeq ?? AHEAD_SEQ) : [];
    // Of what goes on where nothing is held any more, nobody knows how much there is.
    const isHeld = missing.length === 0 && (!group.inForce || (entered?.leftSeq ?? AHEAD_SEQ) <= heldTo);
    const held = isHeld ? 'all' : group.steps.length === 0 ? 'none' : 'some';
    const open = !input.folded.has(id) && held !== 'none';
    // What nobody did before the visit began stands before it; what it waited for, in it.
    const opening = first && gaps.get(first)?.why === undefined ? idleRow(first, 1) : [];
    rows.push(...opening);
    rows.push({
      kind: 'visit',
      id,
      key: group.key,
      state,
      visit,
      fromSeq: group.inForce ? (entered?.enteredSeq ?? group.fromSeq) : group.fromSeq,
      checkpoints: pinned.get(id) ?? [],
      steps: group.steps.length,
      durationMs: group.inForce && entered ? timeIn(entered, input.goesOn) : msOf(group.steps),
      open,
      inForce: group.inForce,
      held,
    });
    if (!open) continue;
    let scope = group.key;
    const pushHolesBefore = (seq: number) => {
      while (missing[0] !== undefined && missing[0][0] < seq) {
        const [after, to] = missing.shift() ?? [0, 0];
        rows.push({ kind: 'hole', id: `${id} hole ${after}`, fromSeq: after + 1, toSeq: to, level: 2 });
      }
    };
    for (const step of visible) {
      pushHolesBefore(step.startedSeq);
      const own = scopeOf(step.stepKey);
      const below = own.slice(group.key.length + 1);
      const depth = scopesBelow(group.key, own);
      if (own !== scope && below !== '') {
        rows.push({
          kind: 'branch',
          id: `${id} ${own} ${step.startedSeq}`,
          label: below,
          fromSeq: step.startedSeq,
          depth,
        });
      }
      scope = own;
      if (step !== first || opening.length === 0) rows.push(...idleRow(step, 2 + depth));
      rows.push({
        kind: 'step',
        id: stepId(step),
        fromSeq: step.startedSeq,
        step,
        occurrence: occurrenceOf(step.stepKey),
        depth,
        checkpoints: pinned.get(stepId(step)) ?? [],
        durationMs: msBetween(step.startedAt, step.endedAt),
        segments: segmentsOf(
          step,
          (failed.get(step.stepKey) ?? []).filter(
            ({ seq }) => seq >= step.startedSeq && seq <= (step.endedSeq ?? AHEAD_SEQ),
          ),
        ),
      });
    }
    pushHolesBefore(AHEAD_SEQ);
  }
  const breaks = find === '' ? input.breaks.filter(({ fromSeq }) => fromSeq <= heldTo) : [];
  const told = withBreaks(rows, breaks);
  return whole ? [...told, ...aheadRows(input)] : told;
}

/** A row's place for those who hear the tree: level, and which of its siblings it is. */
export interface TreePlace {
  readonly level: number;
  /** Undefined where not all of its siblings are held. */
  readonly position: number | undefined;
  /** -1, as ARIA has it, where nobody knows how many. */
  readonly of: number;
}

const levelOf = (row: TreeRow): number => {
  switch (row.kind) {
    case 'visit':
    case 'break':
    case 'ahead-head':
      return 1;
    case 'idle':
    case 'hole':
      return row.level;
    case 'ahead':
      return row.tool === undefined ? 2 : 3;
    case 'branch':
      return 1 + row.depth;
    case 'step':
      return 2 + row.depth;
  }
};

/** Of a part of the tree only the levels are known. O(n). */
export function treePlaces(rows: readonly TreeRow[], isPart = false): readonly TreePlace[] {
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
  return siblings.map(({ level, group, position }) =>
    isPart ? { level, position: undefined, of: -1 } : { level, position, of: group.length },
  );
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

/** Widths of a step's segments: together no wider than one bar may be. */
export function barWidths(segments: readonly number[]): readonly number[] {
  const widths = segments.map(barWidth);
  const room = 38 - (segments.length - 1);
  const sum = widths.reduce((all, width) => all + width, 0);
  return sum <= room ? widths : widths.map((width) => Math.max(1, Math.floor((width * room) / sum)));
}

/** Heights of rows, in px. */
const ROW_PX = 24;
const BREAK_PX = 34;
export const heightOf = (row: TreeRow | undefined): number => (row?.kind === 'break' ? BREAK_PX : ROW_PX);

/** Where each row begins, in px from the tree's top, and behind the last one where it ends. O(n). */
export function rowTops(rows: readonly TreeRow[], paddingTop: number): Float64Array {
  const tops = new Float64Array(rows.length + 1);
  let top = paddingTop;
  rows.forEach((row, n) => {
    tops[n] = top;
    top += heightOf(row);
  });
  tops[rows.length] = top;
  return tops;
}
