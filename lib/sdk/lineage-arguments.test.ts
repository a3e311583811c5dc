import { describe, expect, test } from 'vitest';
import { end, eventsOf, type Seen, stages } from '@/lib/testing/sdk-stage';
import type { Agent, Tool } from './api';
import { defineAgent } from './define-agent';
import { NotSent, Rejected } from './errors';
import type { AgentWorker } from './worker';

const stage = stages();
const { seen, answer } = stage;

/** How the first call ends that reaches the outside; those after it succeed. */
const firsts = {
  'surely not sent': () => Promise.reject(new NotSent('down')),
  refused: () => Promise.reject(new Rejected('no')),
  'refused while the other waits for it': async () => {
    await stage.lab.clock.delay(700);
    throw new Rejected('no');
  },
  confirmed: async (cents: number) => ({ paid: cents }),
  'lost on the way': () => new Promise<never>(() => undefined),
} as const;

/**
 * A run and its fork ask for the same occurrence. Whatever they meet in the lineage's ledger: one key is one call with
 * one set of arguments, and code is given the result of what it asked for or none.
 */
describe.each(['external', 'idempotent'] as const)('a run and its fork before one %s call', (effect) => {
  describe.each(Object.keys(firsts) as (keyof typeof firsts)[])('the first of which is %s', (first) => {
    describe.each([
      { other: true, asked: 'with other arguments' },
      { other: false, asked: 'with the same arguments' },
    ])('and which the fork asks for $asked', ({ other }) => {
      test.each([
        { reads: 'before the run sends', slow: true },
        { reads: 'after it', slow: false },
      ])('(it reads the ledger $reads)', async ({ slow }) => {
        const got: unknown[] = [];
        const agent = desk(effect, first, slow, got);
        const { run, fork } = await bothAsked(agent, other);
        // The fork's own look is what takes long: it read the ledger when it was claimed.
        if (slow) await answer('go', fork);
        if (slow) await stage.lab.until(fork, (_s, events) => eventsOf(events, 'step.started').some(isLook));
        await answer('go');
        await stage.lab.until('r', () => stage.outside.length > 0);
        if (!slow) await answer('go', fork);
        await stage.lab.pass(4_000);
        for (const id of [run, fork, run]) {
          if (['failed', 'interrupted'].includes(await stage.lab.status(id)))
            await stage.lab.order(id, 'resume').catch(() => undefined);
          await stage.lab.pass(1_500);
        }
        // Whoever has gone on is asked once more, and so takes up its record again.
        for (const id of [run, fork]) {
          await answer('ok', id).catch(() => undefined);
          await stage.lab.pass(1_500);
        }

        for (const [cents, result] of got as [number, unknown][]) expect(result).toEqual({ paid: cents });
        const argsOf = new Map<string | undefined, Set<unknown>>();
        for (const { key, args } of stage.outside)
          argsOf.set(key, (argsOf.get(key) ?? new Set()).add((args as { cents: number }).cents));
        for (const args of argsOf.values()) expect(args.size).toBe(1);
        for (const id of [run, fork]) {
          const events = await stage.lab.events(id);
          expect(eventsOf(events, 'divergence.found')).toEqual([]);
          expect(events.length).toBeLessThan(90);
          expect(['completed', 'failed', 'waiting', 'paused']).toContain(await stage.lab.status(id));
        }
        expect(stage.lab.warnings).toEqual([]);
        const rows = await stage.lab.deps.store.effects('r' as never);
        for (const row of rows) {
          const sent = stage.outside.filter(({ key }) => key === row.idempotencyKey);
          expect(sent.length > 0 || row.status === 'failed').toBe(true);
        }
        // An occurrence is confirmed once, whatever the two asked for.
        expect(rows.filter(({ status }) => status === 'confirmed').length).toBeLessThan(2);
      });
    });
  });

  test('a refused intent leaves no checkpoint, and is not asked for again and again', async () => {
    // The run's first attempt surely did nothing; its worker is lost before it can try again; the fork pays another sum.
    const agent = desk(effect, 'surely not sent', false, [], 5);
    const { fork, workers } = await bothAsked(agent, true, { baseMs: 60_000, capMs: 60_000 });
    await answer('go');
    await stage.lab.until('r', (_s, events) => eventsOf(events, 'step.failed').length === 1);
    for (const worker of workers) worker.kill();
    stage.workers.push(await stage.lab.worker([agent]));
    await answer('go', fork);
    await stage.lab.until(fork, (status) => status === 'waiting');
    await stage.lab.until('r', (status) => status === 'interrupted');
    const before = (await stage.lab.events('r')).length;
    await stage.lab.order('r', 'resume').catch(() => undefined);
    await stage.lab.pass(5_000);
    const after = (await stage.lab.events('r')).slice(before);
    expect(eventsOf(after, 'checkpoint.saved')).toEqual([]);
    expect(after.length).toBeLessThan(12);
    expect(stage.outside.map(({ args }) => args)).toEqual([{ cents: 100 }, { cents: 133 }]);
  });
});

