import { describe, expect, test } from 'vitest';
import { oneState, stages } from '@/lib/testing/sdk-stage';
import type { AgentOptions, Context } from './api';
import { tool } from './tool';

const stage = stages();

/** Runs `work` to its end; resolves to the steps that ended and the checkpoints that were saved, in journal order. */
async function saved(
  checkpoints: NonNullable<AgentOptions['checkpoints']>,
  work: (ctx: Context) => Promise<unknown>,
): Promise<readonly string[]> {
  const tools = {
    wait: tool({ effect: 'read', run: (ms: number) => stage.lab.clock.delay(ms) }),
    fail: tool({ effect: 'read', retries: 0, run: () => Promise.reject(new Error('no')) }),
    pay: tool({ effect: 'external', keyed: true, run: () => Promise.resolve(null) }),
  };
  await stage.begin(oneState(tools, work, { checkpoints }));
  await stage.lab.until('r', (status) => status === 'completed');
  return (await stage.lab.events('r')).flatMap((event): readonly string[] => {
    if (event.kind === 'checkpoint.saved') return [event.trigger];
    return event.kind === 'step.completed' || event.kind === 'step.failed' ? [event.stepKey] : [];
  });
}

const LONG_MS = 1_000_000;
const of = (name: string, ...numbers: readonly number[]) => numbers.map((n) => `work#1/${name}#${n}`);

describe('a run saves a checkpoint', () => {
  test('after every so many steps, whether they fail or not, counted from the newest one of any kind', async () => {
    const journal = await saved({ everySteps: 3, everyMs: LONG_MS }, async (ctx) => {
      await ctx.tool('wait', 1);
      await ctx.tool('fail').catch(() => undefined);
      await ctx.compute('sum', 1, (n) => n + 1);
      await ctx.tool('wait', 1);
      await ctx.tool('wait', 1);
      await ctx.tool('pay');
      await ctx.tool('wait', 1);
      ctx.checkpoint();
      await ctx.tool('wait', 1);
      await ctx.tool('wait', 1);
    });
    expect(journal).toEqual([
      ...of('wait', 1),
      ...of('fail', 1),
      ...of('sum', 1),
      'every-n-steps',
      ...of('wait', 2, 3),
      'before-effect',
      ...of('pay', 1),
      ...of('wait', 4),
      'manual',
      ...of('wait', 5, 6),
    ]);
  });

  test('after the step that ends when so much time has passed since the newest one, and never between steps', async () => {
    const journal = await saved({ everySteps: 100, everyMs: 100 }, async (ctx) => {
      await ctx.tool('wait', 40);
      await ctx.tool('wait', 70);
      await ctx.tool('wait', 40);
      await ctx.tool('wait', 500);
      await ctx.tool('wait', 40);
    });
    expect(journal).toEqual([
      ...of('wait', 1, 2),
      'every-t-seconds',
      ...of('wait', 3, 4),
      'every-t-seconds',
      ...of('wait', 5),
    ]);
  });
});
