import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { Worker } from '@/lib/sdk/api';
import { startWorker } from '@/lib/sdk/worker';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { runCommand } from './sdk-commands';
import { desk } from './sdk-desk-outside';

const module = new URL('./sdk-desk.mjs', import.meta.url);

beforeAll(async () => {
  // A replay's child process loads the agent's module by itself, and with it the built package.
  await runCommand(process.execPath, [fileURLToPath(new URL('../sdk/build.mjs', import.meta.url))]);
});

describe('a worker against a console over HTTP', () => {
  let console: TestConsole;
  let worker: Worker;
  const warnings: string[] = [];

  beforeEach(async () => {
    desk.made = [];
    desk.mailFails = false;
    warnings.length = 0;
    console = await startTestConsole();
    worker = await startWorker({
      console: console.url,
      agents: [module],
      handleSignals: false,
      onWarning: (w) => warnings.push(w),
    });
  });
  afterEach(async () => {
    for (const name of ['DESK_RATE', 'DESK_CLOCK', 'DESK_TOUCH', 'DESK_BREAK', 'DESK_HANG'])
      delete process.env[name];
    await worker.stop();
    await console.close();
  });

  const api = async (path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(
      `${console.url}/api/v1${path}`,
      body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    );
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const events = async (runId: string) =>
    (await api(`/runs/${runId}/events?limit=1000`))['items'] as readonly RunEvent[];
  const until = async (runId: string, status: string) => {
    for (const from = Date.now(); ; ) {
      const run = await api(`/runs/${runId}`);
      if (run['status'] === status) return run;
      if (Date.now() - from > 15_000) {
        const journal = (await events(runId))
          .map((event) => `${event.seq} ${JSON.stringify(event).slice(0, 300)}`)
          .join('\n');
        throw new Error(
          `${runId} is ${String(run['status'])}, not ${status}\n${warnings.join('\n')}\n${journal}`,
        );
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const order = async (runId: string, mode: string, from = 'latest', options: object = {}) => {
    const plan = await api(`/runs/${runId}/plan`, { mode, from, options });
    return api(`/runs/${runId}/commands`, {
      commandId: crypto.randomUUID(),
      mode,
      from,
      options,
      reason: 'test',
      planDigest: plan['digest'],
    });
  };
  const answer = async (runId: string, value: unknown) => {
    const asked = (await api(`/runs/${runId}/questions`))['items'] as {
      questionId: string;
      questionDigest: string;
      status: string;
    }[];
    const question = asked.find(({ status }) => status === 'open');
    return api(`/runs/${runId}/commands`, {
      commandId: crypto.randomUUID(),
      mode: 'answer',
      questionId: question?.questionId,
      questionDigest: question?.questionDigest,
      value,
    });
  };
  const complete = async (runId: string) => {
    await worker.start('desk', { runId, input: { order: 'o1' } });
    await until(runId, 'waiting');
    await answer(runId, true);
    return until(runId, 'completed');
  };

  test('runs to the question, gives the lease back, and goes on with the answer without repeating anything', async () => {
    await complete('r1');
    expect(desk.made.map(({ name }) => name)).toEqual(['find', 'llm', 'create_refund', 'send_mail']);
    expect(warnings).toEqual([]);
    const run = await api('/runs/r1');
    expect(run['holder']).toBeNull();
  });

  test('S01 a turn of three tools of which the last fails: on resume only that one runs again', async () => {
    desk.mailFails = true;
    await worker.start('desk', { runId: 'r2', input: { order: 'o1' } });
    await until('r2', 'waiting');
    await answer('r2', true);
    await until('r2', 'failed');
    desk.mailFails = false;
    await order('r2', 'resume');
    await until('r2', 'completed');
    expect(desk.made.map(({ name }) => name)).toEqual([
      'find',
      'llm',
      'create_refund',
      'send_mail',
      'send_mail',
    ]);
    const [first, second] = desk.made.filter(({ name }) => name === 'send_mail');
    expect(second?.key).toBe(first?.key);
  });

  test('a replay touches nothing outside, runs pure steps again, and ends as the record did', async () => {
    await complete('r3');
    const before = desk.made.length;
    const replay = await order('r3', 'replay', 'start');
    await until(String(replay['runId']), 'completed');
    expect(desk.made.length).toBe(before);
    const journal = await events(String(replay['runId']));
    expect(journal.some((event) => event.kind === 'step.completed' && event.verdict === 'equal')).toBe(true);
    expect(journal.filter((event) => event.kind === 'step.skipped').map((event) => event.name)).toEqual([
      'create_refund',
      'send_mail',
    ]);
    expect(journal.filter((event) => event.kind === 'command.ended').map((event) => event.outcome)).toEqual([
      'done',
    ]);
  });

  test('a replay against changed code stops at the first difference and shows recorded beside new', async () => {
    await complete('r4');
    process.env['DESK_RATE'] = '2';
    const replay = await order('r4', 'replay', 'start');
    const run = await until(String(replay['runId']), 'failed');
    expect(run['failure']).toMatchObject({ cause: 'diverged' });
    const found = (await events(String(replay['runId']))).find((event) => event.kind === 'divergence.found');
    expect(found).toMatchObject({
      stepKey: 'plan#1/amount#1',
      what: 'result',
      recorded: { codec: 'json' },
      asked: { codec: 'json' },
    });
  });

  test('a replay tells that code read the clock past the context, and goes on', async () => {
    await complete('r7');
    process.env['DESK_CLOCK'] = '1';
    const replay = String((await order('r7', 'replay', 'start'))['runId']);
    await until(replay, 'completed');
    const [end] = (await events(replay)).filter((event) => event.kind === 'command.ended');
    expect(end).toMatchObject({ outcome: 'done', detail: expect.stringContaining('Date.now') as unknown });
    for (const from = Date.now(); !warnings.join().includes('Date.now'); ) {
      if (Date.now() - from > 5_000) throw new Error('the worker is not told');
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  test('a replay of code that writes a file between its steps is stopped there, and the file is not written', async () => {
    await complete('r8');
    const file = join(tmpdir(), `rerail-touched-${process.pid}`);
    process.env['DESK_TOUCH'] = file;
    const replay = String((await order('r8', 'replay', 'start'))['runId']);
    const run = await until(replay, 'failed');
    expect(run['failure']).toMatchObject({ cause: 'diverged' });
    const found = (await events(replay)).find((event) => event.kind === 'divergence.found');
    expect(found?.kind === 'divergence.found' && found.sentence).toContain(
      'touches nothing outside: fs.writeFileSync',
    );
    expect(existsSync(file)).toBe(false);
  });

  test('a replay whose process breaks off in the middle fails with the reason, and nothing of its order stays open', async () => {
    await complete('r9');
    process.env['DESK_BREAK'] = 'the till is shut';
    const replay = String((await order('r9', 'replay', 'start'))['runId']);
    const run = await until(replay, 'failed');
    expect(run).toMatchObject({
      pending: null,
      failure: { cause: 'error', error: { message: expect.stringContaining('the till is shut') as unknown } },
    });
    const journal = await events(replay);
    expect(journal.some(({ kind, by }) => kind === 'state.left' && by === 'worker')).toBe(true);
    expect(journal.filter(({ kind }) => kind === 'command.ended')).toMatchObject([
      { outcome: 'refused', detail: expect.stringContaining('the till is shut') as unknown },
    ]);
  });

  test('a replay under way is given back by a worker that stops, and its order does not stay open', async () => {
    await complete('r10');
    process.env['DESK_HANG'] = '1';
    const replay = String((await order('r10', 'replay', 'start'))['runId']);
    for (const from = Date.now(); !(await events(replay)).some(({ kind }) => kind === 'state.left'); ) {
      if (Date.now() - from > 15_000) throw new Error('the replay never left its first state');
      await new Promise((resolve) => setImmediate(resolve));
    }
    await worker.stop();
    expect(await api(`/runs/${replay}`)).toMatchObject({
      status: 'interrupted',
      holder: null,
      pending: null,
    });
    expect((await events(replay)).filter(({ kind }) => kind === 'command.ended')).toMatchObject([
      { outcome: 'withdrawn' },
    ]);
  });

  test('a fork from the visit of the refund answers it from the record and sends nothing a second time', async () => {
    await complete('r5');
    const fork = await order('r5', 'fork', 'step:refund#1/send_mail#1');
    const forked = String(fork['runId']);
    await until(forked, 'completed');
    expect((await api(`/runs/${forked}`))['lineage']).toMatchObject({ root: 'r5' });
    expect(desk.made.filter(({ name }) => name === 'create_refund').length).toBe(1);
    expect(desk.made.filter(({ name }) => name === 'send_mail').length).toBe(1);
  });

  test('a rewind to an older checkpoint asks the question again and keeps the confirmed effects', async () => {
    await complete('r6');
    const [first] = ((await api('/runs/r6/checkpoints'))['items'] as { id: string; n: number }[]).filter(
      ({ n }) => n === 1,
    );
    await order('r6', 'rewind', String(first?.id), {
      keep: ['refund#1/create_refund#1', 'refund#1/send_mail#1'],
    });
    const run = await until('r6', 'waiting');
    expect(run['line']).toBe(1);
    await answer('r6', true);
    await until('r6', 'completed');
    expect(desk.made.map(({ name }) => name)).toEqual(['find', 'llm', 'create_refund', 'send_mail']);
  });
});
