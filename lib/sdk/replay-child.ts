import { spawn } from 'node:child_process';
import { assertNever } from '../core/shared/assert';
import { systemClock } from './clock';
import { failClaim } from './fail-claim';
import { GivenUp } from './http-client';
import type { AppendReply, JournalPort } from './journal-port';
import { keepLease } from './lease';
import type { FromChild, ReplayTask, ToChild } from './replay-entry';
import { installGuards } from './replay-guards';
import type { SessionEnd } from './session-deps';

/** A replay under way in a process of its own. */
export interface RunningReplay {
  readonly ended: Promise<SessionEnd>;
  isBusy(): boolean;
  handOver(): void;
  abandon(): void;
}

/**
 * The child's whole program: it is made silent before the agent's module is loaded, and finds the replay in the agent,
 * whose own copy of the SDK put it there. So it works however the worker itself was bundled.
 */
const program = `
(${installGuards.toString()})();
const say = (message) => process.send(message);
const broke = (error) => say({ kind: 'broke', message: error instanceof Error ? error.message : String(error) });
process.on('disconnect', () => process.exit(0));
process.on('uncaughtException', broke);
process.once('message', async (task) => {
  try {
    const module = await import(task.url);
    const mark = Symbol.for('rerail.agent');
    const agent = Object.values(module).find((value) => typeof value === 'object' && value !== null && mark in value && value.name === task.agent);
    if (agent === undefined) throw new Error(task.url + ' exports no agent named ' + task.agent);
    await agent[mark](agent, task);
  } catch (error) {
    broke(error);
  }
});
`;

/** Options of Node that are about one process: its program, its debugger, what watches it or runs it as a test. */
const OF_ONE_PROCESS = /^(--(inspect|debug-port|eval|print|input-type|watch|test)|-(e|p|pe)$)/;
const WITH_A_VALUE = /^(--(inspect-port|debug-port|eval|print|input-type|watch-path)|-(e|p|pe))$/;

/** Those among Node's options under which a module loads in the child as it did here. */
export function inherited(options: readonly string[]): readonly string[] {
  return options.filter(
    (option, index) => !OF_ONE_PROCESS.test(option) && !WITH_A_VALUE.test(options[index - 1] ?? ''),
  );
}

/** The same of `NODE_OPTIONS`, which has the debugger's at most. */
const INSPECTOR = /(?<=^|\s)--(inspect-port|debug-port)\s+\S+|(?<=^|\s)--(inspect|debug-port)\S*/g;

function environment(): NodeJS.ProcessEnv {
  // `node --watch` would be told by this channel what the child loads.
  const { NODE_OPTIONS, WATCH_REPORT_DEPENDENCIES: _, ...env } = process.env;
  return NODE_OPTIONS === undefined ? env : { ...env, NODE_OPTIONS: NODE_OPTIONS.replace(INSPECTOR, '') };
}

/** Starts the child. Its journal is `port`; it ends with this process. */
export function replayInChild(
  port: JournalPort,
  task: ReplayTask,
  warn: (warning: string) => void,
): RunningReplay {
  const options = inherited(process.execArgv);
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, ...options], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
    env: environment(),
  });
  // Until the child says something, which keeps the lease from then on, it may load for longer than the lease.
  const firstWord = new Promise<void>((resolve) => {
    child.once('message', () => resolve());
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  void keepLease(port, systemClock, task.claim, () => firstWord);
  const stopped = new AbortController();
  /** The last batch of the child's that is in the journal. */
  let lastBatch = 0;
  const appends = new Set<Promise<unknown>>();
  const append = async (...args: Parameters<JournalPort['append']>): Promise<AppendReply> => {
    const reply = await port.append(...args);
    if (reply.ok) lastBatch = args[1].batch;
    return reply;
  };
  const answer = async ({ id, method, args }: Extract<FromChild, { readonly kind: 'call' }>) => {
    const call = (method === 'append' ? append : port[method]) as (...args: readonly unknown[]) => unknown;
    const calling = Promise.resolve(call.call(port, ...args, stopped.signal));
    if (method === 'append') appends.add(calling);
    const reply: ToChild = await calling.then(
      (value) => ({ kind: 'answer' as const, id, value }),
      (error: unknown) => ({
        kind: 'answer' as const,
        id,
        error: error instanceof Error ? error.message : String(error),
      }),
    );
    appends.delete(calling);
    if (child.connected) child.send(reply);
  };
  /** Why it broke off; set once. */
  let reason: string | undefined;
  let end: SessionEnd | undefined;
  let isAbandoned = false;
  let isHandedOver = false;
  let isReady = false;
  let abandonNow: () => void = () => undefined;
  const abandoned = new Promise<SessionEnd>((resolve) => {
    abandonNow = () => resolve('stopped');
  });
  child.on('message', (message: FromChild) => {
    // What a broken child goes on to say is nothing that it was to do.
    if (reason !== undefined) return;
    switch (message.kind) {
      case 'call':
        void answer(message);
        return;
      case 'warning':
        warn(message.warning);
        return;
      case 'ready':
        isReady = true;
        if (isHandedOver) handOver();
        return;
      case 'broke':
        reason = message.message;
        child.kill('SIGKILL');
        return;
      case 'ended':
        end = message.end;
        child.disconnect();
        return;
      default:
        assertNever(message, 'message of a replay’s process');
    }
  });
  const gone = new Promise<void>((resolve) => {
    child.on('exit', (code, signal) => {
      reason ??= `its process ended by itself (${signal ?? code})`;
      resolve();
    });
    child.on('error', (error) => {
      // Of a process that runs it is about a message to it; how it ends is told by its exit.
      if (child.pid !== undefined) return;
      reason ??= `its process did not start: ${error.message}`;
      resolve();
    });
  });
  const work = gone.then(async (): Promise<SessionEnd> => {
    stopped.abort();
    if (end !== undefined || isAbandoned || reason === undefined) return end ?? 'stopped';
    const { runId } = task.claim;
    warn(`${runId}: the replay could not run: ${reason}`);
    // What it sent has its place before its end.
    await Promise.allSettled(appends);
    const error = Object.assign(new Error(reason), { name: 'ReplayBroke', stack: undefined });
    await failClaim(port, task.claim, error, warn, lastBatch).catch((again: unknown) => {
      if (!(again instanceof GivenUp)) warn(`${runId}: ${String(again)}`);
    });
    return 'stopped';
  });
  function handOver(): void {
    isHandedOver = true;
    // Before that there is nothing in the child which could hear of it.
    if (isReady && child.connected) child.send({ kind: 'hand-over' });
  }
  child.send(task);
  return {
    ended: Promise.race([work, abandoned]),
    isBusy: () => false,
    handOver,
    abandon: () => {
      isAbandoned = true;
      child.kill();
      abandonNow();
    },
  };
}
