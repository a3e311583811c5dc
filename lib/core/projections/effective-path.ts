import type { Seq } from '../events/ids';
import { seq as toSeq } from '../events/ids';
import type { RunEvent } from '../events/run-event';

/** A stretch of the journal, both ends included. */
export interface Segment {
  readonly from: Seq;
  readonly to: Seq;
}

/** A rewind: what lies in (toSeq, seq) is left behind. */
export interface RewindMark {
  readonly seq: Seq;
  readonly toSeq: Seq;
}

/** The effective path as seen at `at`, ascending. Rewinds after `at` do not count yet. */
export function segmentsAt(rewinds: readonly RewindMark[], at: Seq): readonly Segment[] {
  const segments: Segment[] = [];
  let end = at;
  for (const rewind of rewinds.toReversed()) {
    if (rewind.seq > end) continue;
    segments.push({ from: rewind.seq, to: end });
    end = rewind.toSeq;
  }
  if (end >= 1) segments.push({ from: toSeq(1), to: end });
  return segments.toReversed();
}

/** Whether `seq` lies on the path. O(rewinds). */
export function inForce(seq: Seq, segments: readonly Segment[]): boolean {
  for (let i = segments.length - 1; i >= 0; i--) {
    const segment = segments[i];
    if (segment && seq >= segment.from) return seq <= segment.to;
  }
  return false;
}

/** The events of a whole journal that are in force at its head, ascending. */
export function effectivePath(events: readonly RunEvent[]): readonly RunEvent[] {
  const head = events.at(-1);
  if (!head) return events;
  const rewinds = events.filter((event) => event.kind === 'run.rewound');
  if (rewinds.length === 0) return events;
  const segments = segmentsAt(rewinds, head.seq);
  return events.filter((event) => inForce(event.seq, segments));
}
