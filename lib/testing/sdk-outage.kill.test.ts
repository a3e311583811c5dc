import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startWorker } from '@/lib/sdk/worker';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { Wire } from './wire';

/** Resolves once it is so; nothing sleeps meanwhile. */
async function until(done: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  for (const from = Date.now(); !(await done()); ) {
    if (Date.now() - from > 20_000) throw new Error(`never happened: ${what()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

let console: TestConsole;
let wire: Wire;
const shared = globalThis as unknown as Record<symbol, { made: { name: string }[]; mailFails: boolean }>;
shared[Symbol.for('rerail.desk')] ??= { made: [], mailFails: false };
const desk = shared[Symbol.for('rerail.desk')] as { made: { name: string }[]; mailFails: boolean };

beforeEach(() => {
  desk.made = [];
});
beforeAll(async () => {
  console = await startTestConsole();
  wire = new Wire(Number(new URL(console.url).port));
});
afterAll(async () => {
  await wire.close();
  await console.close();
});

test('while the console cannot be reached the worker waits before the next effect, and loses nothing', async () => {
  const warnings: string[] = [];
  const worker = await startWorker({
    console: await wire.listen(),
    agents: [new URL('./sdk-desk.mjs', import.meta.url)],
    handleSignals: false,
    onWarning: (w) => warnings.push(w),
  });
  const runOf = async () =>
    (await (await fetch(`${console.url}/api/v1/runs/out`)).json()) as {
      status: string;
      questions: { questionId: string; questionDigest: string }[];
    };
  const said = () => warnings.join('; ');
  await worker.start('desk', { runId: 'out', input: { order: 'o1' } });
  await until(async () => (await runOf()).status === 'waiting', said);
  wire.break();
  const [question] = (await runOf()).questions;
  await fetch(`${console.url}/api/v1/runs/out/commands`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      commandId: 'c1',
      mode: 'answer',
      questionId: question?.questionId,
      questionDigest: question?.questionDigest,
      value: true,
    }),
  });
  await until(() => warnings.some((warning) => warning.includes('cannot be reached')), said);
  expect(desk.made.some(({ name }) => name === 'create_refund')).toBe(false);
  wire.cut = false;
  await until(async () => (await runOf()).status === 'completed', said);
  expect(desk.made.filter(({ name }) => name === 'create_refund').length).toBe(1);
  expect(warnings.some((warning) => warning.includes('answers again'))).toBe(true);
  await worker.stop();
}, 60_000);

test('a worker that stops meanwhile ends within ten seconds, and the run goes on elsewhere with nothing sent twice', async () => {
  const own = new Wire(Number(new URL(console.url).port));
  const warnings: string[] = [];
  const options = {
    agents: [new URL('./sdk-desk.mjs', import.meta.url)],
    handleSignals: false,
    onWarning: (w: string) => warnings.push(w),
  };
  const first = await startWorker({
    ...options,
    console: await own.listen(),
    onPoint: (point) => {
      if (point === 'append:after') own.break();
    },
  });
  await first.start('desk', { runId: 'stopped', input: { order: 'o1' } });
  await until(
    () => own.cut && warnings.some((warning) => warning.includes('cannot be reached')),
    () => warnings.join('; '),
  );
  const from = performance.now();
  await first.stop();
  expect(performance.now() - from).toBeLessThan(10_000);
  expect(warnings.some((warning) => warning.includes('left without being given back'))).toBe(true);
  await own.close();

  const statusOf = async () =>
    ((await (await fetch(`${console.url}/api/v1/runs/stopped`)).json()) as { status: string }).status;
  await until(
    async () => (await statusOf()) === 'interrupted',
    () => warnings.join('; '),
  );
  const post = async (path: string, body: object) => {
    const response = await fetch(`${console.url}/api/v1/runs/stopped${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { digest: string };
  };
  const second = await startWorker({ ...options, console: console.url });
  const { digest } = await post('/plan', { mode: 'resume', from: 'latest' });
  await post('/commands', {
    commandId: 'c2',
    mode: 'resume',
    from: 'latest',
    reason: '',
    planDigest: digest,
  });
  await until(
    async () => (await statusOf()) === 'waiting',
    () => warnings.join('; '),
  );
  expect(desk.made.some(({ name }) => name === 'create_refund')).toBe(false);
  await second.stop();
}, 60_000);
