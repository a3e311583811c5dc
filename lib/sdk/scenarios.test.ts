import { describe, expect, test } from 'vitest';
import { eventsOf as of, oneState, stages } from '@/lib/testing/sdk-stage';
import type { Context } from './api';
import { Rejected, Unavailable } from './errors';
import { tool } from './tool';

const stage = stages();
const { seen, begin, answer, names } = stage;

describe('situations that people meet', () => {
  test('S03 a question in a loop: every answer re-enters the state, and nothing before it runs a second time', async () => {
    await begin(
      oneState(
        { look: seen('look', { effect: 'read' }), pay: seen('pay', { effect: 'external', keyed: true }) },
        async (ctx) => {
          for (let i = 0; i < 3; i++) {
            await ctx.tool('look', { i });
            await ctx.tool('pay', { i });
            ctx.vars.set(`answer${i}`, await ctx.ask('more', { prompt: `lap ${i}` }));
          }
        },
      ),
    );
    for (let lap = 0; lap < 3; lap++) {
      await stage.lab.until(
        'r',
        (status, events) => status === 'waiting' && of(events, 'question.asked').length === lap + 1,
      );
      await answer(`yes ${lap}`);
    }
    await stage.lab.until('r', (status) => status === 'completed');
    expect(names()).toEqual(['look', 'pay', 'look', 'pay', 'look', 'pay']);
    expect(new Set(stage.outside.filter(({ name }) => name === 'pay').map(({ key }) => key)).size).toBe(3);
  });

  test('keys do not depend on the order in which parallel answers come in', async () => {
    const keysFor = async (slow: 'a' | 'b') => {
      stage.reset(slow === 'a' ? 21 : 22);
      const look = tool({
        effect: 'read',
        run: async (args: { who: string }) => {
          await stage.lab.clock.delay(args.who === slow ? 90 : 1);
          return { who: args.who };
        },
      });
      const work = async (c: Context, who: string) => {
        await c.tool('look', { who });
        return c.tool('pay', { who });
      };
      await begin(
        oneState({ look, pay: seen('pay', { effect: 'external', keyed: true }) }, (ctx) =>
          ctx.parallel('both', { a: (c) => work(c, 'a'), b: (c) => work(c, 'b') }),
        ),
      );
      await stage.lab.until('r', (status) => status === 'completed');
      const events = await stage.lab.events('r');
      return {
        keys: of(events, 'step.started')
          .map(({ stepKey }) => stepKey)
          .sort(),
        idempotency: stage.outside.map(({ key }) => key).sort(),
        order: stage.outside.map(({ args }) => (args as { who: string }).who),
      };
    };
    const [one, other] = [await keysFor('a'), await keysFor('b')];
    expect(one.order).not.toEqual(other.order);
    expect(one.keys).toEqual(other.keys);
    expect(one.idempotency).toEqual(other.idempotency);
  });

  test('S05 an external tool that times out is not sent again by any retry; it is in doubt', async () => {
    await begin(
      oneState(
        {
          pay: seen('pay', {
            effect: 'external',
            keyed: true,
            timeoutMs: 100,
            retries: 5,
            answer: () => new Promise(() => undefined),
          }),
        },
        (ctx) => ctx.tool('pay', {}),
      ),
    );
    await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
    expect(names()).toEqual(['pay']);
    const events = await stage.lab.events('r');
    expect(of(events, 'run.waiting')[0]?.on).toEqual([{ stepKey: 'work#1/pay#1', for: 'in-doubt' }]);
    expect(of(events, 'step.failed')).toMatchObject([{ failure: 'timeout', final: false }]);
    const [effect] = await stage.lab.deps.store.effects('r' as never);
    expect(effect?.status).toBe('in-doubt');
    await expect(stage.lab.order('r', 'resume')).rejects.toThrow(/needs-decision/);
    await stage.lab.pass(5_000);
    expect(names()).toEqual(['pay']);
  });

  test('S05 a tool whose own client repeats its requests does so under one key and until the time-out; no retry after that sends another', async () => {
    const requests: { readonly key: string | undefined; readonly at: number }[] = [];
    const charges = new Map<unknown, string>();
    /** The provider charges once for each key, and every connection breaks before its answer is through. */
    const post = async (key: string | undefined) => {
      requests.push({ key, at: stage.lab.clock.now() });
      charges.set(key ?? requests.length, 'charged');
      await stage.lab.clock.delay(5);
      throw new Unavailable('connection reset');
    };
    const pay = tool({
      effect: 'external',
      keyed: true,
      timeoutMs: 100,
      retries: 5,
      run: async (_args, { idempotencyKey, signal }) => {
        while (!signal.aborted) {
          await post(idempotencyKey).catch(() => undefined);
          await stage.lab.clock.delay(20);
        }
        throw signal.reason;
      },
    });
    await begin(oneState({ pay }, (ctx) => ctx.tool('pay', {})));
    await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
    await expect(stage.lab.order('r', 'resume')).rejects.toThrow(/needs-decision/);
    await stage.lab.pass(5_000);
    const [effect] = await stage.lab.deps.store.effects('r' as never);
    expect(effect).toMatchObject({ status: 'in-doubt', executions: 1 });
    expect(requests.length).toBeGreaterThan(1);
    expect((requests.at(-1)?.at ?? 0) - (requests[0]?.at ?? 0)).toBeLessThan(100);
    expect([...charges.keys()]).toEqual([effect?.idempotencyKey]);
  });

  test('S06 of three branches one dies: on resume only that one runs again, and each attempt ran once', async () => {
    let down = true;
    const flaky = seen('c', {
      effect: 'read',
      retries: 0,
      answer: async () => {
        if (down) throw new Unavailable('down');
        return 'c';
      },
    });
    await begin(
      oneState(
        { a: seen('a', { effect: 'read' }), b: seen('b', { effect: 'external', keyed: true }), c: flaky },
        (ctx) =>
          ctx.parallel('three', { a: (c) => c.tool('a'), b: (c) => c.tool('b'), c: (c) => c.tool('c') }),
      ),
    );
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    down = false;
    await stage.lab.order('r', 'resume');
    await stage.lab.until('r', (status) => status === 'completed');
    expect(names().sort()).toEqual(['a', 'b', 'c', 'c']);
    const steps = await stage.lab.deps.store.steps('r' as never);
    expect(steps.map(({ executions, attempt }) => [executions, attempt])).toEqual([
      [1, 1],
      [1, 1],
      [2, 2],
    ]);
  });

  test('S10 an answer is consumed once, however often it is given', async () => {
    await begin(
      oneState({ pay: seen('pay', { effect: 'external', keyed: true }) }, async (ctx) =>
        ctx.tool('pay', { ok: await ctx.ask('ok', { prompt: 'pay?' }) }),
      ),
    );
    await stage.lab.until('r', (status) => status === 'waiting');
    const twice = await Promise.allSettled([answer('first'), answer('second')]);
    expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await stage.lab.until('r', (status) => status === 'completed');
    expect(stage.outside).toMatchObject([{ args: { ok: 'first' } }]);
  });

  test('S15 a result that cannot be recorded stops the run and names its path; what can be recorded arrives whole', async () => {
    const odd = {
      big: 12n,
      not: Number.NaN,
      list: [undefined, new Date(0)],
      map: new Map([['k', new Set([1])]]),
    };
    const got: unknown[] = [];
    await begin(
      oneState(
        {
          good: seen('good', { effect: 'read', answer: async () => odd }),
          bad: seen('bad', {
            effect: 'read',
            answer: async () => ({ a: [1, { b: new (class Socket {})() }] }),
          }),
        },
        async (ctx) => {
          got.push(await ctx.tool('good'));
          expect(() => ctx.vars.set('x', { deep: [() => 1] })).toThrow(/\$\.deep\[0\]/);
          await ctx.tool('bad');
        },
      ),
    );
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    expect(got).toEqual([odd]);
    const events = await stage.lab.events('r');
    expect(of(events, 'step.completed').at(-1)).toMatchObject({
      recorded: false,
      problem: expect.stringContaining('$.a[1].b') as unknown,
    });
    expect(of(events, 'run.failed')).toMatchObject([{ cause: 'not-recorded', stepKey: 'work#1/bad#1' }]);
    await expect(stage.lab.order('r', 'resume')).rejects.toThrow(/not-recorded/);
  });

  test('S26 the input of a step that failed is in the journal, written before the call', async () => {
    await begin(
      oneState(
        {
          look: seen('look', { effect: 'read', answer: () => Promise.reject(new Rejected('no such order')) }),
        },
        (ctx) => ctx.tool('look', { order: 'o9' }),
      ),
    );
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    const events = await stage.lab.events('r');
    const [started] = of(events, 'step.started');
    expect(started?.input && (await stage.lab.payload(started.input.sha256))).toEqual({ order: 'o9' });
    expect(of(events, 'run.failed')).toMatchObject([
      { cause: 'error', stepKey: 'work#1/look#1', error: { type: 'Rejected' } },
    ]);
  });
});

