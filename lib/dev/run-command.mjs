import { spawn } from 'node:child_process';
import { root } from './paths.mjs';

/**
 * Runs a program to its end. `output` holds both streams in the order of arrival; with `echo` they also go to the
 * terminal as they come. `code` is -1 where the program could not be started or was killed.
 */
export function runCommand(command, args, { cwd = root, env = {}, echo = false } = {}) {
  return new Promise((resolve) => {
    const began = performance.now();
    const chunks = [];
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', CHECKPOINT_DISABLE: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const take = (chunk) => {
      chunks.push(chunk);
      if (echo) process.stdout.write(chunk);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const done = (code) =>
      resolve({ code, output: Buffer.concat(chunks).toString(), ms: performance.now() - began });
    child.on('error', (error) => {
      chunks.push(Buffer.from(`${command}: ${error.message}\n`));
      done(-1);
    });
    child.on('close', (code) => done(code ?? -1));
  });
}

/** `4.2 s`, for lines that people read. */
export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
