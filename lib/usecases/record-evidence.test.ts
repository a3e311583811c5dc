import { expect, it } from 'vitest';
import { epoch, runId, seq } from '@/lib/core/events/ids';
import { TestWorker } from '@/lib/testing/api-client';
import { clockedConsole, LEASE_MS } from '@/lib/testing/clocked-console';
import { type EvidenceAsk, recordEvidence } from './record-evidence';

/* The late word of a fenced worker is kept once, and never thrown away for being like another one. */

const REFUND = 'plan#1/create_refund#1';

const { api, console, pass } = clockedConsole();

/** A run whose refund was in flight when its worker was lost. */
async function lost() {
  const worker = await TestWorker.create(api);
  await worker.write(worker.enter('plan'));
  const intentSeq = await worker.write(worker.external(REFUND));
  pass(LEASE_MS);
  expect((await api.get(worker.path)).body).toMatchObject({ status: 'interrupted', effectsInDoubt: 1 });
  const post = (more: Record<string, unknown>) =>
    api.post(`${worker.path}/evidence`, { epoch: worker.epoch, intentSeq, outcome: 'happened', ...more });
  const kept = async () =>
    (await api.get(`${worker.path}/events?kinds=effect.verified`)).body.items as readonly unknown[];
  const row = async () => (await api.get(`${worker.path}/effects`)).body.items[0];
  const ask: EvidenceAsk = {
    runId: runId(worker.runId),
    epoch: epoch(worker.epoch),
    intentSeq: seq(intentSeq),
    outcome: 'happened',
    result: undefined,
    receipt: undefined,
  };
  return { ask, post, kept, row };
}

const all = { result: { value: { id: 're_1' } }, receipt: 're_1' };

it('says more the second time: what the call answered confirms it, whatever was said before', async () => {
  const { post, kept, row } = await lost();
  expect((await post({})).status).toBe(200);
  expect(await row()).toMatchObject({ status: 'in-doubt', evidence: [{ source: 'late-worker' }] });
  expect((await post(all)).status).toBe(200);
  expect(await row()).toMatchObject({ status: 'confirmed', confirmedBy: 'late-worker', receipt: 're_1' });
  expect(await kept()).toHaveLength(2);
});

it.each([
  ['an outcome', { outcome: 'unknown' }],
  ['a receipt', { receipt: 're_2' }],
  ['a result', { result: { value: { id: 're_2' } } }],
  ['no result', { result: undefined }],
  ['no receipt', { receipt: undefined }],
])('is kept where it differs from what is known in %s', async (_what, other) => {
  const { post, kept } = await lost();
  expect((await post(all)).status).toBe(200);
  expect((await post({ ...all, ...other })).status).toBe(200);
  expect(await kept()).toHaveLength(2);
});

it.each([
  ['one after the other', false],
  ['at once', true],
])('is kept once, however often it is sent: %s', async (_how, atOnce) => {
  const { ask, kept } = await lost();
  const word = { ...ask, result: all.result, receipt: all.receipt };
  const send = () => recordEvidence(console().deps, word);
  const answers = atOnce
    ? await Promise.all([send(), send(), send()])
    : [await send(), await send(), await send()];
  expect(answers).toEqual(answers.map(() => ({ ok: true, value: { headSeq: ask.intentSeq + 2 } })));
  expect(await kept()).toHaveLength(1);
});