describe('what a call is answered from the ledger is its outcome, on every later re-entry', () => {
  test.each(['external', 'idempotent'] as const)(
    '%s, surely not sent, and confirmed by a fork before it is tried again',
    async (effect) => {
      const got: unknown[] = [];
      const agent = desk(effect, 'surely not sent', false, got, 5);
      const { fork } = await bothAsked(agent, false, { baseMs: 3_000, capMs: 3_000 });
      await answer('go');
      await stage.lab.until('r', (_s, events) => eventsOf(events, 'step.failed').length === 1);
      await answer('go', fork);
      await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
      expect(stage.outside.length).toBe(2);
      await answer('ok');
      await stage.lab.until('r', (status) => status === 'completed' || status === 'failed');
      expect(await stage.lab.status('r')).toBe('completed');
      expect(got).toEqual([
        [100, { paid: 100 }],
        [100, { paid: 100 }],
        [100, { paid: 100 }],
      ]);
      const replay = await stage.lab.order('r', 'replay', 'start');
      await stage.lab.until(replay, (status) => status === 'completed' || status === 'failed');
      expect(await stage.lab.status(replay)).toBe('completed');
    },
  );

  test('idempotent, past the validity of its key, and found by a probe', async () => {
    const put = seen('pay', {
      effect: 'idempotent',
      timeoutMs: 60,
      settlesWithinMs: 20,
      keyValidForMs: 40,
      retries: 2,
      answer: () => new Promise(() => undefined),
      verify: async () => ({ outcome: 'happened', result: { paid: 100 } }),
    });
    const agent = defineAgent({
      name: 'a',
      initial: 'work',
      autoVerify: true,
      states: {
        work: {
          to: ['close'],
          tools: ['pay'],
          run: async (ctx) => {
            ctx.vars.set('paid', await ctx.tool('pay', { cents: 100 }));
            await ctx.ask('ok', { prompt: 'ok?' });
            return 'close';
          },
        },
        close: end,
      },
      tools: { pay: put },
    });
    await stage.begin(agent);
    await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
    await answer('ok');
    await stage.lab.until('r', (status) => status === 'completed' || status === 'failed');
    expect(await stage.lab.status('r')).toBe('completed');
    expect(stage.outside.length).toBe(1);
  });
});

const isLook = ({ name }: { readonly name: string }) => name === 'look';

function desk(
  effect: 'external' | 'idempotent',
  first: keyof typeof firsts,
  slow: boolean,
  got: unknown[],
  retries = 0,
): Agent {
  const pay: Tool = seen('pay', {
    effect,
    keyed: true,
    retries,
    timeoutMs: 1_500,
    settlesWithinMs: 100,
    answer: async (n) => {
      const { cents } = (stage.outside.at(-1) as Seen).args as { cents: number };
      return n === 1 ? firsts[first](cents) : { paid: cents };
    },
  });
  const look = {
    ...seen('look', { effect: 'read' }),
    run: async (args: unknown) => {
      await stage.lab.clock.delay(slow && (args as { isFork: boolean }).isFork ? 1_500 : 5);
      return 1;
    },
  };
  return defineAgent({
    name: 'a',
    initial: 'plan',
    states: {
      plan: {
        to: ['work'],
        run: async (ctx) => {
          ctx.vars.set('cents', 100);
          ctx.vars.set('isFork', false);
          return 'work';
        },
      },
      work: {
        to: ['close'],
        tools: ['pay', 'look'],
        run: async (ctx) => {
          ctx.checkpoint();
          await ctx.ask('go', { prompt: 'go?' });
          const cents = ctx.vars.get('cents');
          await ctx.tool('look', { isFork: ctx.vars.get('isFork') });
          const result = await ctx.tool('pay', { cents });
          got.push([cents, result]);
          await ctx.ask('ok', { prompt: 'ok?' });
          return 'close';
        },
      },
      close: end,
    },
    tools: { pay, look },
  });
}

/** Run `r` and its fork, both waiting for their `go`. */
async function bothAsked(
  agent: Agent,
  other: boolean,
  backoff?: { readonly baseMs: number; readonly capMs: number },
): Promise<{ readonly run: 'r'; readonly fork: string; readonly workers: readonly AgentWorker[] }> {
  const options = backoff === undefined ? {} : { backoff };
  const workers = [await stage.lab.worker([agent], options), await stage.lab.worker([agent], options)];
  stage.workers.push(...workers);
  void workers[0]?.start('a', { runId: 'r' });
  await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
  const manual = (await stage.lab.deps.store.checkpoints('r' as never)).find(
    ({ trigger }) => trigger === 'manual',
  );
  const edits = [
    { path: '/variables/isFork', value: true },
    ...(other ? [{ path: '/variables/cents', value: 133 }] : []),
  ];
  const fork = await stage.lab.order('r', 'fork', manual?.id, { edits });
  await stage.lab.until(fork, (status, _events, held) => status === 'waiting' && !held);
  return { run: 'r', fork, workers };
}
