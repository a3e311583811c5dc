import type { RunId, Seq, Sha256 } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';
import { type Extension, extend } from '@/lib/core/journal/extend';
import { newRun } from '@/lib/core/journal/new-run';
import { bucketsOf } from '@/lib/core/projections/buckets';
import { inForce } from '@/lib/core/projections/effective-path';
import { isWatched } from '@/lib/core/projections/ledger';
import type { CheckpointRecord, QuestionRecord, RunRecord, StepRecord } from '@/lib/core/projections/records';
import { foldRun } from '@/lib/core/projections/run-state';
import { assertDefined } from '@/lib/core/shared/assert';
import type { CopiedRun } from '@/lib/usecases/copy-run';
import type { EventRange, SnapshotRecord, Store } from '@/lib/usecases/ports';

/** What a copy holds. */
export interface Content {
  readonly copy: CopiedRun;
  /** Ascending, from seq 1 to the run's head. */
  readonly events: readonly RunEvent[];
  readonly payloads: ReadonlyMap<Sha256, Payload>;
}

/** Rows that are not in the copy, since the journal gives them. */
interface Rows {
  readonly steps: readonly StepRecord[];
  readonly stepsByKey: ReadonlyMap<string, readonly StepRecord[]>;
  readonly questions: readonly QuestionRecord[];
  readonly checkpoints: readonly CheckpointRecord[];
  readonly snapshots: readonly SnapshotRecord[];
}

const AT_ONCE = 1_000;

/**
 * The store of one run that can only be read: its rows are made of the journal once, as a store makes them when events
 * are appended. Its clock stands at the copy's instant.
 */
export function copiedStore({ copy, events, payloads }: Content): Store {
  const { run } = copy;
  const rows = rowsOf(run, events);
  const mine = (id: RunId) => id === run.runId;
  const ofRun = <Item>(id: RunId, items: readonly Item[]): readonly Item[] => (mine(id) ? items : []);

  return {
    clock: { now: () => copy.at },
    feed: { publish: refuse, subscribe: () => () => undefined },
    commit: refuse,
    close: async () => undefined,
    run: async (id) => (mine(id) ? run : undefined),
    edition: async (id) => (mine(id) ? run.edition : undefined),
    parts: async () => [],
    assembly: async () => ({ parts: 0, children: copy.children.total, ledgerVersion: run.ledgerVersion }),
    runs: async () => ({ items: [run], total: 1, nextCursor: undefined }),
    heldRuns: async () => [],
    claimable: async () => ({ items: [], nextCursor: undefined }),
    lineage: async (root) => (root === run.root ? [run] : []),
    children: async (of) => new Map(of.filter(mine).map((id) => [id, copy.children])),
    events: async (id, range) => (mine(id) ? eventsIn(events, range) : []),
    eventsAt: async (id, at) =>
      ofRun(
        id,
        [...new Set(at)].sort((a, b) => a - b).flatMap((one) => events[one - 1] ?? []),
      ),
    buckets: async (id, n) => (mine(id) ? bucketsOf(events, n) : []),
    steps: async (id, page) => stepPage(ofRun(id, rows.steps), page),
    step: async (id, key) => ofRun(id, rows.stepsByKey.get(key) ?? []),
    stepsOf: async (id, keys) =>
      ofRun(id, [...new Set(keys)].flatMap((key) => rows.stepsByKey.get(key) ?? []).sort(byStart)),
    stepCount: async (id, path) =>
      new Set(
        ofRun(id, rows.steps)
          .filter(({ startedSeq }) => inForce(startedSeq, path))
          .map(({ stepKey }) => stepKey),
      ).size,
    checkpoints: async (id) => ofRun(id, rows.checkpoints),
    questions: async (id) => ofRun(id, rows.questions),
    effects: async (root) => (root === run.root ? copy.effects : []),
    watchedEffects: async (of) =>
      copy.effects.filter((effect) => of.includes(effect.runId) && isWatched(effect)),
    ledgerVersion: async () => run.ledgerVersion,
    snapshot: async (id, at) => (mine(id) ? newestUpTo(rows.snapshots, at) : undefined),
    answer: async () => undefined,
    payloads: {
      put: refuse,
      sweep: refuse,
      get: async (digest) => payloads.get(digest),
      many: async (digests) =>
        new Map(
          digests.flatMap((digest) => {
            const payload = payloads.get(digest);
            return payload === undefined ? [] : [[digest, payload] as const];
          }),
        ),
      missing: async (digests) => [...new Set(digests)].filter((digest) => !payloads.has(digest)),
    },
    machines: {
      put: refuse,
      get: async (digest) => (digest === run.state.machineDigest ? copy.machine : undefined),
    },
    audit: {
      add: refuse,
      list: async () => ({ items: [], total: 0, nextCursor: undefined }),
    },
    shares: {
      add: refuse,
      revoke: refuse,
      get: async () => undefined,
      bySecret: async () => undefined,
      of: async () => [],
    },
    workers: {
      seen: refuse,
      prune: refuse,
      get: async (id) => copy.workers.find(({ workerId }) => workerId === id),
      list: async (since) => copy.workers.filter(({ seenAt }) => since === undefined || seenAt >= since),
    },
  };
}