describe('effects', () => {
  test('a zombie’s late outcome is evidence, and never sent a second time', async () => {
    // The first worker is cut off from the console while its call is out; a person cancels nothing, another one resumes.
    const slow = seen('pay', {
      effect: 'external',
      keyed: true,
      timeoutMs: 5_000,
      settlesWithinMs: 100,
      answer: () => stage.lab.clock.delay(2_500).then(() => ({ id: 're_1' })),
    });
    const agent = oneState({ pay: slow }, async (ctx) => ctx.vars.set('paid', await ctx.tool('pay', {})));
    const cut = new Set<string>();
    const { append, heartbeat } = stage.lab.port;
    const port = stage.lab.port as { append: typeof append; heartbeat: typeof heartbeat };
    port.heartbeat = (held, seq, signal) =>
      cut.has(held.leaseId)
        ? stage.lab.clock.delay(4_000).then(() => heartbeat(held, seq, signal))
        : heartbeat(held, seq, signal);
    await begin(agent);
    await stage.lab.until('r', () => stage.outside.length === 1);
    const run = await stage.lab.deps.store.run('r' as never);
    cut.add(String(run?.lease?.leaseId));
    await stage.lab.until('r', (status) => status === 'interrupted');
    const [effect] = await stage.lab.deps.store.effects('r' as never);
    await stage.lab.command('r', {
      mode: 'decide',
      decisions: { 'work#1/pay#1': { intentSeq: effect?.intentSeq, outcome: 'hold' } },
    } as never);
    await stage.lab.until('r', (_status, events) => of(events, 'effect.verified').length > 0);
    const events = await stage.lab.events('r');
    expect(of(events, 'effect.verified')).toMatchObject([{ source: 'late-worker', outcome: 'happened' }]);
    expect(of(events, 'step.completed')).toEqual([]);
    await stage.lab.order('r', 'resume');
    await stage.lab.until('r', (status) => status === 'completed');
    expect(names()).toEqual(['pay']);
  });

  test('an idempotent call is tried again under one key, and three time-outs in a row make its API unavailable until it answers', async () => {
    const put = seen('put', {
      effect: 'idempotent',
      timeoutMs: 50,
      retries: 5,
      answer: (n) => (n <= 3 ? new Promise(() => undefined) : Promise.resolve('done')),
    });
    await begin(oneState({ put }, (ctx) => ctx.tool('put', { a: 1 })));
    await stage.lab.until('r', (status) => status === 'completed');
    expect(names()).toEqual(['put', 'put', 'put', 'put']);
    expect(new Set(stage.outside.map(({ key }) => key)).size).toBe(1);
    const kinds = (await stage.lab.events('r'))
      .map(({ kind }) => kind)
      .filter((kind) => kind.startsWith('api.'));
    expect(kinds).toEqual(['api.unavailable', 'api.recovered']);
  });

  test('no time limit raced against a payment can pay another way while it is out', async () => {
    const pay = seen('pay', { effect: 'external', keyed: true, answer: () => stage.lab.clock.delay(200) });
    const agent = oneState(
      {
        pay,
        other: seen('other', { effect: 'external', keyed: true }),
        limit: seen('limit', { effect: 'read' }),
      },
      async (ctx) => {
        const first = await Promise.race([
          ctx.tool('pay', 1).then(() => 'paid'),
          ctx.tool('limit').then(() => 'late'),
        ]);
        if (first === 'late') await ctx.tool('other', 1);
      },
    );
    await begin(agent);
    await stage.lab.until('r', (status) => status === 'completed');
    expect(names().filter((name) => name !== 'limit')).toEqual(['pay']);
  });

  test('a name whose number depends on a race is refused where the call is external, and reported where it is a read', async () => {
    const both = (second: string) =>
      oneState(
        {
          first: seen('first', { effect: 'read' }),
          look: seen('look', { effect: 'read' }),
          pay: seen('pay', { effect: 'external', keyed: true }),
        },
        (ctx) =>
          Promise.all(
            [1, 2].map(async (i) => {
              await ctx.tool('first', i);
              return ctx.tool(second, i);
            }),
          ),
      );
    await begin(both('look'));
    await stage.lab.until('r', (status) => status === 'completed');
    expect(stage.lab.warnings).toEqual([expect.stringContaining('parallel()')]);
    stage.reset(6);
    await begin(both('pay'));
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    expect(names().filter((name) => name === 'pay').length).toBe(1);
  });
});

