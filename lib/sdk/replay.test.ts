import { describe, expect, test } from 'vitest';
import { end, eventsOf, oneState, stages } from '@/lib/testing/sdk-stage';
import type { Agent, Context } from './api';
import { defineAgent } from './define-agent';

const stage = stages();
const { seen, begin, names } = stage;

type Work = (ctx: Context) => Promise<unknown>;
const agent = (work: Work): Agent => oneState({ look: seen('look', { effect: 'read' }) }, work);

/** Records a run of one version of the code and replays it with another; resolves to the replay's journal. */
async function replayed(recorded: Work, now: Work, ends: 'completed' | 'failed' = 'completed') {
  const first = await begin(agent(recorded));
  await stage.lab.until('r', (status, _events, held) => status === ends && !held);
  first.kill();
  stage.workers.push(await stage.lab.worker([agent(now)]));
  // The console has heard of the second worker.
  const at = stage.lab.clock.now() + 100;
  await stage.lab.clock.run(() => stage.lab.clock.now() >= at);
  const id = await stage.lab.order('r', 'replay', 'start');
  await stage.lab.until(id, (status, _events, held) => ['completed', 'failed'].includes(status) && !held);
  const events = await stage.lab.events(id);
  const ended = events.filter(({ kind }) => ['run.completed', 'run.failed'].includes(kind));
  expect(ended.length).toBe(1);
  expect(eventsOf(events, 'command.ended').length).toBe(1);
  return { events, divergence: eventsOf(events, 'divergence.found'), end: ended[0] };
}

const three: Work = async (ctx) => {
  ctx.vars.set('a', await ctx.tool('look', 1));
  ctx.vars.set('b', await ctx.tool('look', 2));
  ctx.vars.set('c', 3);
};

describe('a replay', () => {
  test('of unchanged code ends as the record did, whether it completed or failed', async () => {
    expect(await replayed(three, three)).toMatchObject({ divergence: [], end: { kind: 'run.completed' } });
    stage.reset(6);
    const fails: Work = async (ctx) => {
      await ctx.tool('look', 1);
      throw new Error('no such order');
    };
    expect(await replayed(fails, fails, 'failed')).toMatchObject({
      divergence: [],
      end: { kind: 'run.failed', cause: 'error', error: { message: 'no such order' } },
    });
    expect(names()).toEqual(['look']);
  });

  test('of a condition that nobody awaited counts it for no later visit, nor did the record', async () => {
    const look = seen('look', { effect: 'read' });
    const loose: Agent = defineAgent({
      name: 'a',
      initial: 'first',
      states: {
        first: {
          to: ['second'],
          tools: ['look'],
          run: async (ctx) => {
            await ctx.tool('look', 1);
            void ctx.parallel('loose', {
              a: (c) => c.condition('large', 1, () => true),
              b: (c) => c.tool('look', 3),
            });
            return 'second';
          },
        },
        second: {
          to: ['close'],
          tools: ['look'],
          run: async (ctx) => {
            await ctx.tool('look', 2);
            return 'close';
          },
        },
        close: end,
      },
      tools: { look },
    });
    await begin(loose);
    await stage.lab.until('r', (status, _events, held) => status === 'completed' && !held);
    const left = eventsOf(await stage.lab.events('r'), 'state.left');
    expect(left.map(({ state, condition }) => [state, condition])).toEqual([
      ['first', undefined],
      ['second', undefined],
      ['close', undefined],
    ]);
    const id = await stage.lab.order('r', 'replay', 'start');
    await stage.lab.until(id, (status, _events, held) => ['completed', 'failed'].includes(status) && !held);
    expect(eventsOf(await stage.lab.events(id), 'divergence.found')).toEqual([]);
    expect(await stage.lab.status(id)).toBe('completed');
  });

  test('of code that fails now stops at the first call that it no longer makes, and says why', async () => {
    const { divergence, end } = await replayed(three, async (ctx) => {
      await ctx.tool('look', 1);
      throw new TypeError('this is new');
    });
    expect(divergence).toMatchObject([
      {
        stepKey: 'work#1/$set#1',
        what: 'missing',
        sentence: expect.stringContaining('this is new') as unknown,
      },
    ]);
    expect(end).toMatchObject({ kind: 'run.failed', cause: 'diverged' });
  });

  test('of code that leaves out its last call stops there, and does not end as the record did', async () => {
    const { divergence, end } = await replayed(three, async (ctx) => {
      ctx.vars.set('a', await ctx.tool('look', 1));
      ctx.vars.set('b', await ctx.tool('look', 2));
    });
    expect(divergence).toMatchObject([{ stepKey: 'work#1/$set#3', what: 'missing' }]);
    expect(end).toMatchObject({ kind: 'run.failed', cause: 'diverged' });
  });

  test('of code that makes every call and fails then shows the end beside the record’s', async () => {
    const { divergence } = await replayed(three, async (ctx) => {
      await three(ctx);
      throw new Error('after all');
    });
    expect(divergence).toMatchObject([{ sentence: expect.stringContaining('after all') as unknown }]);
  });

  test('of code that asks for more than is recorded stops there: nothing answers it, and nothing is sent', async () => {
    const { divergence } = await replayed(three, async (ctx) => {
      ctx.vars.set('a', await ctx.tool('look', 1));
      await ctx.tool('look', 'more');
      ctx.vars.set('b', await ctx.tool('look', 2));
      ctx.vars.set('c', 3);
    });
    expect(divergence).toMatchObject([{ stepKey: 'work#1/look#2', what: 'input' }]);
    expect(names()).toEqual(['look', 'look']);
  });

  test('of a replay that stopped for want of a record stops for the same reason', async () => {
    const look = seen('look', {
      effect: 'read',
      answer: (n) => (n === 2 ? new Promise<never>(() => undefined) : Promise.resolve({ n })),
    });
    await begin(
      oneState({ look }, async (ctx) => {
        await ctx.tool('look', 1);
        await ctx.tool('look', 2);
      }),
    );
    await stage.lab.until('r', () => names().length === 2);
    await stage.lab.pass(100);
    let of = 'r';
    for (const _ of [1, 2]) {
      of = await stage.lab.order(of, 'replay', 'start');
      await stage.lab.until(of, (status, _events, held) => status === 'failed' && !held);
      expect(eventsOf(await stage.lab.events(of), 'run.failed').at(-1)).toMatchObject({ cause: 'no-record' });
    }
  });
});
