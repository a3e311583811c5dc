import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/* Child processes of the supervisor. Each has a channel to it and ends when the channel closes. */

const script = (name: string): string => fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));

/** What is added to our own environment. */
export type Environment = Readonly<Record<string, string>>;

/** Starts a compiled part of the demo; its output goes to ours. */
export const startPart = (name: string, env: Environment): ChildProcess =>
  fork(script(name), { env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });

/** The first message that has the member `name`. Rejects when the process ends before. */
export function messageWith<Value>(child: ChildProcess, name: string): Promise<Value> {
  return new Promise((resolve, reject) => {
    const hear = (message: unknown) => {
      if (typeof message !== 'object' || message === null) return;
      if ('failed' in message) finish(() => reject(new Error(String(message.failed))));
      if (name in message) finish(() => resolve((message as Record<string, Value>)[name] as Value));
    };
    const end = (code: number | null, signal: string | null) =>
      finish(() => reject(new Error(`the process ended (${code ?? signal}) before it said ${name}`)));
    const finish = (then: () => void) => {
      child.off('message', hear);
      child.off('exit', end);
      then();
    };
    child.on('message', hear);
    child.on('exit', end);
  });
}

export const exitOf = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()));
