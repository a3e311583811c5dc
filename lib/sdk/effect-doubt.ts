import type { Seq } from '../core/events/ids';
import type { PayloadRef } from '../core/events/payload';
import type { EventOf } from '../core/events/run-event';
import type { Tool } from './api';
import type { Hub } from './hub';
import type { LedgerEntry } from './journal-port';
import type { LineageLedger } from './lineage-ledger';
import type { EffectOperation } from './operation';
import { type ProbeAnswer, probe, verifiedBy } from './probe';
import { read, type Stored } from './values';

/** How often the ledger is read again while another run of the lineage has the effect in flight. */
const LOOK_AGAIN_MS = 250;
/** Least time between a probe's own "not found" that came too early and the next probe. */
const ASK_AGAIN_MS = 1_000;

type VerifyId = EventOf<'effect.verified'>['commandId'];

/** What waiting for an answer needs from those who decide about effects. */
export interface DoubtsDeps {
  readonly hub: Hub;
  readonly ledger: LineageLedger;
  readonly autoVerify: boolean;
  readonly toolOf: (op: EffectOperation) => Tool;
  readonly keyOf: (op: EffectOperation) => string;
  readonly textOf: (ref: PayloadRef) => Promise<Stored>;
  /** Does what the ledger says now, unless the call is answered or the run is stopped. */
  readonly goOn: (op: EffectOperation) => void;
}

/** Effects whose outcome somebody else has to say: a probe, a person, the run of the lineage that has sent it. */
export class EffectDoubts {
  private readonly deps: DoubtsDeps;

  constructor(deps: DoubtsDeps) {
    this.deps = deps;
  }

  /** Not an exception that code could catch: the promise stays open, and with it the scope. */
  begin(op: EffectOperation): void {
    const { hub } = this.deps;
    op.running = false;
    // A call that this claim has not sent itself is another's to be asked about, or a person's.
    const mayAsk = op.intended && op.intentSeq !== undefined;
    if (mayAsk && this.deps.autoVerify && this.deps.toolOf(op).verify !== undefined) {
      op.suspended = undefined;
      hub.later(op, Math.max(0, (op.probeFrom ?? 0) - hub.clock.now()), () =>
        hub.background(this.probeByItself(op)),
      );
      return;
    }
    hub.suspend(op, 'in-doubt');
  }

  /** Nothing goes on here by itself. */
  rest(op: EffectOperation, waitsFor: NonNullable<EffectOperation['suspended']>): void {
    op.running = false;
    this.deps.hub.suspend(op, waitsFor);
  }

  waitForOwner(op: EffectOperation, entry: LedgerEntry): void {
    // While the other run is at it the answer may come any moment; once its call cannot settle any more, or is in
    // doubt, somebody has to act there first.
    const { hub } = this.deps;
    op.running = entry.status === 'intended' && hub.clock.now() < entry.askAgainAt;
    hub.suspend(op, 'blocked');
    if (op.running) this.lookAgain(op);
  }

  /** Reads the ledger again, once it has what was recorded here, and does what it says then. */
  lookAgain(op: EffectOperation, ms = LOOK_AGAIN_MS): void {
    const { hub, ledger } = this.deps;
    hub.later(op, ms, () =>
      hub.background(
        hub
          .durable()
          .then(() => ledger.refresh())
          .then(() => hub.guard(() => this.deps.goOn(op))),
      ),
    );
  }

  /** A person asked for a probe while this worker holds the run. False: there is no intent of this run to ask about. */
  verifyFor(op: EffectOperation, commandId: VerifyId): Promise<boolean> {
    return this.probeFor(op, commandId);
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

  private async probeByItself(op: EffectOperation): Promise<void> {
    await this.probeFor(op, undefined);
  }

  /** An answer is bound to the intent that was asked about; for a later one it says nothing. */
  private async probeFor(op: EffectOperation, commandId: VerifyId): Promise<boolean> {
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

  /** Something was said about a call in doubt: its holder goes on with what the ledger says now. */
  private async settled(op: EffectOperation, intentSeq: Seq): Promise<void> {
    const { hub, ledger } = this.deps;
    await ledger.refresh();
    hub.guard(() => {
      if (hub.isStopped() || op.arrived || op.running || op.intentSeq !== intentSeq) return;
      const entry = ledger.rowsOf(op).find((one) => one.runId === hub.runId && one.intentSeq === intentSeq);
      if (entry?.status !== 'in-doubt' && entry?.status !== 'intended') {
        this.deps.goOn(op);
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
    const { idempotencyKey = this.deps.keyOf(op), attempt, intentSeq, askAgainAt = 0 } = op;
    const entry = this.deps.ledger.rowsOf(op).find((one) => one.intentSeq === intentSeq);
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
      secrets: this.deps.hub.secrets,
    });
  }

  private pushVerified(op: EffectOperation, intentSeq: Seq, answer: ProbeAnswer, commandId: VerifyId): void {
    this.deps.hub.push({
      event: verifiedBy(answer, op.key, intentSeq, commandId),
      ...(answer.result === undefined ? {} : { payloads: [answer.result] }),
    });
  }
}
