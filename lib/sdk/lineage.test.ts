import { describe, expect, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { end, eventsOf, stages } from '@/lib/testing/sdk-stage';
import type { Agent, Context, Tool } from './api';
import { defineAgent } from './define-agent';
import { Rejected, StepFailed } from './errors';

const stage = stages();
const { seen, begin, answer, names } = stage;

const llms = (answers: (n: number) => string) => {
  let n = 0;
  return {
    model: {
      model: 'm',
      client: {
        complete: async () => {
          stage.outside.push({ name: 'llm', key: undefined, args: undefined });
          return { message: { role: 'assistant', content: answers(++n) } };
        },
      },
    },
  };
};

/** plan sets `limit` and `order`; work is what each test needs; then the end. */
function desk(tools: Readonly<Record<string, Tool>>, work: (ctx: Context) => Promise<unknown>): Agent {
  return defineAgent({
    name: 'a',
    initial: 'plan',
    states: {
      plan: {
        to: ['work'],
        tools: ['find'],
        run: async (ctx) => {
          ctx.vars.set('order', await ctx.tool('find', { order: 7 }));
          ctx.vars.set('limit', 100);
          ctx.messages.append({ role: 'user', content: 'hello' });
          return 'work';
        },
      },
      work: {
        to: ['close'],
        tools: Object.keys(tools),
        run: async (ctx) => {
          await work(ctx);
          return 'close';
        },
      },
      close: end,
    },
    tools: { find: seen('find', { effect: 'read' }), ...tools },
    llms: llms((n) => `answer ${n}`),
  });
}

const external = (name: string, more: Partial<Parameters<typeof seen>[1]> = {}) =>
  seen(name, { effect: 'external', keyed: true, settlesWithinMs: 100, ...more });
const read = (name: string) => seen(name, { effect: 'read' });

/** The newest checkpoint that code asked for. */
async function asked(runId = 'r'): Promise<string> {
  const checkpoints = await stage.lab.deps.store.checkpoints(runId as never);
  const manual = checkpoints.findLast(({ trigger }) => trigger === 'manual');
  if (manual === undefined) throw new Error('no checkpoint');
  return manual.id;
}
const completes = (runId: string) => stage.lab.until(runId, (status) => status === 'completed');
const own = (events: readonly RunEvent[]) => events.filter(({ inherited }) => inherited === undefined);
const startedBy = (events: readonly RunEvent[]) =>
  eventsOf(own(events), 'step.started').map(({ stepKey }) => stepKey);
const after = (count: number) => names().slice(count);

describe('a fork with edits', () => {
  const work = async (ctx: Context) => {
    await ctx.tool('look', { for: 'all' });
    const { message } = await ctx.llm('model', { messages: [{ role: 'user', content: 'how much?' }] });
    await ctx.tool('check', { limit: ctx.vars.get('limit') });
    const sum = await ctx.compute('sum', { limit: ctx.vars.get('limit') }, ({ limit }) => Number(limit) + 1);
    ctx.vars.set('total', sum);
    const ok = await ctx.ask('ok', { prompt: String(message.content) });
    ctx.checkpoint();
    await ctx.tool('pay', { order: ctx.vars.get('order'), ok });
  };
  const agent = () => desk({ look: read('look'), check: read('check'), pay: external('pay') }, work);
  const complete = async () => {
    await begin(agent());
    await stage.lab.until('r', (status) => status === 'waiting');
    await answer('yes');
    await completes('r');
  };

  test('inherits up to where the open visit was entered, brings the edits as events, runs that visit anew, and reuses what is asked for alike', async () => {
    await complete();
    const before = names().length;
    const from = await asked();
    const parent = await stage.lab.events('r');
    const entry = eventsOf(parent, 'state.entered').find(({ key }) => key === 'work#1');
    const id = await stage.lab.order('r', 'fork', from, { edits: [{ path: '/variables/limit', value: 50 }] });
    await completes(id);

    const events = await stage.lab.events(id);
    const copies = events.filter(({ inherited }) => inherited !== undefined);
    expect(copies.at(-1)?.inherited).toEqual({ runId: 'r', seq: entry?.seq });
    const edit = events.find((event) => event.kind === 'variables.patched' && event.by === 'console');
    expect(edit).toMatchObject({ patch: [{ op: 'replace', path: '/limit' }] });
    expect(edit?.seq).toBe((copies.at(-1)?.seq ?? 0) + 1);

    // Only what is asked for with another input runs; the pure step runs again; the effect answers from the ledger.
    expect(after(before)).toEqual(['check']);
    expect(stage.outside.at(-1)?.args).toEqual({ limit: 50 });
    expect(startedBy(events)).toEqual(['work#1/check#1', 'work#1/sum#1']);
    const seqOf = (key: string) =>
      eventsOf(parent, 'step.completed').find(({ stepKey }) => stepKey === key)?.seq;
    expect(eventsOf(own(events), 'step.reused')).toMatchObject(
      ['work#1/look#1', 'work#1/model#1', 'work#1/ok#1'].map((stepKey) => ({
        stepKey,
        sourceRunId: 'r',
        sourceSeq: seqOf(stepKey),
      })),
    );
    expect(eventsOf(own(events), 'step.skipped')).toMatchObject([
      { stepKey: 'work#1/pay#1', sourceRunId: 'r' },
    ]);
    const run = await stage.lab.deps.store.run(id);
    const total = run?.state.variables['total'];
    expect(total && (await stage.lab.payload(total.sha256))).toBe(51);
  });

  test('gives an edited step output to the code, and what is computed from it follows', async () => {
    await complete();
    const before = names().length;
    await stage.lab.order('r', 'fork', await asked(), {
      edits: [{ path: '/steps/work#1~1ok#1/result', value: 'edited' }],
    });
    // The effect was confirmed with another answer: it is never sent again by default.
    const fork = (await stage.lab.deps.store.lineage('r' as never)).at(-1)?.runId ?? '';
    await stage.lab.until(fork, (status) => status === 'waiting');
    expect(after(before)).toEqual([]);
    const events = await stage.lab.events(fork);
    expect(eventsOf(events, 'effect.conflict')).toMatchObject([{ stepKey: 'work#1/pay#1' }]);
    expect(eventsOf(events, 'run.waiting').at(-1)?.on).toMatchObject([{ for: 'conflict' }]);
  });

  test('refuses to edit what the open visit wrote itself, and offers the output of the step before it', async () => {
    await complete();
    await expect(
      stage.lab.order('r', 'fork', await asked(), { edits: [{ path: '/variables/total', value: 1 }] }),
    ).rejects.toThrow(/edit-refused.*check#1.*offer/);
    expect((await stage.lab.deps.store.lineage('r' as never)).length).toBe(1);
  });

  test('from the start brings edited input and variables to the first state', async () => {
    const saw: unknown[] = [];
    const agent = defineAgent({
      name: 'a',
      initial: 'work',
      states: {
        work: {
          to: [],
          final: true,
          run: async (ctx) => void saw.push([ctx.input, ctx.vars.all()]),
        },
      },
    });
    await begin(agent, { order: 1 });
    await completes('r');
    const id = await stage.lab.order('r', 'fork', 'start', {
      edits: [
        { path: '/input/order', value: 2 },
        { path: '/variables/limit', value: 5 },
      ],
    });
    await stage.lab.until(id, (status) => status === 'completed' || status === 'failed');
    expect(saw).toEqual([
      [{ order: 1 }, {}],
      [{ order: 2 }, { limit: 5 }],
    ]);
    const replay = await stage.lab.order(id, 'replay', 'start');
    await stage.lab.until(replay, (status) => status === 'completed' || status === 'failed');
    expect(await stage.lab.status(replay)).toBe('completed');
    expect(saw[2]).toEqual(saw[1]);
  });

  test('gives a recorded failure again at equal input, of a read as of an effect, and so do its resume and replays: nothing is sent', async () => {
    const no = () => Promise.reject(new Rejected('no'));
    const down = () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNRESET' }));
    // What it is called says nothing of its kind.
    const odd = () => Promise.reject(Object.assign(new Error('odd'), { name: 'rejected' }));
    const work = async (ctx: Context) => {
      const said: unknown[] = [];
      for (const name of ['look', 'list', 'name', 'pay']) {
        said.push(
          await ctx.tool(name, {}).catch((error: unknown) => {
            if (!(error instanceof StepFailed)) throw error;
            return [error.type, error.failure, error.message];
          }),
        );
      }
      ctx.vars.set('said', said);
      await ctx.tool('check', { limit: ctx.vars.get('limit') });
      ctx.checkpoint();
    };
    await begin(
      desk(
        {
          look: seen('look', { effect: 'read', answer: no }),
          list: seen('list', { effect: 'read', retries: 0, answer: down }),
          name: seen('name', { effect: 'read', answer: odd }),
          pay: external('pay', { answer: no }),
          check: seen('check', { effect: 'read', answer: async (n) => (n === 2 ? no() : n) }),
        },
        work,
      ),
    );
    await completes('r');
    const before = names().length;
    const edits = [{ path: '/variables/limit', value: 1 }];
    const id = await stage.lab.order('r', 'fork', await asked(), { edits });
    await stage.lab.until(id, (status, _events, held) => status === 'failed' && !held);
    await stage.lab.order(id, 'resume');
    await completes(id);
    // Of the run, of its fork, and of that replay.
    const replays: string[] = [];
    for (const record of [() => 'r', () => id, () => replays[1] ?? '']) {
      const replay = await stage.lab.order(record(), 'replay', 'start');
      await completes(replay);
      replays.push(replay);
    }
    expect(after(before)).toEqual(['check', 'check']);
    const failures = [
      ['Rejected', 'rejected', 'no'],
      ['Error', 'unavailable', 'gone'],
      ['rejected', 'error', 'odd'],
      ['Rejected', 'rejected', 'no'],
    ];
    for (const run of ['r', id, ...replays]) {
      const said = (await stage.lab.deps.store.run(run as never))?.state.variables['said'];
      expect(said && (await stage.lab.payload(said.sha256))).toEqual(failures);
    }
    for (const run of [id, ...replays]) {
      const reused = eventsOf(await stage.lab.events(run), 'step.reused').filter(({ error }) => error);
      const told = reused.map(({ error, failure }) => [error?.type, failure, error?.message]);
      expect(told).toEqual(failures);
    }
  });

  test('keeps its edits and the results to reuse across a question and a lost worker', async () => {
    const work = async (ctx: Context) => {
      await ctx.ask('ok', { prompt: `${ctx.vars.get('limit')}?` });
      ctx.vars.set('got', [await ctx.tool('look', {}), await ctx.tool('check', {})]);
      ctx.checkpoint();
    };
    const agent = desk({ look: read('look'), check: read('check') }, work);
    const first = await begin(agent);
    await stage.lab.until('r', (status) => status === 'waiting');
    await answer('yes');
    await completes('r');
    const before = names().length;
    const id = await stage.lab.order('r', 'fork', await asked(), {
      edits: [
        { path: '/variables/limit', value: 1 },
        { path: '/steps/work#1~1look#1/result', value: 'edited' },
      ],
    });
    await stage.lab.until(id, (status) => status === 'waiting');
    first.kill();
    stage.workers.push(await stage.lab.worker([agent]));
    await answer('yes again', id);
    await completes(id);
    expect(after(before)).toEqual([]);
    const got = (await stage.lab.deps.store.run(id))?.state.variables['got'];
    expect(got && (await stage.lab.payload(got.sha256))).toEqual(['edited', { id: 'check_1' }]);
  });
});

describe('a fork without edits', () => {
  test('answers up to the point, and beyond it asks models, reads and people again, while confirmed effects answer from the record', async () => {
    const work = async (ctx: Context) => {
      await ctx.tool('look', { n: 1 });
      await ctx.tool('pay', { n: 1 });
      ctx.checkpoint();
      await ctx.tool('look', { n: 2 });
      await ctx.llm('model', { messages: [{ role: 'user', content: 'well?' }] });
      await ctx.ask('ok', { prompt: 'sure?' });
      await ctx.compute('sum', { a: 1 }, ({ a }) => a + 1);
      await ctx.tool('pay', { n: 2 });
    };
    await begin(desk({ look: read('look'), pay: external('pay') }, work));
    await stage.lab.until('r', (status) => status === 'waiting');
    await answer('yes');
    await completes('r');
    const before = names().length;
    const id = await stage.lab.order('r', 'fork', await asked());
    await stage.lab.until(id, (status) => status === 'waiting');
    await answer('no', id);
    await completes(id);
    expect(after(before)).toEqual(['look', 'llm']);
    const events = await stage.lab.events(id);
    expect(startedBy(events)).toEqual(['work#1/look#2', 'work#1/model#1', 'work#1/ok#1', 'work#1/sum#1']);
    expect(eventsOf(own(events), 'step.skipped')).toMatchObject([
      { stepKey: 'work#1/pay#1' },
      { stepKey: 'work#1/pay#2', sourceRunId: 'r', result: { codec: 'json' } },
    ]);
    expect(eventsOf(await stage.lab.events('r'), 'step.completed').length).toBe(8);
  });
});

describe('two live runs of one lineage', () => {
  /** The original stops before its effect; a fork of it and the original go on at once. */
  const race = async (seed: number, tool: Tool) => {
    stage.reset(seed);
    const agent = desk({ pay: tool }, async (ctx) => {
      ctx.checkpoint();
      await ctx.ask('go', { prompt: 'go?' });
      ctx.vars.set('paid', await ctx.tool('pay', { cents: 100 }));
    });
    await begin(agent);
    stage.workers.push(await stage.lab.worker([agent]));
    await stage.lab.until('r', (status) => status === 'waiting');
    const id = await stage.lab.order('r', 'fork', await asked());
    await stage.lab.until(id, (status) => status === 'waiting');
    await Promise.all([answer('go'), answer('go', id)]);
    return id;
  };

  test.each([
    { effect: 'external', kind: 'step.skipped' },
    { effect: 'idempotent', kind: 'step.reused' },
  ] as const)(
    'that race for one $effect effect send it once: the other uses that record',
    async ({ effect, kind }) => {
      for (let seed = 1; seed <= 25; seed++) {
        const id = await race(seed, seen('pay', { effect, keyed: true }));
        await completes('r');
        await completes(id);
        expect({ seed, sent: names().filter((name) => name === 'pay') }).toEqual({ seed, sent: ['pay'] });
        const journals = [await stage.lab.events('r'), await stage.lab.events(id)].flat();
        const answered = eventsOf(journals, kind).filter(({ stepKey }) => stepKey === 'work#1/pay#1');
        expect(answered).toMatchObject([{ result: { codec: 'json' } }]);
        const paid = await Promise.all(
          ['r', id].map(
            async (one) => (await stage.lab.deps.store.run(one as never))?.state.variables['paid']?.sha256,
          ),
        );
        expect(paid[0]).toBe(paid[1]);
      }
    },
  );

  test.each(['external', 'idempotent'] as const)(
    'of which one leaves an %s effect open let the other wait without holding it, and neither sends it again',
    async (effect) => {
      for (let seed = 1; seed <= 10; seed++) {
        const never = () => new Promise(() => undefined);
        const id = await race(
          seed,
          seen('pay', {
            effect,
            keyed: true,
            timeoutMs: 200,
            settlesWithinMs: 100,
            retries: 0,
            answer: never,
          }),
        );
        for (const run of ['r', id])
          await stage.lab.until(run, (status, _events, held) => status === 'waiting' && !held);
        expect({ seed, sent: names().filter((name) => name === 'pay') }).toEqual({ seed, sent: ['pay'] });
        const on = await Promise.all(
          ['r', id].map(
            async (run) => eventsOf(await stage.lab.events(run), 'run.waiting').at(-1)?.on[0]?.for,
          ),
        );
        expect(on.sort()).toEqual(['blocked', 'in-doubt']);
      }
    },
  );

  test('of which one is refused for sure let the other send it, under the same key', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const id = await race(
        seed,
        external('pay', {
          answer: async (n) => (n === 1 ? Promise.reject(new Rejected('no')) : { id: 're_1' }),
        }),
      );
      for (const run of ['r', id])
        await stage.lab.until(
          run,
          (status, _events, held) => ['completed', 'failed'].includes(status) && !held,
        );
      const sent = stage.outside.filter(({ name }) => name === 'pay');
      expect({ seed, sent: sent.length }).toEqual({ seed, sent: 2 });
      expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
    }
  });
});

