import type { Calls } from './calls';
import { type CallStanding, callFields, type Operation } from './operation';
import { contradiction } from './plan-check';
import type { Answered } from './re-entry';
import type { RecordedFold } from './recorded-fold';
import type { RunHold } from './run-hold';
import type { RunStops } from './run-stops';
import type { SessionDeps } from './session-deps';

/** What going live needs from the session. */
export interface GateDeps {
  readonly session: SessionDeps;
  readonly hold: RunHold;
  readonly stops: RunStops;
  readonly calls: Calls;
  readonly fold: RecordedFold;
  /** Calls made and not yet delivered. */
  readonly open: ReadonlySet<Operation>;
  readonly answered: () => readonly Answered[];
  /** Path of the open visit. */
  readonly visit: () => string;
  readonly onLive: () => void;
}

/** The one moment when a run goes live: what was asked for without a record is held until then. */
export class Gate {
  private readonly deps: GateDeps;
  private readonly held: (() => void)[] = [];
  private live = false;

  constructor(deps: GateDeps) {
    this.deps = deps;
  }

  get isLive(): boolean {
    return this.live;
  }

  get isHolding(): boolean {
    return this.held.length > 0;
  }

  /** Begins now, or when the run goes live. */
  pass(begin: () => void): void {
    if (this.live) begin();
    else this.held.push(begin);
  }

  /** The record is out: unless state or plan contradict, open steps resume and held calls begin, in order. */
  open(): void {
    const { hold, stops, session } = this.deps;
    const wrong = this.deps.fold.differenceFrom(session.loaded.head);
    if (wrong !== undefined) {
      stops.diverge({ stepKey: this.deps.visit(), what: 'state', sentence: wrong });
      return;
    }
    const standings = this.standings();
    const { plan } = session.claim ?? {};
    if (plan !== undefined) {
      const against = contradiction(plan, this.deps.answered(), standings);
      if (against !== undefined) {
        stops.refuse(against);
        return;
      }
    }
    this.live = true;
    const commandId = stops.orderId;
    if (commandId !== undefined) {
      this.audit();
      hold.push({ event: { kind: 'command.ended', commandId, outcome: 'done' } });
    }
    for (const { act } of standings) hold.guard(act);
    for (const begin of this.held.splice(0)) hold.guard(begin);
    this.deps.onLive();
  }

  /** Recorded calls that were in flight when the record ends, in its order. */
  private standings(): readonly (CallStanding & { readonly op: Operation })[] {
    return [...this.deps.open]
      .filter((op) => op.record !== undefined && op.open && !op.scope.over)
      .sort((a, b) => (a.record?.seq ?? 0) - (b.record?.seq ?? 0))
      .map((op) => ({ op, ...this.deps.calls.standingOf(op) }));
  }

  /** One thin event for each outcome that the order answered from the record. */
  private audit(): void {
    for (const { op, event } of this.deps.answered()) {
      if (op.effect === 'pure') continue;
      const { input: _input, ...fields } = callFields(op);
      const thin = { ...fields, sourceSeq: event.seq };
      this.deps.hold.push({
        event:
          op.effect === 'external' && event.kind !== 'step.failed'
            ? { kind: 'step.skipped', ...thin }
            : { kind: 'step.reused', ...thin },
      });
    }
  }
}
