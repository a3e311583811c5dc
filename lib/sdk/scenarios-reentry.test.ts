import { describe, expect, test } from 'vitest';
import { end, eventsOf as of, type Seen, stages } from '@/lib/testing/sdk-stage';
import type { Agent, Context, LlmReply } from './api';
import { defineAgent } from './define-agent';
import { NotSent } from './errors';
import { tool } from './tool';

const stage = stages();
const { seen, answer } = stage;

/** How often something was done, by what it was done for. */
const counted = () => new Map<string, number>();
const count = (calls: Map<string, number>, what: string) => calls.set(what, (calls.get(what) ?? 0) + 1);

describe('S03 a question in a loop whose every answer re-enters the state', () => {
  /** Where the loop is: the transition that leads back to the question. */
  const loops = {
    'from the state to itself': { work: ['work', 'close'], review: ['work'] },
    'through another state': { work: ['review', 'close'], review: ['work'] },
  } as const;
  /** What becomes of the worker before each answer is given. */
  const fates = ['lives', 'is killed while it waits', 'is killed as soon as the answer was given'] as const;

  describe.each(Object.keys(loops) as (keyof typeof loops)[])('%s', (loop) => {
    test.each(fates)('and the worker %s: nothing before the question runs a second time', async (fate) => {
      const calls = counted();
      const entered = counted();
      const answers: unknown[] = [];
      const agent = looped(loops[loop], calls, entered, answers);
      let worker = await stage.begin(agent);
      const LAPS = 3;
      for (let lap = 1; lap <= LAPS; lap++) {
        for (const name of ['first', 'second']) {
          await stage.lab.until(
            'r',
            (status, events, held) =>
              status === 'waiting' &&
              !held &&
              of(events, 'question.asked').length === lap * 2 - (name === 'first' ? 1 : 0),
          );
          const [asked] = of(await stage.lab.events('r'), 'question.asked').slice(-1);
          expect(asked?.stepKey).toBe(`work#${lap}/${name}#1`);
          if (fate === 'is killed while it waits') worker.kill();
          const before = [...calls];
          await answer(`${name} ${lap}`);
          if (fate === 'is killed as soon as the answer was given') worker.kill();
          if (fate !== 'lives') {
            worker = await stage.lab.worker([agent]);
            stage.workers.push(worker);
          }
          await stage.lab.until(
            'r',
            (status, events) =>
              status === 'completed' ||
              of(events, 'question.asked').length > lap * 2 - (name === 'first' ? 1 : 0),
          );
          for (const [what, times] of before) expect([what, calls.get(what)]).toEqual([what, times]);
        }
      }
      await stage.lab.until('r', (status) => status === 'completed');

      const kinds = ['look', 'put', 'pay', 'find', 'model', 'after', 'left', 'right'];
      const once = (lap: number) => kinds.map((kind) => [`${kind} ${lap}`, 1] as const);
      expect(Object.fromEntries(calls)).toEqual(Object.fromEntries([1, 2, 3].flatMap(once)));
      // Each visit was entered from its top once more for each of its answers.
      for (let lap = 1; lap <= LAPS; lap++) expect([lap, entered.get(`work ${lap}`)]).toEqual([lap, 3]);
      expect(answers.slice(-3)).toEqual([1, 2, 3].map((lap) => [`first ${lap}`, `second ${lap}`]));
      const rows = await stage.lab.deps.store.steps('r' as never);
      for (const row of rows) expect([row.stepKey, row.executions]).toEqual([row.stepKey, 1]);
      const pays = stage.outside.filter(({ name }) => name === 'pay').map(({ key }) => key);
      expect(new Set(pays).size).toBe(LAPS);
    });
  });

  /** A state with calls of every kind before, between and beside its two questions. */
  function looped(
    to: { readonly work: readonly string[]; readonly review: readonly string[] },
    calls: Map<string, number>,
    entered: Map<string, number>,
    answers: unknown[],
  ): Agent {
    const counting = (name: string, effect: 'read' | 'idempotent' | 'external') =>
      seen(name, {
        effect,
        ...(effect === 'external' ? { keyed: true } : {}),
        answer: async () => {
          const { lap } = (stage.outside.findLast((one) => one.name === name) as Seen).args as {
            lap: number;
          };
          count(calls, `${name} ${lap}`);
          return { lap };
        },
      });
    const tools = {
      look: counting('look', 'read'),
      find: counting('find', 'read'),
      put: counting('put', 'idempotent'),
      pay: counting('pay', 'external'),
      after: counting('after', 'external'),
      left: counting('left', 'read'),
      right: counting('right', 'external'),
    };
    const client = {
      complete: async (request: unknown): Promise<LlmReply> => {
        await stage.lab.clock.delay(3);
        count(calls, `model ${(request as { lap: number }).lap}`);
        return { message: { role: 'assistant', content: 'hello' } };
      },
    };
    return defineAgent({
      name: 'a',
      initial: 'work',
      tools,
      llms: { model: { client, model: 'm' } },
      states: {
        work: {
          to: to.work,
          tools: Object.keys(tools),
          run: async (ctx) => {
            const lap = Number(ctx.vars.get('lap') ?? 0) + 1;
            count(entered, `work ${lap}`);
            await ctx.tool('look', { lap });
            await ctx.llm('model', { lap });
            await ctx.retrieve('find', { lap });
            await ctx.tool('put', { lap });
            await ctx.tool('pay', { lap });
            await ctx.parallel('both', {
              left: (c) => c.tool('left', { lap }),
              right: (c) => c.tool('right', { lap }),
            });
            const first = await ctx.ask('first', { prompt: `lap ${lap}` });
            await ctx.tool('after', { lap });
            const second = await ctx.ask('second', { prompt: `lap ${lap}` });
            answers.push([first, second]);
            ctx.vars.set('lap', lap);
            return lap < 3 ? (to.work[0] as string) : 'close';
          },
        },
        review: {
          to: to.review,
          run: async () => 'work',
        },
        close: end,
      },
    });
  }
});

