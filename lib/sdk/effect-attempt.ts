import { epochMs } from '../core/events/ids';
import type { AttemptFailure, Intent, RecordedError } from '../core/events/run-event';
import type { Tool, ToolCall } from './api';
import { backoffMs, failureOf, type Hub } from './hub';
import type { HeldLease, Instants } from './lease';
import { type Attempt, callFields, type EffectOperation, recordedError } from './operation';
import { type Secrets, withSecrets } from './secrets';
import { receiptText } from './texts';
import { read } from './values';

/** What sending needs from those who decide about effects. */
export interface AttemptsDeps {
  readonly hub: Hub;
  readonly lease: HeldLease;
  readonly toolOf: (op: EffectOperation) => Tool;
  readonly keyOf: (op: EffectOperation) => string;
  /** Nobody knows whether the newest attempt took effect, and it is not to be repeated. */
  readonly onDoubt: (op: EffectOperation) => void;
  /** What is to be done is the ledger's to say, once it has everything that is known here. */
  readonly askLedger: (op: EffectOperation) => void;
}

/** An earlier attempt, thought not to have happened, has said that it did; the ledger was not asked since. */
const hasEarlierWord = (op: EffectOperation): boolean => op.effect === 'external' && op.doubtful;

/**
 * Sends effects: each attempt from its intent to its outcome. The newest one's outcome is the call's. What an earlier
 * one says is told of its own intent and answers nothing: the newest may have happened as well.
 */
export class EffectAttempts {
  private readonly deps: AttemptsDeps;

  constructor(deps: AttemptsDeps) {
    this.deps = deps;
  }

  /** The next attempt: intent first, and the call once that is durable. */
  begin(op: EffectOperation): void {
    withSecrets(this.deps.hub, op, this.deps.toolOf(op), {
      mayBegin: () => this.mayBegin(op),
      begin: (secrets) => this.next(op, secrets),
    });
  }

  private mayBegin(op: EffectOperation): boolean {
    const { hub } = this.deps;
    // Nothing is appended for a scope that has ended, and nothing new begins while the run is being handed over.
    if (hub.isStopped() || op.arrived) return false;
    if (hasEarlierWord(op)) {
      this.deps.askLedger(op);
      return false;
    }
    op.suspended = undefined;
    hub.unpark();
    op.running = !op.scope.over && !hub.isHalted();
    if (!op.running) hub.stir();
    return op.running;
  }

  private next(op: EffectOperation, secrets: Secrets): void {
    const { hub, lease } = this.deps;
    const sendBy = lease.sendBy();
    if (sendBy === undefined) {
      // The lease is to be renewed first; while the console cannot be reached, this waits.
      hub.later(op, 50, () => this.begin(op));
      return;
    }
    op.attempt++;
    op.tries++;
    this.intend(op, sendBy, secrets);
  }

  private intend(op: EffectOperation, sendBy: Instants, secrets: Secrets): void {
    const { hub, lease } = this.deps;
    const tool = this.deps.toolOf(op);
    const n = op.attempt;
    const settlesMs = tool.timeoutMs + tool.settlesWithinMs;
    op.askAgainAt = sendBy.wall + settlesMs;
    let placed: Attempt | undefined;
    hub.point('effect:before-intent');
    if (op.effect === 'external') hub.checkpoint('before-effect');
    const intent = this.intentOf(op, tool, sendBy);
    hub.push({
      event: { kind: 'step.started', ...callFields(op), attempt: n, intent, api: op.name },
      payloads: [op.input],
      // The checkpoint names the intent that it was saved for.
      joined: op.effect === 'external',
      onPlaced: (intentSeq) => {
        placed = { n, intentSeq, sendBy, abort: new AbortController() };
        op.intended = true;
        op.settledByPerson = false;
        op.intentSeq = intentSeq;
        // The store counts a whole lease from where it placed the intent, which was before now.
        op.probeFrom = Math.max(sendBy.wall, hub.clock.now() + lease.length) + settlesMs;
      },
    });
    // An intent that the lineage refused is never placed, and nothing leaves for it.
    hub.background(
      hub.durable().then(() => {
        const attempt = placed;
        if (attempt !== undefined) hub.guard(() => this.send(op, attempt, secrets));
      }),
    );
  }

