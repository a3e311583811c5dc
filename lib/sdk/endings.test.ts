import { describe, expect, test } from 'vitest';
import { eventsOf, oneState, stages } from '@/lib/testing/sdk-stage';
import type { Context } from './api';
import { Rejected, Unavailable } from './errors';
import type { JournalPort } from './journal-port';

const stage = stages();
const { seen, begin, names } = stage;

const both = (ctx: Context) =>
  ctx.parallel('p', { a: (c) => c.tool('pay', {}), b: (c) => c.tool('look', {}) });
const rows = () => stage.lab.deps.store.effects('r' as never);
const never = () => new Promise<never>(() => undefined);

describe('the end of a run is the last thing that is written of it', () => {
  test.each(Array.from({ length: 24 }, (_, ms) => ms))(
    'though a read beside it fails %i ms later: what the payment did is recorded',
    async (ms) => {
      const pay = seen('pay', {
        effect: 'external',
        keyed: true,
        settlesWithinMs: 100,
        answer: async () => ({ f: () => 1 }),
      });
      const look = seen('look', {
        effect: 'read',
        retries: 2,
        answer: async () => {
          await stage.lab.clock.delay(ms * 2);
          throw new Unavailable('busy');
        },
      });
      await begin(oneState({ pay, look }, both));
      await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
      await stage.lab.pass(500);
      const events = await stage.lab.events('r');
      expect(eventsOf(events, 'run.failed')).toMatchObject([{ cause: 'not-recorded' }]);
      expect((await rows()).map(({ status }) => status)).toEqual(['confirmed']);
      expect(stage.lab.warnings).toEqual([]);
    },
  );
});

describe('what is not recordable is answered by nothing', () => {
  const got: unknown[] = [];
  const agent = () =>
    oneState(
      {
        pay: seen('pay', {
          effect: 'external',
          keyed: true,
          settlesWithinMs: 100,
          answer: async () => ({ f: () => 1 }),
        }),
      },
      async (ctx) => {
        ctx.checkpoint();
        got.push(await ctx.tool('pay', {}));
      },
    );
  const point = async () =>
    (await stage.lab.deps.store.checkpoints('r' as never)).find(({ trigger }) => trigger === 'manual')?.id;

  test('a fork from before it comes to rest there, and the code is given nothing', async () => {
    await begin(agent());
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    // The plan may refuse it already; where it does not, the worker stops.
    const fork = await stage.lab.order('r', 'fork', await point()).catch(() => undefined);
    if (fork !== undefined) {
      await stage.lab.until(fork, (status, _events, held) => status === 'waiting' && !held);
      const waits = eventsOf(await stage.lab.events(fork), 'run.waiting').at(-1);
      expect(waits?.on).toMatchObject([{ stepKey: 'work#1/pay#1', for: 'blocked' }]);
    }
    expect(got).toEqual([]);
    expect(names()).toEqual(['pay']);
  });

  test.each(['pay', 'sum'])('a replay says that there is no record of %s', async (name) => {
    const sum = (ctx: Context) => ctx.compute('sum', 1, () => ({ f: () => 1 }));
    await begin(name === 'pay' ? agent() : oneState({}, sum));
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    await stage.lab.pass(200);
    const replay = await stage.lab.order('r', 'replay', 'start');
    await stage.lab.until(replay, (status, _events, held) => status === 'failed' && !held);
    const events = await stage.lab.events(replay);
    expect(eventsOf(events, 'run.failed')).toMatchObject([
      { cause: 'no-record', error: { message: expect.stringContaining(`work#1/${name}#1`) as unknown } },
    ]);
    expect(eventsOf(events, 'command.ended').length).toBe(1);
    expect(stage.lab.warnings).toEqual([]);
  });
});

