import type { Sha256 } from '@/lib/core/events/ids';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { RunEvent } from '@/lib/core/events/run-event';

/** Digests of every payload that the events refer to. */
export function digestsIn(events: readonly RunEvent[], into: Set<Sha256> = new Set()): Set<Sha256> {
  for (const event of events) for (const { sha256 } of payloadRefsOf(event)) into.add(sha256);
  return into;
}