  private intentOf(op: EffectOperation, tool: Tool, sendBy: Instants): Intent {
    return {
      idempotencyKey: op.idempotencyKey ?? this.deps.keyOf(op),
      generation: op.generation,
      argsDigest: op.inputDigest,
      sendBy: epochMs(sendBy.wall),
      timeoutMs: tool.timeoutMs,
      settlesWithinMs: tool.settlesWithinMs,
      keyValidForMs: tool.keyValidForMs,
      guarded: tool.keyed,
      verifiable: tool.verify !== undefined,
    };
  }

  private send(op: EffectOperation, attempt: Attempt, secrets: Secrets): void {
    const { hub, lease } = this.deps;
    if (hub.isStopped() || op.arrived || op.attempt !== attempt.n || !op.running) return;
    hub.point('effect:before-send');
    if (hasEarlierWord(op)) {
      this.failed(op, 'not-sent', notSent('an earlier attempt has answered before this one could leave'));
      this.deps.askLedger(op);
      return;
    }
    if (hub.isHalted()) {
      this.failed(op, 'not-sent', notSent('the run was told to stop before the call could leave'));
      return;
    }
    if (!secrets.ok) {
      this.cannotLeave(op, attempt, secrets.why);
      return;
    }
    if (lease.isPast(attempt.sendBy)) {
      this.failed(op, 'not-sent', notSent('the lease ran out before the call could leave'));
      this.begin(op);
      return;
    }
    this.fly(op, attempt, secrets.values);
    hub.point('effect:after-send');
  }

  /** The worker has not what the call needs. An attempt before it may have taken effect: that this one did not settles nothing. */
  private cannotLeave(op: EffectOperation, attempt: Attempt, why: string): void {
    const failure = 'not-sent';
    if (op.doubtful) {
      this.failed(op, failure, notSent(why));
      this.deps.onDoubt(op);
    } else this.deps.hub.fail(op, { ok: false, failure, error: notSent(why) }, { attempt });
  }

  private fly(op: EffectOperation, attempt: Attempt, secrets: ToolCall['secrets']): void {
    const { hub } = this.deps;
    const tool = this.deps.toolOf(op);
    const call: ToolCall = {
      idempotencyKey: op.idempotencyKey,
      signal: attempt.abort.signal,
      attempt: attempt.n,
      runId: hub.runId,
      stepKey: op.key,
      secrets,
    };
    const cancelTimer = hub.clock.after(tool.timeoutMs, () => {
      attempt.abort.abort(new DOMException(`no answer within ${tool.timeoutMs} ms`, 'TimeoutError'));
      hub.flights.delete(attempt);
      hub.guard(() => this.timedOut(op, attempt));
    });
    hub.flights.add(attempt);
    const landed = (end: () => void) => {
      cancelTimer();
      hub.flights.delete(attempt);
      hub.guard(end);
    };
    const answer = Promise.resolve().then(() => tool.run(read(op.input), call));
    answer.then(
      (result) => landed(() => this.answered(op, attempt, result)),
      (error: unknown) => landed(() => this.broke(op, attempt, error)),
    );
  }

