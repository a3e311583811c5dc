import { describe, expect, test } from 'vitest';
import { end, eventsOf, oneState, stages } from '@/lib/testing/sdk-stage';
import type { Context } from './api';
import { defineAgent } from './define-agent';
import { Rejected } from './errors';

const stage = stages();
const { seen, begin, names } = stage;

const pay = (name: string) =>
  seen(name, {
    effect: 'external',
    keyed: true,
    timeoutMs: 2_000,
    settlesWithinMs: 100,
    answer: async () => {
      await stage.lab.clock.delay(400);
      return { id: name };
    },
  });
const later = (ms: number) => stage.lab.clock.delay(ms);

describe('while a payment is open, nothing in its scope or above it pays another way', () => {
  const races: Record<string, (ctx: Context) => Promise<unknown>> = {
    'a time limit that is no context call': (ctx) => Promise.race([ctx.tool('pay'), later(100)]),
    'the answer of a read': (ctx) => Promise.race([ctx.tool('pay'), ctx.tool('look')]),
    'the answers of branches beside it': (ctx) =>
      Promise.race([ctx.tool('pay'), ctx.parallel('p', { a: (c) => c.tool('look') })]),
    'a failure of branches beside it': (ctx) =>
      Promise.race([ctx.tool('pay'), ctx.parallel('p', { a: (c) => c.tool('broken') })]).catch(
        () => undefined,
      ),
    'branches beside a branch that pays': (ctx) =>
      Promise.race([
        ctx.parallel('p', { a: (c) => c.tool('pay') }),
        ctx.parallel('q', { a: (c) => c.tool('look') }),
      ]),
    'a time limit beside a branch that pays': (ctx) =>
      Promise.race([ctx.parallel('p', { a: (c) => c.tool('pay') }), later(100)]),
    'a call that was not awaited': async (ctx) => {
      void ctx.tool('pay');
      await later(100);
    },
  };
  test.each(Object.keys(races))('(raced against %s)', async (name) => {
    const agent = oneState(
      {
        pay: pay('pay'),
        other: pay('other'),
        look: seen('look', { effect: 'read' }),
        broken: seen('broken', { effect: 'read', answer: () => Promise.reject(new Rejected('no')) }),
      },
      async (ctx) => {
        await races[name]?.(ctx);
        // The other way is taken while the first payment is still out.
        if (!paid(ctx)) await ctx.tool('other');
        ctx.vars.set('n', 1);
      },
    );
    const paid = (_ctx: Context) => confirmed;
    let confirmed = false;
    stage.lab.clock.after(350, () => {
      confirmed = true;
    });
    await begin(agent);
    await stage.lab.until('r', (status, _events, held) => ['completed', 'failed'].includes(status) && !held);
    expect(names().filter((one) => one === 'pay' || one === 'other')).toEqual(['pay']);
    const rows = await stage.lab.deps.store.effects('r' as never);
    expect(rows.map(({ status }) => status)).toEqual(['confirmed']);
  });
});

describe('below a `parallel` whose number depends on a race', () => {
  const lines =
    (
      inside: (c: Context, k: string) => Promise<unknown>,
      between: (ctx: Context, k: string) => Promise<unknown>,
    ) =>
    async (ctx: Context) => {
      const line = async (k: string) => {
        await between(ctx, k);
        return ctx.parallel('p', { a: (c) => inside(c, k) });
      };
      await Promise.all([line('x'), line('y')]);
    };
  const tools = () => ({
    pay: pay('pay'),
    put: seen('put', { effect: 'idempotent' }),
    look: seen('look', { effect: 'read' }),
  });
  const between = (ctx: Context, k: string) => ctx.tool('look', k);

  test.each([
    ['an external call', (c: Context) => c.tool('pay')],
    ['an idempotent call', (c: Context) => c.tool('put')],
    [
      'an external call in a branch further below',
      (c: Context) => c.parallel('q', { b: (d) => d.tool('pay') }),
    ],
  ] as const)('%s fails the run by name', async (_what, inside) => {
    await begin(
      oneState(
        tools(),
        lines((c, k) => (k === 'y' ? inside(c) : c.tool('look', k)), between),
      ),
    );
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    const [failed] = eventsOf(await stage.lab.events('r'), 'run.failed');
    expect(failed?.error).toMatchObject({
      type: 'AgentCodeError',
      message: expect.stringContaining('work#1/p#2') as unknown,
    });
    expect(names().filter((name) => name !== 'look')).toEqual([]);
  });

  test('a read is warned about, and so is the section itself', async () => {
    await begin(
      oneState(
        tools(),
        lines((c, k) => c.tool('look', k), between),
      ),
    );
    await stage.lab.until('r', (status) => status === 'completed');
    expect(stage.lab.warnings.length).toBeGreaterThan(0);
    for (const warning of stage.lab.warnings) expect(warning).toContain('work#1/p#2');
  });

  test('nothing is refused where the number is certain', async () => {
    await begin(
      oneState(tools(), async (ctx) => {
        await Promise.all([
          ctx.parallel('p', { a: (c) => c.tool('pay') }),
          ctx.parallel('p', { a: (c) => c.tool('put') }),
        ]);
        for (let i = 0; i < 2; i++) await ctx.parallel('p', { a: (c) => c.tool('put', i) });
      }),
    );
    await stage.lab.until('r', (status) => status === 'completed');
    expect(stage.lab.warnings).toEqual([]);
  });
});

