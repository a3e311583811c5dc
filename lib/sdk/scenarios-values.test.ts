import { describe, expect, test } from 'vitest';
import { end, eventsOf as of, oneState, stages } from '@/lib/testing/sdk-stage';
import type { Agent, Context, LlmReply, Tool } from './api';
import { defineAgent } from './define-agent';

const stage = stages();
const { seen } = stage;

class Socket {}

function circle(): unknown {
  const round: Record<string, unknown> = { deep: {} };
  round['deep'] = { back: round };
  return round;
}

/** What nothing can record, and where that is. */
const odd: Readonly<Record<string, { readonly make: () => unknown; readonly path: string }>> = {
  'a class instance': { make: () => ({ a: [0, 1, 2, { b: new Socket() }] }), path: '$.a[3].b' },
  'a circle': { make: circle, path: '$.deep.back' },
  'a function': { make: () => ({ list: [{ a: 1 }, { call: () => 1 }] }), path: '$.list[1].call' },
  'a symbol in a map': { make: () => ({ map: new Map([['k', Symbol('s')]]) }), path: '$.map[0][1]' },
  'a promise': { make: () => ({ p: Promise.resolve() }), path: '$.p' },
  'a getter that throws': {
    make: () => ({
      get broken() {
        throw new Error('no');
      },
    }),
    path: '$',
  },
};
const kindsOfOdd = Object.keys(odd);
const oddOf = (kind: string) => odd[kind] as (typeof odd)[string];

/** Everything whose result is recorded. `look` and the others are what the outside sees. */
const results = ['read', 'retrieval', 'llm', 'pure', 'idempotent', 'external'] as const;
type Of = (typeof results)[number];
const isEffect = (of: Of) => of === 'idempotent' || of === 'external';