  private answered(op: EffectOperation, attempt: Attempt, result: unknown): void {
    const { hub } = this.deps;
    const receipt = receiptOf(this.deps.toolOf(op), result);
    const extras = receipt === undefined ? {} : { receipt };
    const isEarlier = op.attempt !== attempt.n;
    if (!hub.isStopped()) hub.apiEnded(op.name, 'completed');
    if (hub.isStopped() || isEarlier || op.arrived) {
      if (isEarlier && op.effect === 'external') op.doubtful = true;
      hub.evidence(op, attempt, { outcome: 'happened', result, ...extras });
      return;
    }
    hub.point('effect:answered');
    hub.completeWith(op, result, extras, attempt);
    // What cannot be undone is on its way before the code goes on; the rest may travel with what follows.
    if (op.effect === 'external') void hub.durable();
  }

  private broke(op: EffectOperation, attempt: Attempt, thrown: unknown): void {
    const { hub } = this.deps;
    const failure = failureOf(thrown, attempt.abort.signal);
    const definite = failure === 'rejected' || failure === 'not-sent';
    const isEarlier = op.attempt !== attempt.n;
    const isLate = attempt.abort.signal.aborted;
    if (isEarlier || hub.isStopped()) {
      // Of an idempotent call a refusal settles nothing while an attempt before it is in doubt.
      const isTold = isEarlier || (!isLate && (op.effect === 'external' || !op.doubtful));
      if (definite && isTold) hub.evidence(op, attempt, { outcome: 'did-not-happen' });
      if (failure === 'rejected' && !hub.isStopped()) hub.apiEnded(op.name, failure);
      return;
    }
    // After the time-out the attempt is recorded as such already.
    if (op.arrived || isLate) return;
    hub.point('effect:answered');
    const error = recordedError(thrown);
    if (!definite) this.undecided(op, failure, error);
    else if (hasEarlierWord(op)) {
      this.failed(op, failure, error);
      this.deps.askLedger(op);
    } else if (op.doubtful) this.undecided(op, failure, error);
    else if (failure === 'not-sent' && op.tries <= this.deps.toolOf(op).retries) {
      this.retry(op, failure, error);
    } else {
      hub.apiEnded(op.name, failure);
      hub.fail(op, { ok: false, failure, error }, { attempt });
    }
  }

  private timedOut(op: EffectOperation, attempt: Attempt): void {
    if (this.deps.hub.isStopped() || op.arrived || op.attempt !== attempt.n) return;
    const { timeoutMs } = this.deps.toolOf(op);
    this.undecided(op, 'timeout', { type: 'TimeoutError', message: `no answer within ${timeoutMs} ms` });
  }

  /** Nobody knows whether the call took effect. An idempotent one is repeated under its key, an external one never. */
  private undecided(op: EffectOperation, failure: AttemptFailure, error: RecordedError): void {
    op.doubtful = true;
    if (op.effect === 'idempotent' && op.tries <= this.deps.toolOf(op).retries) {
      this.retry(op, failure, error);
      return;
    }
    this.failed(op, failure, error);
    this.deps.onDoubt(op);
  }

  private retry(op: EffectOperation, failure: AttemptFailure, error: RecordedError): void {
    const delay = backoffMs(this.deps.hub, op.tries);
    this.failed(op, failure, error, delay);
    this.deps.hub.later(op, delay, () => this.begin(op));
  }

  private failed(
    op: EffectOperation,
    failure: AttemptFailure,
    error: RecordedError,
    nextDelayMs?: number,
  ): void {
    const { hub } = this.deps;
    op.running = false;
    hub.push({
      event: {
        kind: 'step.failed',
        stepKey: op.key,
        attempt: op.attempt,
        failure,
        error,
        final: false,
        ...(nextDelayMs === undefined ? {} : { nextDelayMs }),
      },
    });
    hub.apiEnded(op.name, failure);
    hub.stir();
  }
}

const notSent = (message: string): RecordedError => ({ type: 'NotSent', message });

function receiptOf(tool: Tool, result: unknown): string | undefined {
  try {
    const receipt = tool.receipt?.(result);
    return receipt === undefined ? undefined : receiptText(receipt);
  } catch {
    return undefined; // A result of another shape than declared has no receipt; the outcome counts all the same.
  }
}
