import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { runId } from '@/lib/core/events/ids';
import { machineDigestOf } from '@/lib/core/machine/drift';
import { ApiClient, claim, deskMachine, hash, TestWorker, until } from '@/lib/testing/api-client';
import { describeConsole } from '@/lib/testing/describe-console';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole } from '@/lib/testing/test-console';
import { onlyRow } from '@/lib/usecases/heartbeat';

/** Digest of a desk that declares one more state; the console knows it. */
async function otherMachine(api: ApiClient): Promise<string> {
  const machine = {
    ...deskMachine,
    states: { ...deskMachine.states, review: { transitions: [], tools: [], final: true } },
  };
  const digest = machineDigestOf(machine, hash);
  await api.put(`/api/v1/machines/${digest}`, machine);
  return digest;
}

const LOOKUP = 'plan#1/lookup#1';
const REFUND = 'plan#1/create_refund#1';
const QUESTION = 'plan#1/approve#1';

describeConsole(
  'orders',
  ({ api }) => {
    /** A worker whose run did a lookup and saved a checkpoint after it. */
    async function begun(): Promise<TestWorker> {
      const worker = await TestWorker.create(api());
      await worker.write(worker.enter('plan'), worker.read(LOOKUP), worker.done(LOOKUP));
      await worker.write({
        kind: 'checkpoint.saved',
        trigger: 'manual',
        visit: 'plan#1',
        name: '',
        entrySeq: 0,
        othersSeq: 0,
      });
      return worker;
    }

    /** The same, given back after a failure. */
    async function failed(): Promise<TestWorker> {
      const worker = await begun();
      await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'Error', message: 'boom' } });
      await worker.release('done');
      return worker;
    }

    /** The same, whose refund's outcome nobody knows. */
    async function inDoubt(
      more: Record<string, unknown> = {},
    ): Promise<TestWorker & { readonly intentSeq: number }> {
      const worker = await begun();
      const intentSeq = await worker.write(worker.external(REFUND, { amount: 148 }, more));
      await worker.write({
        kind: 'step.failed',
        stepKey: REFUND,
        attempt: 1,
        failure: 'timeout',
        error: { type: 'Timeout', message: 'no answer' },
        final: true,
      });
      await worker.write({ kind: 'run.waiting', on: [{ stepKey: REFUND, for: 'in-doubt' }] });
      await worker.release('waiting');
      return Object.assign(worker, { intentSeq });
    }

    async function waiting(): Promise<{ worker: TestWorker; questionDigest: string }> {
      const worker = await begun();
      const asked = worker.ask(QUESTION);
      await worker.write({ ...worker.start(QUESTION, { step: 'human' }) }, asked);
      await worker.write({ kind: 'run.waiting', on: [{ stepKey: QUESTION, for: 'question' }] });
      await worker.release('waiting');
      return { worker, questionDigest: String(asked['questionDigest']) };
    }

    const resumeOrder = async (worker: TestWorker, more: Record<string, unknown> = {}) => {
      const plan = await api().plan(worker.runId, { mode: 'resume', ...more });
      return { mode: 'resume', planDigest: plan.body.digest, ...more };
    };

    it('resumes a failed run: plan, order, claim with command and plan, under a new epoch', async () => {
      const worker = await failed();
      const plan = await api().plan(worker.runId, { mode: 'resume' });
      expect(plan).toMatchObject({
        status: 200,
        body: { mode: 'resume', obstacles: [], steps: [{ key: LOOKUP, disposition: 'reuse' }] },
      });
      const order = {
        commandId: `c-${randomUUID()}`,
        reason: 'try again',
        mode: 'resume',
        planDigest: plan.body.digest,
      };
      expect(await api().command(worker.runId, order)).toMatchObject({
        status: 202,
        body: { commandId: order.commandId, runId: worker.runId },
      });
      expect(await api().get(worker.path)).toMatchObject({
        body: { status: 'queued', pending: { commandId: order.commandId, mode: 'resume' } },
      });
      const claimId = randomUUID();
      const claimed = await claim(api(), { claimId });
      expect(claimed).toMatchObject({
        status: 200,
        body: {
          runId: worker.runId,
          epoch: 2,
          reason: 'resume',
          command: { commandId: order.commandId, reason: 'try again' },
          plan: { digest: plan.body.digest },
        },
      });
      expect((await claim(api(), { claimId })).body).toEqual(claimed.body);
      expect(await api().get(worker.path)).toMatchObject({
        body: { status: 'running', holder: { workerId: 'w2', mode: 'resume' } },
      });
      expect(await worker.append(worker.enter('refund'))).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:stale-epoch' },
      });
      expect(await worker.heartbeat()).toMatchObject({ status: 409 });
    });

    it('gives the same commandId its first answer, and another order under it a refusal', async () => {
      const worker = await failed();
      const order = { ...(await resumeOrder(worker)), commandId: randomUUID(), reason: 'again' };
      const first = await api().command(worker.runId, order);
      expect(first.status).toBe(202);
      await claim(api());
      expect(await api().command(worker.runId, order)).toMatchObject({ status: 202, body: first.body });
      expect(await api().command(worker.runId, { ...order, reason: 'other' })).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:command-differs' },
      });
    });

    it('S11 two people resume at once: one wins, the other is told who, and the run is claimed once', async () => {
      const worker = await failed();
      const order = await resumeOrder(worker);
      const replies = await Promise.all([
        api().command(worker.runId, order),
        api().command(worker.runId, order),
      ]);
      expect(replies.map(({ status }) => status).sort()).toEqual([202, 409]);
      const lost = replies.find(({ status }) => status === 409);
      expect(lost?.body).toMatchObject({
        type: 'urn:rerail:problem:held',
        holder: { mode: 'resume', actor: expect.any(String) },
      });
      const claims = await Promise.all([
        claim(api(), { waitMs: 300 }),
        claim(api(), { waitMs: 300, workerId: 'w3' }),
      ]);
      expect(claims.map(({ status }) => status).sort()).toEqual([200, 204]);
      const late = await api().command(worker.runId, order);
      expect(late).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:held', holder: { workerId: expect.stringMatching(/^w[23]$/) } },
      });
      const { body } = await api().get(`${worker.path}/events?kinds=command.accepted`);
      expect(body.items).toHaveLength(1);
    });

    it('refuses a plan whose content changed, with the new plan', async () => {
      const worker = await inDoubt();
      const order = await resumeOrder(worker);
      await api().command(worker.runId, {
        mode: 'decide',
        decisions: { [REFUND]: { intentSeq: worker.intentSeq, outcome: 'did-not-happen' } },
      });
      const stale = await api().command(worker.runId, order);
      expect(stale).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:stale-plan', plan: { mode: 'resume' } },
      });
      expect(stale.body.plan.digest).not.toBe(order.planDigest);
      expect(
        await api().command(worker.runId, { ...order, planDigest: stale.body.plan.digest }),
      ).toMatchObject({ status: 202 });
      expect(await claim(api())).toMatchObject({ status: 200, body: { runId: worker.runId } });
    });

    it('refuses a plan with an obstacle, naming it', async () => {
      const worker = await inDoubt();
      const refused = await api().command(worker.runId, await resumeOrder(worker));
      expect(refused).toMatchObject({
        status: 422,
        body: {
          type: 'urn:rerail:problem:blocked',
          plan: { obstacles: [{ kind: 'needs-decision', stepKey: REFUND }] },
        },
      });
    });

    it('sends a resume from an older checkpoint to rewind', async () => {
      const worker = await begun();
      const { body: first } = await api().get(`${worker.path}/checkpoints`);
      await worker.write({
        kind: 'checkpoint.saved',
        trigger: 'manual',
        visit: 'plan#1',
        name: '',
        entrySeq: 0,
        othersSeq: 0,
      });
      await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'm' } });
      await worker.release('done');
      const from = first.items[0].id;
      expect(await api().plan(worker.runId, { mode: 'resume', from })).toMatchObject({
        status: 422,
        body: { type: 'urn:rerail:problem:use-rewind' },
      });
      expect(
        await api().command(worker.runId, { mode: 'resume', from, planDigest: '0'.repeat(64) }),
      ).toMatchObject({ status: 422 });
      const plan = await api().plan(worker.runId, { mode: 'rewind', from });
      expect(
        await api().command(worker.runId, { mode: 'rewind', from, planDigest: plan.body.digest }),
      ).toMatchObject({ status: 202 });
      expect(await claim(api())).toMatchObject({
        status: 200,
        body: { runId: worker.runId, reason: 'rewind' },
      });
      expect(await api().get(worker.path)).toMatchObject({ body: { line: 1, status: 'running' } });
      const { body: checkpoints } = await api().get(`${worker.path}/checkpoints`);
      expect(checkpoints.items.map((one: { inForce: boolean }) => one.inForce)).toEqual([true, false]);
    });

    it('S10 approving twice, in two tabs at once, counts once; the second is told by whom', async () => {
      const { worker, questionDigest } = await waiting();
      const { body: run } = await api().get(worker.path);
      expect(run).toMatchObject({
        status: 'waiting',
        phase: 'waiting_human',
        questions: [{ questionId: QUESTION, status: 'open' }],
      });
      const answer = (value: unknown) =>
        api().command(worker.runId, { mode: 'answer', questionId: QUESTION, questionDigest, value });
      const replies = await Promise.all([answer(true), answer(false)]);
      expect(replies.map(({ status }) => status).sort()).toEqual([202, 409]);
      expect(await answer(true)).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:already-answered', by: expect.any(String) },
      });
      expect((await api().get(`${worker.path}/events?kinds=question.answered`)).body.items).toHaveLength(1);
      expect(await claim(api())).toMatchObject({
        status: 200,
        body: { runId: worker.runId, reason: 'answer' },
      });
    });

    it('S10 an answer to another text of the question is refused', async () => {
      const { worker } = await waiting();
      const reply = await api().command(worker.runId, {
        mode: 'answer',
        questionId: QUESTION,
        questionDigest: 'f'.repeat(64),
        value: true,
      });
      expect(reply).toMatchObject({ status: 409, body: { type: 'urn:rerail:problem:question-changed' } });
      await api().command(worker.runId, { mode: 'cancel' });
    });

    it('an answer given while the holder still has the run reaches it with its next append; given back unseen, the run is queued', async () => {
      const worker = await begun();
      const asked = worker.ask(QUESTION);
      await worker.write({ ...worker.start(QUESTION, { step: 'human' }) }, asked);
      await worker.write({ kind: 'run.waiting', on: [{ stepKey: QUESTION, for: 'question' }] });
      await api().command(worker.runId, {
        mode: 'answer',
        questionId: QUESTION,
        questionDigest: asked['questionDigest'],
        value: true,
      });
      const beat = await worker.heartbeat();
      expect(beat.body.others.map((event: { kind: string }) => event.kind)).toContain('question.answered');
      await worker.release('waiting');
      expect(await claim(api())).toMatchObject({
        status: 200,
        body: { runId: worker.runId, reason: 'answer' },
      });
    });

    it('of decisions that race one is taken, and each of the others is told by whom', async () => {
      const worker = await inDoubt();
      const replies = await Promise.all(
        Array.from({ length: 6 }, (_, i) =>
          api().command(worker.runId, {
            mode: 'decide',
            decisions: {
              [REFUND]:
                i % 2 === 0
                  ? { intentSeq: worker.intentSeq, outcome: 'did-not-happen' }
                  : { intentSeq: worker.intentSeq, outcome: 'happened', result: { value: { id: i } } },
            },
          }),
        ),
      );
      const others = replies.filter(({ status }) => status !== 202);
      expect(others).toHaveLength(replies.length - 1);
      for (const reply of others)
        expect(reply).toMatchObject({
          status: 409,
          body: { type: 'urn:rerail:problem:already-answered', by: expect.any(String) },
        });
    });

    it('decides an effect in doubt once; the second decision is told by whom, another attempt’s is refused', async () => {
      const worker = await inDoubt();
      const decide = (intentSeq: number) =>
        api().command(worker.runId, {
          mode: 'decide',
          decisions: {
            [REFUND]: { intentSeq, outcome: 'happened', result: { value: { id: 're_1' } }, receipt: 're_1' },
          },
        });
      expect(await decide(worker.intentSeq + 100)).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:intent-changed' },
      });
      expect(await decide(worker.intentSeq)).toMatchObject({ status: 202 });
      expect(await decide(worker.intentSeq)).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:already-answered', by: expect.any(String) },
      });
      expect((await api().get(`${worker.path}/effects`)).body.items).toMatchObject([
        { stepKey: REFUND, status: 'confirmed', confirmedBy: 'decision', receipt: 're_1' },
      ]);
      expect((await api().get(`${worker.path}/effects?at=${worker.intentSeq}`)).body.items).toMatchObject([
        { status: 'intended' },
      ]);
      expect(await api().get(worker.path)).toMatchObject({ body: { status: 'waiting', effectsInDoubt: 0 } });
      const plan = await api().plan(worker.runId, { mode: 'resume' });
      expect(plan.body.steps).toContainEqual(expect.objectContaining({ key: REFUND, disposition: 'skip' }));
    });

    it('has a worker verify an effect in doubt under a lease of its own, which refuses no resume', async () => {
      const worker = await inDoubt();
      expect(await api().command(worker.runId, { mode: 'verify', stepKey: REFUND })).toMatchObject({
        status: 202,
      });
      const claimed = await claim(api());
      expect(claimed).toMatchObject({
        status: 200,
        body: { runId: worker.runId, reason: 'verify', command: { mode: 'verify', stepKey: REFUND } },
      });
      expect(await api().get(worker.path)).toMatchObject({ body: { status: 'waiting' } });
      const probe = TestWorker.of(api(), claimed.body, 'w2');
      await probe.write({
        kind: 'effect.verified',
        stepKey: REFUND,
        intentSeq: worker.intentSeq,
        outcome: 'happened',
        source: 'probe',
        receipt: 're_9',
        result: probe.value({ id: 're_9' }),
        commandId: claimed.body.command.commandId,
      });
      expect(await api().command(worker.runId, await resumeOrder(worker))).toMatchObject({ status: 202 });
      await probe.write({
        kind: 'command.ended',
        commandId: claimed.body.command.commandId,
        outcome: 'done',
      });
      await probe.release('done');
      const resumed = await claim(api());
      expect(resumed).toMatchObject({ status: 200, body: { runId: worker.runId, reason: 'resume' } });
      expect(resumed.body.plan.steps).toContainEqual(
        expect.objectContaining({ key: REFUND, disposition: 'skip' }),
      );
    });

    it('does not verify what has no probe, nor what is known', async () => {
      const blind = await inDoubt({ verifiable: false });
      expect(await api().command(blind.runId, { mode: 'verify', stepKey: REFUND })).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:not-possible' },
      });
      const known = await failed();
      expect(await api().command(known.runId, { mode: 'verify', stepKey: LOOKUP })).toMatchObject({
        status: 409,
      });
    });

    it('S13 a fork that fails at once leaves every old result where it was, and says why', async () => {
      const worker = await failed();
      const before = (await api().get(`${worker.path}/events`)).body;
      const from = (await api().get(`${worker.path}/checkpoints`)).body.items[0].id;
      const plan = await api().plan(worker.runId, { mode: 'fork', from });
      const forked = await api().command(worker.runId, { mode: 'fork', from, planDigest: plan.body.digest });
      expect(forked).toMatchObject({ status: 202 });
      expect(forked.body.runId).not.toBe(worker.runId);
      const claimed = await claim(api());
      expect(claimed).toMatchObject({
        status: 200,
        body: { runId: forked.body.runId, reason: 'fork', command: { parent: { runId: worker.runId } } },
      });
      const child = TestWorker.of(api(), claimed.body, 'w2');
      await child.write({ kind: 'run.failed', cause: 'error', error: { type: 'Error', message: 'at once' } });
      await child.release('done');
      expect((await api().get(`${worker.path}/events`)).body).toEqual(before);
      const { body: run } = await api().get(child.path);
      expect(run).toMatchObject({
        status: 'failed',
        failure: { error: { message: 'at once' } },
        badges: ['fork'],
        lineage: { root: worker.runId, parent: { runId: worker.runId, mode: 'fork' } },
      });
      expect((await api().get(`${child.path}/steps`)).body.items).toMatchObject([
        { stepKey: LOOKUP, status: 'completed' },
      ]);
      expect((await api().get(worker.path)).body.lineage.children).toEqual([
        { runId: child.runId, mode: 'fork', status: 'failed' },
      ]);
    });

    it('forks with an edited variable: a new value as an event, the recorded one untouched', async () => {
      const worker = await TestWorker.create(api());
      await worker.write(
        {
          kind: 'variables.patched',
          patch: [
            { op: 'add', path: '/order', value: worker.value({ id: 'A-17', lines: [{ amount: 148 }] }) },
          ],
        },
        worker.enter('plan'),
        worker.read(LOOKUP),
        worker.done(LOOKUP),
      );
      await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'm' } });
      await worker.release('done');
      const order = {
        mode: 'fork',
        from: 'latest',
        edits: [{ path: '/variables/order/lines/0/amount', value: 133.2 }],
      };
      const plan = await api().plan(worker.runId, order);
      expect(plan.status).toBe(200);
      const forked = await api().command(worker.runId, { ...order, planDigest: plan.body.digest });
      expect(forked.status).toBe(202);
      const { body: state } = await api().get(`/api/v1/runs/${forked.body.runId}/state`);
      expect((await api().get(`/api/v1/payloads/${state.variables.order.sha256}`)).body).toEqual({
        id: 'A-17',
        lines: [{ amount: 133.2 }],
      });
      await api().command(forked.body.runId, { mode: 'cancel' });
      const { body: old } = await api().get(`${worker.path}/state`);
      expect((await api().get(`/api/v1/payloads/${old.variables.order.sha256}`)).body.lines[0].amount).toBe(
        148,
      );
    });

    it('replays as a new run that starts with the recorded input', async () => {
      const worker = await failed();
      await until(
        async () => (await api().plan(worker.runId, { mode: 'replay', from: 'start' })).body,
        (plan) => plan.obstacles.length === 0,
      );
      const plan = await api().plan(worker.runId, { mode: 'replay', from: 'start' });
      const replayed = await api().command(worker.runId, {
        mode: 'replay',
        from: 'start',
        planDigest: plan.body.digest,
      });
      expect(replayed).toMatchObject({ status: 202 });
      const claimed = await claim(api());
      expect(claimed).toMatchObject({ status: 200, body: { runId: replayed.body.runId, reason: 'replay' } });
      const { body } = await api().get(`/api/v1/runs/${replayed.body.runId}/events`);
      expect(body.items.map((event: { kind: string }) => event.kind)).toEqual([
        'command.accepted',
        'run.queued',
        'run.started',
      ]);
      expect((await api().get(`/api/v1/runs/${replayed.body.runId}`)).body).toMatchObject({
        status: 'running',
        badges: ['replay', 'replaying'],
      });
    });

    it('S20 a step that was open when the run failed is closed as unknown', async () => {
      const worker = await begun();
      await worker.write(worker.read('plan#1/lookup#2'));
      await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'm' } });
      const { body: step } = await api().get(`${worker.path}/steps/${encodeURIComponent('plan#1/lookup#2')}`);
      expect(step).toMatchObject({
        status: 'unknown',
        endedAt: expect.any(String),
        attempts: [{ outcome: 'unknown' }],
      });
      expect((await api().get(`${worker.path}/state`)).body.open).toEqual([]);
    });

    it('S06 an attempt that was started twice raises an alarm on page and list, and one that was tried again does not', async () => {
      const worker = await TestWorker.create(api(), { tags: ['s06'] });
      const step = 'plan#1/lookup#2';
      await worker.write(worker.enter('plan'), worker.read(step));
      await worker.write(
        {
          kind: 'step.failed',
          stepKey: step,
          attempt: 1,
          failure: 'unavailable',
          error: { type: 'E', message: 'm' },
          final: false,
        },
        { ...worker.read(step), attempt: 2 },
      );
      expect((await api().get(worker.path)).body).toMatchObject({
        counts: { repeatedAttempts: 0 },
        badges: [],
      });
      await worker.write({ ...worker.read(step), attempt: 2 });
      const alarmed = { counts: { repeatedAttempts: 1 }, badges: ['ran-twice'] };
      expect((await api().get(worker.path)).body).toMatchObject(alarmed);
      expect((await api().get('/api/v1/runs?tag=s06')).body.items).toMatchObject([alarmed]);
      expect((await api().get(`${worker.path}/steps/${encodeURIComponent(step)}`)).body).toMatchObject({
        attempt: 2,
        executions: 3,
      });
    });

    it('S32 what cannot be done is told with the reason, the same that the order gets', async () => {
      const worker = await failed();
      const { body: run } = await api().get(worker.path);
      expect(run.actions.resume).toEqual({ possible: true, reason: null });
      for (const mode of ['pause', 'cancel'] as const) {
        expect(run.actions[mode]).toEqual({ possible: false, reason: expect.any(String) });
        expect(await api().command(worker.runId, { mode })).toMatchObject({
          status: 409,
          body: { detail: run.actions[mode].reason },
        });
      }
      expect(run.actions.answer).toEqual({ possible: false, reason: expect.any(String) });
      expect(run.next).toMatchObject({ action: 'resume', sentence: expect.any(String) });
    });

    it('tells a live holder to pause or cancel, and lets it carry that out', async () => {
      const worker = await begun();
      expect(await api().command(worker.runId, { mode: 'pause' })).toMatchObject({ status: 202 });
      const reply = await worker.append(worker.read('plan#1/lookup#2'));
      expect(reply.body.others).toMatchObject([{ kind: 'command.accepted', mode: 'pause' }]);
      await worker.write(
        { kind: 'run.paused' },
        { kind: 'command.ended', commandId: reply.body.others[0].commandId, outcome: 'done' },
      );
      await worker.release('paused');
      expect(await api().get(worker.path)).toMatchObject({
        body: { status: 'paused', holder: null, pending: null },
      });
      expect(await api().command(worker.runId, { mode: 'cancel' })).toMatchObject({ status: 202 });
      expect(await api().get(worker.path)).toMatchObject({ body: { status: 'cancelled', epoch: 2 } });
    });

    it('hands a run over to another worker without a plan', async () => {
      const worker = await begun();
      await worker.release('hand-over');
      expect(await claim(api())).toMatchObject({
        status: 200,
        body: { runId: worker.runId, reason: 'hand-over', epoch: 2 },
      });
    });

    it('answers 204 when there is nothing to claim, and wakes a long poll when there is', async () => {
      expect(await claim(api(), { waitMs: 0 })).toMatchObject({ status: 204 });
      const polling = claim(api(), { waitMs: 20_000 });
      const worker = await begun();
      await worker.release('hand-over');
      // A poll that nothing woke would end with 204 at its time-out.
      expect(await polling).toMatchObject({ status: 200, body: { runId: worker.runId } });
    });

    it('gives no run to a worker whose machine differs', async () => {
      const worker = await begun();
      await worker.release('hand-over');
      expect(
        await claim(api(), { waitMs: 0, agents: [{ name: 'desk', machineDigest: 'e'.repeat(64) }] }),
      ).toMatchObject({ status: 204 });
      expect(await claim(api(), { waitMs: 0 })).toMatchObject({ status: 200, body: { runId: worker.runId } });
    });

    it('lists workers with what they offer and hold', async () => {
      const worker = await begun();
      await worker.release('hand-over');
      const workerId = `w-${randomUUID()}`;
      await claim(api(), { workerId });
      const { body } = await api().get('/api/v1/workers');
      expect(body.items).toContainEqual(
        expect.objectContaining({ workerId, live: true, runs: [worker.runId] }),
      );
    });

    it('404 for orders and plans of a run that is not there, 400 for orders that are none', async () => {
      expect(await api().command('nobody', { mode: 'cancel' })).toMatchObject({ status: 404 });
      expect(await api().plan('nobody', { mode: 'resume' })).toMatchObject({ status: 404 });
      expect(await api().command('nobody', { mode: 'explode' })).toMatchObject({ status: 400 });
    });
  },
  { leaseMs: 30_000 },
);

