import type { RunId } from '../core/events/ids';
import type { Agent, SecretSource } from './api';
import type { Clock } from './clock';
import type { Claim, Held, JournalPort } from './journal-port';
import type { Instants } from './lease';
import type { CachedOutcome, LoadedRun } from './load-run';

/** How a session ended. `stopped`: another worker has the run, or it was cancelled; nothing was released. */
export type SessionEnd = 'done' | 'waiting' | 'paused' | 'hand-over' | 'stopped';

/** What a worker's settings say about each of its sessions. */
export interface SessionOptions {
  /** Most events in one batch. */
  readonly batchSize: number;
  readonly backoff: { readonly baseMs: number; readonly capMs: number };
  /** How long code that has settled may await something foreign before it counts as having left the record. */
  readonly graceMs: number;
  readonly warn: (warning: string) => void;
  readonly secrets: SecretSource;
  readonly onPoint: ((point: string) => void) | undefined;
}

/** What one session is given: the run, its record, and the agent that carries it on. */
export interface SessionDeps {
  readonly port: JournalPort;
  readonly clock: Clock;
  readonly agent: Agent;
  readonly held: Held;
  /** When the claim was sent. */
  readonly sentAt: Instants;
  /** First run of the lineage. */
  readonly root: RunId;
  readonly loaded: LoadedRun;
  /** Replay: the run whose record answers. It touches nothing outside and never goes live. */
  readonly replayOf: RunId | undefined;
  readonly claim: Pick<Claim, 'command' | 'plan'> | undefined;
  /** Outcomes that a fork with edits may use again. */
  readonly cache: ReadonlyMap<string, CachedOutcome>;
  readonly options: SessionOptions;
  /** What a replay noticed beside the record; told with its end. */
  readonly notices?: () => readonly string[];
}
