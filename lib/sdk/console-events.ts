import type { StepKey } from '../core/events/ids';
import type { EventOf, NewEvent, RunEvent } from '../core/events/run-event';
import type { Effects } from './effects';
import { found, loadTexts } from './load-run';
import { isEffect, type Operation } from './operation';
import type { Outcomes } from './outcomes';
import type { RunHold } from './run-hold';
import type { RunStops } from './run-stops';
import type { SessionDeps } from './session-deps';

/** What taking in console events needs from the session. */
export interface ConsoleEventsDeps {
  readonly session: SessionDeps;
  readonly hold: RunHold;
  readonly stops: RunStops;
  readonly effects: Effects;
  readonly outcomes: Outcomes;
  readonly isLive: () => boolean;
  readonly callOf: (key: string) => Operation | undefined;
}

/** Takes in what the console appended to a held run: answers, decisions, probes asked for, pause and cancel. */
export class ConsoleEvents {
  private readonly deps: ConsoleEventsDeps;
  /** Inputs that came while the record was still answering. */
  private readonly early: RunEvent[] = [];

  constructor(deps: ConsoleEventsDeps) {
    this.deps = deps;
  }

  take(others: readonly RunEvent[]): void {
    const { hold, stops } = this.deps;
    for (const event of others) {
      if (event.kind === 'run.cancelled') hold.fenced('the run was cancelled');
      else if (event.kind === 'command.accepted' && event.mode === 'pause')
        stops.pauseSoon({ kind: 'pause', commandId: event.commandId });
      else if (event.kind === 'command.accepted' && event.mode === 'cancel')
        stops.stopSoon({ kind: 'cancel' });
      else if (!this.deps.isLive()) this.early.push(event);
      else this.takeLive(event);
      if (hold.isStopped()) return;
    }
  }

  /** The run is live: what came before is heard now. */
  wentLive(): void {
    this.take(this.early.splice(0));
  }

  /** The lineage has the effect already, so its intent was refused. */
  effectExists(refused: NewEvent): void {
    if (refused.kind !== 'step.started') return;
    const op = this.waiting(refused.stepKey);
    if (op !== undefined && isEffect(op)) this.deps.effects.refusedByLineage(op);
  }

  private takeLive(event: RunEvent): void {
    const { session, hold, outcomes, effects } = this.deps;
    if (event.kind === 'question.answered') {
      const op = this.waiting(event.stepKey);
      if (op !== undefined)
        hold.background(
          loadTexts(session.port, [event.value]).then((texts) =>
            hold.guard(() => outcomes.complete(op, found(texts, event.value), {})),
          ),
        );
    } else if (event.kind === 'effect.verified' || event.kind === 'effect.decided') {
      const op = this.waiting(event.stepKey);
      if (op !== undefined && isEffect(op)) hold.background(effects.onConsole(op, event));
    } else if (event.kind === 'command.accepted' && event.mode === 'verify')
      hold.background(this.verify(event));
  }

  private waiting(key: string): Operation | undefined {
    const op = this.deps.callOf(key);
    return op === undefined || op.arrived ? undefined : op;
  }

  /** A person asks for a probe while this worker holds the run. */
  private async verify(command: EventOf<'command.accepted'>): Promise<void> {
    const { commandId, stepKey } = command;
    if (stepKey === undefined) return;
    const { hold } = this.deps;
    const detail = await this.cannotVerify(stepKey, commandId);
    hold.guard(() =>
      hold.push({
        event:
          detail === undefined
            ? { kind: 'command.ended', commandId, outcome: 'done' }
            : { kind: 'command.ended', commandId, outcome: 'refused', detail },
      }),
    );
  }

  /** Has the probe asked. Where there is nothing to ask about: why, as a sentence. */
  private async cannotVerify(
    stepKey: StepKey,
    commandId: EventOf<'command.accepted'>['commandId'],
  ): Promise<string | undefined> {
    const op = this.deps.callOf(stepKey);
    if (op === undefined)
      return `The run’s code does not wait for ${stepKey}, so its worker cannot ask about it.`;
    if (op.arrived) return `${stepKey} had its outcome before downstream was asked.`;
    if (!isEffect(op)) return `${stepKey} changes nothing outside, so there is nothing to ask about.`;
    return (await this.deps.effects.verifyFor(op, commandId))
      ? undefined
      : `This run has not sent ${stepKey}, so there is nothing to ask about.`;
  }
}
