import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { root } from './paths.mjs';

const PATIENCE_MS = 10_000;
/** A killed process stays visible until its parent looks; an inherited one may never be looked at. */
const KILLED_WITHIN_MS = 2_000;
const preload = new URL('./stop-with-parent.mjs', import.meta.url).href;

/** True while the process exists; with a negative number, while one of the group that it leads does. */
export function lives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone: that is what was wanted.
  }
}

async function groupGone(pid, withinMs) {
  const giveUpAt = Date.now() + withinMs;
  while (lives(-pid) && Date.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 25));
}

/**
 * Starts a Node program as leader of a process group of its own, so that Ctrl-C reaches only us and we end it in
 * order. What it prints goes to `logFile`, or nowhere where that cannot be written; `onLine` sees each line of its
 * standard output.
 */
export function startChild(script, { args = [], env = {}, logFile, onLine = () => {} }) {
  mkdirSync(dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile, { flags: 'a' });
  log.on('error', (error) => console.error(`${logFile} cannot be written any more: ${error.message}`));
  const child = spawn(process.execPath, ['--import', preload, script, ...args], {
    cwd: root,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });
  let tail = '';
  let rest = '';
  const keep = (chunk) => {
    if (log.writable) log.write(chunk);
    tail = (tail + chunk).slice(-4_000);
  };
  child.stdout.on('data', (chunk) => {
    keep(chunk);
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  child.stderr.on('data', keep);
  const ended = new Promise((resolve) => {
    child.on('error', () => resolve(-1));
    child.on('exit', (code, signal) => resolve(code ?? signal));
  });
  return {
    ended,
    /** The end of what it printed, for a message about why it ended. */
    tail: () => tail,
    /** Asks the program to end what it started and itself; after ten seconds the group is killed. Resolves once nothing of it is left. */
    async stop() {
      if (child.pid === undefined) return;
      child.kill('SIGTERM');
      await groupGone(child.pid, PATIENCE_MS);
      killGroup(child.pid);
      await groupGone(child.pid, KILLED_WITHIN_MS);
      log.end();
    },
  };
}
