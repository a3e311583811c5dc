import { describe, expect, it } from 'vitest';
import { claim, TestWorker } from '@/lib/testing/api-client';
import { clockedConsole, LEASE_MS } from '@/lib/testing/clocked-console';

/*
 * A refund was sent, decided not to have happened, and sent again with other arguments: another generation. Then the lost
 * worker says that the first one did happen. That is a doubt like any other: it can be asked about, decided, and both
 * together are an alarm.
 */

const REFUND = 'plan#1/create_refund#1';

const { api, now, pass } = clockedConsole();

type Second = 'confirmed' | 'in flight' | 'refused';

/** The run after its second generation; `late` brings the word about the first one. */
async function sentTwice(second: Second) {
  const worker = await TestWorker.create(api);
  await worker.write(worker.enter('plan'));
  const first = await worker.write(worker.external(REFUND, { amount: 148 }));
  pass(LEASE_MS);
  expect((await api.get(worker.path)).body).toMatchObject({ status: 'interrupted' });
  const decisions = { [REFUND]: { intentSeq: first, outcome: 'did-not-happen' } };
  expect((await api.command(worker.runId, { mode: 'decide', decisions })).status).toBe(202);
  await claim(api, { waitMs: 0 });
  const plan = await api.plan(worker.runId, { mode: 'resume' });
  const order = { mode: 'resume', planDigest: plan.body.digest };
  expect((await api.command(worker.runId, order)).status).toBe(202);
  const holder = TestWorker.of(api, (await claim(api)).body, 'w2');
  const again = holder.external(REFUND, { amount: 133 }, { generation: 2, sendBy: now() + 500 });
  const newest = await holder.write({ ...again, attempt: 2 });
  const failure = { failure: 'rejected', error: { type: 'E', message: 'm' }, final: true, attempt: 2 };
  if (second === 'confirmed') await holder.write({ ...holder.done(REFUND, { id: 're_2' }), attempt: 2 });
  if (second === 'refused') await holder.write({ kind: 'step.failed', stepKey: REFUND, ...failure });
  const late = (more: Record<string, unknown> = {}) =>
    api.post(`${worker.path}/evidence`, {
      epoch: worker.epoch,
      intentSeq: first,
      outcome: 'happened',
      ...more,
    });
  const rows = async () => (await api.get(`${worker.path}/effects`)).body.items;
  const stop = async () => {
    await holder.write({ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'm' } });
    await holder.release('done');
  };
  return { worker, holder, first, newest, late, rows, stop };
}

const result = { value: { id: 're_1' } };

