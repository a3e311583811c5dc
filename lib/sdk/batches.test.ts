import { describe, expect, test } from 'vitest';
import { eventsOf as of, oneState, stages } from '@/lib/testing/sdk-stage';
import type { Batch } from './journal-port';
import { tool } from './tool';

const stage = stages();
const { seen } = stage;

/** What the worker sends, in the order in which it leaves. */
function sentBatches(): readonly Batch[] {
  const batches: Batch[] = [];
  const { port } = stage.lab;
  const append = port.append.bind(port);
  port.append = (runId, batch) => {
    batches.push(batch);
    return append(runId, batch);
  };
  return batches;
}

async function begin(agent: ReturnType<typeof oneState>, batchSize = 500): Promise<void> {
  const worker = await stage.lab.worker([agent], { batchSize });
  stage.workers.push(worker);
  void worker.start('a', { runId: 'r' });
}

describe('what goes into one append', () => {
  test('an effect’s result travels with the intent of the next one: one append a step', async () => {
    const batches = sentBatches();
    const pay = seen('pay', { effect: 'idempotent', keyed: true });
    await begin(
      oneState({ pay }, async (ctx) => {
        for (let i = 0; i < 10; i++) await ctx.tool('pay', { i });
      }),
    );
    await stage.lab.until('r', (status) => status === 'completed');
    const withIntent = batches.filter(({ events }) => events.some((event) => event.kind === 'step.started'));
    expect(withIntent).toHaveLength(10);
    for (const { events } of withIntent.slice(1)) expect(events[0]?.kind).toBe('step.completed');
    expect(batches).toHaveLength(11);
  });

  test('what an external call did is on its way before the code goes on', async () => {
    const batches = sentBatches();
    const sentByThen: boolean[] = [];
    const pay = seen('pay', { effect: 'external', keyed: true });
    await begin(
      oneState({ pay }, async (ctx) => {
        for (let i = 0; i < 3; i++) {
          await ctx.tool('pay', { i });
          const sent = batches.flatMap(({ events }) =>
            events.filter(({ kind }) => kind === 'step.completed'),
          );
          sentByThen.push(sent.length === i + 1);
        }
      }),
    );
    await stage.lab.until('r', (status) => status === 'completed');
    expect(sentByThen).toEqual([true, true, true]);
  });

  test('pure steps before an effect are no append of their own', async () => {
    const batches = sentBatches();
    const pay = seen('pay', { effect: 'external', keyed: true });
    await begin(
      oneState({ pay }, async (ctx) => {
        const amount = await ctx.compute('amount', 1, (n) => n + 1);
        await ctx.tool('pay', { amount });
      }),
    );
    await stage.lab.until('r', (status) => status === 'completed');
    const [first] = batches;
    expect(first?.events.filter(({ kind }) => kind === 'step.started')).toHaveLength(2);
  });

  test('a read that is out has its input on the way by the next turn, with everything before it', async () => {
    const batches = sentBatches();
    let onTheWay: readonly string[] = [];
    const look = tool({
      effect: 'read',
      run: async () => {
        await new Promise<void>((resolve) => stage.lab.clock.turn(resolve));
        onTheWay = batches.flatMap(({ events }) => events.map(({ kind }) => kind));
        return 1;
      },
    });
    await begin(
      oneState({ look }, async (ctx) => {
        ctx.vars.set('x', 1);
        await ctx.tool('look');
      }),
    );
    await stage.lab.until('r', (status) => status === 'completed');
    expect(onTheWay).toEqual(['state.entered', 'variables.patched', 'step.started']);
  });
});

describe('a checkpoint before an effect', () => {
  for (const batchSize of [1, 2, 3, 500]) {
    test(`names the intent that it was saved for, in batches of at most ${batchSize}`, async () => {
      const pay = seen('pay', { effect: 'external', keyed: true });
      await begin(
        oneState({ pay }, async (ctx) => {
          for (let i = 0; i < 4; i++) {
            ctx.vars.set('i', i);
            await ctx.tool('pay', { i });
          }
        }),
        batchSize,
      );
      await stage.lab.until('r', (status) => status === 'completed');
      const events = await stage.lab.events('r');
      const before = of(events, 'checkpoint.saved').filter(({ trigger }) => trigger === 'before-effect');
      const intents = of(events, 'step.started').filter(({ intent }) => intent !== undefined);
      expect(before.map(({ intentSeq }) => intentSeq)).toEqual(intents.map(({ seq }) => seq));
      expect(before).toHaveLength(4);
    });
  }
});
