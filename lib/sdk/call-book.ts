import type { StepKey } from '../core/events/ids';
import type { NewEvent } from '../core/events/run-event';
import { branchPath } from '../core/events/step-key';
import type { Effect, StepKind } from '../core/machine/machine';
import type { Calls } from './calls';
import { AgentCodeError, Stopped } from './errors';
import type { Gate } from './gate';
import type { OpenCalls } from './open-calls';
import { newOperation, refused, type Work } from './operation';
import type { ReEntry } from './re-entry';
import type { CallEvent } from './record';
import type { Releaser } from './release';
import type { RunHold } from './run-hold';
import { Scope } from './scope';
import type { SessionDeps } from './session-deps';
import { digest, type Stored, store } from './values';

/** What code asks for with a call that is answered later. */
export interface CallAsk {
  readonly name: string;
  readonly step: StepKind;
  readonly effect: Effect | undefined;
  readonly args: unknown;
  readonly work: Work;
}

/** What taking calls needs from the session. */
export interface CallBookDeps {
  readonly session: SessionDeps;
  readonly hold: RunHold;
  readonly open: OpenCalls;
  readonly calls: Calls;
  readonly gate: Gate;
  readonly reEntry: ReEntry;
  readonly releaser: Releaser;
}

const NEVER = new Promise<never>(() => undefined);

/** Takes the calls of agent code: gives each its address, and what is recorded there or whoever carries it out. */
export class CallBook {
  private readonly deps: CallBookDeps;
  /** Addresses, without their numbers, that were warned about. */
  private readonly foreign = new Set<string>();

  constructor(deps: CallBookDeps) {
    this.deps = deps;
  }

  /** The scopes of a `parallel`'s branches. Where its number depends on a race, so does every address in them. */
  branches(scope: Scope, name: string, branches: readonly string[]): readonly Scope[] {
    const { releaser, session } = this.deps;
    const { key, race } = scope.mintIn(releaser.window, releaser.cause?.window, name);
    this.noticeForeign(key);
    if (race !== undefined) session.options.warn(race);
    return branches.map((branch) => new Scope(branchPath(key, branch), scope, race));
  }

  /** A context call that is answered later. Its key is minted here, synchronously. */
  call(scope: Scope, ask: CallAsk): Promise<unknown> {
    const { hold, open, gate, calls, reEntry, releaser } = this.deps;
    if (hold.isStopped() || scope.over) return NEVER;
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
      window: releaser.window,
      name: ask.name,
      step: ask.step,
      effect: ask.effect,
      work: ask.work,
    });
    open.add(op);
    const record = this.recordedAt(key);
    if (record === undefined) gate.pass(() => hold.guard(() => calls.begin(op)));
    else reEntry.match(op, record);
    releaser.kick();
    return promise;
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
    const { hold, gate, reEntry } = this.deps;
    if (hold.isStopped()) throw new Stopped();
    this.noticeForeign(key);
    const recorded = this.recordedAt(key);
    if (recorded !== undefined) reEntry.matchSync(key, recorded, event, payloads, joined);
    else gate.pass(() => hold.push({ event, payloads, joined }));
    return recorded;
  }

  /** Mints a call's key. Throws where an effect would depend on which of several answers came first. */
  private mint(scope: Scope, { name, effect }: CallAsk): StepKey {
    const { session, releaser } = this.deps;
    const { window, cause, inWindow } = releaser;
    const { key, race } = scope.mintIn(window, cause?.window, name);
    this.noticeForeign(key);
    const changesTheWorld = effect === 'idempotent' || effect === 'external';
    if (changesTheWorld && !inWindow && releaser.isHeld(scope)) {
      throw new AgentCodeError(
        `${key} was asked for while an external call is open in its scope, by code that awaited something which is not a context call: it might do what that call does as well`,
      );
    }
    if (race !== undefined && changesTheWorld) throw new AgentCodeError(race);
    if (race !== undefined) session.options.warn(race);
    return key;
  }

  /** What is recorded under the address; a live run asks for what has no record. */
  private recordedAt(key: string): CallEvent | undefined {
    const { gate, session } = this.deps;
    return gate.isLive ? undefined : session.loaded.record.calls.get(key);
  }

  private noticeForeign(key: string): void {
    const { releaser, session } = this.deps;
    if (releaser.inWindow) return;
    const at = key.replace(/#\d+/g, '');
    if (this.foreign.has(at)) return;
    this.foreign.add(at);
    session.options.warn(
      `${session.held.runId}: ${key} was asked for after the code awaited something that is not a context call; its order is not reproducible`,
    );
  }
}
