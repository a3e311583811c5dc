import { expect, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { eventsOf, oneState, stages } from '@/lib/testing/sdk-stage';
import type { Agent } from './api';
import { Rejected } from './errors';
import type { Claim, JournalPort } from './journal-port';

/* A worker that is thought dead before it went live, and lives. Its order was accepted with a plan. */

const stage = stages();

/** Fails at its last call, the first time. */
function failsOnce(): Agent {
  let asked = 0;
  return oneState(
    {
      pay: stage.seen('pay', { effect: 'external', keyed: true }),
      look: stage.seen('look', {
        effect: 'read',
        answer: async () => {
          asked += 1;
          if (asked === 1) throw new Rejected('not today');
          return 'seen';
        },
      }),
    },
    async (ctx) => {
      await ctx.tool('pay', 148);
      await ctx.tool('look', 1);
    },
  );
}

const endsOf = (events: readonly RunEvent[], commandId: string | undefined) =>
  eventsOf(events, 'command.ended').filter((end) => end.commandId === commandId);

/** A resume, claimed by a worker that is cut off for long enough to be thought dead, and is heard again. */
async function revived(agent: Agent, claims: (Claim | undefined)[] = []) {
  const { lab } = stage;
  const first = await stage.begin(agent);
  await lab.until('r', (status, _events, held) => status === 'failed' && !held);
  first.kill();
  let cut = false;
  const watched = (port: JournalPort): JournalPort => ({
    ...port,
    claim: async (ask, signal) => {
      const claim = await port.claim(ask, signal);
      claims.push(claim);
      return claim;
    },
  });
  const worker = await lab.worker([agent], {
    isCutOff: () => cut,
    workerId: 'revived',
    // Its record takes long to load, and its lease is kept meanwhile.
    port: (port) => {
      const slow = watched(port);
      return {
        ...slow,
        events: async (...ask) => {
          await lab.clock.delay(8_000);
          return slow.events(...ask);
        },
      };
    },
  });
  stage.workers.push(worker);
  await lab.order('r', 'resume');
  await lab.until('r', (status) => status === 'running');
  const commandId = lab.orders.at(-1)?.commandId;
  cut = true;
  await lab.until('r', (status) => status === 'interrupted');
  expect(endsOf(await lab.events('r'), commandId)).toMatchObject([{ outcome: 'withdrawn' }]);
  cut = false;
  await lab.until('r', (status) => status === 'running');
  const run = await lab.deps.store.run('r' as never);
  expect(run?.state.pending).toMatchObject({ commandId });
  const next = () => lab.worker([agent], { port: watched, workerId: 'next' });
  return { worker, commandId, next };
}

test('and hands over: the next one has the plan, compares with it, and the order is done once', async () => {
  const claims: (Claim | undefined)[] = [];
  const { worker, commandId, next } = await revived(failsOnce(), claims);
  const { lab } = stage;
  void worker.stop();
  await lab.until('r', (status) => status === 'queued');
  expect((await lab.events('r')).at(-1)).toMatchObject({ kind: 'run.queued', reason: 'command', commandId });
  stage.workers.push(await next());
  await lab.until('r', (status) => status === 'completed');
  const plans = claims.flatMap((claim) => (claim?.plan === undefined ? [] : [claim.plan.digest]));
  expect(plans).toEqual([lab.orders.at(-1)?.plan.digest, lab.orders.at(-1)?.plan.digest]);
  expect(endsOf(await lab.events('r'), commandId).map(({ outcome, late }) => [outcome, late])).toEqual([
    ['withdrawn', undefined],
    ['done', undefined],
  ]);
  expect(stage.names()).toEqual(['pay', 'look', 'look']);
});

test('and goes live: it carries out the order that it took up again', async () => {
  const { commandId } = await revived(failsOnce());
  const { lab } = stage;
  await lab.until('r', (status) => status === 'completed');
  expect(endsOf(await lab.events('r'), commandId).map(({ outcome, late }) => [outcome, late])).toEqual([
    ['withdrawn', undefined],
    ['done', undefined],
  ]);
  expect(stage.names()).toEqual(['pay', 'look', 'look']);
});

test('and is cancelled before it goes live: each order has one end, what the worker says of the first is late', async () => {
  const { commandId } = await revived(failsOnce());
  const { lab } = stage;
  await lab.command('r', { mode: 'cancel' } as never);
  await lab.until('r', (status, _events, held) => status === 'cancelled' && !held);
  const events = await lab.events('r');
  const inTime = endsOf(events, commandId).filter(({ late }) => late === undefined);
  expect(inTime.map(({ outcome, by }) => [outcome, by])).toEqual([
    ['withdrawn', 'console'],
    ['withdrawn', 'console'],
  ]);
  expect((await lab.deps.store.run('r' as never))?.state.pending).toBeUndefined();
  expect(stage.names()).toEqual(['pay', 'look']);
});
