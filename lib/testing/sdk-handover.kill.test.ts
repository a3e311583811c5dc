import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { ApiClient } from './api-client';
import { type Child, startChild } from './child-process';
import { compileProgram } from './compiled';
import { startTestConsole, type TestConsole } from './test-console';

/*
 * What a rolling deployment does: a worker gets one SIGTERM in the middle of a run, another one is there. Leases are so
 * long that only a hand-over explains that the run goes on.
 */

/** Takes payments and receipts; a payment is answered when the test says so. */
class Provider {
  readonly got: string[] = [];
  readonly #server: Server;
  #held: ServerResponse[] = [];

  constructor() {
    this.#server = createServer((request, response) => this.#take(request, response));
  }

  async open(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  answer(): void {
    for (const response of this.#held.splice(0)) response.end('{"id":"p1"}');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    request.resume().on('end', () => {
      if (request.url === '/payments') this.#held.push(response);
      else response.end('{"id":"m1"}');
      this.got.push(`${request.url} ${request.headers['idempotency-key']}`);
    });
  }
}

let console: TestConsole;
let api: ApiClient;
let provider: Provider;
let program: Awaited<ReturnType<typeof compileProgram>>;
let start: (timeoutMs: number, ...task: readonly string[]) => Promise<Child>;
const children: Child[] = [];
beforeAll(async () => {
  program = await compileProgram(fileURLToPath(new URL('./sdk-handover-child.ts', import.meta.url)));
});
beforeEach(async () => {
  console = await startTestConsole({ leaseMs: 60_000 });
  api = new ApiClient(console.url);
  provider = new Provider();
  const address = await provider.open();
  start = async (timeoutMs, ...task) => {
    const child = startChild(program.file, [console.url, address, String(timeoutMs), ...task]);
    children.push(child);
    await child.line((line) => line === 'up');
    return child;
  };
});
afterEach(async () => {
  for (const child of children) child.process.kill('SIGKILL');
  await Promise.all(children.splice(0).map((child) => child.ended()));
  await provider.close();
  await console.close();
});
afterAll(() => program.remove());

const runOf = async () => (await api.get('/api/v1/runs/r')).body;
const kinds = async () =>
  ((await api.get('/api/v1/runs/r/events?after=0&limit=1000')).body.items as readonly RunEvent[]).map(
    (event) =>
      'reason' in event && event.kind === 'run.queued' ? `${event.kind} ${event.reason}` : event.kind,
  );
async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setImmediate(resolve));
}
/** A worker that has paid and got no answer yet, and was told to stop. */
async function stoppedWhilePaying(timeoutMs: number): Promise<Child> {
  const first = await start(timeoutMs, 'begin');
  await until(() => provider.got.length === 1);
  first.process.kill('SIGTERM');
  await first.line((line) =>
    line.includes('SIGTERM: handing the runs over, 1 held, 1 of them with a call out'),
  );
  return first;
}

test('one SIGTERM while a payment is out: its outcome is recorded, the run handed over, and another worker goes on without paying again', async () => {
  const other = start(30_000);
  const first = await stoppedWhilePaying(30_000);
  await other;
  // While the answer may come, the run stays with the one that waits for it.
  expect(await runOf()).toMatchObject({ status: 'running' });
  const answeredAt = performance.now();
  provider.answer();
  expect(await first.ended()).toEqual({ code: 0, signal: null });
  expect(performance.now() - answeredAt).toBeLessThan(5_000);

  await until(async () => (await runOf()).status === 'completed');
  const [, key] = provider.got[0]?.split(' ') ?? [];
  expect(provider.got).toEqual([`/payments ${key}`, expect.stringMatching(/^\/receipts ./)]);
  const { items } = (await api.get('/api/v1/runs/r/effects')).body;
  expect(items).toMatchObject([
    { stepKey: 'work#1/pay#1', status: 'confirmed', executions: 1, idempotencyKey: key },
    { stepKey: 'work#1/send_receipt#1', status: 'confirmed', executions: 1 },
  ]);
  const told = await kinds();
  const queued = told.indexOf('run.queued hand-over');
  expect(told.slice(0, queued)).toContain('step.completed');
  expect(told.filter((kind) => kind === 'run.queued hand-over')).toHaveLength(1);
  expect(told).not.toContain('run.interrupted');
  expect(first.errors()).toBe('');
}, 60_000);

test('where the answer never comes the worker ends after the time-out, and nobody pays again: the payment is in doubt', async () => {
  const first = await stoppedWhilePaying(3_000);
  const other = await start(3_000);
  const since = performance.now();
  expect(await first.ended()).toEqual({ code: 0, signal: null });
  expect(performance.now() - since).toBeLessThan(3_000 + 5_000);
  expect(await runOf()).toMatchObject({ status: 'interrupted', interruption: { cause: 'hand-over' } });
  other.process.kill('SIGTERM');
  expect(await other.ended()).toEqual({ code: 0, signal: null });
  const { items } = (await api.get('/api/v1/runs/r/effects')).body;
  expect(items).toMatchObject([{ stepKey: 'work#1/pay#1', status: 'in-doubt', executions: 1 }]);
  expect(provider.got).toHaveLength(1);
}, 60_000);