const refuse = (): never => {
  throw new Error('A copy of a run cannot be changed');
};

/** Folds the journal once, in parts, as an import does. O(events). */
function rowsOf(of: RunRecord, events: readonly RunEvent[]): Rows {
  let run = newRun({
    runId: of.runId,
    agent: of.state.agent,
    createdAt: of.createdAt,
    root: of.root,
    home: of.home,
    source: of.source,
    ...(of.parent && { parent: of.parent }),
  });
  const empty = run.state;
  const steps = new Map<string, StepRecord>();
  const questions = new Map<string, QuestionRecord>();
  const checkpoints: CheckpointRecord[] = [];
  const snapshots: SnapshotRecord[] = [];
  const stateAt = (at: Seq) => {
    const near = newestUpTo(snapshots, at);
    return foldRun(events.slice(near?.seq ?? 0, at), near?.state ?? empty);
  };
  for (let from = 0; from < events.length; from += AT_ONCE) {
    const part: Extension = extend(
      run,
      [],
      events.slice(from, from + AT_ONCE),
      { at: of.updatedAt, epoch: of.epoch, by: 'worker' },
      { asRecorded: true, stateAt, isOurs: () => false },
    );
    run = part.run;
    for (const step of part.steps) {
      const key = `${step.line} ${step.stepKey}`;
      steps.set(key, { ...step, startedSeq: steps.get(key)?.startedSeq ?? step.startedSeq });
    }
    for (const question of part.questions) questions.set(`${question.line} ${question.questionId}`, question);
    checkpoints.push(...part.checkpoints);
    snapshots.push(...part.snapshots);
  }
  const sorted = [...steps.values()].sort(byStart);
  return {
    steps: sorted,
    stepsByKey: grouped(sorted),
    questions: [...questions.values()].sort((a, b) => a.askedSeq - b.askedSeq || a.line - b.line),
    checkpoints,
    snapshots,
  };
}

/** By line within a key, as the stores give them. */
function grouped(steps: readonly StepRecord[]): ReadonlyMap<string, readonly StepRecord[]> {
  const byKey = new Map<string, StepRecord[]>();
  for (const step of steps) {
    const rows = byKey.get(step.stepKey);
    if (rows === undefined) byKey.set(step.stepKey, [step]);
    else rows.push(step);
  }
  for (const rows of byKey.values()) rows.sort((a, b) => a.line - b.line);
  return byKey;
}

const utf8 = new TextEncoder();

/** Texts by their UTF-8 bytes, as the databases sort them. */
function compareTexts(a: string, b: string): number {
  const [left, right] = [utf8.encode(a), utf8.encode(b)];
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

const byStart = (a: StepRecord, b: StepRecord) =>
  a.startedSeq - b.startedSeq || a.line - b.line || compareTexts(a.stepKey, b.stepKey);

/** Rows that share a start stay on one page, since the next one begins after it. */
function stepPage(
  sorted: readonly StepRecord[],
  page: { readonly after?: Seq; readonly limit?: number } | undefined,
): readonly StepRecord[] {
  const begin = firstIndex(sorted, ({ startedSeq }) => startedSeq > (page?.after ?? 0));
  const last = page?.limit === undefined ? undefined : sorted[begin + page.limit - 1];
  const end =
    last === undefined ? sorted.length : firstIndex(sorted, ({ startedSeq }) => startedSeq > last.startedSeq);
  return sorted.slice(begin, end);
}

/** Index of the first item for which `holds`, where all before it do not and all after it do. */
function firstIndex<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(assertDefined(items[middle], 'within the list'))) high = middle;
    else low = middle + 1;
  }
  return low;
}

const newestUpTo = (snapshots: readonly SnapshotRecord[], at: Seq): SnapshotRecord | undefined =>
  snapshots[firstIndex(snapshots, (snapshot) => snapshot.seq > at) - 1];

/** Walks the range until the limit is reached; an event's seq is its place. */
function eventsIn(events: readonly RunEvent[], range: EventRange): readonly RunEvent[] {
  const kinds = range.kinds === undefined ? undefined : new Set<string>(range.kinds);
  const wanted = (event: RunEvent) =>
    (kinds === undefined || kinds.has(event.kind)) &&
    (range.intents !== true || event.kind !== 'step.started' || event.intent !== undefined);
  const first = range.after ?? 0;
  const last = Math.min(events.length, (range.before ?? events.length + 1) - 1);
  const found: RunEvent[] = [];
  const step = range.descending === true ? -1 : 1;
  for (let at = step === 1 ? first : last - 1; at >= first && at < last; at += step) {
    if (found.length >= range.limit) break;
    const event = events[at];
    if (event !== undefined && wanted(event)) found.push(event);
  }
  return found;
}
