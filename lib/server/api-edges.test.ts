import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { claim, TestWorker, until } from '@/lib/testing/api-client';
import { describeConsole } from '@/lib/testing/describe-console';
import { asUploaded } from '@/lib/testing/uploaded-run';

const LOOKUP = 'plan#1/lookup#1';
const REFUND = 'plan#1/create_refund#1';
const MAIL = 'plan#1/create_refund#2';

describeConsole(
  'the edges of writing and ordering',
  ({ api, console }) => {
    it('appends without a lease where the writer knows the head, 409 moved with the head where it does not', async () => {
      const worker = await TestWorker.create(api());
      const path = `${worker.path}/events`;
      expect(await api().post(path, { expectedSeq: 1, events: [worker.enter('plan')] })).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:needs-lease' },
      });
      await asUploaded(console().store, worker.runId);
      const read = worker.read(LOOKUP);
      const { payloads = [] } = worker.batch([read]);
      const body = { expectedSeq: 1, events: [worker.enter('plan'), read], payloads };
      expect(await api().post(path, { ...body, payloads: [] })).toMatchObject({
        status: 422,
        body: { type: 'urn:rerail:problem:unknown-payloads', payloads: [payloads[0]?.sha256] },
      });
      expect(await api().post(path, body)).toEqual(
        expect.objectContaining({ status: 200, body: { firstSeq: 2, headSeq: 3, others: [] } }),
      );
      expect(await api().post(path, body)).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:moved', headSeq: 3 },
      });
      const racing = await Promise.all(
        ['refund', 'close'].map((state) =>
          api().post(path, { expectedSeq: 3, events: [worker.enter(state)] }),
        ),
      );
      expect(racing.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect(await api().get(worker.path)).toMatchObject({ body: { headSeq: 4, status: 'unknown' } });
      const rewound = { kind: 'run.rewound', toSeq: 2, kept: [], commandId: 'c' };
      expect(await api().post(path, { expectedSeq: 4, events: [rewound] })).toMatchObject({
        status: 422,
        body: { type: 'urn:rerail:problem:refused-event', index: 0, event: 'run.rewound' },
      });
    });

    it('forks from the start with an edited input, deep or whole; after the first state the input is refused', async () => {
      const worker = await TestWorker.create(api(), { input: { order: 'A-17', lines: [{ amount: 148 }] } });
      await worker.write(worker.enter('plan'), worker.read(LOOKUP), worker.done(LOOKUP));
      await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'm' } });
      await worker.release('done');
      const fork = async (from: string, edits: readonly unknown[]) => {
        const plan = await api().plan(worker.runId, { mode: 'fork', from, edits });
        if (plan.status !== 200) return plan;
        return api().command(worker.runId, { mode: 'fork', from, edits, planDigest: plan.body.digest });
      };
      const inputOf = async (runId: string) => {
        const { body: state } = await api().get(`/api/v1/runs/${runId}/state`);
        return (await api().get(`/api/v1/payloads/${state.input.sha256}`)).body;
      };
      const deep = await fork('start', [{ path: '/input/lines/0/amount', value: 133.2 }]);
      expect(deep.status).toBe(202);
      expect(await inputOf(deep.body.runId)).toEqual({ order: 'A-17', lines: [{ amount: 133.2 }] });
      const whole = await fork('start', [{ path: '/input', value: 'anew' }]);
      expect(await inputOf(whole.body.runId)).toBe('anew');
      expect(await inputOf(worker.runId)).toEqual({ order: 'A-17', lines: [{ amount: 148 }] });
      const { body } = await api().get(`/api/v1/runs/${whole.body.runId}/events`);
      expect(body.items.map((event: { kind: string }) => event.kind)).toEqual([
        'command.accepted',
        'run.started',
        'run.queued',
      ]);
      expect(await fork('latest', [{ path: '/input', value: 1 }])).toMatchObject({
        status: 422,
        body: { type: 'urn:rerail:problem:edit-refused', path: '/input' },
      });
      for (const { body: run } of [deep, whole]) await api().command(run.runId, { mode: 'cancel' });
    });

    /** A failed run whose refund a person said did not happen, with a resume accepted that would send it again. */
    async function orderedAgain(stop: 'run.failed' | 'run.waiting') {
      const worker = await TestWorker.create(api());
      const intentSeq = await worker
        .write(worker.enter('plan'), worker.external(REFUND))
        .then((at) => at + 1);
      await worker.write({
        kind: 'step.failed',
        stepKey: REFUND,
        attempt: 1,
        failure: 'timeout',
        error: { type: 'Timeout', message: 'no answer' },
        final: true,
      });
      await worker.write(
        stop === 'run.failed'
          ? { kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'boom' }, stepKey: REFUND }
          : { kind: 'run.waiting', on: [{ stepKey: REFUND, for: 'in-doubt' }] },
      );
      await worker.release(stop === 'run.failed' ? 'done' : 'waiting');
      await api().command(worker.runId, {
        mode: 'decide',
        decisions: { [REFUND]: { intentSeq, outcome: 'did-not-happen' } },
      });
      const plan = await api().plan(worker.runId, { mode: 'resume' });
      expect(plan.body.steps).toContainEqual(
        expect.objectContaining({ key: REFUND, disposition: 'retry-same-key' }),
      );
      const ordered = await api().command(worker.runId, { mode: 'resume', planDigest: plan.body.digest });
      expect(ordered.status).toBe(202);
      // The fenced worker turns up late: it did happen, so the plan would now skip the refund.
      expect(
        await api().post(`${worker.path}/evidence`, {
          epoch: worker.epoch,
          intentSeq,
          outcome: 'happened',
          result: { value: { id: 're_1' } },
          receipt: 're_1',
        }),
      ).toMatchObject({ status: 200 });
      expect(await claim(api(), { waitMs: 0 })).toMatchObject({ status: 204 });
      const { body } = await api().get(`${worker.path}/events?kinds=command.ended`);
      expect(body.items.at(-1)).toMatchObject({
        commandId: ordered.body.commandId,
        outcome: 'refused',
        detail: expect.any(String),
      });
      return worker;
    }

    it('an order whose plan changed before its claim is refused, and a failed run is failed again, with its failure', async () => {
      const worker = await orderedAgain('run.failed');
      expect(await api().get(worker.path)).toMatchObject({
        body: {
          status: 'failed',
          failure: { cause: 'error', error: { message: 'boom' } },
          pending: null,
          effectsInDoubt: 0,
        },
      });
      expect((await api().get('/api/v1/runs?status=failed')).body.items).toContainEqual(
        expect.objectContaining({ id: worker.runId, status: 'failed' }),
      );
      const again = await api().plan(worker.runId, { mode: 'resume' });
      expect(again.body.steps).toContainEqual(expect.objectContaining({ key: REFUND, disposition: 'skip' }));
      expect(
        await api().command(worker.runId, { mode: 'resume', planDigest: again.body.digest }),
      ).toMatchObject({ status: 202 });
      expect(await claim(api())).toMatchObject({ status: 200, body: { runId: worker.runId } });
    });

    it('the same for a run that waited: it waits for nothing that is settled', async () => {
      const worker = await orderedAgain('run.waiting');
      expect(await api().get(worker.path)).toMatchObject({
        body: { status: 'interrupted', interruption: { cause: 'order-refused' }, effectsInDoubt: 0 },
      });
    });

    it('one decide names effects of one run: others are refused with the run to decide on, and nothing is written', async () => {
      const parent = await TestWorker.create(api());
      const doubt = async (worker: TestWorker, key: string) => {
        const at = await worker.write(worker.external(key, { amount: key }));
        await worker.write({
          kind: 'step.failed',
          stepKey: key,
          attempt: 1,
          failure: 'timeout',
          error: { type: 'Timeout', message: 'no answer' },
          final: true,
        });
        await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'm' } });
        await worker.release('done');
        return at;
      };
      await parent.write(parent.enter('plan'), parent.read(LOOKUP), parent.done(LOOKUP));
      await parent.write({
        kind: 'checkpoint.saved',
        trigger: 'manual',
        visit: 'plan#1',
        name: '',
        entrySeq: 0,
        othersSeq: 0,
      });
      const first = await doubt(parent, REFUND);
      const from = (await api().get(`${parent.path}/checkpoints`)).body.items[0].id;
      const plan = await api().plan(parent.runId, { mode: 'fork', from });
      await api().command(parent.runId, { mode: 'fork', from, planDigest: plan.body.digest });
      const claimed = await claim(api());
      const child = TestWorker.of(api(), claimed.body, 'w2');
      const second = await doubt(child, MAIL);
      const heads = async () =>
        Promise.all([parent, child].map(async ({ path }) => (await api().get(path)).body.headSeq));
      const before = await heads();
      const both = {
        mode: 'decide',
        decisions: {
          [REFUND]: { intentSeq: first, outcome: 'did-not-happen' },
          [MAIL]: { intentSeq: second, outcome: 'did-not-happen' },
        },
      };
      for (const worker of [parent, child]) {
        expect(await api().command(worker.runId, both)).toMatchObject({
          status: 422,
          body: {
            type: 'urn:rerail:problem:several-runs',
            runs: [
              { runId: parent.runId, stepKeys: [REFUND] },
              { runId: child.runId, stepKeys: [MAIL] },
            ],
          },
        });
      }
      expect(await heads()).toEqual(before);
      // The parent's effect, decided on the child: it goes to the run that owns the intent.
      const order = {
        commandId: randomUUID(),
        mode: 'decide',
        decisions: { [REFUND]: both.decisions[REFUND] },
      };
      const decided = await api().command(child.runId, order);
      expect(decided).toMatchObject({ status: 202, body: { runId: parent.runId } });
      expect(await api().command(child.runId, order)).toMatchObject({ status: 202, body: decided.body });
      expect((await heads())[1]).toBe(before[1]);
    });
  },
  { leaseMs: 30_000 },
);

