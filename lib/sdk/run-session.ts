import type { StepKey } from '../core/events/ids';
import type { AttemptFailure, CheckpointTrigger, NewEvent, WaitingOn } from '../core/events/run-event';
import { branchPath } from '../core/events/step-key';
import type { Effect, StepKind } from '../core/machine/machine';
import type { Agent, Context } from './api';
import { ApiHealth } from './api-health';
import { Calls } from './calls';
import { Checkpoints } from './checkpoints';
import type { Clock } from './clock';
import { ConsoleEvents } from './console-events';
import { ContextOfScope } from './context';
import { Effects } from './effects';
import { AgentCodeError, Stopped } from './errors';
import { Flights } from './flights';
import { Gate } from './gate';
import type { Hub, ResultExtras } from './hub';
import type { Draft } from './journal-writer';
import { forgetRecord, found, loadTexts } from './load-run';
import { MachineLoop } from './machine-loop';
import { isEffect, newOperation, type Operation, type Outcome, refused, type Work } from './operation';
import { Outcomes } from './outcomes';
import { ReEntry } from './re-entry';
import { Reads } from './reads';
import { BEFORE_FIRST, type CallEvent } from './record';
import { RecordedFold } from './recorded-fold';
import { Releaser } from './release';
import { ReplayJournal } from './replay-journal';
import { RunHold } from './run-hold';
import { RunStops } from './run-stops';
import { Scope } from './scope';
import type { SessionDeps, SessionEnd, SessionOptions } from './session-deps';
import { digest, read, type Stored, store } from './values';

interface CallAsk {
  readonly name: string;
  readonly step: StepKind;
  readonly effect: Effect | undefined;
  readonly args: unknown;
  readonly work: Work;
}

const NEVER = new Promise<never>(() => undefined);

/**
 * One run in the hands of this worker: agent code and its calls. What the parts do is in their own files: the machine,
 * the record that answers calls, the gate where the run goes live, those who carry calls out, and the ways to stop.
 * The rules are those of DESIGN §5 and §6.
 */
export class RunSession implements Hub {
  readonly runId: Hub['runId'];
  readonly clock: Clock;
  readonly backoff: SessionOptions['backoff'];
  readonly flights = new Flights();
  /** Resolves when this process has nothing more to do with the run, nor anything to tell of it. */
  readonly ended: Promise<SessionEnd>;

  private readonly deps: SessionDeps;
  private readonly byKey = new Map<string, Operation>();
  private readonly open = new Set<Operation>();
  private readonly foreign = new Set<string>();
  /** Cancel what is to happen later. */
  private readonly timers = new Set<() => void>();
  private readonly hold: RunHold;
  private readonly stops: RunStops;
  private readonly machine: MachineLoop;
  private readonly checkpoints: Checkpoints;
  private readonly outcomes: Outcomes;
  private readonly effects: Effects;
  private readonly calls: Calls;
  private readonly reEntry: ReEntry;
  private readonly replay: ReplayJournal | undefined;
  private readonly gate: Gate;
  private readonly consoleEvents: ConsoleEvents;
  private readonly releaser: Releaser;
  private readonly health: ApiHealth;

