import type { RunId, Sha256 } from '@/lib/core/events/ids';
import type { Payload, PayloadRef } from '@/lib/core/events/payload';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { Machine } from '@/lib/core/machine/machine';
import type { RunRecord } from '@/lib/core/projections/records';
import { assertDefined } from '@/lib/core/shared/assert';
import { canonicalJson, type Json } from '@/lib/core/shared/canonical-json';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { type NotFound, noRun } from './problems';

/** A run as a file holds it, in file order: events ascending, each payload once, before the first event that refers to it. */
export type RunPart =
  | {
      readonly kind: 'run';
      readonly run: RunRecord;
      readonly machine: Machine | undefined;
      readonly headDigest: Sha256;
    }
  | { readonly kind: 'payload'; readonly payload: Payload }
  | { readonly kind: 'event'; readonly event: RunEvent };

/** The journal that was being read is not there any more: what was read of it is no part of the new one. */
export class AssembledAnew extends Error {
  constructor(id: RunId) {
    super(`Run ${id} was assembled anew while it was read`);
    this.name = 'AssembledAnew';
  }
}

const EVENTS_AT_ONCE = 1_000;
const PAYLOAD_BYTES_AT_ONCE = 8 * 1024 * 1024;

/** The whole run up to the head that it has now; what is appended meanwhile is left out. Reads as it is consumed. */
export async function exportRun(
  deps: Pick<UsecaseDeps, 'store' | 'hash'>,
  ask: {
    readonly runId: RunId;
    /** Which payloads are read; absent: all of them. Each is asked for once. */
    readonly wants?: (payload: PayloadRef) => boolean;
  },
): Promise<Result<{ readonly run: RunRecord; readonly parts: AsyncIterable<RunPart> }, NotFound>> {
  const run = await deps.store.run(ask.runId);
  if (run === undefined) return fail(noRun(ask.runId));
  const digest = run.state.machineDigest;
  const machine = digest === undefined ? undefined : await deps.store.machines.get(digest);
  return ok({ run, parts: partsOf(deps, run, machine, ask.wants ?? (() => true)) });
}

async function* partsOf(
  { store, hash }: Pick<UsecaseDeps, 'store' | 'hash'>,
  run: RunRecord,
  machine: Machine | undefined,
  wants: (payload: PayloadRef) => boolean,
): AsyncGenerator<RunPart> {
  yield { kind: 'run', run, machine, headDigest: stateDigest(run, hash) };
  const given = new Set<Sha256>();
  for (let after = 0; after < run.headSeq; ) {
    const page = await store.events(run.runId, {
      after: after as RunRecord['headSeq'],
      before: (run.headSeq + 1) as RunRecord['headSeq'],
      limit: EVENTS_AT_ONCE,
    });
    if (run.home === 'mirror' && (await store.edition(run.runId)) !== run.edition)
      throw new AssembledAnew(run.runId);
    after = assertDefined(page.at(-1), `the journal of ${run.runId} reaches its head`).seq;
    for (const refs of groups(newRefs(page, given).filter(wants))) {
      const found = await store.payloads.many(refs.map((ref) => ref.sha256));
      for (const { sha256, codec } of refs) {
        // As what it was first stored here is no part of the run.
        const payload = { ...assertDefined(found.get(sha256), `payload ${sha256} is stored`), codec };
        yield { kind: 'payload', payload };
      }
    }
    for (const event of page) yield { kind: 'event', event };
  }
}

/** Digest of the folded state: equal journals have equal ones, wherever they are folded. */
export const stateDigest = (run: RunRecord, hash: UsecaseDeps['hash']): Sha256 =>
  hash(canonicalJson(run.state as unknown as Json));

function newRefs(events: readonly RunEvent[], given: Set<Sha256>): readonly PayloadRef[] {
  const refs: PayloadRef[] = [];
  for (const event of events) {
    for (const ref of payloadRefsOf(event)) {
      if (given.has(ref.sha256)) continue;
      given.add(ref.sha256);
      refs.push(ref);
    }
  }
  return refs;
}

/** Few large payloads or many small ones at a time, so that memory is bounded. */
function* groups(refs: readonly PayloadRef[]): Generator<readonly PayloadRef[]> {
  let group: PayloadRef[] = [];
  let bytes = 0;
  for (const ref of refs) {
    if (group.length > 0 && bytes + ref.bytes > PAYLOAD_BYTES_AT_ONCE) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(ref);
    bytes += ref.bytes;
  }
  if (group.length > 0) yield group;
}
