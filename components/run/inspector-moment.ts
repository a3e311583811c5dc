import type { CheckpointRow, RunSummary, StepRow } from '@/lib/client/api-types';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { Failed } from './unread';
import type { Move } from './use-cursor';

/** What every view of the inspector is drawn from: the moment at the cursor. */
export interface InspectorMoment {
  readonly run: RunSummary;
  readonly step: StepRow | undefined;
  /** The step is not known yet. */
  readonly stepLoads: boolean;
  /** The steps could not be read. */
  readonly stepUnread: Failed | undefined;
  /** The one at the cursor, where it is loaded. */
  readonly event: RunEvent | undefined;
  readonly seq: number;
  /** The cursor once it rests: what the server is asked about. */
  readonly settled: number;
  readonly checkpoints: readonly CheckpointRow[];
  readonly onMove: Move;
}
