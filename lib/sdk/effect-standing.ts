import type { RunId } from '../core/events/ids';
import type { PayloadRef } from '../core/events/payload';
import type { LedgerEntry } from './journal-port';
import type { EffectOperation } from './operation';

/** What the lineage's ledger says is to be done about a call that has no outcome here. */
export type EffectStanding =
  /** Confirmed for these arguments: that is the answer. */
  | {
      readonly kind: 'answered';
      readonly disposition: 'skip' | 'reuse';
      readonly entry: LedgerEntry;
      readonly result: PayloadRef;
    }
  /** It happened, and what it answered could not be recorded: it is for a person to say, not for the code to miss. */
  | { readonly kind: 'result-unknown'; readonly disposition: 'blocked' }
  /** Another run of the lineage has sent it, and it is not settled there. */
  | { readonly kind: 'elsewhere'; readonly disposition: 'blocked'; readonly entry: LedgerEntry }
  /** Confirmed, and asked for with other arguments: never a default, and not for this process to decide. */
  | { readonly kind: 'conflict'; readonly disposition: 'blocked'; readonly entry: LedgerEntry }
  /** Open and idempotent, or surely not happened: under the same key. */
  | { readonly kind: 'again'; readonly disposition: 'retry-same-key'; readonly entry: LedgerEntry }
  | { readonly kind: 'in-doubt'; readonly disposition: 'needs-decision'; readonly entry: LedgerEntry }
  /** Surely never sent with these arguments: another effect, and another key. */
  | { readonly kind: 'new'; readonly disposition: 'execute'; readonly generation: number }
  /** Settled by a person, which starts nothing: `ordered` is what an order would do. */
  | {
      readonly kind: 'rests';
      readonly disposition: 'skip' | 'reuse' | 'retry-same-key';
      readonly ordered: Extract<EffectStanding, { readonly kind: 'answered' | 'again' }>;
    };

/** What the standing depends on besides the call and its rows. */
export interface StandingAt {
  readonly runId: RunId;
  /** Epoch milliseconds. */
  readonly now: number;
  /** How long the tool's key is valid, from the first intent on. */
  readonly keyValidForMs: number;
  /**
   * A decision and a probe that a person asked for start nothing: the call goes on by an order, or by its holder where
   * the agent verifies by itself.
   */
  readonly goesOnWhenSettled: boolean;
}

type Asked = Pick<EffectOperation, 'effect' | 'inputDigest' | 'settledByPerson'>;

/**
 * `rows`: the call's, generations ascending. Every generation counts: one key is one set of arguments, and a call is
 * answered by what was asked for alike or by nothing.
 */
export function standingOf(op: Asked, rows: readonly LedgerEntry[], at: StandingAt): EffectStanding {
  const isAlike = (entry: LedgerEntry) => entry.argsDigest === op.inputDigest;
  const done = rows.filter(({ status }) => status === 'confirmed');
  const same = done.find(isAlike);
  if (same !== undefined) return confirmed(op, same, at);
  const open = rows.find(({ status }) => status === 'intended' || status === 'in-doubt');
  if (open !== undefined) return unsettled(op, open, at);
  const other = done.at(-1);
  if (other !== undefined) return { kind: 'conflict', disposition: 'blocked', entry: other };
  const failed = rows.findLast((entry) => entry.status === 'failed' && isAlike(entry));
  if (failed !== undefined)
    return unlessSettled(op, at, { kind: 'again', disposition: 'retry-same-key', entry: failed });
  return { kind: 'new', disposition: 'execute', generation: (rows.at(-1)?.generation ?? 0) + 1 };
}

/** Its last attempt surely did nothing, and no run of the lineage has sent it since. */
export function failedForGood(
  { effect }: Pick<EffectOperation, 'effect'>,
  rows: readonly LedgerEntry[],
): boolean {
  const last = rows.at(-1);
  return (
    last === undefined ||
    last.status === 'failed' ||
    (effect === 'idempotent' && (last.status === 'intended' || last.status === 'in-doubt'))
  );
}

function confirmed(op: Asked, entry: LedgerEntry, at: StandingAt): EffectStanding {
  const { result } = entry;
  if (result === undefined) return { kind: 'result-unknown', disposition: 'blocked' };
  const disposition = op.effect === 'external' ? 'skip' : 'reuse';
  return unlessSettled(op, at, { kind: 'answered', disposition, entry, result });
}

function unsettled(op: Asked, entry: LedgerEntry, at: StandingAt): EffectStanding {
  if (entry.runId !== at.runId) return { kind: 'elsewhere', disposition: 'blocked', entry };
  // An open idempotent call may be sent again with its stored arguments while its key is valid.
  const mayRepeat =
    op.effect === 'idempotent' &&
    entry.argsDigest === op.inputDigest &&
    entry.status === 'intended' &&
    at.now < entry.firstIntentAt + at.keyValidForMs;
  return mayRepeat
    ? { kind: 'again', disposition: 'retry-same-key', entry }
    : { kind: 'in-doubt', disposition: 'needs-decision', entry };
}

const unlessSettled = (
  op: Asked,
  at: StandingAt,
  ordered: Extract<EffectStanding, { readonly kind: 'answered' | 'again' }>,
): EffectStanding =>
  op.settledByPerson && !at.goesOnWhenSettled
    ? { kind: 'rests', disposition: ordered.disposition, ordered }
    : ordered;
