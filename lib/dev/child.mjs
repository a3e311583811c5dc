import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { root } from './paths.mjs';

const PATIENCE_MS = 10_000;
const preload = new URL('./stop-with-parent.mjs', import.meta.url).href;

/** True while a process of the group that `pid` leads exists. */
function groupLives(pid) {
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone: that is what was wanted.
  }
}

const tick = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Starts a Node program as leader of a process group of its own, so that Ctrl-C reaches only us and we end it in
 * order. What it prints goes to `logFile`; `onLine` sees each line of its standard output.
 */
export function startChild(script, { args = [], env = {}, logFile, onLine = () => {} }) {
  mkdirSync(dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile, { flags: 'a' });
  const child = spawn(process.execPath, ['--import', preload, script, ...args], {
    cwd: root,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });
  let tail = '';
  let rest = '';
  const keep = (chunk) => {
    log.write(chunk);
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
    /** Ends the whole group: asked first, killed after ten seconds. Resolves once nothing of it is left. */
    async stop() {
      if (child.pid === undefined) return;
      signalGroup(child.pid, 'SIGTERM');
      const giveUpAt = Date.now() + PATIENCE_MS;
      while (groupLives(child.pid) && Date.now() < giveUpAt) await tick(25);
      signalGroup(child.pid, 'SIGKILL');
      while (groupLives(child.pid)) await tick(25);
      log.end();
    },
  };
}