  constructor(deps: SessionDeps) {
    this.deps = deps;
    this.runId = deps.held.runId;
    this.clock = deps.clock;
    this.backoff = deps.options.backoff;
    const session = deps;
    const { open } = this;
    const kick = () => this.releaser.kick();
    const isLive = () => this.gate.isLive;
    const callOf = (key: string) => this.byKey.get(key);
    const hold = new RunHold({
      session,
      onOthers: (others) => this.consoleEvents.take(others),
      onEffectExists: (refused) => this.consoleEvents.effectExists(refused),
      isLive,
      onEnding: () => this.nothingNew(),
      onOver: () => this.lost(),
    });
    this.ended = hold.ended.then(async (end) => {
      const lastWords = this.flights.landed().then(() => this.outcomes.told());
      await Promise.race([lastWords, hold.abandoned]);
      return end;
    });
    const stops = new RunStops({ session, hold, open, isLive, kick });
    const machine = new MachineLoop({
      agent: deps.agent,
      view: deps.loaded.view,
      open,
      sync: (...call) => this.sync(...call),
      contextOf: (scope, state) => new ContextOfScope(this, scope, state),
      mayEnter: (state) => this.mayEnter(state),
      onEnd: () => this.endWhenLive(),
    });
    const checkpoints = new Checkpoints(session, hold, () => machine.visit);
    const outcomes = new Outcomes({
      session,
      hold,
      checkpoints,
      onArrived: (op, outcome) => {
        stops.unpark();
        this.releaser.arrived({ op, outcome });
      },
    });
    const effects = new Effects({
      hub: this,
      lease: hold.lease,
      root: deps.root,
      autoVerify: deps.agent.autoVerify,
      isOrdered: deps.claim?.plan !== undefined,
      toolOf: (op) => this.toolNamed(op.name),
      readLedger: () => deps.port.ledger(this.runId),
      textOf: async (ref) => found(await loadTexts(deps.port, [ref]), ref),
    });
    const reads = new Reads(this);
    const calls = new Calls({
      session,
      hold,
      stops,
      outcomes,
      effects,
      reads,
      suspend: (op, waitsFor) => this.suspend(op, waitsFor),
    });
    const fold = new RecordedFold(deps.loaded);
    const replay = deps.replayOf === undefined ? undefined : new ReplayJournal(session, hold);
    const onOut = () => this.recordIsOut();
    this.reEntry = new ReEntry({
      session,
      hold,
      stops,
      machine,
      fold,
      open,
      callOf,
      replay,
      kick,
      onOut,
      onNotRecorded: (op) => this.notRecorded(op),
    });
    this.gate = new Gate({
      session,
      hold,
      stops,
      calls,
      fold,
      open,
      answered: () => this.reEntry.answered,
      visit: () => machine.visit,
      onLive: () => this.wentLive(),
    });
    this.consoleEvents = new ConsoleEvents({ session, hold, stops, effects, outcomes, isLive, callOf });
    this.releaser = new Releaser({
      clock: deps.clock,
      open,
      isStopped: () => hold.isStopped(),
      isHalted: () => stops.isHalted(),
      isLive,
      advance: () => this.reEntry.advance(),
      onReleased: (op, outcome) => this.released(op, outcome),
      onIdle: () => hold.guard(() => stops.idle()),
    });
    this.health = new ApiHealth((event) => hold.push({ event }));
    this.hold = hold;
    this.stops = stops;
    this.machine = machine;
    this.checkpoints = checkpoints;
    this.outcomes = outcomes;
    this.effects = effects;
    this.calls = calls;
    this.replay = replay;
  }

  /** Begins, or begins again from the entry of the open visit. */
  async start(): Promise<void> {
    try {
      if (this.deps.replayOf === undefined && this.deps.held.headSeq > 1) await this.effects.refresh();
      if (!this.isStopped()) this.begin();
    } catch (error) {
      // Left alone it would be held for ever, with nobody at it.
      if (!(error instanceof Stopped)) this.guard(() => this.hold.bug(error));
    }
  }

  private begin(): void {
    const { entry } = this.deps.loaded;
    this.reEntry.applyEdits(entry?.key ?? BEFORE_FIRST);
    this.machine.run(entry).catch((error: unknown) => {
      if (!(error instanceof Stopped) && !this.isStopped()) this.guard(() => this.machine.failed(error));
    });
    this.releaser.begin();
  }

  /** Hands the run over: open reads are abandoned, effects in flight awaited, everything flushed. */
  handOver(): void {
    this.stops.stopSoon({ kind: 'hand-over' });
  }

  /** An effect is out whose outcome may still come. */
  isBusy(): boolean {
    return this.flights.size > 0;
  }

  /** Lets go of the run without giving it back: its lease lapses, and what is not recorded is done again. */
  abandon(why: string): void {
    this.hold.abandon(why);
  }

  /** For tests that drop a worker: as if its process had died here. */
  kill(): void {
    this.hold.kill();
  }

  // ── what agent code asks for, by its context ────────────────────────────────────────────────────────────────────

  get input(): Stored | undefined {
    return this.deps.loaded.input;
  }

  get view() {
    return this.deps.loaded.view;
  }

  get agent(): Agent {
    return this.deps.agent;
  }

  get signal(): AbortSignal {
    return this.hold.signal;
  }

  /** The scopes of a `parallel`'s branches. Where its number depends on a race, so does every address in them. */
  branches(scope: Scope, name: string, branches: readonly string[]): readonly Scope[] {
    const { key, race } = scope.mintIn(this.releaser.window, this.releaser.cause?.window, name);
    this.noticeForeign(key);
    if (race !== undefined) this.deps.options.warn(race);
    return branches.map((branch) => new Scope(branchPath(key, branch), scope, race));
  }

