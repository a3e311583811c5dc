import { describe, expect, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { oneState, stages } from '@/lib/testing/sdk-stage';
import type { FailureKind } from './api';
import { ApiHealth } from './api-health';
import { NotSent, Rejected } from './errors';

describe('the health of an API', () => {
  const healthOf = (down: readonly string[] = []) => {
    const told: string[] = [];
    const health = new ApiHealth(down, (event) => told.push(event.kind));
    return {
      told,
      ended: (...hows: readonly ('completed' | FailureKind)[]) => {
        for (const how of hows) health.ended('api', how);
      },
    };
  };

  test.each([
    { how: 'completed', recovers: true },
    { how: 'rejected', recovers: true },
    { how: 'not-sent', recovers: false },
    { how: 'unavailable', recovers: false },
    { how: 'error', recovers: false },
    { how: 'timeout', recovers: false },
  ] as const)('is well again by an answer, refusal or not: $how', ({ how, recovers }) => {
    const here = healthOf();
    here.ended('timeout', 'timeout', 'timeout', how);
    expect(here.told).toEqual(recovers ? ['api.unavailable', 'api.recovered'] : ['api.unavailable']);
    const known = healthOf(['api']);
    known.ended(how, how);
    expect(known.told).toEqual(recovers ? ['api.recovered'] : []);
  });

  test('is told once, and only of time-outs without anything between them', () => {
    const { told, ended } = healthOf();
    ended('timeout', 'timeout', 'rejected', 'timeout', 'timeout', 'unavailable', 'timeout', 'timeout');
    expect(told).toEqual([]);
    ended('timeout', 'timeout', 'timeout', 'timeout');
    expect(told).toEqual(['api.unavailable']);
  });
});

describe('in a run', () => {
  const stage = stages();
  const { seen, begin } = stage;
  const apis = (events: readonly RunEvent[]) =>
    events.map(({ kind }) => kind).filter((kind) => kind.startsWith('api.'));
  const never = () => new Promise<never>(() => undefined);

  test('an API that was unavailable before a takeover is told to be well again by its first answer after it', async () => {
    const look = seen('look', {
      effect: 'read',
      timeoutMs: 20,
      retries: 9,
      answer: (n) => (n <= 3 ? never() : Promise.resolve('done')),
    });
    const agent = oneState({ look }, (ctx) => ctx.tool('look'));
    const first = await begin(agent);
    await stage.lab.until('r', (_status, events) => apis(events).length === 1);
    first.kill();
    await stage.lab.until('r', (status) => status === 'interrupted');
    stage.workers.push(await stage.lab.worker([agent]));
    await stage.lab.order('r', 'resume');
    await stage.lab.until('r', (status) => status === 'completed');
    expect(apis(await stage.lab.events('r'))).toEqual(['api.unavailable', 'api.recovered']);
  });

  test.each([
    { effect: 'read', how: 'is refused', error: () => new Rejected('no'), recovers: true },
    { effect: 'idempotent', how: 'is refused', error: () => new Rejected('no'), recovers: true },
    { effect: 'idempotent', how: 'cannot be sent', error: () => new NotSent('refused'), recovers: false },
    { effect: 'external', how: 'cannot be sent', error: () => new NotSent('refused'), recovers: false },
    { effect: 'external', how: 'is refused', error: () => new Rejected('no'), recovers: true },
  ] as const)(
    'after three time-outs a call ($effect) that $how for good',
    async ({ effect, error, recovers }) => {
      const call = seen('api', {
        effect,
        timeoutMs: 20,
        settlesWithinMs: 10,
        retries: 0,
        keyed: effect !== 'read',
        ...(effect === 'read' ? {} : { verify: async () => ({ outcome: 'did-not-happen' as const }) }),
        answer: (n) => (n <= 3 ? never() : Promise.reject(error())),
      });
      let caught = 0;
      const agent = oneState(
        { api: call },
        async (ctx) => {
          for (let i = 0; i < 4; i++) await ctx.tool('api', i).catch(() => caught++);
        },
        { autoVerify: true },
      );
      await begin(agent);
      await stage.lab.until('r', () => stage.outside.length > 3);
      await stage.lab.pass(500);
      const told = apis(await stage.lab.events('r'));
      expect(told).toEqual(recovers ? ['api.unavailable', 'api.recovered'] : ['api.unavailable']);
    },
  );
});
