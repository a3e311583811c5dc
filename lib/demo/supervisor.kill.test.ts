import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ApiClient } from '@/lib/testing/api-client';
import { ledgerLines } from '@/lib/testing/chaos/promises';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { exitOf, messageWith } from './processes';

const folder = mkdtempSync(join(tmpdir(), 'rerail-demo-'));
const built = join(folder, 'built');
const PATIENCE = { timeout: 120_000, interval: 100 };
const children: ChildProcess[] = [];
let console: TestConsole;
let dataDir: string;

beforeAll(() => {
  execFileSync(process.execPath, ['lib/demo/build.mjs', built]);
});
beforeEach(async () => {
  console = await startTestConsole({ leaseMs: 5_000 });
  dataDir = mkdtempSync(join(folder, 'data-'));
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(children.splice(0).map(exitOf));
  await console.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program of the demo with `env` added to what it needs, and what it printed. */
function startProgram(file: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, RERAIL_CONSOLE_URL: console.url, RERAIL_DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return {
    child,
    output: () => output,
    heard: (pattern: RegExp) => vi.waitFor(() => expect(output).toMatch(pattern), PATIENCE),
    async stop() {
      child.kill('SIGTERM');
      await exitOf(child);
      expect(child.exitCode, output).toBe(0);
    },
  };
}
const startDemo = (env: Readonly<Record<string, string>> = {}) =>
  startProgram(join(built, 'supervisor.mjs'), env);

interface Summary {
  readonly status: string;
  readonly effectsInDoubt: number;
}
const summaryOf = async (runId: string): Promise<Summary | undefined> => {
  const answer = await fetch(`${console.url}/api/v1/runs/${runId}`);
  return answer.ok ? ((await answer.json()) as Summary) : undefined;
};
const runIds = async () => {
  const answer = await fetch(`${console.url}/api/v1/runs?limit=100`);
  const { items } = (await answer.json()) as { readonly items: readonly { readonly id: string }[] };
  return items.map(({ id }) => id).sort();
};

it('says which stories did not come out, goes on, and tells them again on the next start', async () => {
  const refusing = createServer((_, response) => response.writeHead(401).end('wrong key'));
  refusing.listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`;
  const first = startDemo({ RERAIL_LLM_URL: url });
  await first.heard(/^demo: ready$/m);
  refusing.close();
  const names = ['completed', 'failed', 'killed', 'waiting'];
  for (const name of names) expect(first.output()).toContain(`demo: the story "${name}" did not come out`);
  await first.stop();

  const second = startDemo();
  await second.heard(/^demo: ready$/m);
  expect(second.output()).not.toContain('did not come out');
  expect(await summaryOf('demo-completed-2')).toMatchObject({ status: 'completed', effectsInDoubt: 0 });
  expect(await summaryOf('demo-waiting-2')).toMatchObject({ status: 'waiting' });
  expect(await summaryOf('demo-failed-2')).toMatchObject({ status: 'failed', effectsInDoubt: 0 });
  await vi.waitFor(async () => {
    expect(await summaryOf('demo-killed-2')).toMatchObject({ status: 'interrupted', effectsInDoubt: 1 });
  }, PATIENCE);
  await second.stop();

  const third = startDemo();
  await third.heard(/^demo: ready$/m);
  expect(await runIds()).toEqual(names.flatMap((name) => [`demo-${name}`, `demo-${name}-2`]));
  await third.stop();
}, 400_000);

it('shows what README.md says although it was stopped in the middle of its first story', async () => {
  const first = startDemo();
  await vi.waitFor(async () => expect(await runIds()).toEqual(['demo-killed']), PATIENCE);
  await first.stop();
  const second = startDemo();
  await second.heard(/^demo: ready$/m);
  const ids = await runIds();
  expect(ids).toEqual(expect.arrayContaining(['demo-completed', 'demo-failed', 'demo-waiting']));
  // The story was seen to its end, or, where that took too long, told once more.
  const told = ids.filter((id) => id.startsWith('demo-killed')).at(-1) ?? '';
  await vi.waitFor(async () => {
    expect(await summaryOf(told)).toMatchObject({ status: 'interrupted', effectsInDoubt: 1 });
  }, PATIENCE);
  await second.stop();
}, 300_000);

it('has a worker that ends at once when it is asked to before it is up', async () => {
  const loading = mkdtempSync(join(folder, 'loading-'));
  execFileSync(process.execPath, ['lib/demo/build.mjs', loading]);
  writeFileSync(
    join(loading, 'refund-desk.mjs'),
    'process.send({ loading: true }); setInterval(() => {}, 1_000); await new Promise(() => {});',
  );
  const { child } = startProgram(join(loading, 'worker.mjs'));
  await messageWith(child, 'loading');
  child.kill('SIGTERM');
  await exitOf(child);
  expect(child.signalCode).toBe('SIGTERM');
});

/** What the payment provider and the mail service were asked for, in order. */
const sent = (): readonly string[] =>
  ledgerLines(readFileSync(join(dataDir, 'demo', 'ledger.jsonl'), 'utf8')).map(({ operation }) => operation);

it('hands over a run whose refund is out when it is told to stop: the answer is recorded, and the next start ends it without a second refund', async () => {
  // The provider tells its address to the test, too, so that it can be made to withhold an answer.
  const telling = mkdtempSync(join(folder, 'telling-'));
  execFileSync(process.execPath, ['lib/demo/build.mjs', telling]);
  renameSync(join(telling, 'services/payments.mjs'), join(telling, 'services/payments-itself.mjs'));
  writeFileSync(
    join(telling, 'services/payments.mjs'),
    `import { writeFileSync } from 'node:fs';
    const tell = process.send.bind(process);
    process.send = (message) => {
      writeFileSync(process.env.RERAIL_DEMO_DIR + '/payments.url', message.url);
      return tell(message);
    };
    await import('./payments-itself.mjs');`,
  );
  // A tool's time-out is part of its declaration: both starts must have the same.
  const env = { RERAIL_DEMO_TIMEOUT_MS: '30000' };
  const first = startProgram(join(telling, 'supervisor.mjs'), env);
  await first.heard(/^demo: ready$/m);
  const before = sent();
  const payments = readFileSync(join(dataDir, 'demo', 'payments.url'), 'utf8');
  const control = (what: string, body: object) =>
    fetch(`${payments}/control/${what}`, { method: 'POST', body: JSON.stringify(body) });
  await control('faults', { match: 'ORD-1002', answer: 'hold' });
  const api = new ApiClient(console.url);
  const { questions } = (await api.get('/api/v1/runs/demo-waiting')).body;
  const [{ questionId, questionDigest }] = questions;
  const answered = { mode: 'answer', questionId, questionDigest, value: { approved: true } };
  expect((await api.command('demo-waiting', answered)).status).toBe(202);
  await fetch(`${payments}/control/held?match=ORD-1002`);

  const stopped = first.stop();
  await first.heard(/SIGTERM: handing the runs over, 1 held, 1 of them with a call out/);
  await control('release', { match: 'ORD-1002' });
  await stopped;
  expect(await summaryOf('demo-waiting')).toMatchObject({ status: 'queued', effectsInDoubt: 0 });
  expect(sent()).toEqual([...before, 'refund.create']);

  const second = startDemo(env);
  await vi.waitFor(async () => {
    expect(await summaryOf('demo-waiting')).toMatchObject({ status: 'completed' });
  }, PATIENCE);
  expect(sent()).toEqual([...before, 'refund.create', 'mail.send']);
  await second.stop();
}, 300_000);