  /**
   * Resolves when an answer may be given to the scope: as the outcome of a call, that of `parallel` waits for the
   * external calls that are open there.
   */
  async untilReleased(scope: Scope): Promise<void> {
    while (this.releaser.isHeld(scope)) await this.machine.untilCallClosed();
  }

  inScope<Value>(scope: Scope, fn: (ctx: Context) => Promise<Value>, state: string): Promise<Value> {
    return this.machine.inScope(scope, fn, state);
  }

  saveCheckpoint(): void {
    if (this.isStopped()) throw new Stopped();
    const isNew = this.checkpoints.ask();
    if (this.replay !== undefined) this.checkpoint('manual');
    else if (isNew || this.gate.isLive) this.gate.pass(() => this.checkpoint('manual'));
  }

  /** A context call that is answered later. Its key is minted here, synchronously. */
  call(scope: Scope, ask: CallAsk): Promise<unknown> {
    if (this.isStopped() || scope.over) return NEVER;
    let input: Stored;
    let key: StepKey;
    try {
      input = store(ask.args, `the input of ${ask.name}`);
      key = this.mint(scope, ask);
    } catch (error) {
      return refused(error);
    }
    const { op, promise } = newOperation({
      key,
      scope,
      input,
      inputDigest: digest(input),
      window: this.releaser.window,
      name: ask.name,
      step: ask.step,
      effect: ask.effect,
      work: ask.work,
    });
    this.byKey.set(key, op);
    this.open.add(op);
    const record = this.recordedAt(key);
    if (record === undefined) this.gate.pass(() => this.guard(() => this.calls.begin(op)));
    else this.reEntry.match(op, record);
    this.releaser.kick();
    return promise;
  }

  /** Mints a call's key. Throws where an effect would depend on which of several answers came first. */
  private mint(scope: Scope, { name, effect }: CallAsk): StepKey {
    const { window, cause, inWindow } = this.releaser;
    const { key, race } = scope.mintIn(window, cause?.window, name);
    this.noticeForeign(key);
    const changesTheWorld = effect === 'idempotent' || effect === 'external';
    if (changesTheWorld && !inWindow && this.releaser.isHeld(scope)) {
      throw new AgentCodeError(
        `${key} was asked for while an external call is open in its scope, by code that awaited something which is not a context call: it might do what that call does as well`,
      );
    }
    if (race !== undefined && changesTheWorld) throw new AgentCodeError(race);
    if (race !== undefined) this.deps.options.warn(race);
    return key;
  }

  /**
   * A call that answers at once: variables, messages, values, transitions, ends of scopes. Returns its record, or
   * nothing where it was made for the first time.
   */
  sync(
    key: string,
    event: NewEvent,
    payloads: readonly Stored[] = [],
    joined = false,
  ): CallEvent | undefined {
    if (this.isStopped()) throw new Stopped();
    this.noticeForeign(key);
    const recorded = this.recordedAt(key);
    if (recorded !== undefined) this.reEntry.matchSync(key, recorded, event, payloads, joined);
    else this.gate.pass(() => this.push({ event, payloads, joined }));
    return recorded;
  }

