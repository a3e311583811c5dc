import type { WorkerOffer } from '../journal/lease';
import { wantedToStart } from '../journal/wanted';
import type { RunRecord } from '../projections/records';

/** Why no worker has taken up a queued run, by name. */
export interface Unclaimed {
  readonly kind: 'no-worker' | 'other-machine' | 'nobody';
  readonly sentence: string;
}

const MOST_NAMED = 3;
/** So much of a digest tells it from the others. */
const short = (digest: string): string => digest.slice(0, 8);

/** Undefined where the run is not queued, or a worker that may take it up is connected. `workers`: the live ones. */
export function unclaimed(run: RunRecord, workers: readonly WorkerOffer[]): Unclaimed | undefined {
  if (run.home === 'mirror' || run.state.status !== 'queued') return undefined;
  const wanted = wantedToStart(run);
  if (wanted === undefined)
    return {
      kind: 'nobody',
      sentence: 'No worker may take it up: which code it would go on with is not known, or it is over.',
    };
  const { agent, machineDigest } = wanted;
  const offers = workers.flatMap(({ workerId, agents }) =>
    agents.filter(({ name }) => name === agent).map((offer) => ({ workerId, digest: offer.machineDigest })),
  );
  if (offers.length === 0)
    return { kind: 'no-worker', sentence: `No worker that has the agent ${agent} is connected.` };
  if (machineDigest === undefined || offers.some(({ digest }) => digest === machineDigest)) return undefined;
  const named = offers.slice(0, MOST_NAMED).map(({ workerId, digest }) => `${workerId} has ${short(digest)}`);
  const more = offers.length - named.length;
  return {
    kind: 'other-machine',
    sentence: `It needs a worker with the machine ${short(machineDigest)} of ${agent}, and none is connected: ${named.join(', ')}${more > 0 ? ` and ${more} more have others` : ''}.`,
  };
}
