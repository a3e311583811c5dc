import { epochMs, type RunId, type Seq } from '../core/events/ids';
import type { PayloadRef } from '../core/events/payload';
import type { EventOf, Intent } from '../core/events/run-event';
import type { Disposition } from '../core/planner/plan';
import type { Tool, ToolCall } from './api';
import { hash } from './hash';
import { backoffMs, failureOf, type Hub } from './hub';
import type { LedgerEntry } from './journal-port';
import type { HeldLease } from './lease';
import { callFields, type EffectOperation, type Operation, recordedError } from './operation';
import { type ProbeAnswer, probe } from './probe';
import { receiptText } from './texts';
import { read, type Stored } from './values';

/** How often the ledger is read again while another run of the lineage has the effect in flight. */
const LOOK_AGAIN_MS = 250;
/** Least time between a probe's own "not found" that came too early and the next probe. */
const ASK_AGAIN_MS = 1_000;

/** What carrying out effects needs from the session. */
export interface EffectsDeps {
  readonly hub: Hub;
  readonly lease: HeldLease;
  /** First run of the lineage. */
  readonly root: RunId;
  readonly autoVerify: boolean;
  /** The run was claimed for a resume, a rewind or a fork: what a person settled goes on with it. */
  readonly isOrdered: boolean;
  readonly toolOf: (op: Operation) => Tool;
  readonly readLedger: () => Promise<readonly LedgerEntry[]>;
  readonly textOf: (ref: PayloadRef) => Promise<Stored>;
}

/** The ledger's row, where one decides what becomes of an open call. */
interface Standing {
  readonly disposition: Disposition;
  readonly act: () => void;
}

/** Carries out `idempotent` and `external` calls: intent first, then the call, and no second one without knowing. */
export class Effects {
  private readonly deps: EffectsDeps;
  private ledger: readonly LedgerEntry[] = [];

  constructor(deps: EffectsDeps) {
    this.deps = deps;
  }

  async refresh(): Promise<void> {
    this.ledger = await this.deps.readLedger();
  }

  private entriesOf(op: Operation): readonly LedgerEntry[] {
    return this.ledger
      .filter((entry) => entry.stepKey === op.key)
      .sort((a, b) => a.generation - b.generation);
  }

  /** A call without a record: the lineage's ledger is asked before anything else. */
  begin(op: EffectOperation): void {
    if (this.deps.hub.isStopped() || op.arrived) return;
    this.standingOf(op).act();
  }

  /** Its last attempt surely did nothing, and no run of the lineage has sent it since. */
  failedForGood(op: EffectOperation): boolean {
    const last = this.entriesOf(op).at(-1);
    return (
      last === undefined ||
      last.status === 'failed' ||
      (op.effect === 'idempotent' && (last.status === 'intended' || last.status === 'in-doubt'))
    );
  }

  /**
   * What the lineage's ledger says is to be done about a call that has no outcome here. Every generation counts: one key
   * is one set of arguments, and a call is answered by what was asked for alike or by nothing.
   */
  standingOf(op: EffectOperation): Standing {
    const rows = this.entriesOf(op);
    const isAlike = (entry: LedgerEntry) => entry.argsDigest === op.inputDigest;
    const done = rows.filter(({ status }) => status === 'confirmed');
    const same = done.find(isAlike);
    if (same !== undefined) return this.confirmed(op, same);
    const open = rows.find(({ status }) => status === 'intended' || status === 'in-doubt');
    if (open !== undefined) return this.unsettled(op, open);
    const other = done.at(-1);
    if (other !== undefined) return { disposition: 'blocked', act: () => this.conflict(op, other) };
    const failed = rows.findLast((entry) => entry.status === 'failed' && isAlike(entry));
    if (failed !== undefined) {
      this.adopt(op, failed);
      return this.unlessSettled(op, { disposition: 'retry-same-key', act: () => this.attempt(op) });
    }
    // Surely never sent with these arguments: another effect, and another key.
    const newest = rows.at(-1)?.generation ?? 0;
    return {
      disposition: 'execute',
      act: () => {
        op.generation = newest + 1;
        op.idempotencyKey = this.keyOf(op);
        op.doubtful = false;
        this.attempt(op);
      },
    };
  }

