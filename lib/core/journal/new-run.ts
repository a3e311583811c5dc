import { type EpochMs, epoch, type RunId, type Seq, seq } from '../events/ids';
import type { RunRecord } from '../projections/records';
import { emptyState } from '../projections/run-state';

/** A run before its first event. `root` is the run itself unless it has a parent. */
export function newRun(of: {
  readonly runId: RunId;
  readonly agent: string;
  readonly createdAt: EpochMs;
  readonly root?: RunId;
  readonly parent?: { readonly runId: RunId; readonly seq: Seq; readonly mode: 'fork' | 'replay' };
  readonly home?: 'here' | 'mirror';
  readonly source?: string;
}): RunRecord {
  return {
    runId: of.runId,
    root: of.root ?? of.runId,
    ...(of.parent && { parent: of.parent }),
    home: of.home ?? 'here',
    source: of.source ?? 'sdk',
    createdAt: of.createdAt,
    updatedAt: of.createdAt,
    headSeq: seq(0),
    edition: 0,
    epoch: epoch(0),
    lastBatch: 0,
    state: emptyState(of.agent),
    ledgerVersion: 0,
  };
}
