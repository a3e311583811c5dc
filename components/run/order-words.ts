import type { RunSummary } from '@/lib/client/api-types';

/* Pause and cancel in words that hold whether or not somebody has the run. */

export type StopMode = 'pause' | 'cancel';
type Held = Pick<RunSummary, 'holder'>;

/** Who would have to carry the order out; a worker that only asks downstream carries out nothing else. */
const stopper = ({ holder }: Held): string | undefined =>
  holder === null || holder.mode === 'verify' ? undefined : holder.workerId;

/** What the order will do, before it is given. */
export function stopSentence(mode: StopMode, run: Held): string {
  const worker = stopper(run);
  const doubt = mode === 'cancel' ? ' Effects in doubt stay visible and can still be decided.' : '';
  return worker === undefined
    ? `Nobody holds the run: it ${mode === 'pause' ? 'is paused' : 'ends'} at once.${doubt}`
    : `Worker ${worker} is told and stops at its next point; what is on its way ends first.${doubt}`;
}

/** What it has done, by how the run stands after it was accepted. */
export function stopDone(mode: StopMode, run: Held & Pick<RunSummary, 'status' | 'pending'>): string {
  if (run.status === (mode === 'pause' ? 'paused' : 'cancelled'))
    return mode === 'pause' ? 'Paused' : 'Cancelled';
  const name = mode === 'pause' ? 'Pause' : 'Cancel';
  const worker = stopper(run);
  if (run.pending?.mode !== mode) return `${name} accepted`;
  return worker === undefined
    ? `${name} accepted; nobody has carried it out yet`
    : `${name} accepted; worker ${worker} stops at its next point`;
}
