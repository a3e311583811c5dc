import { describe, expect, test } from 'vitest';
import { comparePlans } from '@/lib/testing/sdk-predicted';
import { eventsOf as of, oneState, stages } from '@/lib/testing/sdk-stage';
import { Rejected } from './errors';

const stage = stages();
const { seen } = stage;

describe('a run that ended with two branches failed', () => {
  for (const [first, second] of [
    [3, 3],
    [3, 9],
    [9, 3],
  ] as const) {
    test(`goes on as its plan said: one is tried again with each resume (after ${first} and ${second} ms)`, async () => {
      let isBroken = true;
      const breaks = (ms: number) => async () => {
        await stage.lab.clock.delay(ms);
        if (isBroken) throw new Rejected('no');
        return 'fine';
      };
      await stage.begin(
        oneState(
          {
            a: seen('a', { effect: 'read', answer: breaks(first) }),
            b: seen('b', { effect: 'read', answer: breaks(second) }),
          },
          (ctx) =>
            ctx.parallel('both', {
              a: (c) => c.tool('a'),
              b: (c) => c.tool('b'),
            }),
        ),
      );
      await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
      isBroken = false;
      await stage.lab.order('r', 'resume');
      await stage.lab.until(
        'r',
        (status, events, held) => status === 'failed' && of(events, 'run.failed').length === 2 && !held,
      );
      await stage.lab.order('r', 'resume');
      await stage.lab.until('r', (status) => status === 'completed');
      const events = await stage.lab.events('r');
      expect(of(events, 'command.ended').map(({ outcome }) => outcome)).toEqual(['done', 'done']);
      expect(comparePlans(stage.lab.orders, events).misses).toEqual([]);
      expect((await stage.lab.deps.store.run('r' as never))?.state.status).toBe('completed');
    });
  }
});
