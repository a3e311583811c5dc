import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { lives } from './child.mjs';
import { inRoot } from './paths.mjs';
import { runCommand } from './run-command.mjs';

const folder = mkdtempSync(join(tmpdir(), 'rerail-commands-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

describe('a program that is run', () => {
  it('tells its output and how it ended', async () => {
    const spoke = await runCommand('sh', ['-c', 'echo one; echo two; exit 3']);
    expect(spoke).toMatchObject({ code: 3, output: 'one\ntwo\n' });
    expect((await runCommand('sh', ['-c', 'kill -KILL $$'])).code).not.toBe(0);
    const absent = await runCommand('rerail-not-there', []);
    expect(absent.code).not.toBe(0);
    expect(absent.output).toContain('rerail-not-there');
  });

  it('does not get our NODE_ENV', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect((await runCommand('sh', ['-c', 'echo "[$NODE_ENV]"'])).output).toBe('[]\n');
  });
});

describe('what a program started', () => {
  /** A process that runs a shell with a background process, which heeds no SIGTERM; `pids` are those of the two. */
  async function runner(name, then = '') {
    const pidFile = join(folder, `${name}.pids`);
    const deaf = `trap '' TERM; while :; do sleep 1; done & echo $$ $! > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; trap - TERM; wait`;
    const file = join(folder, `${name}.mjs`);
    writeFileSync(
      file,
      `import { runCommand, stopCommands } from ${JSON.stringify(inRoot('lib/dev/run-command.mjs'))};
      void runCommand('sh', ['-c', ${JSON.stringify(deaf)}]);
      process.on('message', async () => {
        ${then}
      });`,
    );
    const child = fork(file, { execArgv: [] });
    await vi.waitFor(() => expect(existsSync(pidFile)).toBe(true), 10_000);
    const pids = readFileSync(pidFile, 'utf8').trim().split(' ').map(Number);
    expect(pids.map(lives)).toEqual([true, true]);
    return { child, pids };
  }

  it('ends with us, however we end', async () => {
    const { child, pids } = await runner('killed');
    child.kill('SIGKILL');
    await vi.waitFor(() => expect(pids.map(lives)).toEqual([false, false]), 10_000);
  });

  it('is gone when we have stopped it, and nothing is run after that', async () => {
    const { child, pids } = await runner(
      'stopped',
      `await stopCommands();
      const after = await runCommand('sh', ['-c', 'echo ran']);
      process.send({ after });`,
    );
    child.send('stop');
    const [{ after }] = await once(child, 'message');
    // Killed; whoever inherits the background process may be slow to see it off.
    await vi.waitFor(() => expect(pids.map(lives)).toEqual([false, false]), 10_000);
    expect(after).toMatchObject({ output: '' });
    expect(after.code).not.toBe(0);
    child.kill('SIGKILL');
  });
});
