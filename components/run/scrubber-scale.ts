/* Where events stand on the scrubber, from 0 to 1: each as wide as the other, or as wide as it lasted. */

export interface Gap {
  /** The event that the wait came after. */
  readonly seq: number;
  readonly ms: number;
  /** Where on the track the fold is drawn. */
  readonly from: number;
  readonly to: number;
}

export interface Scale {
  readonly headSeq: number;
  /** Where an event begins; one past the head is the track's end. */
  readonly begin: (seq: number) => number;
  /** The event at a place on the track, 1 to the head. */
  readonly seqAt: (position: number) => number;
  /** Waits that are drawn shorter than they were. */
  readonly gaps: readonly Gap[];
}

/** The middle of an event. */
export const middle = (scale: Scale, seq: number): number =>
  scale.headSeq === 0 ? 0 : (scale.begin(seq) + scale.begin(seq + 1)) / 2;

const clamp = (seq: number, headSeq: number) => Math.max(1, Math.min(headSeq, seq));

export const seqScale = (headSeq: number): Scale => ({
  headSeq,
  begin: (seq) => (headSeq === 0 ? 0 : Math.max(0, Math.min(1, (seq - 1) / headSeq))),
  seqAt: (position) => clamp(Math.floor(position * headSeq) + 1, headSeq),
  gaps: [],
});

/** So long without an event is a wait, and is folded. */
export const GAP_MS = 60_000;
/** A fold takes this part of the track's active time; all of them together no more than the second part. */
const FOLD = 0.03;
const FOLDS = 0.3;
/** Of the track, what all events share evenly: bursts stay readable. */
const EVEN = 0.25;

interface Instant {
  readonly seq: number;
  /** Epoch ms. */
  readonly at: number;
}

/**
 * Along the time that passed, from known instants in ascending order, waits folded. Between two known instants events
 * are spread evenly. Without any time between them this is the scale of seqs.
 */
export function timeScale(instants: readonly Instant[], headSeq: number): Scale {
  const points = instants.filter(({ seq }, n) => seq > (instants[n - 1]?.seq ?? 0) && seq <= headSeq);
  const spans = points.slice(1).map((to, n) => {
    const from = points[n] ?? to;
    return { from: from.seq, to: to.seq, ms: Math.max(0, to.at - from.at) };
  });
  const active = spans.reduce((sum, { ms }) => sum + (ms > GAP_MS ? 0 : ms), 0);
  const waits = spans.filter(({ ms }) => ms > GAP_MS).length;
  if (active === 0 && waits === 0) return seqScale(headSeq);
  const fold = (active === 0 ? 1 : active) * Math.min(FOLD, FOLDS / Math.max(1, waits));
  const drawn = spans.map(({ ms }) => (ms > GAP_MS ? fold : ms));
  const total = drawn.reduce((sum, ms) => sum + ms, 0);
  // Edges of the pieces: seq, and place on the track.
  const seqs = [1];
  const places = [0];
  let time = 0;
  for (const [n, { to }] of spans.entries()) {
    time += drawn[n] ?? 0;
    seqs.push(to);
    places.push((1 - EVEN) * (time / total) + EVEN * ((to - 1) / headSeq));
  }
  const piece = (values: readonly number[], value: number) => {
    let low = 0;
    let high = values.length - 1;
    while (low < high) {
      const at = (low + high + 1) >>> 1;
      if ((values[at] ?? 0) <= value) low = at;
      else high = at - 1;
    }
    return low;
  };
  const between = (
    keys: readonly number[],
    values: readonly number[],
    key: number,
    last: number,
    end: number,
  ) => {
    const n = piece(keys, key);
    const [k0, k1] = [keys[n] ?? 0, keys[n + 1] ?? last];
    const [v0, v1] = [values[n] ?? 0, values[n + 1] ?? end];
    return k1 === k0 ? v0 : v0 + ((key - k0) / (k1 - k0)) * (v1 - v0);
  };
  const begin = (seq: number) =>
    Math.max(0, Math.min(1, between(seqs, places, Math.max(1, Math.min(headSeq + 1, seq)), headSeq + 1, 1)));
  return {
    headSeq,
    begin,
    seqAt: (position) =>
      clamp(
        Math.floor(between(places, seqs, Math.max(0, Math.min(1, position)), 1, headSeq + 1) + 1e-9),
        headSeq,
      ),
    gaps: spans
      .filter(({ ms }) => ms > GAP_MS)
      .map(({ from, to, ms }) => ({ seq: from, ms, from: begin(from), to: begin(to) })),
  };
}
