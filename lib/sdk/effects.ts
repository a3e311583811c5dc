import { epochMs, type RunId, type Seq } from '../core/events/ids';
import type { Decision, EventOf, Intent } from '../core/events/run-event';
import type { Disposition } from '../core/planner/plan';
import type { Tool, ToolCall } from './api';
import { hash } from './hash';
import { backoffMs, failureOf, type Hub } from './hub';
import type { LedgerEntry } from './journal-port';
import type { HeldLease } from './lease';
import { callFields, type EffectOperation, type Operation, recordedError } from './operation';
import { type ProbeAnswer, probe } from './probe';
import { read, type Stored, store } from './values';

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
  readonly toolOf: (op: Operation) => Tool;
  readonly readLedger: () => Promise<readonly LedgerEntry[]>;
  readonly textOf: (ref: NonNullable<LedgerEntry['result']>) => Promise<Stored>;
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
    const { hub } = this.deps;
    if (hub.isStopped() || op.arrived) return;
    op.suspended = undefined;
    const entries = this.entriesOf(op);
    const last = entries.at(-1);
    const same = entries.find((entry) => entry.status === 'confirmed' && entry.argsDigest === op.inputDigest);
    if (same !== undefined) {
      this.fromLedger(op, same);
      return;
    }
    const open = entries.find((entry) => entry.status === 'intended' || entry.status === 'in-doubt');
    if (open !== undefined) {
      this.adopt(op, open);
      if (this.mayRepeat(op, open) && open.argsDigest === op.inputDigest) this.attempt(op);
      else if (open.runId !== hub.runId) this.waitForOwner(op, open);
      else this.inDoubt(op);
      return;
    }
    if (last?.status === 'confirmed') {
      // Confirmed, and asked for with other arguments: never a default, and not for this process to decide.
      hub.push({
        event: {
          kind: 'effect.conflict',
          stepKey: op.key,
          asked: op.input.ref,
          askedDigest: op.inputDigest,
          recordedDigest: last.argsDigest,
        },
        payloads: [op.input],
      });
      hub.suspend(op, 'conflict');
      return;
    }
    // Surely never sent with other arguments: another effect, and another key.
    op.generation =
      last === undefined ? 1 : last.argsDigest === op.inputDigest ? last.generation : last.generation + 1;
    this.attempt(op);
  }

  /** Its last attempt surely did nothing, and no run of the lineage has sent it since. */
  failedForGood(op: EffectOperation): boolean {
    const last = this.entriesOf(op).at(-1);
    return (
      last === undefined ||
      last.status === 'failed' ||
      (op.effect === 'idempotent' && last.status === 'intended')
    );
  }

  /** A recorded call without an outcome: what its row in the ledger says is to be done. */
  standingOf(op: EffectOperation): Standing {
    const { hub } = this.deps;
    const entry = this.entriesOf(op).find((e) => e.generation === op.generation) ?? this.entriesOf(op).at(-1);
    if (entry === undefined) return { disposition: 'execute', act: () => this.attempt(op) };
    this.adopt(op, entry);
    if (entry.status === 'confirmed') {
      return {
        disposition: op.effect === 'external' ? 'skip' : 'reuse',
        act: () => hub.background(this.completeFrom(op, entry)),
      };
    }
    if (entry.status === 'failed') {
      op.doubtful = false;
      return { disposition: 'retry-same-key', act: () => this.attempt(op) };
    }
    if (entry.runId !== hub.runId) return { disposition: 'blocked', act: () => this.waitForOwner(op, entry) };
    if (this.mayRepeat(op, entry)) return { disposition: 'retry-same-key', act: () => this.attempt(op) };
    return { disposition: 'needs-decision', act: () => this.inDoubt(op) };
  }

  /** A refused intent: the lineage has the effect since the ledger was read. */
  refusedByLineage(op: EffectOperation): void {
    op.attempt = Math.max(0, op.attempt - 1);
    op.intended = op.record !== undefined;
    op.running = false;
    this.again(op, 0);
  }

  /** An open idempotent call may be sent again with its stored arguments while its key is valid. */
  private mayRepeat(op: EffectOperation, entry: LedgerEntry): boolean {
    const validUntil = entry.firstIntentAt + this.deps.toolOf(op).keyValidForMs;
    return (
      op.effect === 'idempotent' &&
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

  private again(op: EffectOperation, ms: number): void {
    const { hub } = this.deps;
    hub.clock.after(ms, () => {
      hub.background(
        this.refresh().then(() =>
          hub.guard(() => {
            if (hub.isStopped() || op.arrived) return;
            op.running = false;
            if (op.intended) this.standingOf(op).act();
            else this.begin(op);
          }),
        ),
      );
    });
  }

  /** Confirmed earlier or elsewhere, before this call was recorded here: its record is thin and names the source. */
  private fromLedger(op: EffectOperation, entry: LedgerEntry): void {
    const { hub } = this.deps;
    op.running = true;
    const answer = (value: Stored) => {
      if (hub.isStopped() || op.arrived || op.scope.over) return;
      const event = {
        ...callFields(op),
        sourceRunId: entry.runId,
        sourceSeq: entry.intentSeq,
        result: value.ref,
        ...(entry.receipt === undefined || op.effect !== 'external' ? {} : { receipt: entry.receipt }),
      };
      hub.push({
        event:
          op.effect === 'external' ? { kind: 'step.skipped', ...event } : { kind: 'step.reused', ...event },
        payloads: [op.input, value],
      });
      hub.settle(op, { ok: true, value });
    };
    hub.background(this.resultOf(entry).then((value) => hub.guard(() => answer(value))));
  }

  /** The call is recorded and the ledger has its result: verified, decided, or confirmed by a late worker. */
  private async completeFrom(op: EffectOperation, entry: LedgerEntry): Promise<void> {
    op.running = true;
    const value = await this.resultOf(entry);
    this.deps.hub.guard(() => {
      this.deps.hub.complete(op, value, entry.receipt === undefined ? {} : { receipt: entry.receipt });
    });
  }

  private async resultOf(entry: LedgerEntry): Promise<Stored> {
    return entry.result === undefined ? store(undefined, 'result') : this.deps.textOf(entry.result);
  }

  private attempt(op: EffectOperation): void {
    const { hub, lease } = this.deps;
    // Nothing is appended for a scope that has ended, and nothing new begins while the run is being handed over.
    if (hub.isStopped() || op.arrived) return;
    op.suspended = undefined;
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
    op.intended = true;
    op.sendBy = sendBy;
    op.idempotencyKey ??= this.keyOf(op);
    const intent: Intent = {
      idempotencyKey: op.idempotencyKey,
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
      onPlaced: (at) => {
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
    if (hub.isOver()) {
      hub.evidence(op, { outcome: 'happened', result, ...(receipt === undefined ? {} : { receipt }) });
      return;
    }
    if (hub.isStopped() || op.arrived) return;
    hub.point('effect:answered');
    hub.apiAnswered(op.name);
    hub.completeWith(op, result, receipt === undefined ? {} : { receipt });
    void hub.durable().then(() => hub.guard(() => hub.point('effect:recorded')));
  }

  private broke(op: EffectOperation, tool: Tool, attempt: number, thrown: unknown): void {
    const { hub } = this.deps;
    const failure = failureOf(thrown, op.abort?.signal);
    const definite = failure === 'rejected' || failure === 'not-sent';
    if (hub.isOver()) {
      if (definite && !op.doubtful) hub.evidence(op, { outcome: 'did-not-happen' });
      return;
    }
    // After the time-out the attempt is recorded as such already.
    if (hub.isStopped() || op.arrived || op.attempt !== attempt || !op.running) return;
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
    const intentSeq = op.intentSeq;
    const answer = await this.ask(op);
    this.deps.hub.guard(() => {
      if (op.arrived || op.intentSeq !== intentSeq) return;
      this.pushVerified(op, answer, undefined);
      if (answer.outcome === 'unknown') this.deps.hub.suspend(op, 'in-doubt');
      else this.resolvedOnceDurable(op, intentSeq, answer);
    });
  }

  /** A person asked for a probe while this worker holds the run. */
  async verifyFor(op: EffectOperation, commandId: EventOf<'effect.verified'>['commandId']): Promise<void> {
    const intentSeq = op.intentSeq;
    const answer = await this.ask(op);
    this.deps.hub.guard(() => {
      this.pushVerified(op, answer, commandId);
      this.resolvedOnceDurable(op, intentSeq, answer);
    });
  }

  private resolvedOnceDurable(op: EffectOperation, intentSeq: Seq | undefined, answer: ProbeAnswer): void {
    const { hub } = this.deps;
    const { outcome, result, receipt } = answer;
    hub.background(
      hub.durable().then(async () => {
        const early = outcome === 'did-not-happen' && (await this.askedEarly(op, intentSeq));
        hub.guard(() =>
          early ? this.askLater(op, intentSeq) : this.resolved(op, intentSeq, outcome, result, receipt),
        );
      }),
    );
  }

  /** Where this worker's clock runs ahead, the store has taken its "not found" for unknown: the ledger says so. */
  private async askedEarly(op: EffectOperation, intentSeq: Seq | undefined): Promise<boolean> {
    await this.refresh();
    const entry = this.entriesOf(op).find(
      (one) => one.runId === this.deps.hub.runId && one.intentSeq === intentSeq,
    );
    if (entry?.status !== 'in-doubt' && entry?.status !== 'intended') return false;
    op.probeFrom = entry.askAgainAt;
    return true;
  }

  private askLater(op: EffectOperation, intentSeq: Seq | undefined): void {
    const { hub } = this.deps;
    if (hub.isStopped() || op.arrived || op.running || op.intentSeq !== intentSeq) return;
    if (!this.deps.autoVerify) {
      hub.suspend(op, 'in-doubt');
      return;
    }
    hub.later(op, Math.max(ASK_AGAIN_MS, (op.probeFrom ?? 0) - hub.clock.now()), () =>
      hub.background(this.probeByItself(op)),
    );
  }

  private ask(op: EffectOperation): Promise<ProbeAnswer> {
    return probe(this.deps.toolOf(op), read(op.input), {
      runId: this.deps.hub.runId,
      stepKey: op.key,
      idempotencyKey: op.idempotencyKey ?? this.keyOf(op),
      attempt: op.attempt,
      askAgainAt: op.askAgainAt ?? 0,
      clock: this.deps.hub.clock,
    });
  }

  private pushVerified(
    op: EffectOperation,
    answer: ProbeAnswer,
    commandId: EventOf<'effect.verified'>['commandId'],
  ): void {
    if (op.intentSeq === undefined) return;
    this.deps.hub.push({
      event: {
        kind: 'effect.verified',
        stepKey: op.key,
        intentSeq: op.intentSeq,
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

  /** A decision or evidence that the console recorded. */
  async onConsole(
    op: EffectOperation,
    event: EventOf<'effect.verified'> | EventOf<'effect.decided'>,
  ): Promise<void> {
    const said: Pick<Decision, 'result' | 'receipt'> & { readonly intentSeq: Seq; readonly outcome: string } =
      event.kind === 'effect.decided' ? event.decision : event;
    const result = said.result === undefined ? undefined : await this.deps.textOf(said.result);
    this.deps.hub.guard(() => this.resolved(op, said.intentSeq, said.outcome, result, said.receipt));
  }

  /** An answer is bound to one intent; for a later one it says nothing. */
  private resolved(
    op: EffectOperation,
    intentSeq: Seq | undefined,
    outcome: string,
    result: Stored | undefined,
    receipt: string | undefined,
  ): void {
    const { hub } = this.deps;
    if (hub.isStopped() || op.arrived || op.running || op.intentSeq !== intentSeq) return;
    if (!op.intended) {
      // The doubt was that of an occurrence that a rewind left behind.
      this.again(op, 0);
    } else if (outcome === 'happened') {
      hub.complete(op, result ?? store(undefined, 'result'), receipt === undefined ? {} : { receipt });
    } else if (outcome === 'did-not-happen') {
      op.doubtful = false;
      this.attempt(op);
    }
  }
}

type Failure = EventOf<'step.failed'>['failure'];

function receiptOf(tool: Tool, result: unknown): string | undefined {
  try {
    const receipt = tool.receipt?.(result);
    return receipt === undefined ? undefined : String(receipt).slice(0, 4_096);
  } catch {
    return undefined; // A result of another shape than declared has no receipt; the outcome counts all the same.
  }
}
