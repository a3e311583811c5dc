import { dueCheckpoint } from '../core/checkpoints/policy';
import { epochMs, seq } from '../core/events/ids';
import type { CheckpointTrigger } from '../core/events/run-event';
import type { RunHold } from './run-hold';
import type { SessionDeps } from './session-deps';

/** Saves checkpoints by the agent's policy, and those that code asks for. */
export class Checkpoints {
  private readonly session: SessionDeps;
  private readonly hold: RunHold;
  private readonly visit: () => string;
  private stepsEnded = 0;
  private savedAt: number;
  private asked = 0;

  /** `visit`: path of the visit that is open. */
  constructor(session: SessionDeps, hold: RunHold, visit: () => string) {
    this.session = session;
    this.hold = hold;
    this.visit = visit;
    this.savedAt = session.clock.now();
  }

  save(trigger: CheckpointTrigger): void {
    this.stepsEnded = 0;
    this.savedAt = this.session.clock.now();
    // The store folds what was appended, and fills in the name and the seqs.
    this.hold.push({
      event: {
        kind: 'checkpoint.saved',
        trigger,
        visit: this.visit(),
        name: '',
        entrySeq: seq(0),
        othersSeq: seq(0),
      },
    });
  }

  stepEnded(): void {
    this.stepsEnded++;
    const due = dueCheckpoint(
      this.session.agent.checkpoints,
      { stepsEnded: this.stepsEnded, at: epochMs(this.savedAt) },
      epochMs(this.session.clock.now()),
    );
    if (due !== undefined) this.save(due);
  }

  /** Code asks for one. False: the record has it already. */
  ask(): boolean {
    this.asked++;
    return this.asked > this.session.loaded.record.manualCheckpoints;
  }
}
