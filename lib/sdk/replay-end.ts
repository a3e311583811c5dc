import type { Gate } from './gate';
import type { MachineLoop } from './machine-loop';
import type { OpenCalls } from './open-calls';
import type { Operation } from './operation';
import type { ReEntry } from './re-entry';
import type { ReplayJournal } from './replay-journal';
import type { RunHold } from './run-hold';
import type { RunStops } from './run-stops';
import type { SessionDeps } from './session-deps';

/** What ending a replay needs from the session. */
export interface ReplayEndDeps {
  readonly session: SessionDeps;
  readonly hold: RunHold;
  readonly stops: RunStops;
  readonly machine: MachineLoop;
  readonly reEntry: ReEntry;
  readonly gate: Gate;
  readonly open: OpenCalls;
  readonly journal: ReplayJournal;
}

/** How a replay ends: with its record. */
export class ReplayEnd {
  private readonly deps: ReplayEndDeps;

  constructor(deps: ReplayEndDeps) {
    this.deps = deps;
  }

  /** The record is out. */
  recordIsOut(): void {
    const { reEntry, gate, machine, open, journal } = this.deps;
    if (!reEntry.cameToTheEnd) {
      if (!gate.isHolding && open.all.size === 0 && !machine.isOver) {
        reEntry.stuckAt('what comes next');
        return;
      }
      const unanswered = [...open.all].filter((op) => op.open).map((op) => op.key);
      journal.noRecord(
        unanswered.length > 0
          ? `The record ends before ${unanswered.join(', ')} was answered`
          : 'The record ends here',
      );
    }
    this.finish();
  }

  /** The record has a call's end and not its value. */
  notRecorded(op: Operation): void {
    this.deps.journal.noRecord(notRecordedSentence(op));
    this.finish();
  }

  private finish(): void {
    const { session, hold, stops } = this.deps;
    const notices = session.notices?.() ?? [];
    const detail = notices.length === 0 ? {} : { detail: notices.join('; ') };
    const commandId = stops.orderId;
    if (commandId !== undefined)
      hold.push({ event: { kind: 'command.ended', commandId, outcome: 'done', ...detail } });
    hold.finish('done');
  }
}

/** Why nothing goes on from a call whose value is not in the record. */
export const notRecordedSentence = ({ key }: Operation): string =>
  `${key} finished, but its value could not be recorded`;