  // ── Hub ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  isStopped(): boolean {
    return this.hold.isStopped();
  }

  isHalted(): boolean {
    return this.stops.isHalted();
  }

  guard(fn: () => void): void {
    this.hold.guard(fn);
  }

  background(work: Promise<unknown>): void {
    this.hold.background(work);
  }

  point(name: string): void {
    this.hold.point(name);
  }

  push(draft: Draft): void {
    this.hold.push(draft);
  }

  durable(): Promise<void> {
    return this.hold.durable();
  }

  checkpoint(trigger: CheckpointTrigger): void {
    this.checkpoints.save(trigger);
  }

  later(op: Operation, ms: number, fn: () => void): void {
    const cancel = this.clock.after(ms, () => {
      this.timers.delete(cancel);
      if (!this.isStopped() && !op.arrived) this.guard(fn);
    });
    this.timers.add(cancel);
  }

  suspend(op: Operation, waitsFor: WaitingOn['for']): void {
    op.suspended = waitsFor;
    this.stir();
  }

  unpark(): void {
    this.stops.unpark();
  }

  complete(op: Operation, value: Stored, extras: ResultExtras): void {
    this.outcomes.complete(op, value, extras);
  }

  completeWith(op: Operation, value: unknown, extras: ResultExtras): void {
    this.outcomes.completeWith(op, value, extras);
  }

  fail(op: Operation, outcome: Extract<Outcome, { readonly ok: false }>, partial?: Stored): void {
    this.outcomes.fail(op, outcome, partial);
  }

  settle(op: Operation, outcome: Outcome): void {
    this.outcomes.settle(op, outcome);
  }

  evidence(op: Operation, answer: Parameters<Hub['evidence']>[1]): void {
    this.outcomes.evidence(op, answer);
  }

  apiAnswered(api: string): void {
    this.health.answered(api);
  }

  apiFailed(api: string, failure: AttemptFailure): void {
    this.health.failed(api, failure);
  }

  stir(): void {
    this.releaser.kick();
  }

  // ── how the parts meet ──────────────────────────────────────────────────────────────────────────────────────────

  /** The record is out: the run goes live, a replay is over. True where it went live. */
  private recordIsOut(): boolean {
    if (this.replay === undefined) this.gate.open();
    else this.endReplay(this.replay);
    return this.gate.isLive && !this.isStopped();
  }

  private endReplay(replay: ReplayJournal): void {
    if (!this.reEntry.cameToTheEnd) {
      if (!this.gate.isHolding && this.open.size === 0 && !this.machine.isOver) {
        this.reEntry.stuckAt('what comes next');
        return;
      }
      const unanswered = [...this.open].filter((op) => op.open).map((op) => op.key);
      replay.noRecord(
        unanswered.length > 0
          ? `The record ends before ${unanswered.join(', ')} was answered`
          : 'The record ends here',
      );
    }
    this.finishReplay();
  }

  /** The record has a call's end and not its value. */
  private notRecorded(op: Operation): void {
    const sentence = `${op.key} finished, but its value could not be recorded`;
    if (this.replay === undefined) {
      this.stops.refuse(sentence);
      return;
    }
    this.replay.noRecord(sentence);
    this.finishReplay();
  }

  private finishReplay(): void {
    const notices = this.deps.notices?.() ?? [];
    const detail = notices.length === 0 ? {} : { detail: notices.join('; ') };
    const commandId = this.stops.orderId;
    if (commandId !== undefined)
      this.push({ event: { kind: 'command.ended', commandId, outcome: 'done', ...detail } });
    this.hold.finish('done');
  }

  /** The end of the code is the end of the run once it is live; a replay ends with its record. */
  private endWhenLive(): void {
    if (this.replay === undefined) this.gate.pass(() => this.hold.finish('done'));
    this.releaser.kick();
  }

  private mayEnter(state: string): boolean {
    const { plan } = this.deps.claim ?? {};
    if (plan === undefined || !this.gate.isLive || plan.envelope.states.includes(state)) return true;
    this.stops.stopBefore(`state:${state}`);
    return false;
  }

  private released(op: Operation, outcome: Outcome): void {
    this.open.delete(op);
    if (this.gate.isLive) this.byKey.delete(op.key);
    if (op.step === 'condition' && outcome.ok)
      this.machine.answered(`${op.name}: ${String(read(outcome.value))}`);
    this.machine.callClosed();
  }

  /** What is recorded under the address; a live run asks for what has no record. */
  private recordedAt(key: string): CallEvent | undefined {
    return this.gate.isLive ? undefined : this.deps.loaded.record.calls.get(key);
  }

  /** A run may be live for long: what is only for re-entry goes. */
  private wentLive(): void {
    forgetRecord(this.deps.loaded);
    this.reEntry.forget();
    for (const [key, op] of this.byKey) if (!this.open.has(op)) this.byKey.delete(key);
    this.consoleEvents.wentLive();
  }

  /** What reads would say no longer matters, nor is anything tried again; what effects say does. */
  private nothingNew(): void {
    for (const op of this.open) if (!isEffect(op)) op.abort?.abort();
    for (const cancel of this.timers) cancel();
    this.timers.clear();
  }

  private lost(): void {
    this.nothingNew();
    this.outcomes.tellUnplaced();
  }

  private toolNamed(name: string) {
    const tool = this.deps.agent.tools[name];
    if (tool === undefined) throw new AgentCodeError(`tool ${name} is not declared`);
    return tool;
  }

  private noticeForeign(key: string): void {
    if (this.releaser.inWindow) return;
    const at = key.replace(/#\d+/g, '');
    if (this.foreign.has(at)) return;
    this.foreign.add(at);
    this.deps.options.warn(
      `${this.runId}: ${key} was asked for after the code awaited something that is not a context call; its order is not reproducible`,
    );
  }
}
