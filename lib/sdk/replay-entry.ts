import type { RunId } from '../core/events/ids';
import type { Agent } from './api';
import { type Clock, systemClock } from './clock';
import type { Claim, JournalPort } from './journal-port';
import { instants, keepLease } from './lease';
import { loadRun } from './load-run';
import { RunSession } from './run-session';
import type { SessionEnd } from './session-deps';

/** What the worker sends to the child process, once. */
export interface ReplayTask {
  readonly kind: 'task';
  readonly url: string;
  readonly agent: string;
  readonly claim: Claim;
  readonly root: RunId;
  readonly batchSize: number;
  readonly graceMs: number;
}

/** A call of the journal port on its way to the worker, its answer, and what else the child says. */
export type FromChild =
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly method: keyof JournalPort;
      readonly args: readonly unknown[];
    }
  | { readonly kind: 'warning'; readonly warning: string }
  /** The session hears of a hand-over from now on. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'ended'; readonly end: SessionEnd }
  | { readonly kind: 'broke'; readonly message: string };
/** The worker's answer to one call of the journal port. */
export interface ToChild {
  readonly kind: 'answer';
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

interface Watch {
  on: boolean;
  readonly notices: ReadonlySet<string>;
}

const say = (message: FromChild) => process.send?.(message);

/** The session that replays a run: everything is answered by its parent's record, up to where the plan was made. */
export async function replaySession(
  port: JournalPort,
  clock: Clock,
  agent: Agent,
  task: ReplayTask,
  around: { readonly warn: (warning: string) => void; readonly notices: () => readonly string[] },
): Promise<RunSession> {
  const { claim } = task;
  const parent = claim.command?.parent;
  if (parent === undefined) throw new Error('Broken invariant: a replay’s order names its parent');
  const upTo = claim.plan?.headSeq ?? parent.seq;
  const loaded = await keepLease(port, clock, claim, () =>
    loadRun(port, parent.runId, upTo, { fromStart: true }),
  );
  return new RunSession({
    port,
    clock,
    agent,
    held: claim,
    sentAt: instants(clock),
    root: task.root,
    loaded,
    replayOf: parent.runId,
    claim,
    cache: new Map(),
    options: {
      batchSize: task.batchSize,
      backoff: { baseMs: 1_000, capMs: 10_000 },
      graceMs: task.graceMs,
      warn: around.warn,
      // Nothing is called that could be given one.
      secrets: () => undefined,
      onPoint: undefined,
    },
    notices: around.notices,
  });
}

/**
 * Replays a run in this process, which `installGuards` made silent. The agent's own copy of the SDK carries it out,
 * since that is what its module imports.
 */
export async function replayEntry(agent: Agent, task: ReplayTask): Promise<void> {
  const watch = (globalThis as unknown as Readonly<Record<symbol, Watch | undefined>>)[
    Symbol.for('rerail.watch')
  ];
  const notices = () => [...(watch?.notices ?? [])];
  const session = await replaySession(portOverIpc(), systemClock, agent, task, {
    warn: (warning) => say({ kind: 'warning', warning }),
    notices,
  });
  process.on('message', (message: { readonly kind: string }) => {
    if (message.kind === 'hand-over') session.handOver();
  });
  say({ kind: 'ready' });
  if (watch !== undefined) watch.on = true;
  await session.start();
  const end = await session.ended;
  for (const notice of notices()) say({ kind: 'warning', warning: `${task.claim.runId}: ${notice}` });
  say({ kind: 'ended', end });
}

/** The journal port as the worker offers it over IPC. Signals stay here: the worker ends its calls with the child. */
function portOverIpc(): JournalPort {
  const waiting = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >();
  let next = 1;
  process.on('message', (message: ToChild | { readonly kind: string }) => {
    if (message.kind !== 'answer' || !('id' in message)) return;
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error === undefined) call?.resolve(message.value);
    else call?.reject(new Error(message.error));
  });
  const method =
    (name: keyof JournalPort) =>
    (...args: readonly unknown[]) =>
      new Promise((resolve, reject) => {
        const id = next++;
        waiting.set(id, { resolve, reject });
        say({ kind: 'call', id, method: name, args: args.filter((arg) => !(arg instanceof AbortSignal)) });
      });
  return new Proxy({}, { get: (_, name) => method(name as keyof JournalPort) }) as JournalPort;
}
