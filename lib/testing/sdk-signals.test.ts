import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startChild } from './child-process';
import { compileProgram } from './compiled';
import { startTestConsole, type TestConsole } from './test-console';

let console: TestConsole;
let program: Awaited<ReturnType<typeof compileProgram>>;
beforeAll(async () => {
  console = await startTestConsole();
  program = await compileProgram(fileURLToPath(new URL('./sdk-signals-child.ts', import.meta.url)));
});
afterAll(async () => {
  program.remove();
  await console.close();
});

const get = async <Body>(path: string) =>
  (await (await fetch(`${console.url}/api/v1/runs/r${path}`)).json()) as Body;
async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setImmediate(resolve));
}

test('a second SIGTERM does not end a worker in the middle of a hand-over; a second SIGINT does, and the call that was out is in doubt', async () => {
  const child = startChild(program.file, [console.url]);
  const told = (count: number) =>
    until(() => child.lines.filter((line) => line.includes('with a call out')).length >= count);
  await child.line((line) => line === 'sent');
  child.process.kill('SIGTERM');
  await told(1);
  const stoppedAt = performance.now();
  child.process.kill('SIGTERM');
  await told(2);
  child.process.kill('SIGTERM');
  await told(3);
  // The run is held as before: its lease is renewed while the answer may come.
  expect((await get<{ status: string }>('')).status).toBe('running');

  await until(() => performance.now() - stoppedAt > 600);
  child.process.kill('SIGINT');
  expect(await child.ended()).toEqual({ code: 130, signal: null });
  await until(async () => (await get<{ status: string }>('')).status === 'interrupted');
  const { items } = await get<{ items: readonly { status: string; stepKey: string }[] }>('/effects');
  expect(items).toMatchObject([{ stepKey: 'work#1/pay#1', status: 'in-doubt' }]);
}, 60_000);