describeConsole(
  'leases',
  ({ api }) => {
    it('S19 a worker lost: once its lease lapses the run is interrupted on list, page and stream alike, and cancel works', async () => {
      const worker = await TestWorker.create(api(), { tags: ['s19'] });
      await worker.write(worker.enter('plan'), worker.external(REFUND));
      const { body: run } = await until(
        () => api().get(worker.path),
        ({ body }) => body.status !== 'running',
      );
      expect(run).toMatchObject({
        status: 'interrupted',
        holder: null,
        interruption: { cause: 'lease-lapsed', workerId: 'w1' },
      });
      const { body: list } = await api().get('/api/v1/runs?tag=s19&status=interrupted');
      expect(list.items).toMatchObject([{ id: worker.runId, status: 'interrupted' }]);
      expect((await api().get('/api/v1/runs?tag=s19&status=running')).body.items).toEqual([]);
      expect((await api().get(`${worker.path}/state`)).body.status).toBe('interrupted');
      await until(
        () => api().get(worker.path),
        ({ body }) => body.effectsInDoubt === 1,
      );
      expect(await api().command(worker.runId, { mode: 'cancel', reason: 'gone' })).toMatchObject({
        status: 202,
      });
      expect(await api().get(worker.path)).toMatchObject({
        body: { status: 'cancelled', epoch: 2, effectsInDoubt: 1, badges: ['in-doubt'] },
      });
      expect(await worker.append(worker.done(REFUND))).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:stale-epoch' },
      });
    });

    it('a heartbeat keeps the lease, and one after a lapse revives the run that nobody took', async () => {
      const worker = await TestWorker.create(api());
      await worker.write(worker.enter('plan'), worker.read(LOOKUP));
      await until(
        () => api().get(`${worker.path}/events?kinds=run.interrupted`),
        ({ body }) => body.items.length === 1,
      );
      expect(await worker.heartbeat()).toMatchObject({
        status: 200,
        body: {
          others: expect.arrayContaining([expect.objectContaining({ kind: 'run.resumed', revived: true })]),
        },
      });
      expect(await api().get(worker.path)).toMatchObject({
        body: { status: 'running', holder: { workerId: 'w1' } },
      });
      await worker.write(worker.done(LOOKUP));
    });

    it('a cancel that its holder did not live to carry out is carried out at the lapse', async () => {
      const worker = await TestWorker.create(api());
      await worker.write(worker.enter('plan'));
      await api().command(worker.runId, { mode: 'cancel' });
      await until(
        () => api().get(worker.path),
        ({ body }) => body.status === 'cancelled',
      );
    });
  },
  { leaseMs: 400 },
);

