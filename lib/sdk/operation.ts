import type { Seq, Sha256, StepKey } from '../core/events/ids';
import type { RecordedError, WaitingOn } from '../core/events/run-event';
import type { Effect, StepKind } from '../core/machine/machine';
import type { Disposition } from '../core/planner/plan';
import type { FailureKind, Llm, LlmReply, Question, Tool } from './api';
import { NotRecordable, StepFailed } from './errors';
import type { Instants } from './lease';
import type { CallEvent } from './record';
import type { Scope } from './scope';
import { secretIn } from './secret-texts';
import { textOf } from './texts';
import { read, type Stored } from './values';

/** How a call is carried out when nothing recorded answers it. */
export type Work =
  | { readonly kind: 'pure'; readonly run: (input: unknown) => unknown }
  | { readonly kind: 'tool'; readonly tool: Tool }
  | { readonly kind: 'llm'; readonly llm: Llm }
  | { readonly kind: 'human'; readonly question: Question };

/** How a call ended, as the journal has it. Released to code as a value or a `StepFailed`. */
export type Outcome =
  | { readonly ok: true; readonly value: Stored }
  | { readonly ok: false; readonly failure: FailureKind; readonly error: RecordedError };

/** One send of an effect. */
export interface Attempt {
  /** Its number among the attempts of its call: 1, 2, 3 … */
  readonly n: number;
  /** Its intent. */
  readonly intentSeq: Seq;
  /** Last moment at which it may leave. */
  readonly sendBy: Instants;
  /** Aborted by its time-out, and by nothing else. */
  readonly abort: AbortController;
}

/** What becomes of a call that was in flight when the record ends. */
export interface CallStanding {
  readonly disposition: Disposition;
  readonly act: () => void;
}

/** One call of agent code, from the moment it is made until its outcome is released. */
export interface Operation {
  readonly key: StepKey;
  readonly name: string;
  readonly scope: Scope;
  readonly step: StepKind;
  readonly effect: Effect | undefined;
  readonly input: Stored;
  readonly inputDigest: Sha256;
  readonly work: Work;
  /** Release window in which it was made. */
  readonly window: number;
  /** Its call, where it is recorded. */
  record: CallEvent | undefined;
  attempt: number;
  /** Attempts made here: what was tried before a resume does not count against the tool's retries. */
  tries: number;
  generation: number;
  /** An intent of its own is in the journal. */
  intended: boolean;
  /** A decision, a probe or a late worker has settled its newest intent since. */
  settledByPerson: boolean;
  idempotencyKey: string | undefined;
  /** Of the newest attempt. */
  intentSeq: Seq | undefined;
  /** Epoch milliseconds from which a probe's "not found" means that it did not happen. */
  askAgainAt: number | undefined;
  /** When this worker asks by itself: by then the store's bound is past too. */
  probeFrom: number | undefined;
  /** An attempt ended without anyone knowing whether it took effect, or an earlier one says that it did after all. */
  doubtful: boolean;
  /** What it waits for that this process does not do by itself. */
  suspended: WaitingOn['for'] | undefined;
  /** An attempt is under way. */
  running: boolean;
  /** Probes under way. */
  probes: number;
  /** Its outcome is recorded or about to be. */
  arrived: boolean;
  /** No outcome has been lined up for release yet: an external call holds its scope until then. */
  open: boolean;
  /** Of a read's newest attempt. */
  abort: AbortController | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A call that changes the world. */
export type EffectOperation = Operation & { readonly effect: 'idempotent' | 'external' };

/** Whether a call changes the world: `idempotent` or `external`. */
export const isEffect = (op: Operation): op is EffectOperation =>
  op.effect === 'idempotent' || op.effect === 'external';

type Asked = Pick<
  Operation,
  'key' | 'name' | 'scope' | 'step' | 'effect' | 'input' | 'inputDigest' | 'work' | 'window'
>;

/** A promise that is rejected, which nobody need await: a call may have been raced, or made for its effect alone. */
export function refused(error: unknown): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => undefined);
  return promise;
}

/** A call as it is made, and the promise that the code is given. */
export function newOperation(asked: Asked): { readonly op: Operation; readonly promise: Promise<unknown> } {
  let settle: Pick<Operation, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<unknown>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // Code may have gone on without this answer (a race): that is no unhandled rejection.
  promise.catch(() => undefined);
  if (settle === undefined) throw new Error('Broken invariant: a promise’s executor runs at once');
  // Member by member: it is made for every call, and a spread of this length costs several times as much.
  const op: Operation = {
    key: asked.key,
    name: asked.name,
    scope: asked.scope,
    step: asked.step,
    effect: asked.effect,
    input: asked.input,
    inputDigest: asked.inputDigest,
    work: asked.work,
    window: asked.window,
    resolve: settle.resolve,
    reject: settle.reject,
    record: undefined,
    attempt: 0,
    tries: 0,
    generation: 1,
    intended: false,
    settledByPerson: false,
    idempotencyKey: undefined,
    intentSeq: undefined,
    askAgainAt: undefined,
    probeFrom: undefined,
    doubtful: false,
    suspended: undefined,
    running: false,
    probes: 0,
    arrived: false,
    open: true,
    abort: undefined,
  };
  return { op, promise };
}

/** The fields that every event of a call carries. */
export const callFields = (op: Operation) => ({
  stepKey: op.key,
  name: op.name,
  step: op.step,
  ...(op.effect === undefined ? {} : { effect: op.effect }),
  input: op.input.ref,
  inputDigest: op.inputDigest,
});

/** Gives the code its outcome: a copy of the recorded value, or an error made from the recorded one. */
export function deliver(op: Operation, outcome: Outcome): void {
  if (outcome.ok) op.resolve(read(outcome.value));
  else op.reject(new StepFailed(op.key, outcome.failure, outcome.error.type, outcome.error.message));
}

/** An error as it is recorded: text of a bounded length, whatever was thrown. */
export function recordedError(error: unknown, withStack = false): RecordedError {
  const recorded = textsOf(error, withStack);
  const leak = secretIn(`${recorded.type} ${recorded.message} ${recorded.stack ?? ''}`);
  if (leak === undefined) return recorded;
  const { name, message } = new NotRecordable('the error', '$.message', `it holds the secret ${leak}`);
  return { type: name, message };
}

function textsOf(error: unknown, withStack: boolean): RecordedError {
  if (!isError(error)) return { type: typeof error, message: textOf(() => error) };
  return {
    type: textOf(() => (error instanceof StepFailed ? error.type : error.name)),
    message: textOf(() => error.message),
    ...(withStack && error.stack !== undefined ? { stack: textOf(() => error.stack) } : {}),
  };
}

/** Whether it is an error; a proxy may refuse to say. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

/** A model's reply without members that nobody asked for. */
export const replyOf = (reply: LlmReply): LlmReply => ({
  message: reply.message,
  ...(reply.usage === undefined ? {} : { usage: reply.usage }),
  ...(reply.finish === undefined ? {} : { finish: reply.finish }),
});
