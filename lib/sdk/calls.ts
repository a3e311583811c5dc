import { epochMs, questionId } from '../core/events/ids';
import type { Allowance } from './allowance';
import type { Effects } from './effects';
import { type CachedOutcome, found } from './load-run';
import { type CallStanding, callFields, isEffect, type Operation } from './operation';
import type { Outcomes } from './outcomes';
import { evaluate } from './pure';
import type { Reads } from './reads';
import type { RunHold } from './run-hold';
import type { RunStops } from './run-stops';
import type { SessionDeps } from './session-deps';

/** What carrying out calls needs from the session. */
export interface CallsDeps {
  readonly session: SessionDeps;
  readonly hold: RunHold;
  readonly stops: RunStops;
  readonly outcomes: Outcomes;
  readonly effects: Effects;
  readonly reads: Reads;
  readonly allowance: Allowance;
  readonly suspend: (op: Operation, waitsFor: 'question') => void;
}

/** Decides how a live call is carried out: by a cache, the lineage's ledger, a person, or by running it. */
export class Calls {
  private readonly deps: CallsDeps;

  constructor(deps: CallsDeps) {
    this.deps = deps;
  }

  /** A call without a record. */
  begin(op: Operation): void {
    const { session, hold, stops, effects, allowance } = this.deps;
    if (hold.isStopped() || op.arrived || op.scope.over) return;
    const { plan } = session.claim ?? {};
    if (
      plan !== undefined &&
      op.work.kind === 'tool' &&
      !plan.envelope.tools.some(({ name }) => name === op.name)
    ) {
      stops.stopBefore(`tool:${op.name}`);
      return;
    }
    const cached = session.cache.get(op.key);
    const isReusable = cached?.inputDigest === op.inputDigest && (!isEffect(op) || effects.failedForGood(op));
    if (cached !== undefined && isReusable) {
      this.reuse(op, cached);
      return;
    }
    const beyond = allowance.begins(op);
    if (beyond !== undefined) stops.stopBefore(`plan: ${beyond}`);
    else if (isEffect(op)) effects.begin(op);
    else this.execute(op);
  }

  /** A recorded call without an outcome. */
  standingOf(op: Operation): CallStanding {
    if (isEffect(op)) return this.deps.effects.standingOf(op);
    if (op.work.kind !== 'human') {
      return { disposition: op.effect === 'pure' ? 'recompute' : 'execute', act: () => this.reopen(op) };
    }
    const { record, texts } = this.deps.session.loaded;
    return {
      disposition: 'execute',
      act: () => {
        const answer = record.answers.get(op.key);
        if (answer !== undefined) this.deps.outcomes.complete(op, found(texts, answer.value), {});
        else if (record.asked.has(op.key)) this.deps.suspend(op, 'question');
        else this.askPerson(op);
      },
    };
  }

  private reuse(op: Operation, { runId, event, outcome }: CachedOutcome): void {
    const answer = outcome.ok
      ? { result: outcome.value.ref }
      : { failure: outcome.failure, error: outcome.error };
    this.deps.hold.push({
      event: { kind: 'step.reused', ...callFields(op), sourceRunId: runId, sourceSeq: event.seq, ...answer },
      payloads: outcome.ok ? [op.input, outcome.value] : [op.input],
    });
    this.deps.outcomes.settle(op, outcome);
  }

  private execute(op: Operation): void {
    switch (op.work.kind) {
      case 'pure':
        this.compute(op);
        return;
      case 'human':
        op.attempt++;
        this.started(op);
        this.askPerson(op);
        return;
      default:
        this.deps.reads.attempt(op);
    }
  }

  private compute(op: Operation): void {
    const { outcomes } = this.deps;
    op.attempt++;
    this.started(op);
    const outcome = evaluate(op);
    if (outcome.ok) outcomes.complete(op, outcome.value, {});
    else if (outcome.notRecordable !== undefined) outcomes.notRecorded(op, outcome.notRecordable, {});
    else outcomes.fail(op, outcome);
  }

  private started(op: Operation): void {
    this.deps.hold.push({
      event: { kind: 'step.started', ...callFields(op), attempt: op.attempt },
      payloads: [op.input],
    });
  }

  private askPerson(op: Operation): void {
    if (op.work.kind !== 'human') return;
    const { until } = op.work.question;
    this.deps.hold.push({
      event: {
        kind: 'question.asked',
        questionId: questionId(`${op.key}@${this.deps.session.held.epoch}`),
        stepKey: op.key,
        question: op.input.ref,
        questionDigest: op.inputDigest,
        ...(until === undefined ? {} : { until: epochMs(until) }),
      },
      payloads: [op.input],
    });
    this.deps.suspend(op, 'question');
  }

  private reopen(op: Operation): void {
    if (op.effect === 'pure') this.compute(op);
    else this.deps.reads.attempt(op);
  }
}