describeConsole(
  'epochs that a decision closes',
  ({ api }) => {
    it('a decision about a call in flight closes the lapsed epoch: what the zombie still appends is stale', async () => {
      const worker = await TestWorker.create(api());
      await worker.write(worker.enter('plan'));
      const intentSeq = await worker.write(worker.external(REFUND));
      const decide = () =>
        api().command(worker.runId, {
          mode: 'decide',
          decisions: { [REFUND]: { intentSeq, outcome: 'happened', result: { value: { id: 're_1' } } } },
        });
      // Live: its worker may yet record the outcome, so there is nothing to decide.
      expect(await decide()).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:not-in-doubt' },
      });
      await until(
        () => api().get(worker.path),
        ({ body }) => body.effectsInDoubt === 1,
      );
      expect(await decide()).toMatchObject({ status: 202 });
      expect(await api().get(worker.path)).toMatchObject({ body: { epoch: 2, holder: null } });
      for (const reply of [
        await worker.append(worker.done(REFUND)),
        await worker.heartbeat(),
        await worker.release('done'),
      ])
        expect(reply).toMatchObject({ status: 409, body: { type: 'urn:rerail:problem:stale-epoch' } });
      const { body: state } = await api().get(`${worker.path}/effects`);
      expect(state.items).toMatchObject([{ stepKey: REFUND, status: 'confirmed', confirmedBy: 'decision' }]);
    });

    it('a decision about a doubt that the worker itself reported leaves its epoch as it is', async () => {
      const worker = await TestWorker.create(api());
      await worker.write(worker.enter('plan'));
      const intentSeq = await worker.write(worker.external(REFUND));
      await worker.write({
        kind: 'step.failed',
        stepKey: REFUND,
        attempt: 1,
        failure: 'timeout',
        error: { type: 'Timeout', message: 'no answer' },
        final: true,
      });
      expect(
        await api().command(worker.runId, {
          mode: 'decide',
          decisions: { [REFUND]: { intentSeq, outcome: 'did-not-happen' } },
        }),
      ).toMatchObject({ status: 202 });
      expect(await api().get(worker.path)).toMatchObject({ body: { epoch: 1 } });
      expect(await worker.append(worker.read(LOOKUP))).toMatchObject({ status: 200 });
    });
  },
  { leaseMs: 500 },
);
