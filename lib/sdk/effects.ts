import type { RunId } from '../core/events/ids';
import type { PayloadRef } from '../core/events/payload';
import { assertNever } from '../core/shared/assert';
import type { Tool } from './api';
import { EffectAttempts } from './effect-attempt';
import { EffectDoubts } from './effect-doubt';
import { type EffectStanding, failedForGood, standingOf } from './effect-standing';
import { hash } from './hash';
import type { Hub } from './hub';
import type { LedgerEntry } from './journal-port';
import type { HeldLease } from './lease';
import { LineageLedger } from './lineage-ledger';
import { type CallStanding, callFields, type EffectOperation, type Operation } from './operation';
import type { Stored } from './values';

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

/** Carries out `idempotent` and `external` calls: intent first, then the call, and no second one without knowing. */
export class Effects {
  private readonly deps: EffectsDeps;
  private readonly ledger: LineageLedger;
  private readonly attempts: EffectAttempts;
  private readonly doubts: EffectDoubts;

  constructor(deps: EffectsDeps) {
    this.deps = deps;
    const { hub, lease, autoVerify, toolOf, textOf } = deps;
    const keyOf = (op: EffectOperation) => this.keyOf(op);
    this.ledger = new LineageLedger(hub, deps.readLedger);
    const ledger = this.ledger;
    const goOn = (op: EffectOperation) => this.begin(op);
    this.doubts = new EffectDoubts({ hub, ledger, autoVerify, toolOf, keyOf, textOf, goOn });
    this.attempts = new EffectAttempts({
      hub,
      lease,
      toolOf,
      keyOf,
      onDoubt: (op) => this.doubts.begin(op),
      askLedger: (op) => this.doubts.lookAgain(op, 0),
    });
  }

  refresh(): Promise<void> {
    return this.ledger.refresh();
  }

  /** A call that has no outcome: the lineage's ledger is asked before anything else. */
  begin(op: EffectOperation): void {
    if (this.deps.hub.isStopped() || op.arrived) return;
    this.act(op, this.standing(op));
  }

  /** Its last attempt surely did nothing, and no run of the lineage has sent it since. */
  failedForGood(op: EffectOperation): boolean {
    return failedForGood(op, this.ledger.rowsOf(op));
  }

  /** A recorded call without an outcome. */
  standingOf(op: EffectOperation): CallStanding {
    const standing = this.standing(op);
    return { disposition: standing.disposition, act: () => this.act(op, standing) };
  }

  /** A refused intent: the ledger has changed since it was read. */
  refusedByLineage(op: EffectOperation): void {
    op.attempt = Math.max(0, op.attempt - 1);
    op.running = false;
    this.doubts.lookAgain(op);
  }

  /** A person asked for a probe while this worker holds the run. False: there is no intent of this run to ask about. */
  verifyFor(...asked: Parameters<EffectDoubts['verifyFor']>): Promise<boolean> {
    return this.doubts.verifyFor(...asked);
  }

  /** A decision or evidence that the console recorded. */
  onConsole(...said: Parameters<EffectDoubts['onConsole']>): Promise<void> {
    return this.doubts.onConsole(...said);
  }

  private standing(op: EffectOperation): EffectStanding {
    const { hub, isOrdered, autoVerify, toolOf } = this.deps;
    return standingOf(op, this.ledger.rowsOf(op), {
      runId: hub.runId,
      now: hub.clock.now(),
      keyValidForMs: toolOf(op).keyValidForMs,
      goesOnWhenSettled: isOrdered || autoVerify,
    });
  }

  private act(op: EffectOperation, standing: EffectStanding): void {
    const { doubts, attempts } = this;
    switch (standing.kind) {
      case 'answered':
        this.fromLedger(op, standing.entry, standing.result);
        return;
      case 'result-unknown':
        doubts.rest(op, 'blocked');
        return;
      case 'elsewhere':
        adopt(op, standing.entry);
        doubts.waitForOwner(op, standing.entry);
        return;
      case 'conflict':
        this.conflict(op, standing.entry);
        return;
      case 'again':
        adopt(op, standing.entry);
        attempts.begin(op);
        return;
      case 'in-doubt':
        adopt(op, standing.entry);
        doubts.begin(op);
        return;
      case 'new':
        op.generation = standing.generation;
        op.idempotencyKey = this.keyOf(op);
        op.doubtful = false;
        attempts.begin(op);
        return;
      case 'rests':
        if (standing.ordered.kind === 'again') adopt(op, standing.ordered.entry);
        doubts.rest(op, 'in-doubt');
        return;
      default:
        assertNever(standing, 'effect standing');
    }
  }

  private keyOf({ key, generation, inputDigest }: EffectOperation): string {
    return `rr_${hash(JSON.stringify([this.deps.root, key, generation, inputDigest]))}`;
  }

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
    this.doubts.rest(op, 'conflict');
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
}

/** The call goes on as the ledger has it. */
function adopt(op: EffectOperation, entry: LedgerEntry): void {
  op.generation = entry.generation;
  op.intentSeq = entry.intentSeq;
  op.askAgainAt = entry.askAgainAt;
  op.probeFrom = entry.askAgainAt;
  op.idempotencyKey = entry.idempotencyKey;
  op.attempt = Math.max(op.attempt, entry.attempt);
  op.doubtful = entry.status === 'in-doubt' || entry.status === 'intended';
}
