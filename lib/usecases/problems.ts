import type { RunId, Sha256 } from '@/lib/core/events/ids';
import type { Lease } from '@/lib/core/projections/records';

/** Problems that several use-cases share. `detail` is a sentence for people. */
export type NotFound = { readonly kind: 'not-found'; readonly detail: string };
export type Mirror = { readonly kind: 'mirror'; readonly detail: string };
export type UnknownPayloads = { readonly kind: 'unknown-payloads'; readonly payloads: readonly Sha256[] };
/** A payload's bytes are not what its digest or its codec says. */
export type BadPayload = { readonly kind: 'bad-payload'; readonly detail: string };

/** Who holds a run: a worker by its lease, or the actor of an order that waits for a worker. */
export interface Holder {
  readonly workerId: string | undefined;
  readonly actor: string | undefined;
  readonly commandId: string | undefined;
  readonly mode: string;
  readonly since: number | undefined;
}
export type HeldBy = { readonly kind: 'held'; readonly holder: Holder };

export const noRun = (id: RunId): NotFound => ({ kind: 'not-found', detail: `There is no run ${id}.` });
export const mirrorOf = (id: RunId): Mirror => ({
  kind: 'mirror',
  detail: `Run ${id} has its home elsewhere; here it can be inspected, replayed and forked.`,
});
export const holderOf = (lease: Lease): Holder => ({
  workerId: lease.workerId,
  actor: undefined,
  commandId: undefined,
  mode: lease.mode,
  since: lease.since,
});
