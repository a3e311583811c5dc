import type { RunId } from '@/lib/core/events/ids';
import type { Change, WriteContext } from '@/lib/usecases/ports';

/**
 * Throws where a decision's change breaks what every store relies on: it is of the asked run, its events follow the
 * head without a gap, the row's head is that of the last event, nothing points past it.
 */
export function assertChange(asked: RunId, context: WriteContext, change: Change): void {
  const broken = (what: string): never => {
    throw new Error(`Broken invariant in a commit of run ${asked}: ${what}`);
  };
  if (change.run.runId !== asked) broken(`the change is of run ${change.run.runId}`);
  if (context.run !== undefined && context.run.root !== change.run.root) broken('the lineage root changed');
  const { cut } = change;
  const before = { head: context.run?.headSeq ?? 0, edition: context.run?.edition ?? 0 };
  if (cut !== undefined && cut.after >= before.head) broken(`nothing is cut after ${cut.after}`);
  if (change.run.edition !== before.edition + (cut === undefined ? 0 : 1))
    broken(`edition ${change.run.edition} follows ${before.edition}`);
  let head: number = cut?.after ?? before.head;
  for (const event of change.events) {
    if (event.runId !== asked) broken(`event ${event.seq} is of run ${event.runId}`);
    if (event.seq !== head + 1) broken(`seq ${event.seq} does not follow head ${head}`);
    head = event.seq;
  }
  if (change.run.headSeq !== head) broken(`the row's head is ${change.run.headSeq}, the journal's ${head}`);
  for (const snapshot of change.snapshots)
    if (snapshot.seq > head) broken(`snapshot at ${snapshot.seq}, head ${head}`);
  for (const checkpoint of change.checkpoints)
    if (checkpoint.seq > head) broken(`checkpoint at ${checkpoint.seq}, head ${head}`);
  for (const effect of change.effects)
    if (effect.root !== change.run.root) broken(`effect ${effect.stepKey} is of lineage ${effect.root}`);
}
