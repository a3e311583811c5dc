import type { EpochMs } from '../events/ids';
import type { CheckpointTrigger } from '../events/run-event';

export interface CheckpointPolicy {
  readonly everySteps: number;
  readonly everyMs: number;
}
/** Before every irreversible step, every 3 steps, every 30 s, unless the agent says otherwise. */
export const defaultCheckpointPolicy: CheckpointPolicy = { everySteps: 3, everyMs: 30_000 };

/** What has happened since the newest checkpoint (or the start). */
export interface SinceCheckpoint {
  readonly stepsEnded: number;
  readonly at: EpochMs;
}
/** Which checkpoint is due, if any. `beforeExternal`: an external call is about to be recorded as intended. */
export function dueCheckpoint(
  policy: CheckpointPolicy,
  since: SinceCheckpoint,
  now: EpochMs,
  beforeExternal = false,
): Extract<CheckpointTrigger, 'before-effect' | 'every-n-steps' | 'every-t-seconds'> | undefined {
  if (beforeExternal) return 'before-effect';
  if (since.stepsEnded >= policy.everySteps) return 'every-n-steps';
  if (since.stepsEnded > 0 && now - since.at >= policy.everyMs) return 'every-t-seconds';
  return undefined;
}