  private confirmed(op: EffectOperation, entry: LedgerEntry): Standing {
    const { result } = entry;
    // It happened, and what it answered could not be recorded: it is for a person to say, not for the code to miss.
    if (result === undefined) return { disposition: 'blocked', act: () => this.rest(op, 'blocked') };
    return this.unlessSettled(op, {
      disposition: op.effect === 'external' ? 'skip' : 'reuse',
      act: () => this.fromLedger(op, entry, result),
    });
  }

  private unsettled(op: EffectOperation, entry: LedgerEntry): Standing {
    this.adopt(op, entry);
    if (entry.runId !== this.deps.hub.runId)
      return { disposition: 'blocked', act: () => this.waitForOwner(op, entry) };
    if (entry.argsDigest === op.inputDigest && this.mayRepeat(op, entry))
      return { disposition: 'retry-same-key', act: () => this.attempt(op) };
    return { disposition: 'needs-decision', act: () => this.inDoubt(op) };
  }

  /** Confirmed, and asked for with other arguments: never a default, and not for this process to decide. */
  private conflict(op: EffectOperation, { argsDigest }: LedgerEntry): void {
    this.deps.hub.push({
      event: {
        kind: 'effect.conflict',
        stepKey: op.key,
        asked: op.input.ref,
        askedDigest: op.inputDigest,
        recordedDigest: argsDigest,
      },
      payloads: [op.input],
    });
    this.rest(op, 'conflict');
  }

  /**
   * A decision and a probe that a person asked for start nothing: the call goes on by an order, or by its holder where the
   * agent verifies by itself.
   */
  private unlessSettled(op: EffectOperation, standing: Standing): Standing {
    return op.settledByPerson && !this.deps.isOrdered && !this.deps.autoVerify
      ? { disposition: standing.disposition, act: () => this.rest(op, 'in-doubt') }
      : standing;
  }

  private rest(op: EffectOperation, waitsFor: NonNullable<EffectOperation['suspended']>): void {
    op.running = false;
    this.deps.hub.suspend(op, waitsFor);
  }

  /** A refused intent: the ledger has changed since it was read. */
  refusedByLineage(op: EffectOperation): void {
    op.attempt = Math.max(0, op.attempt - 1);
    op.running = false;
    this.again(op, LOOK_AGAIN_MS);
  }

  /** An open idempotent call may be sent again with its stored arguments while its key is valid. */
  private mayRepeat(op: EffectOperation, entry: LedgerEntry): boolean {
    const validUntil = entry.firstIntentAt + this.deps.toolOf(op).keyValidForMs;
    return (
      op.effect === 'idempotent' &&
      entry.status === 'intended' &&
      entry.runId === this.deps.hub.runId &&
      this.deps.hub.clock.now() < validUntil
    );
  }

  private adopt(op: EffectOperation, entry: LedgerEntry): void {
    op.generation = entry.generation;
    op.intentSeq = entry.intentSeq;
    op.askAgainAt = entry.askAgainAt;
    op.probeFrom = entry.askAgainAt;
    op.idempotencyKey = entry.idempotencyKey;
    op.attempt = Math.max(op.attempt, entry.attempt);
    op.doubtful = entry.status === 'in-doubt' || entry.status === 'intended';
  }

  private waitForOwner(op: EffectOperation, entry: LedgerEntry): void {
    // While the other run is at it the answer may come any moment; once its call cannot settle any more, or is in
    // doubt, somebody has to act there first.
    const { hub } = this.deps;
    op.running = entry.status === 'intended' && hub.clock.now() < entry.askAgainAt;
    hub.suspend(op, 'blocked');
    if (op.running) this.again(op, LOOK_AGAIN_MS);
  }

  /** Reads the ledger again, and does what it says then. */
  private again(op: EffectOperation, ms: number): void {
    const { hub } = this.deps;
    hub.later(op, ms, () =>
      hub.background(
        this.refresh().then(() =>
          hub.guard(() => {
            if (!hub.isStopped() && !op.arrived) this.standingOf(op).act();
          }),
        ),
      ),
    );
  }

