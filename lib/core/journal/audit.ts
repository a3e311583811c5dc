import type { CommandId, EpochMs, RunId, Seq, Sha256 } from '../events/ids';
import type { CommandMode, EventOf, RunEvent } from '../events/run-event';
import type { RunRecord } from '../projections/records';

/** What is audited beside orders. `link` is a read-only link to a run. */
export type DoorAction = 'sign-in' | 'sign-in-refused' | 'sign-out' | 'link-made' | 'link-revoked';
export type AuditAction = CommandMode | DoorAction;

/** All of them, in the order in which they are offered. */
export const auditActions = [
  'resume',
  'rewind',
  'fork',
  'replay',
  'verify',
  'decide',
  'answer',
  'pause',
  'cancel',
  'sign-in',
  'sign-in-refused',
  'sign-out',
  'link-made',
  'link-revoked',
] as const satisfies readonly AuditAction[];

/** How an order stands: `running` until the journal says that it has ended. */
export type AuditOutcome = 'running' | EventOf<'command.ended'>['outcome'];

/** Who did what. For orders the journal is the truth, and this the list of them over all runs. */
export interface AuditRecord {
  readonly at: EpochMs;
  readonly actor: string;
  readonly action: AuditAction;
  /** Absent where it is about no run. */
  readonly runId?: RunId;
  /** Of the order's `command.accepted`. */
  readonly seq?: Seq;
  readonly commandId?: CommandId;
  readonly reason?: string;
  readonly planDigest?: Sha256;
  readonly outcome?: AuditOutcome;
  /** How the order ended; beside orders, whatever else is known (never a secret). */
  readonly detail?: string;
}

/** How an order ended, for its record. */
export interface AuditEnd {
  readonly commandId: CommandId;
  readonly outcome: EventOf<'command.ended'>['outcome'];
  readonly detail: string | undefined;
}

/** What a write adds to the audit: orders that begin with it, and ends of those that began before. */
export interface Audited {
  readonly records: readonly AuditRecord[];
  readonly ends: readonly AuditEnd[];
}

const nothing: Audited = { records: [], ends: [] };

/**
 * What these events, just appended to `run`, mean for the audit. Orders that were given elsewhere, which a copy of a
 * run or an inherited piece of journal holds, are not this console's.
 */
export function auditedIn(run: Pick<RunRecord, 'runId' | 'home'>, events: readonly RunEvent[]): Audited {
  if (run.home === 'mirror') return nothing;
  const orders = events.filter(isOrderEvent);
  if (orders.length === 0) return nothing;
  const records: AuditRecord[] = [];
  const ends: AuditEnd[] = [];
  for (const event of orders) {
    if (event.inherited !== undefined) continue;
    if (event.kind === 'command.accepted') records.push(recordOf(run.runId, event));
    else if (event.late !== true) {
      const { commandId, outcome, detail } = event;
      ends.push({ commandId, outcome, detail });
    }
  }
  return settled(records, ends);
}

type OrderEvent = EventOf<'command.accepted'> | EventOf<'command.ended'>;

const isOrderEvent = (event: RunEvent): event is OrderEvent =>
  event.kind === 'command.accepted' || event.kind === 'command.ended';

/** Of one write an order may be both the beginning and the end. */
function settled(records: readonly AuditRecord[], ends: readonly AuditEnd[]): Audited {
  const endOf = new Map(ends.map((end) => [end.commandId, end]));
  const begun = new Set(records.map(({ commandId }) => commandId));
  return {
    records: records.map((record) => {
      const end = record.commandId === undefined ? undefined : endOf.get(record.commandId);
      return end === undefined ? record : ended(record, end);
    }),
    ends: ends.filter(({ commandId }) => !begun.has(commandId)),
  };
}

const recordOf = (runId: RunId, event: EventOf<'command.accepted'>): AuditRecord => ({
  at: event.at,
  actor: event.actor,
  action: event.mode,
  runId,
  seq: event.seq,
  commandId: event.commandId,
  reason: event.reason,
  ...(event.planDigest !== undefined && { planDigest: event.planDigest }),
  outcome: 'running',
});

/** The first end counts: what is told of an order that has ended changes nothing. */
export const ended = (record: AuditRecord, { outcome, detail }: AuditEnd): AuditRecord =>
  record.outcome === 'running' ? { ...record, outcome, ...(detail !== undefined && { detail }) } : record;

/** What `q` looks into, in lower case. */
export const auditText = ({ actor, runId, reason, detail, planDigest }: AuditRecord): string =>
  [actor, runId, reason, detail, planDigest]
    .filter((text) => text !== undefined)
    .join('\n')
    .toLowerCase();
