import { expect, it } from 'vitest';
import { TestWorker } from '@/lib/testing/api-client';
import { clockedConsole, LEASE_MS } from '@/lib/testing/clocked-console';

/*
 * One expression says which effects are in doubt (promise 12). An idempotent call that nobody finished counts as
 * external once its key is no longer valid: no event says so, so everything that shows or judges a doubt asks the clock.
 */

const VALID_MS = 3_600_000;
const NOTE = 'plan#1/add_note#1';
const REFUND = 'plan#1/create_refund#1';

const { api, now, pass } = clockedConsole();

/** A run with an idempotent call in flight, sent at `now`; what follows it goes in the same batch. */
async function noted(...more: readonly (Record<string, unknown> & { readonly kind: string })[]) {
  const worker = await TestWorker.create(api);
  const sent = { ...worker.external(NOTE, undefined, { sendBy: now() + 500 }), effect: 'idempotent' };
  const intentSeq = 1 + (await worker.write(worker.enter('plan'), sent, ...more));
  return { worker, intentSeq };
}

const timedOut = {
  kind: 'step.failed',
  stepKey: NOTE,
  attempt: 1,
  failure: 'timeout',
  error: { type: 'Timeout', message: 'no answer' },
  final: true,
};

/** What each place that shows or judges a doubt says of the run. */
async function told({ path, runId }: TestWorker) {
  const list = (await api.get('/api/v1/runs')).body.items.find((row: { id: string }) => row.id === runId);
  const page = (await api.get(path)).body;
  const effects = (await api.get(`${path}/effects`)).body.items;
  const plan = (await api.plan(runId, { mode: 'resume', from: 'latest' })).body;
  return {
    list: list.effectsInDoubt,
    page: page.effectsInDoubt,
    badge: page.badges.includes('in-doubt'),
    effects: effects.filter((row: { status: string }) => row.status === 'in-doubt').length,
    phases: [...new Set([list.phase, page.phase, (await api.get(`${path}/state`)).body.phase])],
    canVerify: page.actions.verify.possible,
    next: page.next?.action,
    plan: plan.steps.map((step: { disposition: string }) => step.disposition),
  };
}

it('an idempotent call that a dead worker left open is in doubt from the instant at which its key ends, everywhere', async () => {
  const { worker, intentSeq } = await noted();
  pass(VALID_MS - 1);
  expect(await told(worker)).toEqual({
    list: 0,
    page: 0,
    badge: false,
    effects: 0,
    phases: ['idle'],
    canVerify: false,
    next: 'resume',
    plan: ['retry-same-key'],
  });
  expect(await api.command(worker.runId, { mode: 'verify', stepKey: NOTE })).toMatchObject({ status: 409 });
  pass(1);
  expect(await told(worker)).toEqual({
    list: 1,
    page: 1,
    badge: true,
    effects: 1,
    phases: ['waiting_human'],
    canVerify: true,
    next: 'verify',
    plan: ['needs-decision'],
  });
  expect(await api.command(worker.runId, { mode: 'verify', stepKey: NOTE })).toMatchObject({ status: 202 });
  const decisions = { [NOTE]: { intentSeq, outcome: 'did-not-happen' } };
  expect(await api.command(worker.runId, { mode: 'decide', decisions })).toMatchObject({ status: 202 });
  expect(await told(worker)).toMatchObject({ list: 0, page: 0, badge: false, effects: 0, next: 'resume' });
});

it('a live worker whose call is past its key is told that the effect is in doubt, as the page is', async () => {
  const { worker } = await noted();
  for (let waited = 0; waited < VALID_MS; waited += LEASE_MS / 2) {
    pass(LEASE_MS / 2);
    await worker.heartbeat();
  }
  expect((await api.get(worker.path)).body).toMatchObject({
    status: 'running',
    phase: 'waiting_human',
    effectsInDoubt: 1,
    next: null,
  });
  const again = {
    ...worker.external(NOTE, undefined, { sendBy: now() + 500 }),
    effect: 'idempotent',
    attempt: 2,
  };
  expect(await worker.append(again)).toMatchObject({ status: 409, body: { effectStatus: 'in-doubt' } });
});

it('a call that the code gave up on, and one that a rewind left behind, are in doubt as the ledger has them', async () => {
  const given = await noted(timedOut);
  pass(VALID_MS);
  expect(await told(given.worker)).toMatchObject({ list: 1, page: 1, effects: 1, phases: ['waiting_human'] });

  const left = await noted();
  pass(LEASE_MS + 1);
  await api.get(left.worker.path);
  const ask = { mode: 'rewind', from: 'start' };
  const { digest } = (await api.plan(left.worker.runId, ask)).body;
  expect(await api.command(left.worker.runId, { ...ask, planDigest: digest })).toMatchObject({ status: 202 });
  pass(VALID_MS);
  expect(await told(left.worker)).toMatchObject({ list: 1, page: 1, effects: 1, phases: ['waiting_human'] });
});

it('a fork is not in doubt about its parent’s call: it is settled on the run that sent it', async () => {
  const { worker } = await noted();
  pass(LEASE_MS + 1);
  const ask = { mode: 'fork', from: 'latest' };
  pass(VALID_MS);
  const forked = (await api.plan(worker.runId, ask)).body;
  expect(forked.steps).toMatchObject([{ disposition: 'blocked' }]);
  expect(forked.obstacles).toMatchObject([{ kind: 'blocked' }]);
  const early = await noted();
  const refund = early.worker.external(REFUND, undefined, { sendBy: now() + 500 });
  await early.worker.write(early.worker.done(NOTE), refund);
  const { digest, ...plan } = (await api.plan(early.worker.runId, { mode: 'fork', from: 'start' })).body;
  expect(plan.obstacles).toEqual([]);
  const fork = await api.command(early.worker.runId, { mode: 'fork', from: 'start', planDigest: digest });
  pass(LEASE_MS + 1);
  expect((await api.get(early.worker.path)).body).toMatchObject({ effectsInDoubt: 1 });
  expect((await api.get(`/api/v1/runs/${fork.body.runId}`)).body).toMatchObject({ effectsInDoubt: 0 });
});
