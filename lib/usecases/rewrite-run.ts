import { type Seq, type StepKey, seq } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import { asRow } from '@/lib/core/journal/extend';
import { newRun } from '@/lib/core/journal/new-run';
import type { QuestionRecord, RunRecord, RunState, StepRecord } from '@/lib/core/projections/records';
import { emptyState } from '@/lib/core/projections/run-state';
import { startedBefore } from '@/lib/core/projections/step-transitions';
import { canonicalJson, type Json } from '@/lib/core/shared/canonical-json';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { Reassembled } from './assemble-parts';
import type { UsecaseDeps } from './deps';
import { type Contradiction, grow, type Lineage, lineageOf } from './grow-run';
import type { Change, Cut, ImportWarning } from './ports';
import { eventPages, stateAt } from './state-at';
import type { Moved } from './upload';

type Deps = Pick<UsecaseDeps, 'store'>;

export interface Rewritten {
  readonly change: Change;
  /** Whether the journal is now all that its parts make. */
  readonly isWhole: boolean;
  readonly warnings: readonly (ImportWarning & { readonly always?: true })[];
}

/**
 * The change that makes a stored journal what its parts make now: appended to, or cut at the first difference and gone
 * on with from there. A journal that runs were forked or replayed from keeps what it has.
 */
export async function rewritten(
  deps: Deps,
  made: Reassembled,
  before: RunRecord | undefined,
  children: number,
): Promise<Result<Rewritten, Contradiction | Moved>> {
  if (before === undefined) {
    const { runId, agent, createdAt, root, source } = made.head;
    const fresh = newRun({ runId, agent, createdAt, root, home: 'mirror', source });
    return whole(deps, made, fresh, noLineage, made.events);
  }
  const lineage = await lineageOf(deps, before.root);
  if (made.kept === before.headSeq) return whole(deps, made, before, lineage, made.events);
  return children > 0
    ? atTheEnd(deps, made, before, lineage)
    : fromTheDifference(deps, made, before, lineage);
}

const noLineage: Pick<Lineage, 'ledger' | 'isOurs'> = { ledger: new Map(), isOurs: () => false };

async function whole(
  deps: Deps,
  { head, payloads }: Reassembled,
  base: RunRecord,
  { ledger, isOurs }: Pick<Lineage, 'ledger' | 'isOurs'>,
  fresh: readonly RunEvent[],
): Promise<Result<Rewritten, Contradiction>> {
  const change = await grow(
    {
      run: { ...head, payloads },
      base,
      fresh,
      ready: (event) => event,
      stateAt: () => {
        throw new Error('an assembled journal has no rewind');
      },
    },
    { ledger: new Map(ledger), isOurs },
    deps.store.clock.now(),
  );
  return change.ok ? ok({ change: change.value, isWhole: true, warnings: [] }) : change;
}

/** Cuts where no row would be cut in two, at or before the first difference. */
async function fromTheDifference(
  deps: Deps,
  made: Reassembled,
  before: RunRecord,
  lineage: Lineage,
): Promise<Result<Rewritten, Contradiction | Moved>> {
  const { runId } = before;
  const base = await baseBelow(deps, before, seq(made.kept));
  if (base === undefined) return fail({ kind: 'moved' });
  const { at, state, shared } = base;
  const gone = [...lineage.ledger.values()].flatMap((rows) =>
    rows.filter((row) => row.runId === runId && row.intentSeq > at),
  );
  const cut: Cut = {
    after: at,
    effects: gone.map(({ stepKey, generation }) => ({ stepKey, generation })),
  };
  const kept = new Map(
    [...lineage.ledger].map(([key, rows]) => [key, rows.filter((row) => !gone.includes(row))] as const),
  );
  const { createdAt, agent } = made.head;
  const grown = await whole(
    deps,
    made,
    {
      ...before,
      createdAt,
      headSeq: at,
      edition: before.edition + 1,
      state: at === 0 ? emptyState(agent) : state,
    },
    { ledger: kept, isOurs: lineage.isOurs },
    [...shared, ...made.events],
  );
  if (!grown.ok) return grown;
  const { change } = grown.value;
  return ok({
    ...grown.value,
    change: {
      ...change,
      cut,
      steps: withRestored(rowsIn(state), change.steps, ({ line, stepKey }) => `${line} ${stepKey}`),
      questions: withRestored(
        Object.values(state.questions),
        change.questions,
        ({ line, questionId }) => `${line} ${questionId}`,
      ),
    },
  });
}

/** Rows of steps that may have moved since the state: of those begun by then, no others have. */
const rowsIn = ({ open, stopped, unhandled }: RunState): readonly StepRecord[] =>
  [open, stopped, unhandled].flatMap((steps) => Object.values(steps).map(asRow));

