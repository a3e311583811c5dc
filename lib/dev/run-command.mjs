import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { root } from './paths.mjs';

const GUARD = fileURLToPath(new URL('./guard.mjs', import.meta.url));

/** Starts a program as part of a process group of its own, led by a guard that ends the group when we are gone. */
export const spawnGuarded = (command, args, { cwd, env }) =>
  fork(GUARD, [command, ...args], {
    cwd,
    env,
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });

const running = new Set();
let over = false;

/**
 * Runs a program to its end, without our NODE_ENV: each has its own idea of the right one, and npm would leave out what
 * builds need. `output` holds both streams in the order of arrival. `code` is 0 only where it ended well.
 */
export function runCommand(command, args, { cwd = root, env = {} } = {}) {
  if (over) return Promise.resolve({ code: 1, output: '', ms: 0 });
  return new Promise((resolve) => {
    const began = performance.now();
    const chunks = [];
    const { NODE_ENV: _ours, ...inherited } = process.env;
    const child = spawnGuarded(command, args, {
      cwd,
      env: { ...inherited, NEXT_TELEMETRY_DISABLED: '1', CHECKPOINT_DISABLE: '1', ...env },
    });
    running.add(child);
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    const done = (code) => {
      running.delete(child);
      resolve({ code, output: Buffer.concat(chunks).toString(), ms: performance.now() - began });
    };
    child.on('error', (error) => {
      chunks.push(Buffer.from(`${command}: ${error.message}\n`));
      done(1);
    });
    child.on('close', (code) => done(code ?? 1));
  });
}

/**
 * Ends every program that `runCommand` runs, with all that these started; from now on it starts none. What they were
 * run for is not told: after `disconnect` a child has no `close`.
 */
export async function stopCommands() {
  over = true;
  await Promise.all(
    [...running].map(
      (child) =>
        new Promise((resolve) => {
          child.once('exit', resolve);
          if (child.connected) child.disconnect();
        }),
    ),
  );
}

/** `4.2 s`, for lines that people read. */
export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