  /**
   * Confirmed, so the ledger answers. A call that this run itself has sent is completed: verified, decided, or confirmed
   * by a late worker. Else its record is thin and names the source.
   */
  private fromLedger(op: EffectOperation, entry: LedgerEntry, result: PayloadRef): void {
    const { hub } = this.deps;
    op.running = true;
    op.suspended = undefined;
    const receipt = entry.receipt === undefined ? {} : { receipt: entry.receipt };
    const answer = (value: Stored) => {
      if (hub.isStopped() || op.arrived || op.scope.over) return;
      if (op.intended && entry.runId === hub.runId) {
        hub.complete(op, value, receipt);
        return;
      }
      const event = {
        ...callFields(op),
        sourceRunId: entry.runId,
        sourceSeq: entry.intentSeq,
        result: value.ref,
      };
      hub.push({
        event:
          op.effect === 'external'
            ? { kind: 'step.skipped', ...event, ...receipt }
            : { kind: 'step.reused', ...event },
        payloads: [op.input, value],
      });
      hub.settle(op, { ok: true, value });
    };
    hub.background(this.deps.textOf(result).then((value) => hub.guard(() => answer(value))));
  }

  private attempt(op: EffectOperation): void {
    const { hub, lease } = this.deps;
    // Nothing is appended for a scope that has ended, and nothing new begins while the run is being handed over.
    if (hub.isStopped() || op.arrived) return;
    op.suspended = undefined;
    hub.unpark();
    op.running = !op.scope.over && !hub.isHalted();
    if (!op.running) {
      hub.stir();
      return;
    }
    const sendBy = lease.sendBy();
    if (sendBy === undefined) {
      // The lease is to be renewed first; while the console cannot be reached, this waits.
      hub.later(op, 50, () => this.attempt(op));
      return;
    }
    const tool = this.deps.toolOf(op);
    op.attempt++;
    op.tries++;
    op.sendBy = sendBy;
    const intent: Intent = {
      idempotencyKey: op.idempotencyKey ?? this.keyOf(op),
      generation: op.generation,
      argsDigest: op.inputDigest,
      sendBy: epochMs(sendBy.wall),
      timeoutMs: tool.timeoutMs,
      settlesWithinMs: tool.settlesWithinMs,
      keyValidForMs: tool.keyValidForMs,
      guarded: tool.keyed,
      verifiable: tool.verify !== undefined,
    };
    const settlesMs = tool.timeoutMs + tool.settlesWithinMs;
    op.askAgainAt = sendBy.wall + settlesMs;
    let isPlaced = false;
    hub.point('effect:before-intent');
    if (op.effect === 'external') hub.checkpoint('before-effect');
    hub.push({
      event: { kind: 'step.started', ...callFields(op), attempt: op.attempt, intent, api: op.name },
      payloads: [op.input],
      // The checkpoint names the intent that it was saved for.
      joined: op.effect === 'external',
      onPlaced: (at) => {
        op.intended = true;
        op.settledByPerson = false;
        op.intentSeq = at;
        // The store counts a whole lease from where it placed the intent, which was before now.
        op.probeFrom = Math.max(sendBy.wall, hub.clock.now() + lease.length) + settlesMs;
        isPlaced = true;
      },
    });
    const attempt = op.attempt;
    // An intent that the lineage refused is never placed, and nothing leaves for it.
    hub.background(
      hub.durable().then(() => {
        if (isPlaced) hub.guard(() => this.send(op, tool, attempt));
      }),
    );
  }

  private keyOf(op: EffectOperation): string {
    return `rr_${hash(JSON.stringify([this.deps.root, op.key, op.generation, op.inputDigest]))}`;
  }

  private send(op: EffectOperation, tool: Tool, attempt: number): void {
    const { hub, lease } = this.deps;
    if (hub.isStopped() || op.arrived || op.attempt !== attempt || !op.running) return;
    hub.point('effect:before-send');
    if (op.sendBy === undefined || lease.isPast(op.sendBy)) {
      this.failed(
        op,
        'not-sent',
        { type: 'NotSent', message: 'the lease ran out before the call could leave' },
        undefined,
      );
      this.attempt(op);
      return;
    }
    const abort = new AbortController();
    op.abort = abort;
    const call: ToolCall = {
      idempotencyKey: op.idempotencyKey,
      signal: abort.signal,
      attempt,
      runId: hub.runId,
      stepKey: op.key,
    };
    const cancelTimer = hub.clock.after(tool.timeoutMs, () => {
      abort.abort(new DOMException(`no answer within ${tool.timeoutMs} ms`, 'TimeoutError'));
      hub.flights.delete(op);
      hub.guard(() => this.timedOut(op, tool, attempt));
    });
    hub.flights.add(op);
    const landed = () => {
      cancelTimer();
      hub.flights.delete(op);
    };
    const answer = Promise.resolve().then(() => tool.run(read(op.input), call));
    answer.then(
      (result) => {
        landed();
        hub.guard(() => this.answered(op, tool, result));
      },
      (error: unknown) => {
        landed();
        hub.guard(() => this.broke(op, tool, attempt, error));
      },
    );
    hub.point('effect:after-send');
  }

