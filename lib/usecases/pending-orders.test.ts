import { describe, expect, it } from 'vitest';
import { claim, TestWorker } from '@/lib/testing/api-client';
import { describeConsole } from '@/lib/testing/describe-console';

const LOOKUP = 'plan#1/lookup#1';
const REFUND = 'plan#1/create_refund#1';
const QUESTION = 'plan#1/approve#1';

describeConsole(
  'an order that its holder did not carry out',
  ({ api }) => {
    async function begun(): Promise<TestWorker> {
      const worker = await TestWorker.create(api());
      await worker.write(worker.enter('plan'), worker.read(LOOKUP), worker.done(LOOKUP));
      return worker;
    }
    const kindsOf = async (worker: TestWorker): Promise<readonly string[]> =>
      (await api().get(`${worker.path}/events?after=0`)).body.items.map(({ kind }: { kind: string }) => kind);
    const resume = async (runId: string) => {
      const plan = await api().plan(runId, { mode: 'resume' });
      return api().command(runId, { mode: 'resume', planDigest: plan.body.digest });
    };

    describe('a pause', () => {
      it('is carried out where the holder hands over before it could: the run is paused, not queued', async () => {
        const worker = await begun();
        await api().command(worker.runId, { mode: 'pause' });
        await worker.release('hand-over');
        expect((await api().get(worker.path)).body).toMatchObject({ status: 'paused', pending: null });
        expect((await kindsOf(worker)).slice(-2)).toEqual(['run.paused', 'command.ended']);
      });

      it('ends where the run ends first', async () => {
        const worker = await begun();
        await api().command(worker.runId, { mode: 'pause' });
        await worker.write({ kind: 'run.completed' });
        await worker.release('done');
        expect((await api().get(worker.path)).body).toMatchObject({ status: 'completed', pending: null });
      });

      it('ends where an effect was out when its holder handed over', async () => {
        const worker = await begun();
        await api().command(worker.runId, { mode: 'pause' });
        await worker.write(worker.external(REFUND));
        await worker.release('hand-over');
        expect((await api().get(worker.path)).body).toMatchObject({ status: 'interrupted', pending: null });
      });

      it('is not heard again by the epoch that a resume starts', async () => {
        const worker = await begun();
        await api().command(worker.runId, { mode: 'pause' });
        await worker.write({ kind: 'run.paused' });
        await worker.release('paused');
        expect((await resume(worker.runId)).status).toBe(202);
        const claimed = await claim(api());
        const next = TestWorker.of(api(), claimed.body, 'w2');
        expect((await next.heartbeat()).body.others).toEqual([]);
        expect((await next.append(next.leave('plan', 1, 'refund'))).body.others).toEqual([]);
        expect((await api().get(worker.path)).body).toMatchObject({ status: 'running' });
      });

      it('that nobody lived to carry out ends where an answer lets the run go on', async () => {
        const worker = await begun();
        await api().command(worker.runId, { mode: 'pause' });
        const asked = worker.ask(QUESTION);
        await worker.write({ ...worker.start(QUESTION, { step: 'human' }) }, asked);
        await worker.write({ kind: 'run.waiting', on: [{ stepKey: QUESTION, for: 'question' }] });
        await worker.release('waiting');
        await api().command(worker.runId, {
          mode: 'answer',
          questionId: QUESTION,
          questionDigest: asked['questionDigest'],
          value: true,
        });
        const claimed = await claim(api());
        expect(claimed.body).toMatchObject({ reason: 'answer' });
        expect((await api().get(worker.path)).body).toMatchObject({ status: 'running', pending: null });
        expect(await kindsOf(worker)).toContain('command.ended');
      });
    });

    it('a resume handed over before it went live is still an order: the next claim has its plan', async () => {
      const worker = await begun();
      await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'Error', message: 'boom' } });
      await worker.release('done');
      const given = await resume(worker.runId);
      const first = await claim(api());
      expect(first.body).toMatchObject({ reason: 'resume', command: { commandId: given.body.commandId } });
      await TestWorker.of(api(), first.body, 'w2').release('hand-over');
      expect((await api().get(worker.path)).body).toMatchObject({ status: 'queued' });
      const second = await claim(api(), { workerId: 'w3' });
      expect(second.body).toMatchObject({
        reason: 'resume',
        command: { commandId: given.body.commandId },
        plan: { digest: first.body.plan.digest },
      });
    });

    it('a replay that is handed over never goes on live: nobody may claim it', async () => {
      const worker = await begun();
      await worker.write({ kind: 'run.completed' });
      await worker.release('done');
      const seen = await claim(api(), { waitMs: 0 });
      expect(seen.status).toBe(204);
      const plan = await api().plan(worker.runId, { mode: 'replay', from: 'start' });
      const given = await api().command(worker.runId, {
        mode: 'replay',
        from: 'start',
        planDigest: plan.body.digest,
      });
      expect(given.status).toBe(202);
      const first = await claim(api());
      expect(first.body).toMatchObject({ reason: 'replay', runId: given.body.runId });
      await TestWorker.of(api(), first.body, 'w2').release('hand-over');
      expect((await api().get(`/api/v1/runs/${given.body.runId}`)).body).toMatchObject({
        status: 'interrupted',
        actions: { resume: { possible: false } },
      });
      expect((await claim(api(), { workerId: 'w3', waitMs: 0 })).status).toBe(204);
    });
  },
  { leaseMs: 60_000 },
);