describe('S15 a result that cannot be recorded', () => {
  /** What code was given, and how often the call was made. */
  let got: unknown[] = [];
  let calls = 0;
  const KEY = 'work#1/call#1';

  function agentWith(kind: Of, make: () => unknown, more: Partial<Tool> = {}): Agent {
    got = [];
    calls = 0;
    const effect = kind === 'idempotent' || kind === 'external' ? kind : 'read';
    const call = seen('call', {
      effect,
      ...(effect === 'external' ? { keyed: true } : {}),
      retries: 3,
      ...(effect === 'read' ? {} : { receipt: () => 're_1' }),
      ...(more as object),
      answer: async () => {
        calls++;
        return make();
      },
    });
    const client = {
      complete: async (): Promise<LlmReply> => {
        calls++;
        return { message: { role: 'assistant', content: make() } };
      },
    };
    const asked = (ctx: Context): Promise<unknown> => {
      if (kind === 'llm') return ctx.llm('call', {});
      if (kind === 'retrieval') return ctx.retrieve('call', {});
      if (kind !== 'pure') return ctx.tool('call', {});
      return ctx.compute('call', 1, () => {
        calls++;
        return make();
      });
    };
    return defineAgent({
      name: 'a',
      initial: 'work',
      tools: { call },
      llms: { call: { client, model: 'm' } },
      states: {
        work: {
          to: ['close'],
          tools: ['call'],
          run: async (ctx) => {
            got.push(await asked(ctx));
            return 'close';
          },
        },
        close: end,
      },
    });
  }

  const failed = () => stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
  const ledger = async () => stage.lab.deps.store.effects('r' as never);
  /** Lets what may go wrong go wrong. */
  const rest = () => stage.lab.pass(5_000);

  describe.each(results)('of a call that is %s', (kind) => {
    test.each(kindsOfOdd)(
      '(%s) stops the run loudly, names its path, and nothing goes on from there',
      async (what) => {
        const { make, path } = oddOf(what);
        await stage.begin(agentWith(kind, make));
        await failed();
        const inside = kind === 'llm' ? path.replace('$', '$.message.content') : path;
        const named = expect.stringContaining(what === 'a getter that throws' ? '$' : `${inside}`) as unknown;
        const events = await stage.lab.events('r');
        expect(of(events, 'step.completed')).toMatchObject([
          { stepKey: KEY, recorded: false, problem: named },
        ]);
        expect(of(events, 'step.completed')[0]).not.toHaveProperty('result');
        expect(of(events, 'run.failed')).toMatchObject([
          { cause: 'not-recorded', stepKey: KEY, error: { message: named } },
        ]);
        const [row] = await stage.lab.deps.store.steps('r' as never);
        expect(row).toMatchObject({ stepKey: KEY, status: 'not-recorded', executions: 1 });
        await expect(stage.lab.order('r', 'resume')).rejects.toThrow(/not-recorded/);
        await rest();
        expect([calls, got]).toEqual([1, []]);
      },
    );

    test('a replay stops there, touches nothing, and hands nothing over', async () => {
      await stage.begin(agentWith(kind, oddOf('a class instance').make));
      await failed();
      const before = calls;
      const replay = await stage.lab.order('r', 'replay', 'start').catch((error: unknown) => String(error));
      await rest();
      // It may be refused, or begin and stop there.
      if (replay.startsWith('Error')) expect(replay).toMatch(/not-recorded|could not be recorded/);
      else expect(await stage.lab.status(replay)).toBe('failed');
      // A pure step runs again in a replay.
      expect(calls - before).toBeLessThanOrEqual(kind === 'pure' ? 1 : 0);
      expect(got).toEqual([]);
    });
  });

  describe.each(results.filter(isEffect))('of a call that is %s happened all the same', (kind) => {
    test('the ledger says so, with the receipt and without a result', async () => {
      await stage.begin(agentWith(kind, oddOf('a circle').make));
      await failed();
      const [row] = await ledger();
      expect(row).toMatchObject({ status: 'confirmed', receipt: 're_1', executions: 1 });
      expect(row?.result).toBeUndefined();
    });

    test.each([
      { mode: 'rewind', extra: {} },
      { mode: 'rewind', extra: { options: { keep: [KEY] } } },
      { mode: 'fork', extra: {} },
    ] as const)(
      'a $mode to the start ($extra) neither sends it again nor gives the code undefined',
      async ({ mode, extra }) => {
        const agent = agentWith(kind, oddOf('a class instance').make);
        await stage.begin(agent);
        await failed();
        const id = await stage.lab.order('r', mode, 'start', extra).catch((error: unknown) => String(error));
        await rest();
        if (id.startsWith('Error')) expect(id).toMatch(/not-recorded|blocked|needs-decision/);
        else {
          expect(['waiting', 'failed', 'interrupted']).toContain(await stage.lab.status(id));
          const after = await stage.lab.events(id);
          expect(of(after, 'step.skipped').length + of(after, 'step.reused').length).toBe(0);
        }
        expect([calls, got]).toEqual([1, []]);
      },
    );

    test.each(['rewind', 'fork'] as const)(
      'once a person said what it answered, a %s to the start goes on with that',
      async (mode) => {
        await stage.begin(agentWith(kind, oddOf('a class instance').make));
        await failed();
        const [row] = await ledger();
        const result = { value: { id: 're_1' } };
        const decide = (outcome: string) =>
          stage.lab.command('r', {
            mode: 'decide',
            decisions: {
              [KEY]: { intentSeq: row?.intentSeq, outcome, ...(outcome === 'happened' ? { result } : {}) },
            },
          } as never);
        await expect(decide('did-not-happen')).rejects.toThrow();
        await decide('happened');
        const extra = mode === 'rewind' ? { options: { keep: [KEY] } } : {};
        const id = await stage.lab.order('r', mode, 'start', extra);
        await stage.lab.until(id, (status) => status === 'completed');
        expect([calls, got]).toEqual([1, [{ id: 're_1' }]]);
      },
    );

    test.each([
      { learns: 'before its answer', afterMs: 4_000 },
      { learns: 'when it reports its answer', afterMs: 1_500 },
    ])(
      'told by a worker that the run was taken from, which learns that $learns: kept as evidence, and never undefined',
      async ({ afterMs }) => {
        const { make } = oddOf('a class instance');
        const slow = async () => {
          await stage.lab.clock.delay(afterMs);
          return make();
        };
        const agent = agentWith(kind, slow, { timeoutMs: 5_000, settlesWithinMs: 100 });
        let isCut = false;
        const cut = await stage.lab.worker([agent], { isCutOff: () => isCut });
        stage.workers.push(cut);
        void cut.start('a', { runId: 'r' });
        await stage.lab.until('r', () => calls === 1);
        isCut = true;
        await stage.lab.until('r', (status) => status === 'interrupted');
        // Either ends the epoch: what comes now is evidence. Nobody is there to take the order.
        const [row] = await ledger();
        if (kind === 'external')
          await stage.lab.command('r', {
            mode: 'decide',
            decisions: { [KEY]: { intentSeq: row?.intentSeq, outcome: 'hold' } },
          } as never);
        else await stage.lab.order('r', 'resume');
        await stage.lab.pass(9_000);
        expect(of(await stage.lab.events('r'), 'effect.verified')).toMatchObject([
          { source: 'late-worker', outcome: 'happened' },
        ]);
        expect((await ledger())[0]).toMatchObject({
          evidence: [{ source: 'late-worker', receipt: 're_1' }],
        });
        stage.workers.push(await stage.lab.worker([agent]));
        // What it answered is for a person to say; an idempotent call may be made again under its key.
        if (kind === 'external')
          await expect(stage.lab.order('r', 'resume')).rejects.toThrow(/needs-decision/);
        await rest();
        if (kind === 'external') expect(calls).toBe(1);
        expect(new Set(stage.outside.map(({ key }) => key)).size).toBe(1);
        expect(got).toEqual([]);
      },
    );
  });

  test('of a probe is told as an answer that nobody can use, with the path; nothing is handed over or sent again', async () => {
    const { make } = oddOf('a class instance');
    const pay = seen('call', {
      effect: 'external',
      keyed: true,
      timeoutMs: 50,
      settlesWithinMs: 10,
      answer: () => new Promise(() => undefined),
      verify: async () => ({ outcome: 'happened', result: make() }),
    });
    got = [];
    await stage.begin(oneState({ call: pay }, async (ctx) => got.push(await ctx.tool('call', {}))));
    await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
    await stage.lab.pass(2_000);
    await stage.lab.command('r', { mode: 'verify', stepKey: KEY } as never);
    await stage.lab.until('r', (_status, events) => of(events, 'effect.verified').length > 0);
    const [verified] = of(await stage.lab.events('r'), 'effect.verified');
    expect(verified?.note).toContain('$.a[3].b');
    await expect(stage.lab.order('r', 'resume')).rejects.toThrow(/blocked/);
    await rest();
    expect([stage.outside.length, got]).toEqual([1, []]);
  });
});