describe('a rewind', () => {
  test('S05 keeps a confirmed effect in force: it answers from the record while reads and models run again', async () => {
    const work = async (ctx: Context) => {
      ctx.checkpoint();
      await ctx.tool('look', {});
      await ctx.llm('model', { messages: [] });
      ctx.vars.set('paid', await ctx.tool('pay', { cents: 100 }));
      await ctx.tool('mail', {});
    };
    await begin(
      desk({ look: read('look'), pay: external('pay'), mail: external('mail', { answer: no1 }) }, work),
    );
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    const before = names().length;
    await expect(stage.lab.order('r', 'rewind', await asked())).rejects.toThrow(/needs-keep/);
    await stage.lab.order('r', 'rewind', await asked(), { options: { keep: ['work#1/pay#1'] } });
    await completes('r');
    expect(after(before)).toEqual(['look', 'llm', 'mail']);
    const events = await stage.lab.events('r');
    const rewound = events.find(({ kind }) => kind === 'run.rewound');
    expect(rewound).toMatchObject({ kept: ['work#1/pay#1'] });
    const later = events.filter(({ seq }) => seq > (rewound?.seq ?? 0));
    expect(eventsOf(later, 'step.skipped')).toMatchObject([
      { stepKey: 'work#1/pay#1', result: { codec: 'json' } },
    ]);
    const paid = (await stage.lab.deps.store.run('r' as never))?.state.variables['paid'];
    expect(paid && (await stage.lab.payload(paid.sha256))).toEqual({ id: 'pay_1' });
    // And once more, to the same point: the kept effect is still never sent.
    await stage.lab.order('r', 'rewind', await asked(), {
      options: { keep: ['work#1/pay#1', 'work#1/mail#1'] },
    });
    await stage.lab.until(
      'r',
      (status, all) => status === 'completed' && eventsOf(all, 'run.completed').length === 2,
    );
    expect(after(before)).toEqual(['look', 'llm', 'mail', 'look', 'llm']);
  });
  const no1 = async (n: number) => (n === 1 ? Promise.reject(new Rejected('no')) : { id: `mail_${n}` });
});
