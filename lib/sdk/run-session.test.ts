import { describe, expect, test } from 'vitest';
import { sdkLab } from '@/lib/testing/sdk-lab';
import { end, oneState } from '@/lib/testing/sdk-stage';
import { defineAgent } from './define-agent';
import { tool } from './tool';

describe('a run', () => {
  test('goes from its first state to its end, and everything is in its journal', async () => {
    const lab = sdkLab();
    const sent: unknown[] = [];
    const agent = defineAgent({
      name: 'a',
      initial: 'work',
      states: {
        work: {
          to: ['close'],
          tools: ['pay', 'look'],
          run: async (ctx) => {
            ctx.vars.set('x', { n: ctx.now(), id: ctx.id() });
            const seen = await ctx.tool('look', { q: 1 });
            const both = await ctx.parallel('two', {
              a: (c) => c.compute('sum', { a: 1 }, ({ a }) => a + 1),
              b: (c) => c.tool('look', { q: 2 }),
            });
            await ctx.tool('pay', { seen, both });
            ctx.messages.append({ role: 'user', content: 'hello' });
            return 'close';
          },
        },
        close: end,
      },
      tools: {
        look: tool({ effect: 'read', run: async (args: { q: number }) => ({ found: args.q }) }),
        pay: tool({
          effect: 'external',
          keyed: true,
          receipt: () => 'r1',
          run: async (args, call) => {
            sent.push([args, call.idempotencyKey]);
            return { id: 're_1' };
          },
        }),
      },
    });
    const worker = await lab.worker([agent]);
    const start = worker.start('a', { runId: 'r', input: { order: 7 } });
    await lab.clock.run(() => sent.length > 0);
    await start;
    await lab.until('r', (status) => status === 'completed');
    expect(sent).toEqual([
      [{ seen: { found: 1 }, both: { a: 2, b: { found: 2 } } }, expect.stringMatching(/^rr_/)],
    ]);
    const kinds = (await lab.events('r')).map((event) => event.kind);
    expect(kinds.filter((kind) => kind === 'checkpoint.saved').length).toBeGreaterThan(0);
    expect(kinds.at(-1)).toBe('run.completed');
    expect(lab.warnings).toEqual([]);
    worker.kill();
  });

  test('gives a computation its input as the record has it, whatever the code did to it since', async () => {
    const lab = sdkLab();
    const counted: number[] = [];
    const agent = oneState({}, async (ctx) => {
      // The first one begins when the run goes live, the second at once.
      for (const lines of [[1], [1, 2]]) {
        const count = ctx.compute('count', lines, (given) => given.push(0) - 1);
        lines.push(9);
        counted.push(await count, lines.length);
      }
    });
    const worker = await lab.worker([agent]);
    const start = worker.start('a', { runId: 'r' });
    await lab.until('r', (status) => status === 'completed');
    await start;
    expect(counted).toEqual([1, 2, 2, 3]);
    worker.kill();
  });
});