describe('S15 a value that code hands over and that cannot be recorded', () => {
  /** Every way to hand a value over. */
  const ways: Readonly<Record<string, (ctx: Context, value: unknown) => unknown>> = {
    'the arguments of a read': (ctx, value) => ctx.tool('look', value),
    'the arguments of an idempotent call': (ctx, value) => ctx.tool('put', value),
    'the arguments of an external call': (ctx, value) => ctx.tool('pay', value),
    'the arguments of a retrieval': (ctx, value) => ctx.retrieve('look', value),
    'the request to a model': (ctx, value) => ctx.llm('model', value),
    'the input of a computation': (ctx, value) => ctx.compute('sum', value, () => 1),
    'the input of a condition': (ctx, value) => ctx.condition('if', value, () => true),
    'a question': (ctx, value) => ctx.ask('ok', { prompt: 'ok?', schema: value as never }),
    'a variable': (ctx, value) => ctx.vars.set('x', value),
    'a message': (ctx, value) => ctx.messages.append({ role: 'user', content: value }),
  };
  const inside = (way: string, path: string) =>
    way === 'a message'
      ? path.replace('$', '$.content')
      : way === 'a question'
        ? path.replace('$', '$.schema')
        : path;
  let sent = 0;
  const agentOf = (run: (ctx: Context) => Promise<unknown>): Agent => {
    sent = 0;
    const tools = {
      look: seen('look', { effect: 'read' }),
      put: seen('put', { effect: 'idempotent' }),
      pay: seen('pay', { effect: 'external', keyed: true }),
    };
    const client = {
      complete: async (): Promise<LlmReply> => {
        sent++;
        return { message: { role: 'assistant' } };
      },
    };
    return defineAgent({
      name: 'a',
      initial: 'work',
      tools,
      llms: { model: { client, model: 'm' } },
      states: { work: { to: [], final: true, tools: Object.keys(tools), run } },
    });
  };

  describe.each(Object.keys(ways))('%s', (way) => {
    test.each(kindsOfOdd)('(%s) fails at the call, names the path, and leaves no trace', async (what) => {
      const { make, path } = oddOf(what);
      const thrown: unknown[] = [];
      await stage.begin(
        agentOf(async (ctx) => {
          try {
            await ways[way]?.(ctx, make());
          } catch (error) {
            thrown.push(error);
          }
          // What the code knows of it goes on.
          ctx.vars.set('after', 1);
          return ctx.vars.all();
        }),
      );
      await stage.lab.until('r', (status) => status === 'completed' || status === 'failed');
      expect(await stage.lab.status('r')).toBe('completed');
      expect(thrown).toMatchObject([{ name: 'NotRecordable' }]);
      expect(String(thrown[0])).toContain(what === 'a getter that throws' ? '$' : inside(way, path));
      const events = await stage.lab.events('r');
      expect([
        of(events, 'step.started'),
        of(events, 'message.appended'),
        of(events, 'question.asked'),
      ]).toEqual([[], [], []]);
      expect(of(events, 'variables.patched').length).toBe(1);
      expect([stage.outside.length, sent]).toEqual([0, 0]);
    });

    test('uncaught, it ends the run with the path in its failure', async () => {
      await stage.begin(agentOf(async (ctx) => ways[way]?.(ctx, circle())));
      await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
      expect(of(await stage.lab.events('r'), 'run.failed')).toMatchObject([
        {
          error: {
            type: 'NotRecordable',
            message: expect.stringContaining(inside(way, '$.deep.back')) as unknown,
          },
        },
      ]);
      expect([stage.outside.length, sent]).toEqual([0, 0]);
    });
  });

  test.each(kindsOfOdd)('the result of a run (%s) fails it, and names the path', async (what) => {
    const { make, path } = oddOf(what);
    await stage.begin(agentOf(async () => make()));
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    const events = await stage.lab.events('r');
    expect(of(events, 'run.completed')).toEqual([]);
    expect(of(events, 'run.failed')).toMatchObject([
      { error: { message: expect.stringContaining(path) as unknown } },
    ]);
  });

  test.each(kindsOfOdd)(
    'the input of a run (%s) is refused where it is started, and there is no run',
    async (what) => {
      const { make, path } = oddOf(what);
      const worker = await stage.lab.worker([agentOf(async () => 1)]);
      stage.workers.push(worker);
      await expect(worker.start('a', { runId: 'r', input: make() })).rejects.toThrow(path);
      expect(await stage.lab.deps.store.run('r' as never)).toBeUndefined();
    },
  );
});
