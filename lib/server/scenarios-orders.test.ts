import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { claim, type Reply, TestWorker } from '@/lib/testing/api-client';
import { describeConsole } from '@/lib/testing/describe-console';

const LOOKUP = 'plan#1/lookup#1';
const REFUND = 'plan#1/create_refund#1';

type Order = Record<string, unknown>;
/** In which order two requests arrive. */
const arrivals = ['at once', 'one after the other', 'the other way round'] as const;

async function both(
  arrival: (typeof arrivals)[number],
  one: () => Promise<Reply>,
  other: () => Promise<Reply>,
): Promise<readonly [Reply, Reply]> {
  if (arrival === 'at once') return Promise.all([one(), other()]);
  if (arrival === 'one after the other') {
    const first = await one();
    return [first, await other()];
  }
  const second = await other();
  return [await one(), second];
}

describeConsole(
  'orders that meet',
  ({ api }) => {
    /** Given back after a failure; the refund was not asked for yet. */
    async function failed(): Promise<TestWorker> {
      const worker = await TestWorker.create(api());
      await worker.write(worker.enter('plan'), worker.read(LOOKUP), worker.done(LOOKUP));
      await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'Error', message: 'boom' } });
      await worker.release('done');
      return worker;
    }

    /** Given back while nobody knows what became of its refund. */
    async function inDoubt(): Promise<{ readonly worker: TestWorker; readonly intentSeq: number }> {
      const worker = await TestWorker.create(api());
      await worker.write(worker.enter('plan'), worker.read(LOOKUP), worker.done(LOOKUP));
      const intentSeq = await worker.write(worker.external(REFUND));
      await worker.write({
        kind: 'step.failed',
        stepKey: REFUND,
        attempt: 1,
        failure: 'timeout',
        error: { type: 'Timeout', message: 'no answer' },
        final: false,
      });
      await worker.write({ kind: 'run.waiting', on: [{ stepKey: REFUND, for: 'in-doubt' }] });
      await worker.release('waiting');
      return { worker, intentSeq };
    }

    const eventsOf = async (path: string, kind: string) =>
      (await api().get(`${path}/events?kinds=${kind}`)).body.items;
    const planned = async (runId: string, ask: Order): Promise<Order> => {
      const { body } = await api().plan(runId, ask);
      return { ...ask, commandId: randomUUID(), planDigest: body.digest };
    };

    describe('S10 a decision is consumed once, whichever way it comes', () => {
      /** What each of two tabs does about the doubt. */
      const happened = (id: string) => ({
        outcome: 'happened',
        result: { value: { id } },
        receipt: id,
      });
      const said: Readonly<Record<string, Order>> = {
        'happened as A': happened('re_A'),
        'happened as B': happened('re_B'),
        'did not happen': { outcome: 'did-not-happen' },
      };
      const pairs = [
        ['decide', 'happened as A', 'decide', 'happened as A'],
        ['decide', 'happened as A', 'decide', 'happened as B'],
        ['decide', 'happened as A', 'decide', 'did not happen'],
        ['decide', 'did not happen', 'decide', 'did not happen'],
        ['resume', 'happened as A', 'decide', 'happened as A'],
        ['resume', 'happened as A', 'decide', 'happened as B'],
        ['resume', 'happened as A', 'decide', 'did not happen'],
        ['resume', 'did not happen', 'decide', 'did not happen'],
        ['resume', 'happened as A', 'resume', 'happened as A'],
        ['resume', 'happened as A', 'resume', 'happened as B'],
        ['rewind', 'happened as A', 'decide', 'happened as B'],
        ['rewind', 'happened as A', 'resume', 'happened as B'],
      ] as const;

      describe.each(pairs)('%s (%s) and %s (%s)', (one, first, other, second) => {
        it.each(arrivals)('%s', async (arrival) => {
          const { worker, intentSeq } = await inDoubt();
          const orderOf = (mode: string, what: string): Promise<Order> => {
            const decisions = { [REFUND]: { intentSeq, ...said[what] } };
            if (mode === 'decide') return Promise.resolve({ mode, decisions, commandId: randomUUID() });
            const options = mode === 'rewind' ? { from: 'start', options: { keep: [REFUND] } } : {};
            return planned(worker.runId, { mode, decisions, ...options });
          };
          // Both were prepared before either was given.
          const orders = [await orderOf(one, first), await orderOf(other, second)] as const;
          const give = (order: Order) => () => api().command(worker.runId, order);
          const replies = await both(arrival, give(orders[0]), give(orders[1]));

          expect(replies.map(({ status }) => status).sort()).toEqual([202, 409]);
          const won = replies[0].status === 202 ? 0 : 1;
          const lost = replies[1 - won] as Reply;
          expect(lost.body.type).toMatch(/:(already-answered|held|stale-plan)$/);
          if (lost.body.type.endsWith(':already-answered')) expect(lost.body.by).toEqual(expect.any(String));
          if (lost.body.type.endsWith(':held')) expect(lost.body.holder.actor).toEqual(expect.any(String));

          const winner = [first, second][won] as string;
          const decided = async () => {
            const items = await eventsOf(worker.path, 'effect.decided');
            return items.map((event: { decision: { outcome: string; receipt?: string } }) => [
              event.decision.outcome,
              event.decision.receipt,
            ]);
          };
          const told = [[said[winner]?.['outcome'], said[winner]?.['receipt']]];
          expect(await decided()).toEqual(told);
          const [effect] = (await api().get(`${worker.path}/effects`)).body.items;
          expect(effect).toMatchObject(
            winner === 'did not happen'
              ? { status: 'failed' }
              : { status: 'confirmed', receipt: said[winner]?.['receipt'] },
          );
          // The second tab again, under a new id: still told, still nothing.
          const again = await api().command(worker.runId, { ...orders[1 - won], commandId: randomUUID() });
          expect(again.status).toBe(409);
          expect(await decided()).toEqual(told);
          await claim(api(), { waitMs: 0 });
        });
      });
    });

    describe('S11 two orders for one run in the same second', () => {
      const asks: Readonly<Record<string, Order>> = {
        resume: { mode: 'resume' },
        rewind: { mode: 'rewind', from: 'start' },
        fork: { mode: 'fork', from: 'start' },
      };
      /** An order that was refused for its plan is given once more with the plan that came with the refusal. */
      const withNewPlan = async (reply: Reply, worker: TestWorker, order: Order): Promise<Reply> => {
        if (reply.status !== 409) return reply;
        expect(reply.body.type).toMatch(/:stale-plan$/);
        const { digest } = reply.body.plan;
        return api().command(worker.runId, { ...order, commandId: randomUUID(), planDigest: digest });
      };
      const pairs = [
        ['resume', 'resume'],
        ['resume', 'rewind'],
        ['rewind', 'rewind'],
      ] as const;

      describe.each(pairs)('%s and %s', (one, other) => {
        it.each(arrivals)('%s: one wins, the other is told who; the run is claimed once', async (arrival) => {
          const worker = await failed();
          const orders = [
            await planned(worker.runId, asks[one] as Order),
            await planned(worker.runId, asks[other] as Order),
          ] as const;
          const give = (order: Order) => () => api().command(worker.runId, order);
          const replies = await both(arrival, give(orders[0]), give(orders[1]));
          expect(replies.map(({ status }) => status).sort()).toEqual([202, 409]);
          const won = replies[0].status === 202 ? 0 : 1;
          const mode = [one, other][won];
          expect(replies[1 - won]?.body).toMatchObject({
            type: 'urn:rerail:problem:held',
            holder: { mode, actor: expect.any(String) },
          });
          expect(await eventsOf(worker.path, 'command.accepted')).toMatchObject([
            { commandId: orders[won]?.['commandId'], mode },
          ]);
          const claims = await Promise.all(
            ['w2', 'w3'].map((workerId) => claim(api(), { workerId, waitMs: 0 })),
          );
          expect(claims.map(({ status }) => status).sort()).toEqual([200, 204]);
          expect(claims.find(({ status }) => status === 200)?.body).toMatchObject({
            runId: worker.runId,
            reason: mode,
          });
          // While it is carried out, too.
          expect(
            await api().command(worker.runId, { ...orders[1 - won], commandId: randomUUID() }),
          ).toMatchObject({
            status: 409,
            body: { type: 'urn:rerail:problem:held', holder: { workerId: expect.stringMatching(/^w[23]$/) } },
          });
          expect((await eventsOf(worker.path, 'run.rewound')).length).toBe(mode === 'rewind' ? 1 : 0);
        });
      });

      describe.each(['resume', 'rewind', 'fork'] as const)('fork and %s', (other) => {
        it.each(arrivals)('%s: both run, and of their equal refunds one is sent', async (arrival) => {
          const worker = await failed();
          const orders = [
            await planned(worker.runId, asks['fork'] as Order),
            await planned(worker.runId, asks[other] as Order),
          ] as const;
          const give = (order: Order) => () => api().command(worker.runId, order);
          const first = await both(arrival, give(orders[0]), give(orders[1]));
          // What a rewind leaves behind is in the fork's plan, which may be another one by then.
          const replies = [await withNewPlan(first[0], worker, orders[0]), first[1]] as const;
          expect(replies.map(({ status }) => status)).toEqual([202, 202]);
          expect(replies[0].body.runId).not.toBe(replies[1].body.runId);
          const claims = await Promise.all(['w2', 'w3'].map((workerId) => claim(api(), { workerId })));
          expect(claims.map(({ body }) => body.runId).sort()).toEqual(
            replies.map(({ body }) => body.runId).sort(),
          );
          const holders = claims.map(({ body }, i) => TestWorker.of(api(), body, `w${i + 2}`));
          for (const holder of holders)
            if ((await api().get(`${holder.path}/state`)).body.visit === null)
              await holder.write(holder.enter('plan'));
          const sent = await Promise.all(holders.map((holder) => holder.append(holder.external(REFUND))));
          expect(sent.map(({ status }) => status).sort()).toEqual([200, 409]);
          const owner = holders[sent.findIndex(({ status }) => status === 200)];
          expect(sent.find(({ status }) => status === 409)?.body).toMatchObject({
            type: 'urn:rerail:problem:effect-exists',
            runId: owner?.runId,
          });
          expect((await api().get(`${worker.path}/effects`)).body.items).toMatchObject([
            { runId: owner?.runId, executions: 1, status: 'intended' },
          ]);
        });
      });
    });

    describe('S06 a step that was executed more than once for one attempt raises an alarm', () => {
      const started: Readonly<Record<string, (worker: TestWorker, key: string, attempt: number) => Order>> = {
        read: (worker, key, attempt) => ({ ...worker.read(key), attempt }),
        pure: (worker, key, attempt) => ({
          ...worker.start(key, { step: 'compute', effect: 'pure' }),
          attempt,
        }),
        llm: (worker, key, attempt) => ({ ...worker.start(key, { step: 'llm', effect: 'read' }), attempt }),
        idempotent: (worker, key, attempt) => ({ ...worker.external(key), effect: 'idempotent', attempt }),
        external: (worker, key, attempt) => ({ ...worker.external(key), attempt }),
      };
      const ended = (key: string, attempt: number): Order => ({
        kind: 'step.failed',
        stepKey: key,
        attempt,
        failure: 'not-sent',
        error: { type: 'E', message: 'm' },
        final: false,
      });
      const alarm = async (worker: TestWorker) => (await api().get(worker.path)).body;

      describe.each(Object.keys(started))('%s', (effect) => {
        const start = started[effect] as (typeof started)[string];
        const key = 'plan#1/lookup#1';

        it('its next attempt does not', async () => {
          const worker = await TestWorker.create(api());
          await worker.write(worker.enter('plan'));
          for (const attempt of [1, 2, 3]) {
            await worker.write(start(worker, key, attempt) as never);
            await worker.write(ended(key, attempt) as never);
          }
          expect(await alarm(worker)).toMatchObject({ counts: { repeatedAttempts: 0 }, badges: [] });
        });

        it.each([
          ['after it failed', (worker: TestWorker) => worker.write(ended(key, 1) as never)],
          ['while it runs', async () => undefined],
          ['after it was completed', (worker: TestWorker) => worker.write(worker.done(key))],
        ] as const)('the same attempt once more %s does, where it is taken at all', async (when, between) => {
          const worker = await TestWorker.create(api());
          await worker.write(worker.enter('plan'));
          await worker.write(start(worker, key, 1) as never);
          await between(worker);
          const again = await worker.append(start(worker, key, 1) as never);
          // What may have been sent is not sent again: the console refuses the intent.
          const isRefused =
            (effect === 'external' && when !== 'after it failed') ||
            (effect === 'idempotent' && when === 'after it was completed');
          expect(again.status).toBe(isRefused ? 409 : 200);
          expect((await alarm(worker)).counts.repeatedAttempts).toBe(isRefused ? 0 : 1);
          expect((await alarm(worker)).badges.includes('ran-twice')).toBe(!isRefused);
        });
      });
    });
  },
  { leaseMs: 60_000 },
);
