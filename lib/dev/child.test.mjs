import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { startChild } from './child.mjs';

const folder = mkdtempSync(join(tmpdir(), 'rerail-child-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

const script = (name, text) => {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, text);
  return file;
};

it.each([
  ['is a folder', folder],
  ['lies on a full disk', '/dev/full'],
])('goes on and says so once where the log %s', async (_, logFile) => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const lines = [];
  const talks = script('talks', 'for (const n of [1, 2, 3]) console.log(n);');
  const child = startChild(talks, { logFile, onLine: (line) => lines.push(line) });
  expect(await child.ended).toBe(0);
  await vi.waitFor(() => expect(lines).toEqual(['1', '2', '3']));
  await vi.waitFor(() => expect(said).toHaveBeenCalled());
  await child.stop();
  expect(said.mock.calls).toEqual([[expect.stringContaining(logFile)]]);
});

it('asks the program alone, which ends what it started in its own order', async () => {
  const part = script(
    'part',
    "process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1_000); process.send('there');",
  );
  const whole = script(
    'whole',
    `import { fork } from 'node:child_process';
    const part = fork(${JSON.stringify(part)});
    part.once('message', () => console.log('ready'));
    process.on('SIGTERM', () => {
      part.once('exit', (code, signal) => {
        console.log(code ?? signal);
        process.exit(0);
      });
      part.kill('SIGKILL');
    });`,
  );
  const lines = [];
  const child = startChild(whole, {
    logFile: join(folder, 'whole.log'),
    onLine: (line) => lines.push(line),
  });
  await vi.waitFor(() => expect(lines).toEqual(['ready']), 10_000);
  await child.stop();
  await vi.waitFor(() => expect(lines).toEqual(['ready', 'SIGKILL']));
});