describe('a decision and a probe that a person asked for start nothing', () => {
  const settleBy = {
    decided: (outcome: 'happened' | 'did-not-happen') => async () => {
      const [row] = await rows();
      const result = outcome === 'happened' ? { result: { value: { id: 'said' } } } : {};
      await stage.lab.command('r', {
        mode: 'decide',
        decisions: { [row?.stepKey ?? '']: { intentSeq: row?.intentSeq, outcome, ...result } },
      } as never);
    },
    probed: () => async () =>
      void (await stage.lab.command('r', { mode: 'verify', stepKey: 'work#1/p#1:a/pay#1' } as never)),
  };
  const cases = [
    { how: 'decided not to have happened', settle: settleBy.decided('did-not-happen'), sent: 2 },
    { how: 'decided to have happened', settle: settleBy.decided('happened'), sent: 1 },
    { how: 'found by a probe', settle: settleBy.probed(), sent: 1 },
  ];
  const tools = (verifies: boolean) => ({
    pay: seen('pay', {
      effect: 'external',
      keyed: true,
      timeoutMs: 50,
      settlesWithinMs: 10,
      answer: (n) => (n === 1 ? never() : Promise.resolve({ id: n })),
      ...(verifies
        ? { verify: async () => ({ outcome: 'happened' as const, result: { id: 'found' } }) }
        : {}),
    }),
    look: seen('look', { effect: 'read', answer: () => stage.lab.clock.delay(3_000) }),
  });
  const inDoubt = () =>
    stage.lab.until('r', (_status, events) => eventsOf(events, 'step.failed').length === 1);

  test.each(cases)('while the run is held: $how, it goes on by a resume', async ({ settle, sent }) => {
    await begin(oneState(tools(true), both));
    await inDoubt();
    await settle();
    await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
    expect(names().filter((name) => name === 'pay').length).toBe(1);
    await stage.lab.order('r', 'resume');
    await stage.lab.until('r', (status) => status === 'completed');
    expect(names().filter((name) => name === 'pay').length).toBe(sent);
  });

  test.each(cases)(
    '$how, and an answer to another question is no resume either',
    async ({ settle, sent }) => {
      const asking = (ctx: Context) =>
        ctx.parallel('p', { a: (c) => c.tool('pay', {}), b: (c) => c.ask('q', { prompt: '?' }) });
      const { pay } = tools(true);
      await begin(oneState({ pay }, asking));
      await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
      await settle();
      await stage.lab.until(
        'r',
        (_status, events, held) =>
          !held && events.some(({ kind }) => kind === 'effect.decided' || kind === 'effect.verified'),
      );
      await stage.answer('yes');
      await stage.lab.until(
        'r',
        (status, events, held) =>
          status === 'waiting' && !held && eventsOf(events, 'run.waiting').length === 2,
      );
      expect(names()).toEqual(['pay']);
      await stage.lab.order('r', 'resume');
      await stage.lab.until('r', (status) => status === 'completed');
      expect(names().length).toBe(sent);
    },
  );

  test.each([1, 2, 3, 4, 5])(
    'a decision that comes with the answer to run.waiting makes no doubt of its own (autoVerify, seed %i)',
    async (seed) => {
      stage.reset(seed);
      const { pay } = tools(false);
      const agent = { ...oneState({ pay }, (ctx) => ctx.tool('pay', {})), autoVerify: true };
      let hooked = false;
      const worker = await stage.lab.worker([agent], {
        batchSize: 1,
        port: (port): JournalPort => ({
          ...port,
          append: async (runId, batch) => {
            if (!hooked && batch.events.some(({ kind }) => kind === 'run.waiting')) {
              hooked = true;
              const [row] = await rows();
              await stage.lab.command('r', {
                mode: 'decide',
                decisions: {
                  [row?.stepKey ?? '']: { intentSeq: row?.intentSeq, outcome: 'did-not-happen' },
                },
              } as never);
            }
            return port.append(runId, batch);
          },
        }),
      });
      stage.workers.push(worker);
      void worker.start('a', { runId: 'r' });
      await stage.lab.until('r', () => hooked);
      await stage.lab.pass(3_000);
      if ((await stage.lab.status('r')) === 'waiting') await stage.lab.order('r', 'resume');
      await stage.lab.until('r', (status) => status === 'completed');
      expect(names()).toEqual(['pay', 'pay']);
      expect((await rows()).map(({ status }) => status)).toEqual(['confirmed']);
    },
  );
});

