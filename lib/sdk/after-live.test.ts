import { expect, test } from 'vitest';
import { sdkLab } from '@/lib/testing/sdk-lab';
import { defineAgent } from './define-agent';
import { Unavailable } from './errors';
import type { LoadedRun } from './load-run';
import { tool } from './tool';

const end = { to: [], final: true, run: async () => undefined } as const;

test('a run that went live again keeps nothing that is only for re-entry', async () => {
  const lab = sdkLab();
  let waits = 0;
  const agent = defineAgent({
    name: 'a',
    initial: 'work',
    states: {
      work: {
        to: ['close'],
        tools: ['look', 'wait'],
        run: async (ctx) => {
          ctx.vars.set('seen', await ctx.tool('look', {}));
          await ctx.tool('wait', {});
          return 'close';
        },
      },
      close: end,
    },
    tools: {
      look: tool({ effect: 'read', run: async () => ({ found: 1 }) }),
      wait: tool({
        effect: 'read',
        run: () => {
          waits++;
          return new Promise<never>(() => undefined);
        },
      }),
    },
  });
  const first = await lab.worker([agent]);
  void first.start('a', { runId: 'r' });
  await lab.until('r', () => waits === 1);
  first.kill();
  await lab.until('r', (status) => status === 'interrupted');
  const second = await lab.worker([agent]);
  await lab.order('r', 'resume');
  await lab.until('r', () => waits === 2);
  const [session] = (
    second as unknown as {
      readonly running: ReadonlySet<{
        readonly deps: { readonly loaded: LoadedRun };
        readonly open: { readonly byKey: ReadonlyMap<string, unknown> };
        readonly reEntry: { readonly answered: readonly unknown[] };
      }>;
    }
  ).running;
  expect(session?.deps.loaded.record.items).toEqual([]);
  expect(session?.deps.loaded.texts.size).toBe(0);
  expect(session?.reEntry.answered).toEqual([]);
  expect([...(session?.open.byKey.keys() ?? [])]).toEqual(['work#1/wait#1']);
  second.kill();
});

test('a worker that stopped leaves no timer of its runs behind', async () => {
  const lab = sdkLab();
  const pending = new Set<number>();
  const after = lab.clock.after.bind(lab.clock);
  lab.clock.after = (ms, fn) => {
    const cancel = after(ms, () => {
      pending.delete(ms);
      fn();
    });
    pending.add(ms);
    return () => {
      pending.delete(ms);
      cancel();
    };
  };
  const agent = defineAgent({
    name: 'a',
    initial: 'work',
    states: {
      work: {
        to: ['close'],
        tools: ['look'],
        run: async (ctx) => {
          await ctx.tool('look', {});
          return 'close';
        },
      },
      close: end,
    },
    tools: {
      look: tool({
        effect: 'read',
        retries: 3,
        run: async () => {
          throw new Unavailable('down');
        },
      }),
    },
  });
  // No other timer is as long.
  const backoff = { baseMs: 1_000_000, capMs: 1_000_000 };
  const isLong = (ms: number) => ms >= backoff.baseMs / 2;
  const worker = await lab.worker([agent], { backoff });
  void worker.start('a', { runId: 'r' });
  await lab.until('r', () => [...pending].some(isLong));
  let isStopped = false;
  void worker.stop().then(() => {
    isStopped = true;
  });
  await lab.clock.run(() => isStopped);
  expect([...pending].filter(isLong)).toEqual([]);
});
