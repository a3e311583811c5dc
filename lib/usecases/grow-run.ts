import type { EpochMs, RunId, Seq, Sha256, StepKey } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { RunEvent } from '@/lib/core/events/run-event';
import { type Draft, type Extension, extend } from '@/lib/core/journal/extend';
import { effectKeysOf, ledgerOf, putInLedger } from '@/lib/core/projections/ledger';
import type {
  CheckpointRecord,
  EffectRecord,
  QuestionRecord,
  RunRecord,
  RunState,
  StepRecord,
} from '@/lib/core/projections/records';
import { foldRun } from '@/lib/core/projections/run-state';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { pace } from './pace';
import type { Change, ImportedRun, ImportWarning, SnapshotRecord } from './ports';

/** What is stored of a lineage, and its ledger, which goes on with what is imported. */
export interface Lineage {
  readonly members: readonly RunRecord[];
  readonly ledger: Map<StepKey, readonly EffectRecord[]>;
  /** Its effects are decided here, in its own journal: no file settles them (promise 2). */
  readonly isOurs: (id: RunId) => boolean;
}

export async function lineageOf({ store }: Pick<UsecaseDeps, 'store'>, root: RunId): Promise<Lineage> {
  const members = await store.lineage(root);
  const ours = new Set(members.filter(({ home }) => home === 'here').map(({ runId }) => runId));
  return { members, ledger: ledgerOf(await store.effects(root)), isOurs: (id) => ours.has(id) };
}

/** What an imported run grows by, and from where. */
export interface Growth {
  readonly run: Pick<ImportedRun, 'runId' | 'epoch' | 'growth' | 'payloads'>;
  /** The row before: its head and its state are where the events begin. */
  readonly base: RunRecord;
  readonly fresh: readonly RunEvent[];
  /** A fresh event as it is appended. */
  readonly ready: (event: RunEvent) => Draft;
  /** State at a seq up to the base's head, for rewinds. */
  readonly stateAt: (at: Seq) => RunState;
}

/** The journal that is imported cannot be folded: the file's fault, not ours. */
export interface Contradiction {
  readonly kind: 'malformed';
  readonly detail: string;
  readonly errors: readonly ImportWarning[];
}

const DRAFTS_AT_ONCE = 250;

/** The change that appends the fresh events; the lineage's ledger goes on with it. In turns of the loop. */
export async function grow(
  { run, base, fresh, ready, stateAt: before }: Growth,
  { ledger, isOurs }: Pick<Lineage, 'ledger' | 'isOurs'>,
  now: EpochMs,
): Promise<Result<Change, Contradiction>> {
  const turn = pace();
  const { headSeq } = base;
  let record: RunRecord = { ...base, epoch: run.epoch };
  const events: RunEvent[] = [];
  const checkpoints: CheckpointRecord[] = [];
  const snapshots: SnapshotRecord[] = [];
  const steps = new Map<string, StepRecord>();
  const questions = new Map<string, QuestionRecord>();
  const changedEffects = new Map<string, EffectRecord>();
  const payloads = new Map<Sha256, Payload>();
  const stateAt = (at: Seq): RunState => {
    if (at <= headSeq) return before(at);
    const near = snapshots.findLast((snapshot) => snapshot.seq <= at);
    const from = near?.seq ?? headSeq;
    return foldRun(events.slice(from - headSeq, at - headSeq), near?.state ?? base.state);
  };
  for (let at = 0; at < fresh.length; ) {
    // A checkpoint is filled in by what comes after it, so the two stay together.
    let end = Math.min(at + DRAFTS_AT_ONCE, fresh.length);
    while (end < fresh.length && fresh[end - 1]?.kind === 'checkpoint.saved') end += 1;
    const together = fresh.slice(at, end).map(ready);
    const keys = effectKeysOf(together);
    const rows = keys === 'all' ? [...ledger.values()] : keys.map((key) => ledger.get(key) ?? []);
    let part: Extension;
    try {
      part = extend(
        record,
        rows.flat(),
        together,
        { at: now, epoch: run.epoch, by: 'worker' },
        { snapshotAtEnd: end === fresh.length, asRecorded: run.growth !== 'late-parts', stateAt, isOurs },
      );
    } catch (error) {
      const message = `the journal contradicts itself: ${error instanceof Error ? error.message : String(error)}`;
      return fail({ kind: 'malformed', detail: message, errors: [{ path: `run ${run.runId}`, message }] });
    }
    record = part.run;
    events.push(...part.events);
    checkpoints.push(...part.checkpoints);
    snapshots.push(...part.snapshots);
    for (const step of part.steps) steps.set(`${step.line} ${step.stepKey}`, step);
    for (const question of part.questions) questions.set(`${question.line} ${question.questionId}`, question);
    for (const effect of part.effects) {
      putInLedger(ledger, effect);
      changedEffects.set(`${effect.generation} ${effect.stepKey}`, effect);
    }
    takePayloads(part.events, run, payloads);
    at = end;
    await turn();
  }
  return ok({
    run: record,
    events,
    payloads: [...payloads.values()],
    steps: [...steps.values()],
    effects: [...changedEffects.values()],
    questions: [...questions.values()],
    checkpoints,
    snapshots,
  });
}

function takePayloads(
  events: readonly RunEvent[],
  run: Pick<ImportedRun, 'payloads'>,
  into: Map<Sha256, Payload>,
): void {
  for (const event of events) {
    for (const { sha256 } of payloadRefsOf(event)) {
      const payload = run.payloads.get(sha256);
      if (payload !== undefined) into.set(sha256, payload);
    }
  }
}