  private answered(op: EffectOperation, tool: Tool, result: unknown): void {
    const { hub } = this.deps;
    const receipt = receiptOf(tool, result);
    if (hub.isStopped()) {
      hub.evidence(op, { outcome: 'happened', result, ...(receipt === undefined ? {} : { receipt }) });
      return;
    }
    if (op.arrived) return;
    hub.point('effect:answered');
    hub.apiAnswered(op.name);
    hub.completeWith(op, result, receipt === undefined ? {} : { receipt });
    // What cannot be undone is on its way before the code goes on; the rest may travel with what follows.
    if (op.effect === 'external') void hub.durable();
  }

  private broke(op: EffectOperation, tool: Tool, attempt: number, thrown: unknown): void {
    const { hub } = this.deps;
    const failure = failureOf(thrown, op.abort?.signal);
    const definite = failure === 'rejected' || failure === 'not-sent';
    if (hub.isStopped()) {
      if (definite && !op.doubtful) hub.evidence(op, { outcome: 'did-not-happen' });
      return;
    }
    // After the time-out the attempt is recorded as such already.
    if (op.arrived || op.attempt !== attempt || !op.running) return;
    hub.point('effect:answered');
    const error = recordedError(thrown);
    if (definite && !op.doubtful) {
      if (failure === 'not-sent' && op.tries <= tool.retries) {
        this.retry(op, failure, error);
        return;
      }
      hub.apiAnswered(op.name);
      hub.fail(op, { ok: false, failure, error });
      return;
    }
    if (!definite) op.doubtful = true;
    this.undecided(op, tool, failure, error);
  }

  private timedOut(op: EffectOperation, tool: Tool, attempt: number): void {
    const { hub } = this.deps;
    if (hub.isStopped() || op.arrived || op.attempt !== attempt) return;
    op.doubtful = true;
    this.undecided(op, tool, 'timeout', {
      type: 'TimeoutError',
      message: `no answer within ${tool.timeoutMs} ms`,
    });
  }

  /** Nobody knows whether the call took effect. An idempotent one is repeated under its key, an external one never. */
  private undecided(
    op: EffectOperation,
    tool: Tool,
    failure: Failure,
    error: EventOf<'step.failed'>['error'],
  ): void {
    if (op.effect === 'idempotent' && op.tries <= tool.retries) {
      this.retry(op, failure, error);
      return;
    }
    this.failed(op, failure, error, undefined);
    this.inDoubt(op);
  }

  private retry(op: EffectOperation, failure: Failure, error: EventOf<'step.failed'>['error']): void {
    const delay = backoffMs(this.deps.hub, op.tries);
    this.failed(op, failure, error, delay);
    this.deps.hub.later(op, delay, () => this.attempt(op));
  }

  private failed(
    op: EffectOperation,
    failure: Failure,
    error: EventOf<'step.failed'>['error'],
    nextDelayMs: number | undefined,
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
    hub.apiFailed(op.name, failure);
    hub.stir();
  }

  /** Not an exception that code could catch: the promise stays open, and with it the scope. */
  private inDoubt(op: EffectOperation): void {
    const { hub } = this.deps;
    op.running = false;
    if (this.deps.autoVerify && this.deps.toolOf(op).verify !== undefined) {
      op.suspended = undefined;
      hub.later(op, Math.max(0, (op.probeFrom ?? 0) - hub.clock.now()), () =>
        hub.background(this.probeByItself(op)),
      );
      return;
    }
    hub.suspend(op, 'in-doubt');
  }

  private async probeByItself(op: EffectOperation): Promise<void> {
    await this.probeFor(op, undefined);
  }

  /** A person asked for a probe while this worker holds the run. False: there is no intent of this run to ask about. */
  verifyFor(op: EffectOperation, commandId: EventOf<'effect.verified'>['commandId']): Promise<boolean> {
    return this.probeFor(op, commandId);
  }