describe('what a call answers while its run is given back is not lost', () => {
  test.each([4_900, 5_100, 9_990, 14_990])(
    'by a worker that stops with a healthy console, %i ms after the call left',
    async (ms) => {
      let stopped = false;
      const pay = seen('pay', {
        effect: 'external',
        keyed: true,
        timeoutMs: 30_000,
        settlesWithinMs: 100,
        answer: async () => {
          await stage.lab.clock.delay(ms);
          return { id: 're_1' };
        },
      });
      const worker = await stage.lab.worker([oneState({ pay }, (ctx) => ctx.tool('pay', {}))], {
        onPoint: (point, self) => {
          if (point === 'effect:after-send')
            void self.stop().then(() => {
              stopped = true;
            });
        },
      });
      stage.workers.push(worker);
      void worker.start('a', { runId: 'r' });
      await stage.lab.until('r', () => stopped);
      expect((await rows()).map(({ status }) => status)).toEqual(['confirmed']);
      expect(stage.lab.warnings).toEqual([]);
    },
  );

  test('to a console that is slow to take the hand-over: it is evidence', async () => {
    let cut = false;
    const pay = seen('pay', {
      effect: 'external',
      keyed: true,
      timeoutMs: 50,
      settlesWithinMs: 100,
      answer: async () => {
        await stage.lab.clock.delay(600);
        return { id: 're_1' };
      },
    });
    const look = seen('look', { effect: 'read', answer: () => stage.lab.clock.delay(5_000) });
    const worker = await stage.lab.worker([oneState({ pay, look }, both)], { isCutOff: () => cut });
    stage.workers.push(worker);
    void worker.start('a', { runId: 'r' });
    await stage.lab.until('r', () => names().length === 2);
    cut = true;
    await stage.lab.pass(100);
    void worker.stop();
    await stage.lab.pass(1_500);
    cut = false;
    await stage.lab.pass(5_000);
    expect(await rows()).toMatchObject([{ status: 'confirmed', confirmedBy: 'late-worker' }]);
  });

  test('by a worker whose run was taken from it: stopping waits for the call, and tells what it said', async () => {
    let cut = false;
    const pay = seen('pay', {
      effect: 'external',
      keyed: true,
      timeoutMs: 8_000,
      settlesWithinMs: 100,
      verify: async () => ({ outcome: 'unknown' }),
      answer: async () => {
        await stage.lab.clock.delay(6_000);
        return { id: 're_1' };
      },
    });
    const agent = oneState({ pay }, (ctx) => ctx.tool('pay', {}));
    const worker = await stage.lab.worker([agent], {
      maxRuns: 1,
      isCutOff: () => cut,
      onPoint: (point) => {
        cut ||= point === 'effect:after-send';
      },
    });
    stage.workers.push(worker);
    void worker.start('a', { runId: 'r' });
    await stage.lab.until('r', (status) => status === 'interrupted');
    const other = await stage.lab.worker([agent]);
    stage.workers.push(other);
    await stage.lab.command('r', { mode: 'verify', stepKey: 'work#1/pay#1' } as never);
    await stage.lab.until(
      'r',
      (_status, events, held) => eventsOf(events, 'effect.verified').length > 0 && !held,
    );
    cut = false;
    await stage.lab.pass(1_600);
    let stopped = false;
    void worker.stop().then(() => {
      stopped = true;
    });
    await stage.lab.until('r', () => stopped);
    expect(await rows()).toMatchObject([{ status: 'confirmed', confirmedBy: 'late-worker' }]);
  });
});

describe('what cannot be begun fails by name, and is not held for ever', () => {
  const answered = async (port: (port: JournalPort) => JournalPort) => {
    const agent = oneState({}, async (ctx) => void (await ctx.ask('q', { prompt: '?' })));
    const first = await begin(agent);
    await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
    first.kill();
    stage.workers.push(await stage.lab.worker([agent], { port }));
    await stage.answer('yes');
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    const [failed] = eventsOf(await stage.lab.events('r'), 'run.failed');
    expect(failed?.error.message).toContain('the console’s answer makes no sense');
  };
  const broken = () => Promise.reject(new Error('the console’s answer makes no sense'));
  test('where the ledger cannot be read', () => answered((port) => ({ ...port, ledger: broken })));
  test('where the record cannot be read', () => answered((port) => ({ ...port, state: broken })));
});

describe('a failure that the code went on from, and then threw again', () => {
  const agent = (effect: 'read' | 'idempotent' | 'external') =>
    oneState(
      {
        look: seen('look', {
          effect,
          keyed: true,
          retries: 0,
          settlesWithinMs: 10,
          answer: (n) => (n === 1 ? Promise.reject(new Rejected('no such order')) : Promise.resolve({ n })),
        }),
        tell: seen('tell', { effect: 'external', keyed: true, settlesWithinMs: 10 }),
      },
      async (ctx) => {
        try {
          await ctx.tool('look', {});
        } catch (error) {
          await ctx.tool('tell', {});
          throw error;
        }
      },
    );

  test.each(['read', 'idempotent', 'external'] as const)(
    'of a call that is %s, is given again by resume and fork as the plan says; nothing is sent twice',
    async (effect) => {
      await begin(agent(effect));
      await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
      for (const mode of ['resume', 'fork'] as const) {
        const id = await stage.lab.order('r', mode);
        await stage.lab.until(id, (status, _events, held) => status === 'failed' && !held);
        const events = await stage.lab.events(id);
        expect(eventsOf(events, 'divergence.found')).toEqual([]);
        expect(eventsOf(events, 'run.paused')).toEqual([]);
        expect(eventsOf(events, 'run.failed').at(-1)).toMatchObject({ stepKey: 'work#1/look#1' });
      }
      expect(names()).toEqual(['look', 'tell']);
    },
  );
});
