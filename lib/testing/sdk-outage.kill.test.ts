import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startWorker } from '@/lib/sdk/worker';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { ApiClient } from './api-client';
import { desk, until } from './sdk-desk-outside';
import { Wire } from './wire';

let console: TestConsole;
let wire: Wire;

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

test('cut off while it holds a run in the middle of a step it sends nothing more until the console is back, and loses nothing', async () => {
  // The lease outlasts the outage: what holds the next effect back is that nothing can be recorded.
  const own = await startTestConsole({ leaseMs: 60_000 });
  const line = new Wire(Number(new URL(own.url).port));
  const api = new ApiClient(own.url);
  const points: string[] = [];
  const warnings: string[] = [];
  const worker = await startWorker({
    console: await line.listen(),
    agents: [new URL('./sdk-desk.mjs', import.meta.url)],
    handleSignals: false,
    onWarning: (w) => warnings.push(w),
    onPoint: (point) => {
      points.push(point);
      if (point === 'effect:after-send' && !points.slice(0, -1).includes(point)) line.break();
    },
  });
  const said = () => `${warnings.join('; ')} ${points.join()}`;
  const runOf = async () => (await api.get('/api/v1/runs/held')).body;
  const effectsMade = () => desk.made.map(({ name }) => name).filter((name) => /refund|mail/.test(name));
  await worker.start('desk', { runId: 'held', input: { order: 'o1' } });
  await until(async () => (await runOf()).status === 'waiting', said);
  const [{ questionId, questionDigest }] = (await runOf()).questions;
  await api.command('held', { mode: 'answer', questionId, questionDigest, value: true });

  // The refund was out when the line was cut. Its answer is here, and the code has come to the mail.
  const intents = () => points.filter((point) => point === 'effect:before-intent').length;
  await until(() => intents() === 2 && warnings.some((w) => w.includes('cannot be reached')), said);
  expect((await runOf()).holder).toMatchObject({ workerId: expect.any(String) });
  expect(effectsMade()).toEqual(['create_refund']);
  expect(points.filter((point) => point === 'effect:before-send')).toHaveLength(1);

  line.cut = false;
  await until(async () => (await runOf()).status === 'completed', said);
  expect(effectsMade()).toEqual(['create_refund', 'send_mail']);
  const steps = (await api.get('/api/v1/runs/held/steps')).body.items as {
    readonly name: string;
    readonly status: string;
    readonly attempt: number;
  }[];
  expect(steps.map(({ name, status, attempt }) => [name, status, attempt])).toEqual(
    ['find', 'model', 'amount', 'approve', 'create_refund', 'send_mail'].map((name) => [
      name,
      'completed',
      1,
    ]),
  );
  await worker.stop();
  await line.close();
  await own.close();
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
