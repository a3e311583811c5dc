import type { EventOf, NewEvent } from '../core/events/run-event';
import { visitPath } from '../core/events/step-key';
import type { Agent, AgentState, Context } from './api';
import { AgentCodeError, StepFailed, Stopped } from './errors';
import type { OpenCalls } from './open-calls';
import { isEffect, recordedError } from './operation';
import { END, leftKey } from './record';
import { Scope } from './scope';
import { type Stored, store } from './values';
import type { View } from './view';

/** A visit that is open. */
export interface OpenVisit {
  readonly key: string;
  readonly state: string;
}

/** What the machine needs from the session. */
export interface MachineDeps {
  readonly agent: Agent;
  readonly view: View;
  readonly open: OpenCalls;
  readonly sync: (key: string, event: NewEvent, payloads?: readonly Stored[], joined?: boolean) => unknown;
  readonly contextOf: (scope: Scope, state: string) => Context;
  /** False: outside what the plan said may run, so the run stops before it. */
  readonly mayEnter: (state: string) => boolean;
  /** The run's end is asked for. */
  readonly onEnd: () => void;
}

const NEVER = new Promise<never>(() => undefined);

/** Takes a run from state to state: one visit's code at a time, until a final state or a failure. */
export class MachineLoop {
  /** Path of the visit whose code runs. */
  visit = '';
  /** The code has ended; nothing more is asked for. */
  isOver = false;
  /** What the code ended with, where it failed. */
  error: unknown;

  private readonly deps: MachineDeps;
  private lastCondition: string | undefined;
  private readonly closers = new Set<() => void>();

  constructor(deps: MachineDeps) {
    this.deps = deps;
  }

  /** From the start, or from the entry of an open visit. Rejects with what the code threw. */
  async run(entry: OpenVisit | undefined): Promise<void> {
    let at = entry ?? this.enter(this.deps.agent.initial, undefined);
    for (;;) {
      this.visit = at.key;
      this.lastCondition = undefined;
      const state = this.stateNamed(at.state);
      const scope = new Scope(at.key);
      const answer = await this.inScope(scope, (ctx) => state.run(ctx), at.state);
      const to = successorOf(at.state, state, answer);
      if (to !== undefined && !this.deps.mayEnter(to)) await NEVER;
      const number = Number(at.key.slice(at.key.lastIndexOf('#') + 1));
      this.deps.sync(leftKey(at.key), {
        kind: 'state.left',
        key: at.key,
        state: at.state,
        visit: number,
        ...(to === undefined ? {} : { to }),
        ...(this.lastCondition === undefined ? {} : { condition: this.lastCondition }),
      });
      if (to === undefined) {
        this.completed(answer);
        return;
      }
      // In the same turn, and in one batch.
      at = this.enter(to, at.state);
    }
  }

  /** A scope does not end while an effect below it is open; its open reads are abandoned. */
  async inScope<Value>(scope: Scope, fn: (ctx: Context) => Promise<Value>, state: string): Promise<Value> {
    const { open } = this.deps;
    let ended: { readonly value: Value } | { readonly error: unknown };
    try {
      ended = { value: await fn(this.deps.contextOf(scope, state)) };
    } catch (error) {
      if (error instanceof Stopped) throw error;
      ended = { error };
    }
    while ([...open.all].some((op) => isEffect(op) && op.scope.within(scope))) await this.untilCallClosed();
    // Nobody awaited it, and what it belongs to has ended: nothing more is said in its name.
    if (scope.over) throw new Stopped();
    scope.end();
    for (const op of [...open.all]) {
      if (!op.scope.over) continue;
      open.close(op);
      if (!op.arrived) op.abort?.abort();
    }
    if (scope.parent !== undefined)
      this.deps.sync(leftKey(scope.path), { kind: 'scope.left', scope: scope.path });
    if ('error' in ended) throw ended.error;
    return ended.value;
  }

  /** A condition was answered: the newest one is noted with the transition. */
  answered(condition: string): void {
    this.lastCondition = condition;
  }

  /** Resolves when the next call is no longer open. */
  untilCallClosed(): Promise<void> {
    return new Promise((resolve) => this.closers.add(resolve));
  }

  /** A call is no longer open: scopes that waited for it may end. */
  callClosed(): void {
    for (const close of this.closers) close();
    this.closers.clear();
  }

  /** The code failed: recorded as the run's end. */
  failed(error: unknown): void {
    this.isOver = true;
    this.error = error;
    const stepKey = failedStepOf(error);
    this.deps.sync(END, {
      kind: 'run.failed',
      cause: 'error',
      error: recordedError(error, true),
      ...(stepKey === undefined ? {} : { stepKey }),
    });
    this.deps.onEnd();
  }

  private completed(answer: unknown): void {
    const result = answer === undefined ? undefined : store(answer, 'the run’s result');
    this.isOver = true;
    this.deps.sync(
      END,
      { kind: 'run.completed', ...(result === undefined ? {} : { result: result.ref }) },
      result === undefined ? [] : [result],
      true,
    );
    this.deps.onEnd();
  }

  private enter(state: string, from: string | undefined): OpenVisit {
    const { visits } = this.deps.view;
    const number = (visits.get(state) ?? 0) + 1;
    const key = visitPath(state, number);
    this.deps.sync(
      key,
      { kind: 'state.entered', key, state, visit: number, ...(from === undefined ? {} : { from }) },
      [],
      from !== undefined,
    );
    visits.set(state, number);
    return { key, state };
  }

  private stateNamed(name: string): AgentState {
    const state = this.deps.agent.states[name];
    if (state === undefined) throw new AgentCodeError(`state ${name} is not declared`);
    return state;
  }
}

function successorOf(name: string, state: AgentState, answer: unknown): string | undefined {
  if (state.final === true) return undefined;
  if (typeof answer !== 'string' || !state.to.includes(answer)) {
    throw new AgentCodeError(
      `state ${name} returned ${JSON.stringify(answer)}, which is none of its transitions: ${state.to.join(', ')}`,
    );
  }
  return answer;
}

/** The step whose failure ended the code, also where the code wrapped it. */
function failedStepOf(error: unknown) {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; at = at.cause, depth++) {
    if (at instanceof StepFailed) return at.stepKey as EventOf<'step.failed'>['stepKey'];
  }
  return undefined;
}
