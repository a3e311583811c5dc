import { describe, expect, test } from 'vitest';
import { askAgainAt } from '@/lib/core/projections/ledger';
import { eventsOf, oneState, stages } from '@/lib/testing/sdk-stage';
import type { Agent, Verification } from './api';
import type { AgentWorker } from './worker';

const stage = stages();
const { seen, begin, names } = stage;

/** Ten seconds are what a container is given before it is killed. */
const BOUND_MS = 10_000;

describe('a worker that stops while the console cannot be reached', () => {
  /** Runs `r` on a worker whose line is cut at a point, and stops it; resolves to the time that stopping took. */
  const stopCutOff = async (agent: Agent, at: string): Promise<number> => {
    let isCut = false;
    const worker = await stage.lab.worker([agent], {
      isUnreachable: () => isCut,
      onPoint: (point) => {
        isCut ||= point === at;
      },
    });
    stage.workers.push(worker);
    void worker.start('a', { runId: 'r' });
    await stage.lab.clock.run(() => isCut);
    const from = stage.lab.clock.now();
    let took: number | undefined;
    void worker.stop().then(() => {
      took = stage.lab.clock.now() - from;
    });
    await stage.lab.clock.run(() => took !== undefined);
    if (took === undefined) throw new Error('the worker never stops');
    return took;
  };
  const resumed = async (agent: Agent) => {
    stage.workers.push(await stage.lab.worker([agent]));
    await stage.lab.until('r', (status) => status === 'interrupted');
  };

  test('ends within a bounded time, and what had left and could not be recorded is in doubt, not lost and not repeated', async () => {
    const agent = oneState(
      {
        pay: seen('pay', {
          effect: 'external',
          keyed: true,
          timeoutMs: 1_000,
          settlesWithinMs: 100,
          answer: async () => {
            await stage.lab.clock.delay(600);
            return { id: 're_1' };
          },
          verify: async () => ({ outcome: 'happened', result: { id: 're_1' } }),
        }),
      },
      async (ctx) => ctx.vars.set('paid', await ctx.tool('pay', {})),
    );
    const took = await stopCutOff(agent, 'effect:after-send');
    expect(took).toBeGreaterThanOrEqual(600);
    expect(took).toBeLessThan(BOUND_MS);
    expect(stage.lab.warnings.join()).toContain('left without being given back');
    await resumed(agent);
    const [effect] = await stage.lab.deps.store.effects('r' as never);
    expect(effect?.status).toBe('in-doubt');
    await stage.lab.command('r', { mode: 'verify', stepKey: 'work#1/pay#1' } as never);
    await stage.lab.until('r', (_status, events) => eventsOf(events, 'effect.verified').length > 0);
    await stage.lab.order('r', 'resume');
    await stage.lab.until('r', (status) => status === 'completed');
    expect(names()).toEqual(['pay']);
  });

  test('ends within a bounded time, and an effect whose intent was not acknowledged never leaves', async () => {
    const agent = oneState({ pay: seen('pay', { effect: 'external', keyed: true }) }, (ctx) =>
      ctx.tool('pay', {}),
    );
    expect(await stopCutOff(agent, 'effect:before-intent')).toBeLessThan(BOUND_MS);
    expect(names()).toEqual([]);
    await resumed(agent);
    await stage.lab.order('r', 'resume');
    await stage.lab.until('r', (status) => status === 'completed');
    expect(names()).toEqual(['pay']);
  });

  test('waits for an effect up to its time-out and no longer, though the tool ignores that it is aborted', async () => {
    const agent = oneState(
      {
        pay: seen('pay', {
          effect: 'external',
          keyed: true,
          timeoutMs: 8_000,
          settlesWithinMs: 100,
          answer: () => new Promise(() => undefined),
        }),
      },
      (ctx) => ctx.tool('pay', {}),
    );
    const took = await stopCutOff(agent, 'effect:after-send');
    expect(took).toBeGreaterThan(7_900);
    expect(took).toBeLessThan(8_000 + BOUND_MS);
  });

  /** Run `r` is answered while nobody hosts it: the next worker claims it. */
  const queued = async () => {
    const agent = oneState({ look: seen('look', { effect: 'read' }) }, async (ctx) => {
      await ctx.ask('go', { prompt: 'go?' });
      await ctx.tool('look');
    });
    const first = await begin(agent);
    await stage.lab.until('r', (status) => status === 'waiting');
    first.kill();
    await stage.answer('yes');
    return agent;
  };
  const goesOn = async (agent: Agent, stoppedAs: string) => {
    expect(stoppedAs).toBe('queued');
    stage.workers.push(await stage.lab.worker([agent]));
    await stage.lab.until('r', (status) => status === 'completed');
    expect(names()).toEqual(['look']);
  };
  /** Stops the worker in the middle of a request, which goes on; resolves to the run's status by the end of that. */
  const stopDuring = async (agent: Agent, request: 'onRequest' | 'losesClaim'): Promise<string> => {
    let stoppedAs = '';
    let asked = false;
    const worker: AgentWorker = await stage.lab.worker([agent], {
      [request]: () => {
        if (asked) return false;
        asked = true;
        void worker.stop().then(async () => {
          stoppedAs = await stage.lab.status('r');
        });
        return true;
      },
    });
    stage.workers.push(worker);
    await stage.lab.until('r', () => stoppedAs !== '');
    return stoppedAs;
  };

  test('hands over what it had claimed and not yet taken up', async () => {
    const agent = await queued();
    await goesOn(agent, await stopDuring(agent, 'onRequest'));
  });

  test('hands over what it was granted while it stopped listening', async () => {
    const agent = await queued();
    await goesOn(agent, await stopDuring(agent, 'losesClaim'));
  });

  test('hands over a replay that it had claimed and not yet begun; its order ends, since nobody goes on with it', async () => {
    const agent = oneState(
      { look: seen('look', { effect: 'read' }) },
      async (ctx) => void (await ctx.tool('look')),
    );
    const first = await begin(agent);
    await stage.lab.until('r', (status, _events, isHeld) => status === 'completed' && !isHeld);
    first.kill();
    let stopped = false;
    const worker: AgentWorker = await stage.lab.worker([agent], {
      onRequest: () => void worker.stop().then(() => (stopped = true)),
    });
    stage.workers.push(worker);
    await stage.lab.pass(100);
    const id = await stage.lab.order('r', 'replay', 'start');
    await stage.lab.until(id, () => stopped);
    expect(await stage.lab.status(id)).toBe('interrupted');
    expect(eventsOf(await stage.lab.events(id), 'command.ended')).toMatchObject([{ outcome: 'withdrawn' }]);
  });
});