describe('branches that nobody awaits', () => {
  const loose: Record<string, (c: Context) => Promise<unknown>> = {
    'end with a payment': (c) => c.tool('pay'),
    'set a variable after it': async (c) => c.vars.set('late', await c.tool('pay')),
    'say something after it': async (c) => {
      await c.tool('pay');
      c.messages.append({ role: 'user', content: c.now() });
    },
    'branch again after it': async (c) => {
      await c.tool('pay');
      await c.parallel('q', { x: (d) => d.tool('look') });
    },
  };
  test.each(Object.keys(loose))(
    'say nothing once their visit has ended, and the run goes on from there: they %s',
    async (name) => {
      const agent = defineAgent({
        name: 'a',
        initial: 'work',
        states: {
          work: {
            to: ['ask'],
            tools: ['pay', 'look'],
            run: async (ctx) => {
              void ctx.parallel('p', {
                a: (c) => loose[name]?.(c) as Promise<unknown>,
                b: (c) => c.tool('look'),
              });
              return 'ask';
            },
          },
          ask: {
            to: ['close'],
            run: async (ctx) => {
              await ctx.ask('ok', { prompt: '?' });
              return 'close';
            },
          },
          close: end,
        },
        tools: { pay: pay('pay'), look: seen('look', { effect: 'read' }) },
      });
      await begin(agent);
      await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
      const events = await stage.lab.events('r');
      const left = events.findIndex((event) => event.kind === 'state.left' && event.key === 'work#1');
      expect(events.slice(left + 1).filter((event) => JSON.stringify(event).includes('work#1/'))).toEqual([]);
      await stage.answer('yes');
      await stage.lab.until('r', (status) => status === 'completed' || status === 'failed');
      expect(await stage.lab.status('r')).toBe('completed');
      const replay = await stage.lab.order('r', 'replay', 'start');
      await stage.lab.until(replay, (status) => status === 'completed' || status === 'failed');
      expect(await stage.lab.status(replay)).toBe('completed');
    },
  );
});

describe('a promise that nobody awaits', () => {
  const calls: Record<string, (ctx: Context) => unknown> = {
    'parallel whose branch fails': (ctx) => ctx.parallel('p', { a: (c) => c.tool('broken') }),
    'parallel with an unusable name': (ctx) => ctx.parallel('$p', {}),
    'an unusable name': (ctx) => ctx.compute('', 1, (x) => x),
    'a tool that is not declared': (ctx) => ctx.tool('ghost'),
    'a model that is not declared': (ctx) => ctx.llm('toString', {}),
    'a retrieval of an effect': (ctx) => ctx.retrieve('pay'),
    'a function that is none': (ctx) => ctx.compute('f', 1, 7 as never),
    'an input that cannot be recorded': (ctx) => ctx.tool('look', () => 1),
    'a question without a prompt': (ctx) => ctx.ask('q', undefined as never),
  };
  test.each(Object.keys(calls))('rejects nothing in the process: %s', async (name) => {
    const unhandled: unknown[] = [];
    const hear = (error: unknown) => unhandled.push(error);
    process.prependListener('unhandledRejection', hear);
    const agent = oneState(
      {
        pay: pay('pay'),
        look: seen('look', { effect: 'read', answer: () => later(500) }),
        broken: seen('broken', { effect: 'read', answer: () => Promise.reject(new Rejected('no')) }),
      },
      async (ctx) => {
        calls[name]?.(ctx);
        await ctx.tool('look');
      },
    );
    await begin(agent);
    await stage.lab.until('r', (status) => status === 'completed');
    process.off('unhandledRejection', hear);
    expect(unhandled).toEqual([]);
  });
});
