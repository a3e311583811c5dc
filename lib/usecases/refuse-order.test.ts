import { expect, it } from 'vitest';
import { claim, TestWorker } from '@/lib/testing/api-client';
import { clockedConsole, LEASE_MS } from '@/lib/testing/clocked-console';

/* What stands of an order that is refused at its claim is said as it is. */

const REFUND = 'plan#1/create_refund#1';
const MAIL = 'plan#1/create_refund#2';

const { api, pass } = clockedConsole();

const checkpoint = {
  kind: 'checkpoint.saved',
  trigger: 'manual',
  visit: 'plan#1',
  name: '',
  entrySeq: 0,
  othersSeq: 0,
};

/**
 * An interrupted run with a checkpoint and two refunds in doubt behind it. The first was decided not to have happened; so
 * was the second, unless the order decides it. The order is accepted, and then the lost worker says that the first one did
 * happen: at its claim the order is refused. What its end says.
 */
async function refusal(mode: 'resume' | 'rewind' | 'fork', decides: boolean): Promise<string> {
  const worker = await TestWorker.create(api);
  await worker.write(worker.enter('plan'), checkpoint);
  const first = await worker.write(worker.external(REFUND));
  const second = await worker.write(worker.external(MAIL));
  pass(LEASE_MS);
  expect((await api.get(worker.path)).body).toMatchObject({ status: 'interrupted', effectsInDoubt: 2 });
  const not = (intentSeq: number) => ({ intentSeq, outcome: 'did-not-happen' });
  const decisions = { [MAIL]: not(second) };
  const before = { [REFUND]: not(first), ...(decides ? {} : decisions) };
  expect((await api.command(worker.runId, { mode: 'decide', decisions: before })).status).toBe(202);
  await claim(api, { waitMs: 0 });
  const [{ id: from }] = (await api.get(`${worker.path}/checkpoints`)).body.items;
  const order = { mode, ...(mode === 'resume' ? {} : { from }), ...(decides && { decisions }) };
  const plan = await api.plan(worker.runId, order);
  const ordered = await api.command(worker.runId, { ...order, planDigest: plan.body.digest });
  expect(ordered.status, JSON.stringify(ordered.body)).toBe(202);
  const word = { outcome: 'happened', result: { value: { id: 're_1' } } };
  const evidence = { epoch: worker.epoch, intentSeq: first, ...word };
  expect((await api.post(`${worker.path}/evidence`, evidence)).status).toBe(200);
  expect((await claim(api, { waitMs: 0 })).status).toBe(204);
  const path = `/api/v1/runs/${ordered.body.runId}`;
  const end = (await api.get(`${path}/events?kinds=command.ended`)).body.items.at(-1);
  expect(end).toMatchObject({ commandId: ordered.body.commandId, outcome: 'refused' });
  return end.detail;
}

it.each([
  ['resume', false, 'Nothing of it was begun; look at the plan again.'],
  ['resume', true, 'What it decided stands; nothing else of it was begun. Look at the plan again.'],
  ['rewind', false, 'The run was taken back to seq 3; nothing else of it was begun. Look at the plan again.'],
  [
    'rewind',
    true,
    'What it decided stands, and the run was taken back to seq 3; nothing else of it was begun. Look at the plan again.',
  ],
  ['fork', false, 'Nothing of it was begun; look at the plan again.'],
] as const)('of a %s (with decisions: %s): %s', async (mode, decides, sentence) => {
  const detail = await refusal(mode, decides);
  expect(detail.slice(detail.indexOf('). ') + 3)).toBe(sentence);
});
