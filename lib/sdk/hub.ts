import type { RunId } from '../core/events/ids';
import type { AttemptFailure, CheckpointTrigger, Usage, WaitingOn } from '../core/events/run-event';
import type { SecretSource } from './api';
import type { Clock } from './clock';
import { NotSent, Rejected, Unavailable } from './errors';
import type { Flights } from './flights';
import type { Draft } from './journal-writer';
import type { Attempt, Operation, Outcome } from './operation';
import type { Stored } from './values';

/** What comes with a result besides its value. */
export interface ResultExtras {
  readonly receipt?: string;
  readonly usage?: Usage;
}

/** What comes with a failure. */
export interface FailureExtras {
  /** What a broken stream had said. */
  readonly partial?: Stored;
  /** An effect's attempt that was surely refused. */
  readonly attempt?: Attempt;
}

/** An effect's answer that settles nothing here. */
export interface LateAnswer {
  readonly outcome: 'happened' | 'did-not-happen';
  readonly result?: unknown;
  readonly receipt?: string;
}

/** What those who carry out calls need from the run that they belong to. */
export interface Hub {
  readonly runId: RunId;
  readonly clock: Clock;
  readonly backoff: { readonly baseMs: number; readonly capMs: number };
  readonly flights: Flights;
  readonly secrets: SecretSource;
  /** Nothing may be done for this run here any more. */
  isStopped(): boolean;
  /** Nothing new begins: the run is being paused or handed over. */
  isHalted(): boolean;
  /** Runs `fn` unless stopped; swallows the unwinding of a stopped run, and takes anything else as a bug. */
  guard(fn: () => void): void;
  /** Work that nobody waits for: where it fails, that is a bug, unless the run is given up here by then. */
  background(work: Promise<unknown>): void;
  point(name: string): void;
  push(draft: Draft): void;
  durable(): Promise<void>;
  checkpoint(trigger: CheckpointTrigger): void;
  /** After `ms`, unless the run stops or the call is answered. */
  later(op: Operation, ms: number, fn: () => void): void;
  suspend(op: Operation, waitsFor: WaitingOn['for']): void;
  /** Something is under way again: a run that was about to be given back as waiting is kept. */
  unpark(): void;
  /** Records the outcome and lines it up for release. */
  complete(op: Operation, value: Stored, extras: ResultExtras): void;
  /** The same for a value that is yet to be encoded; where it cannot be, the run fails as `not-recorded`. */
  completeWith(op: Operation, value: unknown, extras: ResultExtras, attempt?: Attempt): void;
  fail(op: Operation, outcome: Extract<Outcome, { readonly ok: false }>, extras?: FailureExtras): void;
  /** The outcome is recorded already: lines it up for release. */
  settle(op: Operation, outcome: Outcome): void;
  /** What an effect's attempt answered, where that is not its call's outcome here. */
  evidence(op: Operation, attempt: Attempt, answer: LateAnswer): void;
  /** Resolves once everything that was told as evidence was taken or refused, with how much that is so far. */
  told(): Promise<number>;
  /** An attempt ended: what the API is known to be by that. */
  apiEnded(api: string, how: 'completed' | AttemptFailure): void;
  /** Something changed that waiting or pausing may depend on. */
  stir(): void;
}

/** Exponential, with jitter: between half and the whole of `base · 2^(attempt-1)`, at most the cap. */
export function backoffMs(hub: Pick<Hub, 'backoff' | 'clock'>, attempt: number): number {
  const full = Math.min(hub.backoff.capMs, hub.backoff.baseMs * 2 ** (attempt - 1));
  return Math.round(full * (0.5 + hub.clock.random() / 2));
}

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Tells apart what a thrown error means. Names count, so that another copy of the SDK's classes is known too. */
export function failureOf(error: unknown, signal: AbortSignal | undefined): AttemptFailure {
  try {
    return kindOf(error, signal);
  } catch {
    return 'error'; // It threw when it was read: nothing is known.
  }
}

function kindOf(error: unknown, signal: AbortSignal | undefined): AttemptFailure {
  if (error instanceof NotSent || named(error, 'NotSent')) return 'not-sent';
  if (error instanceof Rejected || named(error, 'Rejected')) return 'rejected';
  if (error instanceof Unavailable || named(error, 'Unavailable')) return 'unavailable';
  if (signal?.aborted === true || named(error, 'TimeoutError')) return 'timeout';
  return isNetworkTrouble(error) ? 'unavailable' : 'error';
}

const named = (error: unknown, name: string) => error instanceof Error && error.name === name;

function isNetworkTrouble(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string' && NETWORK_CODES.has(at.code)) return true;
  }
  return false;
}
