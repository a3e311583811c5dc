import { afterEach, beforeEach, expect, test } from 'vitest';
import { endedOrder } from '@/lib/client/order-events';
import type { EventOf, RunEvent } from '@/lib/core/events/run-event';
import { startWorker } from '@/lib/sdk/worker';
import { ApiClient } from './api-client';
import { desk, until } from './sdk-desk-outside';
import { startTestConsole, type TestConsole } from './test-console';
import { Wire } from './wire';

/* A real worker over HTTP, cut off for longer than its lease at the moment when its order goes live, and then back. */

let console: TestConsole;
let api: ApiClient;
let wire: Wire;
beforeEach(async () => {
  desk.made = [];
  desk.mailFails = true;
  console = await startTestConsole();
  api = new ApiClient(console.url);
  wire = new Wire(Number(new URL(console.url).port));
});
afterEach(async () => {
  await wire.close();
  await console.close();
});

test('the order is withdrawn with the lapse, taken up again, and done: journal, state, API and console tell one story', async () => {
  const warnings: string[] = [];
  let cuts = false;
  const worker = await startWorker({
    console: await wire.listen(),
    agents: [new URL('./sdk-desk.mjs', import.meta.url)],
    handleSignals: false,
    onWarning: (w) => warnings.push(w),
    onPoint: (point) => {
      // The first append of the session is the one in which its order ends.
      if (!cuts || point !== 'append:before') return;
      cuts = false;
      wire.break();
    },
  });
  const runOf = async () => (await api.get('/api/v1/runs/back')).body;
  const events = async () =>
    (await api.get('/api/v1/runs/back/events?after=0&limit=1000')).body.items as readonly RunEvent[];
  const said = () => warnings.join('; ');
  const reaches = (status: string) => until(async () => (await runOf()).status === status, said);
  await worker.start('desk', { runId: 'back', input: { order: 'o1' } });
  await reaches('waiting');
  const [{ questionId, questionDigest }] = (await runOf()).questions;
  await api.command('back', { mode: 'answer', questionId, questionDigest, value: true });
  await reaches('failed');
  await until(async () => (await runOf()).holder === null, said);
  desk.mailFails = false;

  cuts = true;
  const plan = (await api.plan('back', { mode: 'resume', from: 'latest' })).body;
  const given = await api.command('back', { mode: 'resume', from: 'latest', planDigest: plan.digest });
  expect(given.status).toBe(202);
  const { commandId } = given.body;
  const ends = async () =>
    (await events()).filter(
      (event): event is EventOf<'command.ended'> =>
        event.kind === 'command.ended' && event.commandId === commandId,
    );
  await reaches('interrupted');
  expect(await runOf()).toMatchObject({ pending: null });
  expect((await ends()).map(({ outcome }) => outcome)).toEqual(['withdrawn']);
  expect(desk.made.filter(({ name }) => name === 'send_mail')).toHaveLength(1);

  wire.cut = false;
  await reaches('completed');
  const [withdrawn, done, ...more] = await ends();
  expect([withdrawn, done, more]).toMatchObject([{ by: 'console' }, { by: 'worker', outcome: 'done' }, []]);
  expect(done?.late).toBeUndefined();
  const revived = (await events()).find((event) => event.kind === 'run.resumed' && event.revived);
  expect(revived).toMatchObject({ commandId });
  expect(revived?.seq).toBeGreaterThan(withdrawn?.seq ?? 0);
  expect(revived?.seq).toBeLessThan(done?.seq ?? 0);
  expect(await runOf()).toMatchObject({ status: 'completed', pending: null });
  expect(endedOrder([...(await events())].reverse())?.ended).toEqual(done);
  expect(desk.made.map(({ name }) => name)).toEqual([
    'find',
    'llm',
    'create_refund',
    'send_mail',
    'send_mail',
  ]);
  await worker.stop();
}, 60_000);