  /** An answer is bound to the intent that was asked about; for a later one it says nothing. */
  private async probeFor(
    op: EffectOperation,
    commandId: EventOf<'effect.verified'>['commandId'],
  ): Promise<boolean> {
    const { hub } = this.deps;
    const { intentSeq } = op;
    if (!op.intended || intentSeq === undefined) return false;
    // The run does not come to rest while its answer is still out.
    op.probes++;
    hub.unpark();
    const answer = await this.ask(op).finally(() => op.probes--);
    hub.guard(() => {
      if (hub.isStopped() || (commandId === undefined && (op.arrived || op.intentSeq !== intentSeq))) return;
      this.pushVerified(op, intentSeq, answer, commandId);
      if (this.deps.autoVerify) hub.background(hub.durable().then(() => this.settled(op, intentSeq)));
      hub.stir();
    });
    return true;
  }

  /** A decision or evidence that the console recorded. */
  onConsole(
    op: EffectOperation,
    event: EventOf<'effect.verified'> | EventOf<'effect.decided'>,
  ): Promise<void> {
    const { outcome, intentSeq } = event.kind === 'effect.decided' ? event.decision : event;
    const isDefinite = outcome === 'happened' || outcome === 'did-not-happen';
    if (!isDefinite || op.intentSeq !== intentSeq) return Promise.resolve();
    op.settledByPerson = true;
    return this.deps.autoVerify ? this.settled(op, intentSeq) : Promise.resolve();
  }

  /** Something was said about a call in doubt: its holder goes on with what the ledger says now. */
  private async settled(op: EffectOperation, intentSeq: Seq): Promise<void> {
    const { hub } = this.deps;
    await this.refresh();
    hub.guard(() => {
      if (hub.isStopped() || op.arrived || op.running || op.intentSeq !== intentSeq) return;
      const entry = this.entriesOf(op).find((one) => one.runId === hub.runId && one.intentSeq === intentSeq);
      if (entry?.status !== 'in-doubt' && entry?.status !== 'intended') {
        this.standingOf(op).act();
      } else if (hub.clock.now() < entry.askAgainAt) {
        // Where this worker's clock runs ahead, the store has taken its "not found" for unknown.
        this.rest(op, 'in-doubt');
        hub.later(op, Math.max(ASK_AGAIN_MS, entry.askAgainAt - hub.clock.now()), () =>
          hub.background(this.probeByItself(op)),
        );
      } else this.rest(op, 'in-doubt');
    });
  }

  private async ask(op: EffectOperation): Promise<ProbeAnswer> {
    const { idempotencyKey = this.keyOf(op), attempt, intentSeq, askAgainAt = 0 } = op;
    const entry = this.entriesOf(op).find((one) => one.intentSeq === intentSeq);
    // What a rewind left in doubt may have been asked for with other arguments.
    const isOther = entry !== undefined && entry.argsDigest !== op.inputDigest;
    const input = isOther && entry.input !== undefined ? await this.deps.textOf(entry.input) : op.input;
    return probe(this.deps.toolOf(op), read(input), {
      runId: this.deps.hub.runId,
      stepKey: op.key,
      idempotencyKey,
      attempt,
      askAgainAt,
      clock: this.deps.hub.clock,
    });
  }

  private pushVerified(
    op: EffectOperation,
    intentSeq: Seq,
    answer: ProbeAnswer,
    commandId: EventOf<'effect.verified'>['commandId'],
  ): void {
    this.deps.hub.push({
      event: {
        kind: 'effect.verified',
        stepKey: op.key,
        intentSeq,
        outcome: answer.outcome,
        source: 'probe',
        ...(answer.result === undefined ? {} : { result: answer.result.ref }),
        ...(answer.receipt === undefined ? {} : { receipt: answer.receipt }),
        ...(answer.note === undefined ? {} : { note: answer.note }),
        ...(commandId === undefined ? {} : { commandId }),
      },
      ...(answer.result === undefined ? {} : { payloads: [answer.result] }),
    });
  }
}

type Failure = EventOf<'step.failed'>['failure'];

function receiptOf(tool: Tool, result: unknown): string | undefined {
  try {
    const receipt = tool.receipt?.(result);
    return receipt === undefined ? undefined : receiptText(receipt);
  } catch {
    return undefined; // A result of another shape than declared has no receipt; the outcome counts all the same.
  }
}
