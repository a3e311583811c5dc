import { describe, expect, test } from 'vitest';
import { end, eventsOf as of, stages } from '@/lib/testing/sdk-stage';
import { defineAgent } from './define-agent';

const stage = stages();
const { seen } = stage;

/** One state looks, the next one looks again: there the late worker may have come meanwhile. */
const agent = () =>
  defineAgent({
    name: 'a',
    initial: 'work',
    states: {
      work: {
        to: ['next'],
        tools: ['look'],
        run: async (ctx) => {
          await ctx.tool('look', 1);
          return 'next';
        },
      },
      next: {
        to: ['close'],
        tools: ['look'],
        run: async (ctx) => {
          await ctx.tool('look', 2);
          return 'close';
        },
      },
      close: end,
    },
    tools: { look: seen('look', { effect: 'read' }) },
  });

describe('a worker whose batches arrive between an order and its claim', () => {
  // Where it is cut off: before it leaves the state, and with the next state's call on its way.
  for (const behind of ['state.left', 'step.completed'] as const) {
    test(`adds nothing to what the plan was made on (late from ${behind} on): no pause, and the plan is what runs`, async () => {
      let isBegun = false;
      let acknowledged = 0;
      // Batches of one: state.entered, step.started, step.completed, then the transition. Cut off from the start but
      // for those, it never asks for a run to claim.
      const isCutOff = () => !isBegun || acknowledged >= (behind === 'state.left' ? 3 : 2);
      const late = await stage.lab.worker([agent()], {
        batchSize: 1,
        isCutOff,
        onPoint: (point) => {
          if (point === 'append:after') acknowledged++;
        },
      });
      stage.workers.push(late);
      isBegun = true;
      void late.start('a', { runId: 'r' });
      await stage.lab.until('r', (status) => status === 'interrupted');
      await stage.lab.order('r', 'resume');
      expect(acknowledged).toBe(behind === 'state.left' ? 3 : 2);
      const { headSeq = 0 } = (await stage.lab.deps.store.run('r' as never)) ?? {};
      const arrived = stage.lab.clock.now() + 4_000;
      await stage.lab.until('r', () => stage.lab.clock.now() > arrived);
      stage.workers.push(await stage.lab.worker([agent()]));
      await stage.lab.until('r', (status) => status === 'completed');

      const events = await stage.lab.events('r');
      const [claimed] = events.slice(headSeq);
      expect(claimed).toMatchObject({ kind: 'run.resumed', revived: false });
      expect(of(events, 'run.paused')).toEqual([]);
      expect(of(events, 'command.ended')).toMatchObject([{ outcome: 'done' }]);
      const [order] = stage.lab.orders;
      const did = events.filter(({ epoch, by }) => by === 'worker' && epoch === claimed?.epoch);
      for (const { key, disposition } of order?.plan.steps ?? []) {
        const kind = disposition === 'reuse' ? 'step.reused' : 'step.started';
        expect(did.filter((event) => event.kind === kind && event.stepKey === key)).toHaveLength(1);
      }
    });
  }
});
