import { spawn } from 'node:child_process';
import type { JournalPort } from './journal-port';
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

/** Starts the child. Its journal is `port`; it ends with this process. */
export function replayInChild(
  port: JournalPort,
  task: ReplayTask,
  warn: (warning: string) => void,
): RunningReplay {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
    env: process.env,
  });
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
  const ended = new Promise<SessionEnd>((resolve) => {
    let end: SessionEnd = 'stopped';
    child.on('message', (message: FromChild) => {
      if (message.kind === 'call') void answer(message);
      else if (message.kind === 'warning') warn(message.warning);
      else if (message.kind === 'broke') {
        warn(`${task.claim.runId}: the replay could not run: ${message.message}`);
        void failReplay(port, task, message.message).finally(() => child.kill());
      } else {
        end = message.end;
        child.disconnect();
      }
    });
    child.on('exit', () => {
      stopped.abort();
      resolve(end);
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
    abandon: () => void child.kill(),
  };
}

/** The agent's module could not be loaded where nothing may be touched, or broke there. */
async function failReplay(port: JournalPort, { claim }: ReplayTask, message: string): Promise<void> {
  const commandId = claim.command?.commandId as Extract<ReplayCommand, string> | undefined;
  await port.append(claim.runId, {
    epoch: claim.epoch,
    batch: 1,
    seenSeq: claim.headSeq,
    events: [
      { kind: 'run.failed', cause: 'error', error: { type: 'ReplayBroke', message } },
      ...(commandId === undefined
        ? []
        : [{ kind: 'command.ended', commandId, outcome: 'refused', detail: message } as const]),
    ],
    payloads: [],
  });
  await port.release(claim, 'done');
}
type ReplayCommand = Extract<
  Parameters<JournalPort['append']>[1]['events'][number],
  { readonly kind: 'command.ended' }
>['commandId'];
