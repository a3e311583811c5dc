import { spawn } from 'node:child_process';
import { systemClock } from './clock';
import { failClaim } from './fail-claim';
import type { JournalPort } from './journal-port';
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
process.on('disconnect', () => process.exit(0));
process.once('message', async (task) => {
  try {
    const module = await import(task.url);
    const mark = Symbol.for('rerail.agent');
    const agent = Object.values(module).find((value) => typeof value === 'object' && value !== null && mark in value && value.name === task.agent);
    if (agent === undefined) throw new Error(task.url + ' exports no agent named ' + task.agent);
    await agent[mark](agent, task);
  } catch (error) {
    say({ kind: 'broke', message: error instanceof Error ? error.message : String(error) });
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
  const answer = async ({ id, method, args }: Extract<FromChild, { readonly kind: 'call' }>) => {
    const call = port[method] as (...args: readonly unknown[]) => Promise<unknown>;
    const reply: ToChild = await call.call(port, ...args, stopped.signal).then(
      (value) => ({ kind: 'answer' as const, id, value }),
      (error: unknown) => ({
        kind: 'answer' as const,
        id,
        error: error instanceof Error ? error.message : String(error),
      }),
    );
    if (child.connected) child.send(reply);
  };
  let isBroken = false;
  let isAbandoned = false;
  const broke = async (message: string) => {
    isBroken = true;
    warn(`${task.claim.runId}: the replay could not run: ${message}`);
    const error = Object.assign(new Error(message), { name: 'ReplayBroke', stack: undefined });
    await failClaim(port, task.claim, error).catch((again: unknown) =>
      warn(`${task.claim.runId}: ${String(again)}`),
    );
  };
  const ended = new Promise<SessionEnd>((resolve) => {
    let end: SessionEnd = 'stopped';
    child.on('message', (message: FromChild) => {
      if (message.kind === 'call') void answer(message);
      else if (message.kind === 'warning') warn(message.warning);
      else if (message.kind === 'broke') {
        void broke(message.message).finally(() => child.kill());
      } else if (message.kind === 'ended') {
        end = message.end;
        child.disconnect();
      }
    });
    child.on('exit', (code, signal) => {
      stopped.abort();
      const died = end === 'stopped' && !isBroken && !isAbandoned;
      const told = died ? broke(`its process ended by itself (${signal ?? code})`) : Promise.resolve();
      void told.finally(() => resolve(end));
    });
    child.on('error', (error) => {
      warn(`${task.claim.runId}: the replay's process did not start: ${error.message}`);
      resolve('stopped');
    });
  });
  child.send(task);
  return {
    ended,
    isBusy: () => false,
    handOver: () => {
      if (child.connected) child.send({ kind: 'hand-over' });
    },
    abandon: () => {
      isAbandoned = true;
      child.kill();
    },
  };
}
