import { expect, it } from 'vitest';
import { claim, TestWorker } from '@/lib/testing/api-client';
import { describeConsole } from '@/lib/testing/describe-console';

/*
 * Between the acceptance of a fork or a replay and its claim the lineage may go on. The plan is computed again at the
 * claim, from the parent as it stood when the plan was made and the ledger as it is then (DESIGN §6).
 */

const LOOKUP = 'plan#1/lookup#1';
const SECOND = 'plan#1/lookup#2';
const REFUND = 'refund#1/create_refund#1';

type Event = Record<string, unknown> & { readonly kind: string };

describeConsole(
  'a fork or replay at its claim',
  ({ api }) => {
    const boom: Event = { kind: 'run.failed', cause: 'error', error: { type: 'Error', message: 'boom' } };
    const timedOut: Event = {
      kind: 'step.failed',
      stepKey: REFUND,
      attempt: 1,
      failure: 'timeout',
      error: { type: 'Timeout', message: 'no answer' },
      final: true,
    };
    const refused: Event = { ...timedOut, failure: 'rejected', error: { type: 'No', message: 'no' } };
    const get = async (path: string) => (await api().get(path)).body;
    const pathOf = (runId: string) => `/api/v1/runs/${encodeURIComponent(runId)}`;
    const kindsOf = async (runId: string): Promise<readonly string[]> =>
      (await get(`${pathOf(runId)}/events?after=0`)).items.map(({ kind }: Event) => kind);

    async function ordered(runId: string, ask: Record<string, unknown>) {
      const plan = await api().plan(runId, ask);
      const given = await api().command(runId, { ...ask, planDigest: plan.body.digest });
      expect(given).toMatchObject({ status: 202 });
      return { id: given.body.runId as string, plan: plan.body };
    }

    /** A run that looked something up, went to `refund`, and did what `events` say there. */
    async function begun(events: (worker: TestWorker) => readonly Event[]) {
      const worker = await TestWorker.create(api());
      await worker.write(worker.enter('plan'), worker.read(LOOKUP), worker.done(LOOKUP));
      await worker.write(worker.leave('plan', 1, 'refund'), worker.enter('refund', 1, 'plan'));
      const written = events(worker);
      const first = await worker.write(...written);
      const intent = written.findIndex((event) => event['intent'] !== undefined);
      return { worker, intentSeq: first + intent };
    }
    const decide = (runId: string, intentSeq: number, outcome: 'happened' | 'did-not-happen') =>
      api().command(runId, {
        mode: 'decide',
        decisions: {
          [REFUND]: {
            intentSeq,
            outcome,
            ...(outcome === 'happened' && { result: { value: { id: 're_1' } } }),
          },
        },
      });
    const ends = async (worker: TestWorker) => {
      expect((await worker.release('done')).status).toBe(200);
    };

    async function expectRefused(id: string) {
      expect(await claim(api(), { waitMs: 0 })).toMatchObject({ status: 204 });
      expect(await get(pathOf(id))).toMatchObject({
        status: 'failed',
        pending: null,
        failure: { cause: 'refused', error: { message: expect.stringContaining('has changed') } },
        holder: null,
      });
      const kinds = await kindsOf(id);
      expect(kinds.slice(-2)).toEqual(['command.ended', 'run.failed']);
      expect(kinds).not.toContain('run.resumed');
      expect((await get(`${pathOf(id)}/events?after=0`)).items.at(-2)).toMatchObject({
        outcome: 'refused',
        detail: expect.stringContaining('has changed'),
      });
      // It starts nothing, now or later.
      expect(await claim(api(), { waitMs: 0 })).toMatchObject({ status: 204 });
    }
    async function expectClaimed(id: string, digest: string) {
      const claimed = await claim(api(), { waitMs: 0 });
      expect(claimed).toMatchObject({ status: 200, body: { runId: id, plan: { digest } } });
      await TestWorker.of(api(), claimed.body, 'w2').write({ kind: 'run.completed' });
    }

    it('refuses a fork whose effect in doubt beyond the point was decided meanwhile', async () => {
      const { worker, intentSeq } = await begun((of) => [of.external(REFUND), timedOut, boom]);
      await ends(worker);
      const { id, plan } = await ordered(worker.runId, { mode: 'fork', from: `step:${REFUND}` });
      expect(plan.steps.at(-1)).toMatchObject({ key: REFUND, disposition: 'blocked' });
      expect((await decide(worker.runId, intentSeq, 'happened')).status).toBe(202);
      await expectRefused(id);
      expect((await get(pathOf(id))).failure.error.message).toContain('create_refund: blocked, now skip');
    });

    it('refuses a fork whose effect surely did not happen, once a sibling has sent it', async () => {
      const { worker } = await begun((of) => [of.external(REFUND), refused, boom]);
      await ends(worker);
      const ask = { mode: 'fork', from: `step:${REFUND}` };
      const first = await ordered(worker.runId, ask);
      const second = await ordered(worker.runId, ask);
      expect(first.plan.steps.at(-1)).toMatchObject({ key: REFUND, disposition: 'retry-same-key' });
      const claimed = await claim(api(), { waitMs: 0 });
      expect(claimed.body).toMatchObject({ runId: first.id });
      const sibling = TestWorker.of(api(), claimed.body, 'w2');
      await sibling.write(sibling.external(REFUND, undefined, {}));
      await expectRefused(second.id);
      await sibling.write(sibling.done(REFUND), { kind: 'run.completed' });
    });

    it('refuses a fork whose effect in flight at the point was confirmed, or fell in doubt, meanwhile', async () => {
      for (const [outcome, now] of [
        [(of: TestWorker) => of.done(REFUND), 'skip'],
        [() => refused, 'retry-same-key'],
      ] as const) {
        const { worker } = await begun((of) => [of.external(REFUND)]);
        const { id } = await ordered(worker.runId, { mode: 'fork', from: `step:${REFUND}` });
        await worker.write(outcome(worker), { kind: 'run.completed' });
        await ends(worker);
        await expectRefused(id);
        expect((await get(pathOf(id))).failure.error.message).toContain(now);
      }
    });

    it('refuses a replay whose effect without a record got one', async () => {
      const { worker, intentSeq } = await begun((of) => [of.external(REFUND), timedOut, boom]);
      await ends(worker);
      const { id } = await ordered(worker.runId, { mode: 'replay', from: 'start' });
      expect((await decide(worker.runId, intentSeq, 'happened')).status).toBe(202);
      await expectRefused(id);
      expect((await get(pathOf(id))).actions.resume.possible).toBe(false);
    });

    it('gives a refused fork out again under a new plan', async () => {
      const { worker, intentSeq } = await begun((of) => [of.external(REFUND), timedOut, boom]);
      await ends(worker);
      const { id } = await ordered(worker.runId, { mode: 'fork', from: `step:${REFUND}` });
      expect((await decide(worker.runId, intentSeq, 'did-not-happen')).status).toBe(202);
      await expectRefused(id);
      const { plan } = await ordered(id, { mode: 'resume', from: 'latest' });
      await expectClaimed(id, plan.digest);
    });

    it('gives out a fork and a replay whose parent went on and sent what their plans do not speak of', async () => {
      const { worker } = await begun((of) => [of.read(SECOND)]);
      const fork = await ordered(worker.runId, { mode: 'fork', from: `step:${SECOND}` });
      const replay = await ordered(worker.runId, { mode: 'replay', from: 'start' });
      await worker.write(worker.done(SECOND), worker.external(REFUND));
      await worker.write(worker.done(REFUND), { kind: 'run.completed' });
      await ends(worker);
      await expectClaimed(fork.id, fork.plan.digest);
      await expectClaimed(replay.id, replay.plan.digest);
    });

    it('gives out a fork and a replay whose parent was rewound behind their points', async () => {
      const { worker } = await begun((of) => [of.read(SECOND), of.done(SECOND), boom]);
      await ends(worker);
      await ordered(worker.runId, { mode: 'fork', from: `step:${SECOND}` });
      const sibling = TestWorker.of(api(), (await claim(api(), { waitMs: 0 })).body, 'w2');
      const fork = await ordered(worker.runId, { mode: 'fork', from: 'latest' });
      const replay = await ordered(worker.runId, { mode: 'replay', from: 'start' });
      const rewound = await ordered(worker.runId, { mode: 'rewind', from: `step:${SECOND}` });
      await sibling.write(sibling.external(REFUND));
      await sibling.write(sibling.done(REFUND), { kind: 'run.completed' });
      await expectClaimed(fork.id, fork.plan.digest);
      await expectClaimed(replay.id, replay.plan.digest);
      await expectClaimed(rewound.id, rewound.plan.digest);
    });

    it('gives out a replay of a run that failed, after that run was resumed and completed', async () => {
      const failed: Event = { ...refused, stepKey: SECOND, failure: 'error' };
      const { worker } = await begun((of) => [of.read(SECOND), failed, { ...boom, stepKey: SECOND }]);
      await ends(worker);
      await ordered(worker.runId, { mode: 'resume', from: 'latest' });
      const claimed = await claim(api(), { waitMs: 0 });
      const again = TestWorker.of(api(), claimed.body, 'w2');
      // Ordered while the run is queued or held: the failure is what its record holds.
      const fork = await ordered(worker.runId, { mode: 'fork', from: `step:${LOOKUP}` });
      const replay = await ordered(worker.runId, { mode: 'replay', from: 'start' });
      await again.write(
        again.start(SECOND, { step: 'tool', effect: 'read', attempt: 2 }),
        { ...again.done(SECOND), attempt: 2 },
        again.external(REFUND),
      );
      await again.write(
        again.done(REFUND),
        again.leave('refund', 1, 'close'),
        again.enter('close', 1, 'refund'),
        { kind: 'run.completed' },
      );
      await ends(again);
      await expectClaimed(fork.id, fork.plan.digest);
      await expectClaimed(replay.id, replay.plan.digest);
    });
  },
  { leaseMs: 60_000 },
);
