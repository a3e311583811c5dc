import { describe, expect, test } from 'vitest';
import { eventsOf, oneState, stages } from '@/lib/testing/sdk-stage';

const stage = stages();
const { seen, names } = stage;

describe('an effect does not leave', () => {
  test.each([
    // The machine is suspended: its monotonic clock stands still.
    ['when by the wall clock the lease is over and by the monotonic one it is not', 60_000, { mono: 0 }],
    // The wall clock is set back by an hour while the lease runs out.
    [
      'when by the monotonic clock the lease is over and by the wall clock it is not',
      2_000,
      { wall: -3_600_000 },
    ],
  ])('%s', async (_when, passes, by) => {
    const { clock } = stage.lab;
    let isLate = false;
    const agent = oneState({ pay: seen('pay', { effect: 'external', keyed: true }) }, (ctx) =>
      ctx.tool('pay', {}),
    );
    const worker = await stage.lab.worker([agent], {
      isUnreachable: () => isLate,
      onPoint: (point) => {
        if (point !== 'effect:before-send') return;
        isLate = true;
        clock.skip(passes, by);
      },
    });
    stage.workers.push(worker);
    void worker.start('a', { runId: 'r' });
    await stage.lab.until('r', (status) => status === 'interrupted');
    await stage.lab.pass(5_000);
    expect(eventsOf(await stage.lab.events('r'), 'step.started')).toHaveLength(1);
    expect(names()).toEqual([]);
  });
});

// A fifth of the console's lease of 1 s is kept free.
test.each([
  ['leaves while more than the margin is left of the lease', 700, ['pay']],
  ['does not leave within the margin before the end of the lease', 850, []],
])('an effect %s', async (_what, ms, sent) => {
  const look = seen('look', { effect: 'read', answer: () => stage.lab.clock.delay(ms) });
  const pay = seen('pay', { effect: 'external', keyed: true });
  const agent = oneState({ look, pay }, async (ctx) => {
    await ctx.tool('look', {});
    await ctx.tool('pay', {});
  });
  const worker = await stage.lab.worker([agent], {
    port: (port) => ({ ...port, heartbeat: () => new Promise(() => undefined) }),
  });
  stage.workers.push(worker);
  void worker.start('a', { runId: 'r' });
  await stage.lab.pass(5_000);
  expect(names()).toEqual(['look', ...sent]);
});
