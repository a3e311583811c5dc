import { type RunId, type Seq, seq } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { Draft } from '@/lib/core/journal/extend';
import type { RunRecord } from '@/lib/core/projections/records';
import { assertNever } from '@/lib/core/shared/assert';
import { canonicalJson, type Json } from '@/lib/core/shared/canonical-json';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { pace, slices } from './pace';
import type { ImportedRun } from './ports';

export type JoinProblem =
  /** Another content stands at `seq` of the stored journal. */
  | { readonly kind: 'differs'; readonly runId: RunId; readonly seq: Seq }
  /** The run is executed here, and the file holds what this store does not have. */
  | { readonly kind: 'home-here'; readonly runId: RunId; readonly headSeq: Seq };

/** How a file's run continues what is stored of it. */
export interface Joined {
  /** The file's events to be appended, in order; empty where everything is there. Each is appended with the stamp that it has. */
  readonly fresh: readonly RunEvent[];
  /** Whether the store has more than the file. */
  readonly older: boolean;
  /** Where each of the file's events stands in the stored journal. */
  readonly placeOf: (inFile: Seq) => Seq;
}

const same = (at: Seq): Seq => at;

/** Compares the file with the stored journal (`stored` from seq 1, empty for a new run). O(events), in turns of the loop. */
export async function joinImport(
  run: ImportedRun,
  record: RunRecord | undefined,
  stored: readonly RunEvent[],
): Promise<Result<Joined, JoinProblem>> {
  if (record === undefined) return ok({ fresh: run.events, older: false, placeOf: same });
  if (
    record.root !== run.root ||
    record.source !== run.source ||
    record.parent?.runId !== run.parent?.runId
  ) {
    return fail(refused(record, seq(1)));
  }
  switch (run.growth) {
    case 'exact':
    // A file that says what parts made once: its journal as it is.
    case 'assembled':
      return joinExact(run, record, stored);
    case 'late-parts':
      return joinLate(run, record, stored);
    default:
      return assertNever(run.growth, 'growth');
  }
}

function refused(record: RunRecord, at: Seq): JoinProblem {
  return record.home === 'here'
    ? { kind: 'home-here', runId: record.runId, headSeq: record.headSeq }
    : { kind: 'differs', runId: record.runId, seq: at };
}

const AT_ONCE = 500;

/** `map` that lets others go first between its parts. */
async function inTurns<Item, Value>(
  items: readonly Item[],
  of: (item: Item) => Value,
): Promise<readonly Value[]> {
  const turn = pace();
  const values: Value[] = [];
  for (const part of slices(items, AT_ONCE)) {
    for (const item of part) values.push(of(item));
    await turn();
  }
  return values;
}

async function joinExact(
  run: ImportedRun,
  record: RunRecord,
  stored: readonly RunEvent[],
): Promise<Result<Joined, JoinProblem>> {
  const turn = pace();
  for (const part of slices(stored, AT_ONCE)) {
    for (const mine of part) {
      const theirs = run.events[mine.seq - 1];
      if (theirs !== undefined && !sameEvent(mine, theirs)) return fail(refused(record, mine.seq));
    }
    await turn();
  }
  const fresh = run.events.slice(stored.length);
  if (fresh.length > 0 && record.home === 'here') return fail(refused(record, record.headSeq));
  return ok({
    fresh,
    older: run.events.length < stored.length,
    placeOf: same,
  });
}

/**
 * What is stored must be found in the file in the same order, or all of the file in what is stored; times and places
 * apart, for a later file may know them better. Whatever else the file has came late and is appended.
 */
async function joinLate(
  run: ImportedRun,
  record: RunRecord,
  stored: readonly RunEvent[],
): Promise<Result<Joined, JoinProblem>> {
  const mine = await inTurns(stored, essence);
  const theirs = await inTurns(run.events, essence);
  const places: number[] = [];
  const late: RunEvent[] = [];
  let matched = 0;
  for (const [i, event] of run.events.entries()) {
    if (matched < mine.length && mine[matched] === theirs[i]) {
      matched += 1;
      places[event.seq] = matched;
    } else {
      late.push(event);
      places[event.seq] = stored.length + late.length;
    }
  }
  if (matched === mine.length) {
    return late.length > 0 && record.home === 'here'
      ? fail(refused(record, record.headSeq))
      : ok({ fresh: late, older: false, placeOf: (at) => seq(places[at] ?? at) });
  }
  const covered = placesIn(mine, theirs);
  if (covered === undefined) return fail(refused(record, seq(matched + 1)));
  return ok({ fresh: [], older: true, placeOf: (at) => seq(covered[at] ?? at) });
}

/** Where each of `parts` stands in `journal`, by seq; `undefined` unless all are there in order. */
function placesIn(journal: readonly string[], parts: readonly string[]): readonly number[] | undefined {
  const places: number[] = [];
  let found = 0;
  for (const [i, entry] of journal.entries()) {
    if (found < parts.length && entry === parts[found]) {
      found += 1;
      places[found] = i + 1;
    }
  }
  return found === parts.length ? places : undefined;
}

/** Members that come in one order are compared at once; only others need the canonical form. */
function sameEvent(mine: RunEvent, theirs: RunEvent): boolean {
  if (JSON.stringify(stampFirst(mine)) === JSON.stringify(stampFirst(theirs))) return true;
  return canonicalJson(mine as unknown as Json) === canonicalJson(theirs as unknown as Json);
}

function stampFirst({ runId, seq: at, at: time, epoch, by, version, inherited, ...body }: RunEvent) {
  return [runId, at, time, epoch, by, version, inherited?.runId, inherited?.seq, body];
}

/** What an event says, without where and when it stands. */
function essence(event: RunEvent): string {
  const {
    runId: _runId,
    seq: _seq,
    at: _at,
    epoch: _epoch,
    by: _by,
    version: _version,
    inherited,
    ...body
  } = event;
  const placeless =
    body.kind === 'checkpoint.saved'
      ? { ...body, visit: '', entrySeq: 0, othersSeq: 0, intentSeq: 0 }
      : body.kind === 'command.accepted'
        ? { ...body, from: '', parent: body.parent?.runId }
        : body;
  return canonicalJson({ ...placeless, of: inherited?.runId } as unknown as Json);
}

/** The event with references into the parent's journal as it is stored. */
export function placed(draft: Draft, parent: RunId, placeOf: Joined['placeOf']): Draft {
  const inherited = draft.inherited;
  const moved =
    inherited !== undefined && inherited.runId === parent
      ? { ...draft, inherited: { runId: parent, seq: placeOf(inherited.seq) } }
      : draft;
  if (moved.kind !== 'command.accepted' || moved.parent?.runId !== parent) return moved;
  const at = placeOf(moved.parent.seq);
  return {
    ...moved,
    parent: { runId: parent, seq: at },
    ...(moved.from === undefined ? {} : { from: `cp_${at}` }),
  };
}
