import { expect, it } from 'vitest';
import { claim, TestWorker } from '@/lib/testing/api-client';
import { clockedConsole, LEASE_MS } from '@/lib/testing/clocked-console';

/* A doubt is shown on the run that owns the call, whichever run's write made it so. */

const REFUND = 'plan#1/create_refund#1';

const { api, pass } = clockedConsole();

const ordered = async (runId: string, ask: Record<string, unknown>) => {
  const plan = await api.plan(runId, ask);
  const given = await api.command(runId, { ...ask, planDigest: plan.body.digest });
  expect(given.status, JSON.stringify(given.body)).toBe(202);
  return claim(api);
};
const notHappened = async (runId: string, intentSeq: number) => {
  const decisions = { [REFUND]: { intentSeq, outcome: 'did-not-happen' } };
  const given = await api.command(runId, { mode: 'decide', decisions });
  expect(given, JSON.stringify(given.body)).toMatchObject({ status: 202, body: { runId } });
};

/** What each place that shows a doubt says of the run. */
async function told(runId: string) {
  const path = `/api/v1/runs/${encodeURIComponent(runId)}`;
  const page = (await api.get(path)).body;
  const list = (await api.get('/api/v1/runs')).body.items.find((row: { id: string }) => row.id === runId);
  const state = (await api.get(`${path}/state`)).body;
  return {
    page: page.effectsInDoubt,
    list: list.effectsInDoubt,
    badge: [page, list].map(({ badges }) => badges.includes('in-doubt')),
    phases: [page.phase, list.phase, state.phase],
    next: page.next?.action,
    verify: page.actions.verify.possible,
  };
}

it('moves to the run that sent the call first, when a fork’s own call is decided not to have happened', async () => {
  const parent = await TestWorker.create(api);
  const checkpoint = { trigger: 'manual', visit: 'plan#1', name: '', entrySeq: 0, othersSeq: 0 };
  await parent.write(parent.enter('plan'), { ...checkpoint, kind: 'checkpoint.saved' });
  const first = await parent.write(parent.external(REFUND));
  pass(LEASE_MS);
  expect((await told(parent.runId)).page).toBe(1);
  await notHappened(parent.runId, first);
  await claim(api, { waitMs: 0 });

  const [{ id: from }] = (await api.get(`${parent.path}/checkpoints`)).body.items;
  const forked = await ordered(parent.runId, { mode: 'fork', from });
  expect(forked.body).toMatchObject({ reason: 'fork' });
  const fork = TestWorker.of(api, forked.body, 'w2');
  const second = await fork.write(fork.external(REFUND));
  pass(LEASE_MS);
  expect((await told(fork.runId)).page).toBe(1);
  const word = { epoch: parent.epoch, intentSeq: first, outcome: 'happened' };
  expect((await api.post(`${parent.path}/evidence`, word)).status).toBe(200);

  const settled = {
    page: 0,
    list: 0,
    badge: [false, false],
    phases: ['idle', 'idle', 'idle'],
    next: 'resume',
    verify: false,
  };
  const doubtful = {
    page: 1,
    list: 1,
    badge: [true, true],
    phases: ['waiting_human', 'waiting_human', 'waiting_human'],
    next: 'verify',
    verify: true,
  };
  expect(await told(parent.runId)).toEqual(settled);
  expect(await told(fork.runId)).toEqual(doubtful);
  await notHappened(fork.runId, second);
  expect(await told(fork.runId)).toEqual(settled);
  expect(await told(parent.runId)).toEqual(doubtful);
  await notHappened(parent.runId, first);
  expect(await told(parent.runId)).toEqual(settled);
});
