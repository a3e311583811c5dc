import type { AttemptFailure, CheckpointTrigger, RunEvent, WaitingOn } from '../core/events/run-event';
import { Allowance } from './allowance';
import type { Agent, Context } from './api';
import { ApiHealth } from './api-health';
import { CallBook } from './call-book';
import { Calls } from './calls';
import { Checkpoints } from './checkpoints';
import type { Clock } from './clock';
import { ConsoleEvents } from './console-events';
import { ContextOfScope } from './context';
import { Effects } from './effects';
import { AgentCodeError, Stopped } from './errors';
import { Flights } from './flights';
import { Gate } from './gate';
import type { FailureExtras, Hub, LateAnswer, ResultExtras } from './hub';
import type { Draft } from './journal-writer';
import { forgetRecord, found, loadTexts } from './load-run';
import { MachineLoop } from './machine-loop';
import { OpenCalls } from './open-calls';
import { type Attempt, isEffect, type Operation, type Outcome } from './operation';
import { Outcomes } from './outcomes';
import { ReEntry } from './re-entry';
import { Reads } from './reads';
import { BEFORE_FIRST } from './record';
import { RecordedFold } from './recorded-fold';
import { Releaser } from './release';
import { notRecordedSentence, ReplayEnd } from './replay-end';
import { ReplayJournal } from './replay-journal';
import { RunHold } from './run-hold';
import { RunStops } from './run-stops';
import type { Scope } from './scope';
import type { SessionDeps, SessionEnd, SessionOptions } from './session-deps';
import { read, type Stored } from './values';

/**
 * One run in the hands of this worker: agent code and its calls. What the parts do is in their own files: the machine,
 * the record that answers calls, the gate where the run goes live, those who carry calls out, and the ways to stop.
 * The rules are those of DESIGN §5 and §6.
 */
export class RunSession implements Hub {
  readonly runId: Hub['runId'];
  readonly clock: Clock;
  readonly backoff: SessionOptions['backoff'];
  readonly secrets: SessionOptions['secrets'];
  readonly flights = new Flights();
  /** Takes what agent code asks for, by its context. */
  readonly book: CallBook;
  /** Resolves when this process has nothing more to do with the run, nor anything to tell of it. */
  readonly ended: Promise<SessionEnd>;

  private readonly deps: SessionDeps;
  private readonly open = new OpenCalls();
  /** Cancel what is to happen later. */
  private readonly timers = new Set<() => void>();
  private readonly hold: RunHold;
  private readonly stops: RunStops;
  private readonly machine: MachineLoop;
  private readonly checkpoints: Checkpoints;
  private readonly outcomes: Outcomes;
  private readonly effects: Effects;
  private readonly reEntry: ReEntry;
  /** Set in a replay. */
  private readonly replayEnd: ReplayEnd | undefined;
  private readonly gate: Gate;
  private readonly consoleEvents: ConsoleEvents;
  private readonly releaser: Releaser;
  private readonly health: ApiHealth;

  constructor(deps: SessionDeps) {
    this.deps = deps;
    this.runId = deps.held.runId;
    this.clock = deps.clock;
    this.backoff = deps.options.backoff;
    this.secrets = deps.options.secrets;
    const session = deps;
    const open = this.open.all;
    const kick = () => this.releaser.kick();
    const isLive = () => this.gate.isLive;
    const callOf = (key: string) => this.open.get(key);
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
      open: this.open,
      sync: (...call) => this.book.sync(...call),
      contextOf: (scope, state) => new ContextOfScope(this, scope, state),
      mayEnter: (state) => this.mayEnter(state),
      onEnd: () => this.endWhenLive(),
    });
    const checkpoints = new Checkpoints(session, hold, () => machine.visit);
    const allowance = new Allowance(deps.claim?.plan?.envelope.limits ?? {});
    const outcomes = new Outcomes({
      session,
      hold,
      checkpoints,
      allowance,
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
      allowance,
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
    this.health = new ApiHealth(deps.loaded.head.apisDown, (event) => hold.push({ event }));
    const { reEntry, gate, releaser } = this;
    this.book = new CallBook({ session, hold, open: this.open, calls, gate, reEntry, releaser });
    this.replayEnd =
      replay === undefined
        ? undefined
        : new ReplayEnd({ session, hold, stops, machine, reEntry, gate, open: this.open, journal: replay });
    this.hold = hold;
    this.stops = stops;
    this.machine = machine;
    this.checkpoints = checkpoints;
    this.outcomes = outcomes;
    this.effects = effects;
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

  /** What the console appended since the claim; before `start`. */
  heard(others: readonly RunEvent[]): void {
    this.hold.heard(others);
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
    if (this.replayEnd !== undefined) this.checkpoint('manual');
    else if (isNew || this.gate.isLive) this.gate.pass(() => this.checkpoint('manual'));
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

  completeWith(op: Operation, value: unknown, extras: ResultExtras, attempt?: Attempt): void {
    this.outcomes.completeWith(op, value, extras, attempt);
  }

  fail(op: Operation, outcome: Extract<Outcome, { readonly ok: false }>, extras?: FailureExtras): void {
    this.outcomes.fail(op, outcome, extras);
  }

  settle(op: Operation, outcome: Outcome): void {
    this.outcomes.settle(op, outcome);
  }

  evidence(op: Operation, attempt: Attempt, answer: LateAnswer): void {
    this.outcomes.evidence(op, attempt, answer);
  }

  told(): Promise<number> {
    return this.outcomes.told();
  }

  apiEnded(api: string, how: 'completed' | AttemptFailure): void {
    this.health.ended(api, how);
  }

  stir(): void {
    this.releaser.kick();
  }

  // ── how the parts meet ──────────────────────────────────────────────────────────────────────────────────────────

  /** The record is out: the run goes live, a replay is over. True where it went live. */
  private recordIsOut(): boolean {
    if (this.replayEnd === undefined) this.gate.open();
    else this.replayEnd.recordIsOut();
    return this.gate.isLive && !this.isStopped();
  }

  /** The record has a call's end and not its value. */
  private notRecorded(op: Operation): void {
    if (this.replayEnd === undefined) this.stops.refuse(notRecordedSentence(op));
    else this.replayEnd.notRecorded(op);
  }

  /** The end of the code is the end of the run once it is live; a replay ends with its record. */
  private endWhenLive(): void {
    if (this.replayEnd === undefined) this.gate.pass(() => this.hold.finish('done'));
    this.releaser.kick();
  }

  private mayEnter(state: string): boolean {
    const { plan } = this.deps.claim ?? {};
    if (plan === undefined || !this.gate.isLive || plan.envelope.states.includes(state)) return true;
    this.stops.stopBefore(`state:${state}`);
    return false;
  }

  private released(op: Operation, outcome: Outcome): void {
    this.open.close(op);
    // What its visit ended without is no reason of the next one's transition.
    if (op.step === 'condition' && outcome.ok && !op.scope.over)
      this.machine.answered(`${op.name}: ${String(read(outcome.value))}`);
    this.machine.callClosed();
  }

  /** A run may be live for long: what is only for re-entry goes. */
  private wentLive(): void {
    forgetRecord(this.deps.loaded);
    this.reEntry.forget();
    this.open.wentLive();
    this.consoleEvents.wentLive();
  }

  /** What reads would say no longer matters, nor is anything tried again; what effects say does. */
  private nothingNew(): void {
    for (const op of this.open.all) if (!isEffect(op)) op.abort?.abort();
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
}