describe('S04 a model that is asked again and gives another tool-call id', () => {
  const ids: string[] = [];
  /** Asks for one payment; each answer has an id and an order of keys of its own. `onAsked` may kill the worker. */
  const desk = (
    effect: 'external' | 'idempotent',
    onAsked: (n: number) => void = () => undefined,
    pay: (n: number) => Promise<unknown> = async () => ({ paid: true }),
  ): Agent => {
    ids.length = 0;
    const client = {
      complete: async (): Promise<LlmReply> => {
        await stage.lab.clock.delay(5);
        const n = ids.length + 1;
        const id = `call_${stage.lab.clock.uuid()}`;
        ids.push(id);
        const args = n % 2 === 0 ? { order: 'o1', cents: 148 } : { cents: 148, order: 'o1' };
        onAsked(n);
        return {
          message: {
            role: 'assistant',
            tool_calls: [{ id, function: { name: 'pay', arguments: JSON.stringify(args) } }],
          },
        };
      },
    };
    return defineAgent({
      name: 'a',
      initial: 'work',
      tools: {
        pay: seen('pay', {
          effect,
          keyed: true,
          retries: 0,
          timeoutMs: 400,
          settlesWithinMs: 50,
          answer: pay,
        }),
      },
      llms: { model: { client, model: 'm' } },
      states: { work: { to: ['close'], tools: ['pay'], run: turn }, close: end },
    });
  };
  async function turn(ctx: Context): Promise<string> {
    const { message } = await ctx.llm('model', { messages: ctx.messages.list() });
    ctx.messages.append(message);
    const calls = message['tool_calls'] as { id: string; function: { name: string; arguments: string } }[];
    for (const call of calls) {
      const result = await ctx.tool(call.function.name, JSON.parse(call.function.arguments));
      ctx.messages.append({ role: 'tool', tool_call_id: call.id, content: result });
    }
    return 'close';
  }
  const keys = () => stage.outside.map(({ key }) => key);

  /** The key of a run that nothing disturbs. */
  async function undisturbed(effect: 'external' | 'idempotent'): Promise<string | undefined> {
    await stage.begin(desk(effect));
    await stage.lab.until('r', (status) => status === 'completed');
    expect([ids.length, keys().length]).toEqual([1, 1]);
    const [key] = keys();
    stage.reset(7);
    return key;
  }

  describe.each(['external', 'idempotent'] as const)('and an %s tool', (effect) => {
    test.each([
      { when: 'as it answers', goesOn: false },
      { when: 'after its code went on with an answer that never reached the console', goesOn: true },
    ])('killed $when: the downstream is given the key that it would have been given', async ({ goesOn }) => {
      const expected = await undisturbed(effect);
      for (const seed of [11, 12, 13]) {
        stage.reset(seed);
        let isCut = false;
        const agent = desk(effect, (n) => {
          if (n > 1) return;
          isCut = true;
          if (goesOn) stage.lab.clock.after(200, () => first.kill());
          else first.kill();
        });
        const first = await stage.lab.worker([agent], { isUnreachable: () => isCut });
        stage.workers.push(first);
        void first.start('a', { runId: 'r' });
        await stage.lab.until('r', (status) => status === 'interrupted');
        expect([ids.length, keys()]).toEqual([1, []]);
        stage.workers.push(await stage.lab.worker([agent]));
        await stage.lab.order('r', 'resume');
        await stage.lab.until('r', (status) => status === 'completed');
        expect(ids.length).toBe(2);
        expect(new Set(ids).size).toBe(2);
        expect(keys()).toEqual([expected]);
      }
    });

    test.each(['rewind', 'fork'] as const)(
      'after a call that surely was not sent, by a %s to the start: both attempts came with one key',
      async (mode) => {
        const refuses = async (n: number) => {
          if (n === 1) throw new NotSent('down');
          return { paid: true };
        };
        await stage.begin(desk(effect, undefined, refuses));
        await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
        const id = await stage.lab.order('r', mode, 'start');
        await stage.lab.until(id, (status) => status === 'completed');
        expect(ids.length).toBe(2);
        expect(new Set(ids).size).toBe(2);
        expect(keys().length).toBe(2);
        expect(new Set(keys()).size).toBe(1);
        const rows = await stage.lab.deps.store.effects('r' as never);
        expect(rows.map(({ generation, status }) => [generation, status])).toEqual([[1, 'confirmed']]);
      },
    );

    test('after a call that was confirmed, by a fork from the start: nothing is sent, and the code is given that result', async () => {
      await stage.begin(desk(effect));
      await stage.lab.until('r', (status) => status === 'completed');
      const fork = await stage.lab.order('r', 'fork', 'start');
      await stage.lab.until(fork, (status) => status === 'completed');
      expect(new Set(ids).size).toBe(2);
      expect(keys().length).toBe(1);
    });

    test('after a stream that broke: the model is asked again within the step, and the key is the same', async () => {
      const expected = await undisturbed(effect);
      const agent = desk(effect, (n) => {
        if (n === 1) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
      });
      await stage.begin(agent);
      await stage.lab.until('r', (status) => status === 'completed');
      expect(new Set(ids).size).toBe(2);
      expect(keys()).toEqual([expected]);
    });
  });
});

