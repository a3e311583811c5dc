import type { EpochMs, RunId, Seq, StepKey, WorkerId } from '@/lib/core/events/ids';
import type { RecordedError, RunEvent } from '@/lib/core/events/run-event';
import type { RunRecord, StepRecord } from '@/lib/core/projections/records';
import { stepAt, stepInForce } from '@/lib/core/projections/steps';
import { assertDefined } from '@/lib/core/shared/assert';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { ofOneEdition } from './one-edition';
import type { EventRange } from './ports';
import type { NotFound } from './problems';

/** One try at a step. `outcome`: `completed`, a kind of failure, `reused`, `skipped`, `open`, or `unknown`. */
export interface AttemptView {
  readonly attempt: number;
  readonly seq: Seq;
  readonly at: EpochMs;
  readonly epoch: number;
  readonly endedSeq: Seq | undefined;
  readonly endedAt: EpochMs | undefined;
  readonly outcome: string;
  readonly error: RecordedError | undefined;
  readonly workerId: WorkerId | undefined;
}

export interface StepDetailView {
  readonly step: StepRecord;
  readonly inForce: boolean;
  readonly attempts: readonly AttemptView[];
}

const stepKinds = ['step.started', 'step.completed', 'step.failed', 'step.reused', 'step.skipped'] as const;
const holderKinds = ['run.started', 'run.resumed'] as const;
const EVENTS_AT_ONCE = 10_000;

/** A step and every attempt at it, those of abandoned lines included, oldest first. */
export async function getStep(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId; readonly key: StepKey },
): Promise<Result<StepDetailView, NotFound>> {
  return ofOneEdition(deps, ask.runId, async (run) => {
    const rows = await deps.store.step(ask.runId, ask.key);
    const newest = rows.at(-1);
    if (newest === undefined)
      return fail({ kind: 'not-found', detail: `Run ${ask.runId} has no step ${ask.key}.` });
    const step = stepAt(rows, ask.key, run.state) ?? newest;
    const first = Math.min(...rows.map((row) => row.startedSeq));
    const ended = rows.every((row) => row.endedSeq !== undefined);
    const last = Math.max(...rows.map((row) => row.endedSeq ?? row.startedSeq));
    const range = { after: (first - 1) as Seq, ...(ended && { before: (last + 1) as Seq }) };
    const [events, holders] = await Promise.all([
      everyEvent(deps, ask.runId, { ...range, kinds: stepKinds }, (event) => isOf(event, ask.key)),
      everyEvent(deps, ask.runId, { kinds: holderKinds }, () => true),
    ]);
    return ok({
      step,
      inForce: stepInForce(step, rows, run.state),
      attempts: attemptsOf(ask.key, events, holders, run),
    });
  });
}

/** All events of the range that are kept, read page by page. */
async function everyEvent(
  deps: Pick<UsecaseDeps, 'store'>,
  runId: RunId,
  range: Omit<EventRange, 'limit'>,
  keep: (event: RunEvent) => boolean,
): Promise<readonly RunEvent[]> {
  const kept: RunEvent[] = [];
  let after = range.after ?? (0 as Seq);
  for (;;) {
    const page = await deps.store.events(runId, { ...range, after, limit: EVENTS_AT_ONCE });
    kept.push(...page.filter(keep));
    const last = page.at(-1);
    if (last === undefined || page.length < EVENTS_AT_ONCE) return kept;
    after = last.seq;
  }
}

const isOf = (event: RunEvent, key: StepKey): boolean => 'stepKey' in event && event.stepKey === key;

type StepEvent = Extract<RunEvent, { readonly kind: (typeof stepKinds)[number] }>;

function attemptsOf(
  key: StepKey,
  events: readonly RunEvent[],
  holders: readonly RunEvent[],
  run: RunRecord,
): readonly AttemptView[] {
  const attempts: AttemptView[] = [];
  const openAt = new Map<number, number>();
  for (const event of events) {
    if (!isOf(event, key)) continue;
    const step = event as StepEvent;
    if (step.kind === 'step.completed' || step.kind === 'step.failed') {
      const at = openAt.get(step.attempt);
      if (at === undefined) continue;
      openAt.delete(step.attempt);
      const ended = {
        endedSeq: step.seq,
        endedAt: step.at,
        outcome: outcomeOf(step),
        error: step.kind === 'step.failed' ? step.error : undefined,
      };
      attempts[at] = { ...assertDefined(attempts[at], 'an open attempt is listed'), ...ended };
      continue;
    }
    const began = step.kind === 'step.started';
    const number = began ? step.attempt : attempts.length + 1;
    if (began) openAt.set(number, attempts.length);
    attempts.push({
      attempt: number,
      seq: step.seq,
      at: step.at,
      epoch: step.epoch,
      endedSeq: began ? undefined : step.seq,
      endedAt: began ? undefined : step.at,
      outcome: outcomeOf(step),
      error: step.kind === 'step.reused' ? step.error : undefined,
      workerId: holderAt(holders, step.seq),
    });
  }
  const stillOpen = new Set(openAt.values());
  return attempts.map((attempt, index) =>
    stillOpen.has(index) &&
    (run.state.open[key] === undefined || attempt.seq < run.state.open[key].attemptSeq)
      ? { ...attempt, outcome: 'unknown' }
      : attempt,
  );
}

function outcomeOf(event: StepEvent): string {
  switch (event.kind) {
    case 'step.started':
      return 'open';
    case 'step.completed':
      return event.recorded ? 'completed' : 'not-recorded';
    case 'step.failed':
      return event.failure;
    case 'step.reused':
      return 'reused';
    case 'step.skipped':
      return 'skipped';
  }
}

/** Who held the run at `seq`. */
function holderAt(holders: readonly RunEvent[], seq: Seq): WorkerId | undefined {
  const newest = holders.findLast((event) => event.seq < seq);
  return newest !== undefined && (newest.kind === 'run.started' || newest.kind === 'run.resumed')
    ? newest.workerId
    : undefined;
}