describe('late word about an older generation', () => {
  it.each(['happened', 'did-not-happen'] as const)(
    'is a doubt that a person can settle: %s',
    async (outcome) => {
      const { worker, first, late, rows, stop } = await sentTwice('confirmed');
      await stop();
      expect((await late()).status).toBe(200);
      expect((await api.get(worker.path)).body).toMatchObject({ effectsInDoubt: 1 });
      const decision = { intentSeq: first, outcome, ...(outcome === 'happened' && { result }) };
      const given = await api.command(worker.runId, { mode: 'decide', decisions: { [REFUND]: decision } });
      expect(given, JSON.stringify(given.body)).toMatchObject({ status: 202 });
      expect(await rows()).toMatchObject([
        { generation: 1, status: outcome === 'happened' ? 'confirmed' : 'failed' },
        { generation: 2, status: 'confirmed' },
      ]);
      expect((await api.get(worker.path)).body).toMatchObject({ effectsInDoubt: 0 });
      const bob = await api.command(worker.runId, { mode: 'decide', decisions: { [REFUND]: decision } });
      expect(bob).toMatchObject({ status: 409, body: { type: 'urn:rerail:problem:already-answered' } });
    },
  );

  it('is a doubt that a probe can settle', async () => {
    const { worker, first, late, rows, stop } = await sentTwice('confirmed');
    await stop();
    expect((await late()).status).toBe(200);
    const order = await api.command(worker.runId, { mode: 'verify', stepKey: REFUND });
    expect(order, JSON.stringify(order.body)).toMatchObject({ status: 202 });
    const claimed = await claim(api);
    expect(claimed.body).toMatchObject({ reason: 'verify', runId: worker.runId });
    const prober = TestWorker.of(api, claimed.body, 'w2');
    const probe = { stepKey: REFUND, intentSeq: first, source: 'probe', receipt: 're_1' };
    await prober.write(
      { kind: 'effect.verified', ...probe, outcome: 'happened', result: prober.value({ id: 're_1' }) },
      { kind: 'command.ended', commandId: order.body.commandId, outcome: 'done' },
    );
    expect(await rows()).toMatchObject([
      { generation: 1, status: 'confirmed', confirmedBy: 'probe' },
      { generation: 2, status: 'confirmed' },
    ]);
  });

  it('is settled with its own decision alone: the newer generation’s stays to be made, its probe too', async () => {
    const { worker, first, newest, late, rows } = await sentTwice('in flight');
    expect((await late()).status).toBe(200);
    pass(LEASE_MS);
    expect((await api.get(worker.path)).body).toMatchObject({ effectsInDoubt: 2 });
    const verify = await api.command(worker.runId, { mode: 'verify', stepKey: REFUND });
    expect(verify.status).toBe(202);
    const decide = (intentSeq: number) =>
      api.command(worker.runId, {
        mode: 'decide',
        decisions: { [REFUND]: { intentSeq, outcome: 'did-not-happen' } },
      });
    expect((await decide(first)).status).toBe(202);
    expect(await rows()).toMatchObject([
      { generation: 1, status: 'failed' },
      { generation: 2, status: 'in-doubt' },
    ]);
    const ends = async () =>
      (await api.get(`${worker.path}/events?kinds=command.ended`)).body.items.filter(
        (event: { commandId: string }) => event.commandId === verify.body.commandId,
      );
    expect(await ends()).toEqual([]);
    expect((await decide(newest)).status).toBe(202);
    expect(await ends()).toMatchObject([{ outcome: 'withdrawn' }]);
    expect((await api.get(worker.path)).body).toMatchObject({ effectsInDoubt: 0 });
  });

  it('takes no run from its holder, who has sent the step again since', async () => {
    const worker = await TestWorker.create(api);
    await worker.write(worker.enter('plan'));
    const first = await worker.write(worker.external(REFUND, { amount: 148 }));
    const failure = { failure: 'not-sent', error: { type: 'E', message: 'm' }, final: false, attempt: 1 };
    await worker.write({ kind: 'step.failed', stepKey: REFUND, ...failure });
    const again = worker.external(REFUND, { amount: 133 }, { generation: 2, sendBy: now() + 500 });
    await worker.write({ ...again, attempt: 2 });
    const word = { epoch: worker.epoch, intentSeq: first, outcome: 'happened' };
    expect((await api.post(`${worker.path}/evidence`, word)).status).toBe(200);
    const decisions = { [REFUND]: { intentSeq: first, outcome: 'did-not-happen' } };
    expect(await api.command(worker.runId, { mode: 'decide', decisions })).toMatchObject({ status: 202 });
    expect((await worker.append({ ...worker.done(REFUND), attempt: 2 })).status).toBe(200);
  });

  it('names the newest attempt where the decision is about none that is recorded', async () => {
    const { worker, newest, stop } = await sentTwice('confirmed');
    await stop();
    const decisions = { [REFUND]: { intentSeq: 999, outcome: 'did-not-happen' } };
    expect(await api.command(worker.runId, { mode: 'decide', decisions })).toMatchObject({
      status: 409,
      body: { type: 'urn:rerail:problem:intent-changed', intentSeq: newest },
    });
  });

  it.each([
    ['confirmed', { result }, true],
    ['confirmed', {}, true],
    ['in flight', { result }, true],
    ['refused', { result }, false],
  ] as const)(
    'is an alarm where the newer one was sent too: %s, told with %j',
    async (second, word, alarm) => {
      const { worker, late, rows } = await sentTwice(second);
      const badges = async () => (await api.get(worker.path)).body.badges;
      expect((await rows()).map((row: { perhapsTwice: boolean }) => row.perhapsTwice)).toEqual([
        false,
        false,
      ]);
      expect(await badges()).not.toContain('perhaps-twice');
      expect((await late(word)).status).toBe(200);
      expect((await badges()).includes('perhaps-twice')).toBe(alarm);
      expect((await rows()).some((row: { perhapsTwice: boolean }) => row.perhapsTwice)).toBe(alarm);
    },
  );
});