describe('claims', () => {
  it('lets no number of older runs that only other workers can take hide one from its worker', async () => {
    const console = await startTestConsole({ store: memoryStore() });
    const api = new ApiClient(console.url);
    const other = await otherMachine(api);
    for (let i = 0; i < 120; i++) {
      const foreign = await TestWorker.create(api);
      await foreign.release('hand-over');
    }
    const polling = { waitMs: 0, agents: [{ name: 'desk', machineDigest: other }] };
    expect(await claim(api, polling)).toMatchObject({ status: 204 });
    // The newest in the queue is for a machine that the others do not have.
    const { body: mine } = await api.post('/api/v1/runs', {
      workerId: 'w-mine',
      agent: 'desk',
      machineDigest: other,
    });
    await TestWorker.of(api, mine, 'w-mine').release('hand-over');
    expect(await claim(api, polling)).toMatchObject({ status: 200, body: { runId: mine.runId } });
    await console.close();
  });
});

describe('mirrors', () => {
  it('409: a copy is not resumed, cancelled or answered here', async () => {
    const store = memoryStore();
    const console = await startTestConsole({ store });
    const api = new ApiClient(console.url);
    const worker = await TestWorker.create(api);
    await worker.write(worker.enter('plan'), {
      kind: 'run.failed',
      cause: 'error',
      error: { type: 'E', message: 'm' },
    });
    await store.commit({
      runId: runId(worker.runId),
      decide: ({ run }) => ({
        ok: true,
        value: {
          value: undefined,
          change: run === undefined ? undefined : onlyRow({ ...run, home: 'mirror' }),
        },
      }),
    });
    for (const order of [
      { mode: 'resume', planDigest: '0'.repeat(64) },
      { mode: 'cancel' },
      { mode: 'pause' },
    ]) {
      expect(await api.command(worker.runId, order)).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:mirror' },
      });
    }
    expect(await worker.append(worker.enter('refund'))).toMatchObject({
      status: 409,
      body: { type: 'urn:rerail:problem:mirror' },
    });
    expect(await api.get(worker.path)).toMatchObject({
      body: { home: 'mirror', badges: ['mirror'], actions: { resume: { possible: false } } },
    });
    await console.close();
  });
});