function withRestored<Row extends StepRecord | QuestionRecord>(
  restored: readonly Row[],
  changed: readonly Row[],
  key: (row: Row) => string,
): readonly Row[] {
  return [...new Map([...restored, ...changed].map((row) => [key(row), row])).values()];
}

interface Base {
  readonly at: Seq;
  readonly state: RunState;
  /** Events between here and the first difference, which stay as they are. */
  readonly shared: readonly RunEvent[];
}

/**
 * The newest place at or before `difference` where the state tells of every row that later events changed; `undefined`
 * where the journal is not any more as the record says.
 */
async function baseBelow(deps: Deps, run: RunRecord, difference: Seq): Promise<Base | undefined> {
  let at = difference;
  for (;;) {
    const { state } = at === 0 ? { state: emptyState(run.state.agent) } : await stateAt(deps, run, at);
    const tail: RunEvent[] = [];
    for await (const page of eventPages(deps.store, run.runId, at, run.headSeq)) tail.push(...page);
    const lower = await firstStraddled(deps, run, at, state, tail);
    if ((await deps.store.edition(run.runId)) !== run.edition) return undefined;
    if (lower === undefined) return { at, state, shared: tail.slice(0, difference - at) };
    at = seq(lower - 1);
  }
}

/** Where the earliest row began that the tail changed and that the state does not tell of. */
async function firstStraddled(
  { store }: Deps,
  { runId }: RunRecord,
  at: Seq,
  state: RunState,
  tail: readonly RunEvent[],
): Promise<Seq | undefined> {
  const keys = new Set<StepKey>();
  for (const event of tail)
    if ('stepKey' in event && event.stepKey !== undefined) keys.add(event.stepKey as StepKey);
  // An effect's ledger row is known as it is now alone, so it goes whole.
  const untold = [...keys].filter((key) => {
    const told = startedBefore(state, key);
    return told === undefined || told.intent !== undefined;
  });
  const rows = await store.stepsOf(runId, untold);
  const straddled = rows.filter(({ startedSeq }) => startedSeq <= at);
  return straddled.length === 0 ? undefined : seq(Math.min(...straddled.map(({ startedSeq }) => startedSeq)));
}

const AFTER_CHILDREN =
  'came after a run had been forked or replayed from it, so that what it had stays where it stood';

/** What is stored stays; what the parts make beyond it is appended, where the journal can take it there. */
async function atTheEnd(
  deps: Deps,
  made: Reassembled,
  before: RunRecord,
  lineage: Lineage,
): Promise<Result<Rewritten, Contradiction>> {
  const { runId, headSeq } = before;
  const tail: RunEvent[] = [];
  for await (const page of eventPages(deps.store, runId, seq(made.kept), headSeq)) tail.push(...page);
  const late = beyond(tail, made.events);
  const placed = late?.map((event, i): RunEvent => ({ ...event, seq: seq(headSeq + i + 1) }));
  const grown = placed && (await whole(deps, made, before, lineage, placed));
  if (grown?.ok === true) {
    const message = `more of this run ${AFTER_CHILDREN}: what is new was appended at its end`;
    return ok({
      ...grown.value,
      isWhole: false,
      warnings: late?.length === 0 ? [] : [{ path: `run ${runId}`, message, always: true }],
    });
  }
  const unchanged = await whole(deps, made, before, lineage, []);
  if (!unchanged.ok) return unchanged;
  const message = `more of this run ${AFTER_CHILDREN}, and it would change that: it is kept with the run, and the journal does not show it`;
  return ok({
    ...unchanged.value,
    isWhole: false,
    warnings: [{ path: `run ${runId}`, message, always: true }],
  });
}

/** Events of `made` that are not in `stored`; `undefined` unless all that is stored is still made. Places do not count. */
function beyond(stored: readonly RunEvent[], made: readonly RunEvent[]): readonly RunEvent[] | undefined {
  const left = new Map<string, number>();
  for (const event of stored) left.set(essence(event), (left.get(essence(event)) ?? 0) + 1);
  const more: RunEvent[] = [];
  for (const event of made) {
    const count = left.get(essence(event)) ?? 0;
    if (count === 0) more.push(event);
    else left.set(essence(event), count - 1);
  }
  return [...left.values()].every((count) => count === 0) ? more : undefined;
}

function essence({ seq: _seq, ...event }: RunEvent): string {
  const placeless =
    event.kind === 'checkpoint.saved'
      ? { ...event, visit: '', entrySeq: 0, othersSeq: 0, intentSeq: 0 }
      : event;
  return canonicalJson(placeless as unknown as Json);
}