describe('S06 of several branches one dies', () => {
  const effects = ['read', 'idempotent', 'external'] as const;
  /** How the branch dies; `killed` takes the process with it. */
  const deaths = [
    'killed before it was sent',
    'killed while it was out',
    'killed when it was answered',
    'fails',
    'never answers',
  ] as const;

  describe.each(effects)('whose call is %s', (effect) => {
    test.each(deaths)('and which is or does this: %s. The finished ones are not run again', async (death) => {
      let dies = true;
      const dying = seen('dying', {
        effect,
        ...(effect === 'external' ? { keyed: true } : {}),
        retries: 0,
        timeoutMs: 400,
        settlesWithinMs: 20,
        ...(effect === 'read'
          ? {}
          : { verify: async () => ({ outcome: 'happened' as const, result: 'verified' }) }),
        answer: async () => {
          if (!dies) return 'done';
          // The others have ended by then, and are on disk.
          if (death === 'fails') {
            await stage.lab.clock.delay(120);
            throw new NotSent('down');
          }
          if (death === 'never answers') return new Promise(() => undefined);
          if (death === 'killed while it was out') {
            await stage.lab.clock.delay(120);
            first.kill();
          }
          if (death === 'killed when it was answered') {
            await stage.lab.clock.delay(120);
            queueMicrotask(() => first.kill());
          }
          return 'done';
        },
      });
      const before = tool({
        effect: 'read',
        run: async () => {
          await stage.lab.clock.delay(120);
          if (death === 'killed before it was sent' && dies) first.kill();
          return 'ready';
        },
      });
      const got: unknown[] = [];
      const tools = {
        read: seen('read', { effect: 'read' }),
        put: seen('put', { effect: 'idempotent' }),
        pay: seen('pay', { effect: 'external', keyed: true }),
        before,
        dying,
      };
      let computed = 0;
      const agent = defineAgent({
        name: 'a',
        initial: 'work',
        tools,
        states: {
          work: {
            to: ['close'],
            tools: Object.keys(tools),
            run: async (ctx) => {
              const all = await ctx.parallel('all', {
                read: (c) => c.tool('read'),
                put: (c) => c.tool('put'),
                pay: (c) => c.tool('pay'),
                pure: (c) =>
                  c.compute('sum', 1, (n) => {
                    computed++;
                    return n + 1;
                  }),
                dying: async (c) => {
                  if (death === 'killed before it was sent') await c.tool('before');
                  return c.tool('dying');
                },
              });
              got.push(all);
              return 'close';
            },
          },
          close: end,
        },
      });
      const first = await stage.begin(agent);
      await stage.lab.until(
        'r',
        (status, _events, held) =>
          status === 'interrupted' || (['failed', 'waiting'].includes(status) && !held),
      );
      dies = false;
      const finished = ['read', 'put', 'pay'];
      expect(finished.map((name) => stage.outside.filter((one) => one.name === name).length)).toEqual([
        1, 1, 1,
      ]);
      stage.workers.push(await stage.lab.worker([agent]));
      const sent = stage.outside.filter(({ name }) => name === 'dying').length;
      const [doubt] = (await stage.lab.deps.store.effects('r' as never)).filter(
        ({ name, status }) => name === 'dying' && (status === 'in-doubt' || status === 'intended'),
      );
      // In doubt, an external call is not sent; a person asks, and the probe answers.
      const isHeldBack = effect === 'external' && doubt !== undefined;
      if (isHeldBack) {
        await expect(stage.lab.order('r', 'resume')).rejects.toThrow(/needs-decision/);
        await stage.lab.pass(2_000);
        await stage.lab.command('r', { mode: 'verify', stepKey: doubt.stepKey } as never);
        await stage.lab.until('r', (_status, events) => of(events, 'effect.verified').length > 0);
      }
      await stage.lab.order('r', 'resume');
      await stage.lab.until('r', (status) => status === 'completed');

      expect(finished.map((name) => stage.outside.filter((one) => one.name === name).length)).toEqual([
        1, 1, 1,
      ]);
      const again = stage.outside.filter(({ name }) => name === 'dying');
      expect(again.length).toBe(sent + (isHeldBack ? 0 : 1));
      expect(new Set(again.map(({ key }) => key)).size).toBe(1);
      expect(got).toEqual([
        {
          read: { id: 'read_1' },
          put: { id: 'put_1' },
          pay: { id: 'pay_1' },
          pure: 2,
          dying: isHeldBack ? 'verified' : 'done',
        },
      ]);
      expect(computed).toBe(2);
      const rows = await stage.lab.deps.store.steps('r' as never);
      for (const row of rows) expect([row.name, row.executions]).toEqual([row.name, row.attempt]);
      for (const row of rows.filter(({ name }) => finished.includes(name)))
        expect([row.name, row.attempt]).toEqual([row.name, 1]);
      const run = await stage.lab.deps.store.run('r' as never);
      expect(run?.state.counts.repeatedAttempts).toBe(0);
      expect(death.startsWith('killed')).toBe(
        of(await stage.lab.events('r'), 'run.interrupted').length === 1,
      );
    });
  });
});