describe('a holder that is asked to verify an effect', () => {
  /** One branch pays and is left in doubt; the other keeps the run busy, and with it held. */
  const held = async (
    verify: () => Promise<Verification<unknown>>,
    answer?: (n: number) => Promise<unknown>,
  ) => {
    const pay = seen('pay', {
      effect: 'external',
      keyed: true,
      timeoutMs: 50,
      settlesWithinMs: 500,
      verify,
      answer: answer ?? (() => new Promise(() => undefined)),
    });
    const look = seen('look', { effect: 'read', answer: () => stage.lab.clock.delay(6_000) });
    await begin(
      oneState({ pay, look }, async (ctx) => {
        const both = await ctx.parallel('both', {
          a: (c) => c.tool('pay', {}),
          b: (c) => c.tool('look', {}),
        });
        ctx.vars.set('paid', both.a);
      }),
    );
    await stage.lab.until('r', (_status, events) => eventsOf(events, 'step.failed').length === 1);
  };
  const stepKey = 'work#1/both#1:a/pay#1';
  const ask = () => stage.lab.command('r', { mode: 'verify', stepKey } as never);
  const journal = () => stage.lab.events('r');
  const settled = async () => {
    const [effect] = await stage.lab.deps.store.effects('r' as never);
    const at = effect === undefined ? 0 : askAgainAt(effect);
    await stage.lab.clock.run(() => stage.lab.clock.now() >= at);
  };
  const ended = (count: number) =>
    stage.lab.until('r', (_status, events) => eventsOf(events, 'command.ended').length === count);

  /** A probe starts nothing: the run comes to rest with the call settled, and goes on by an order. */
  const goesOnByResume = async () => {
    const sent = names().length;
    await stage.lab.until('r', (status, _events, isHeld) => status === 'waiting' && !isHeld);
    expect(names().length).toBe(sent);
    await stage.lab.order('r', 'resume');
    await stage.lab.until('r', (status) => status === 'completed');
  };

  test('asks downstream without giving the run up; what happened is given to the code, and nothing is sent again', async () => {
    await held(async () => ({ outcome: 'happened', result: { id: 're_1' }, receipt: 're_1' }));
    const { epoch } = (await journal()).at(-1) ?? {};
    await ask();
    await ended(1);
    await goesOnByResume();
    const events = await journal();
    const [verified] = eventsOf(events, 'effect.verified');
    expect(verified).toMatchObject({
      stepKey,
      outcome: 'happened',
      source: 'probe',
      receipt: 're_1',
      by: 'worker',
      epoch,
    });
    expect(eventsOf(events, 'command.ended')[0]).toMatchObject({
      outcome: 'done',
      commandId: verified?.commandId,
    });
    expect(eventsOf(events, 'run.resumed').length).toBe(1);
    const paid = (await stage.lab.deps.store.run('r' as never))?.state.variables['paid'];
    expect(paid && (await stage.lab.payload(paid.sha256))).toEqual({ id: 're_1' });
    expect(names().filter((name) => name === 'pay')).toEqual(['pay']);
  });

  test('takes “not found” for unknown while the call may still settle, and sends it again under its key once it cannot', async () => {
    await held(
      async () => ({ outcome: 'did-not-happen' }),
      (n) => (n === 1 ? new Promise(() => undefined) : Promise.resolve({ id: 're_2' })),
    );
    await ask();
    await ended(1);
    const [early] = eventsOf(await journal(), 'effect.verified');
    expect(early).toMatchObject({
      outcome: 'unknown',
      note: expect.stringContaining('ask again') as unknown,
    });
    expect(names().filter((name) => name === 'pay')).toEqual(['pay']);
    await settled();
    await ask();
    await ended(2);
    await goesOnByResume();
    expect(eventsOf(await journal(), 'effect.verified').at(-1)).toMatchObject({ outcome: 'did-not-happen' });
    const sent = stage.outside.filter(({ name }) => name === 'pay');
    expect(sent.length).toBe(2);
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
  });

  test.each([true, false])('guards a call by its downstream’s key alone (keyed: %s)', async (keyed) => {
    const pay = seen('pay', { effect: 'external', keyed, verify: async () => ({ outcome: 'unknown' }) });
    await begin(oneState({ pay }, async (ctx) => void (await ctx.tool('pay', {}))));
    await stage.lab.until('r', (status) => status === 'completed');
    expect(eventsOf(await journal(), 'step.started')).toMatchObject([
      { intent: { guarded: keyed, verifiable: true } },
    ]);
  });

  test('goes by the store’s clock where its own says that the call cannot settle any more', async () => {
    await held(
      async () => ({ outcome: 'did-not-happen' }),
      (n) => (n === 1 ? new Promise(() => undefined) : Promise.resolve({ id: 're_2' })),
    );
    const [effect] = await stage.lab.deps.store.effects('r' as never);
    const mine = (effect?.intent.sendBy ?? 0) + 550;
    await stage.lab.clock.run(() => stage.lab.clock.now() >= mine);
    await ask();
    await ended(1);
    expect(eventsOf(await journal(), 'effect.verified')).toMatchObject([
      { outcome: 'unknown', note: expect.stringContaining('before the call had time to settle') as unknown },
    ]);
    await stage.lab.clock.run(() => stage.lab.clock.now() >= mine + 100);
    expect(eventsOf(await journal(), 'step.started').filter(({ name }) => name === 'pay').length).toBe(1);
    await settled();
    await ask();
    await ended(2);
    await goesOnByResume();
    expect(names().filter((name) => name === 'pay')).toEqual(['pay', 'pay']);
  });

  test('records a probe that breaks as unknown, and stays in doubt', async () => {
    await held(() => Promise.reject(new Error('the provider is down')));
    await ask();
    await ended(1);
    expect(eventsOf(await journal(), 'effect.verified')).toMatchObject([
      { outcome: 'unknown', note: expect.stringContaining('the provider is down') as unknown },
    ]);
    await stage.lab.until('r', (status, _events, isHeld) => status === 'waiting' && !isHeld);
    expect(names().filter((name) => name === 'pay')).toEqual(['pay']);
  });
});
