import type { RunEvent } from '@/lib/core/events/run-event';
import { variableName } from '@/lib/core/projections/variables';

/** Kinds of events that `writtenAt` reads. */
export const writeKinds = ['variables.patched', 'run.rewound'] as const satisfies readonly RunEvent['kind'][];

/**
 * The seq of the event that wrote each variable last, by its name. `events`: those kinds up to a moment, the newest
 * first; what a rewind among them left behind wrote nothing that stands.
 */
export function writtenAt(events: readonly RunEvent[]): ReadonlyMap<string, number> {
  const written = new Map<string, number>();
  /** Of the rewinds so far, the earliest point that was gone back to: a rewind goes to a point in force. */
  let standsTo = Number.POSITIVE_INFINITY;
  for (const event of events) {
    if (event.kind === 'run.rewound' && event.seq <= standsTo) standsTo = event.toSeq;
    if (event.kind !== 'variables.patched' || event.seq > standsTo) continue;
    for (const { path } of event.patch) {
      const name = variableName(path);
      if (!written.has(name)) written.set(name, event.seq);
    }
  }
  return written;
}