describe('a worker', () => {
  test('hands its runs over when it stops: the effect in flight is recorded, and another worker goes on without repeating it', async () => {
    const agent = oneState(
      {
        pay: seen('pay', {
          effect: 'external',
          keyed: true,
          answer: () => stage.lab.clock.delay(120).then(() => 'ok'),
        }),
        look: seen('look', { effect: 'read' }),
      },
      async (ctx) => {
        await ctx.tool('pay', {});
        await ctx.tool('look', {});
      },
    );
    const first = await begin(agent);
    await stage.lab.until('r', () => stage.outside.length === 1);
    let stopped = false;
    void first.stop().then(() => {
      stopped = true;
    });
    await stage.lab.until('r', (status) => stopped && status === 'queued');
    expect(names()).toEqual(['pay']);
    stage.workers.push(await stage.lab.worker([agent]));
    await stage.lab.until('r', (status) => status === 'completed');
    expect(names()).toEqual(['pay', 'look']);
  });

  test('pauses between steps, and goes on from there', async () => {
    const agent = oneState(
      { look: seen('look', { effect: 'read', answer: () => stage.lab.clock.delay(40) }) },
      async (ctx) => {
        for (let i = 0; i < 40; i++) await ctx.tool('look', i);
      },
    );
    await begin(agent);
    await stage.lab.until('r', () => stage.outside.length > 3);
    await stage.lab.command('r', { mode: 'pause' } as never);
    await stage.lab.until('r', (status, _events, held) => status === 'paused' && !held);
    const before = stage.outside.length;
    expect(before).toBeLessThan(40);
    await stage.lab.order('r', 'resume');
    await stage.lab.until('r', (status) => status === 'completed');
    expect(stage.outside.map(({ args }) => args)).toEqual(Array.from({ length: 40 }, (_, i) => i));
  });

  test('a cancelled run stops here, its reads are abandoned, and its journal ends', async () => {
    await begin(
      oneState(
        { look: seen('look', { effect: 'read', answer: () => stage.lab.clock.delay(5_000) }) },
        (ctx) => ctx.tool('look'),
      ),
    );
    await stage.lab.until('r', () => stage.outside.length === 1);
    await stage.lab.command('r', { mode: 'cancel' } as never);
    await stage.lab.until('r', (status) => status === 'cancelled');
    expect((await stage.lab.deps.store.run('r' as never))?.lease).toBeUndefined();
  });

  test('changed code diverges before anything is live, and says where', async () => {
    const tools = {
      look: seen('look', { effect: 'read' }),
      ask: seen('ask', { effect: 'read', answer: () => new Promise(() => undefined) }),
    };
    const asks = (v: number) =>
      oneState(tools, async (ctx) => {
        await ctx.tool('look', { v });
        await ctx.tool('ask', {});
      });
    const first = await begin(asks(1));
    await stage.lab.until('r', () => names().includes('ask'));
    first.kill();
    stage.workers.push(await stage.lab.worker([asks(2)]));
    await stage.lab.until('r', (status) => status === 'interrupted');
    const before = stage.outside.length;
    await stage.lab.order('r', 'resume');
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    expect(stage.outside.length).toBe(before);
    const events = await stage.lab.events('r');
    expect(of(events, 'divergence.found')).toMatchObject([{ stepKey: 'work#1/look#1', what: 'input' }]);
    expect(of(events, 'command.ended').at(-1)).toMatchObject({ outcome: 'refused' });
  });

  test('code that awaits something foreign is reported', async () => {
    await begin(
      oneState({ look: seen('look', { effect: 'read' }) }, async (ctx) => {
        await ctx.tool('look', 1);
        await stage.lab.clock.delay(30);
        await ctx.tool('look', 2);
      }),
    );
    await stage.lab.until('r', (status) => status === 'completed');
    expect(stage.lab.warnings).toEqual([expect.stringContaining('not a context call')]);
  });
});
