import { describe, expect, test } from 'vitest';
import { eventsOf as of, oneState, stages } from '@/lib/testing/sdk-stage';
import type { Draft } from './journal-writer';
import { RunStops, type StopsDeps } from './run-stops';

/** Stops of a claim that carries out order `c1`, and what they write. */
function stopsOf(isLive: boolean) {
  const written: Draft['event'][] = [];
  let finished: string | undefined;
  const stops = new RunStops({
    session: { claim: { command: { commandId: 'c1' }, plan: { steps: [] } } },
    hold: {
      isStopped: () => finished !== undefined,
      push: ({ event }: Draft) => void written.push(event),
      finish: (how: string) => {
        finished = how;
      },
    },
    open: new Set(),
    isLive: () => isLive,
    kick: () => undefined,
  } as unknown as StopsDeps);
  return { stops, written, finished: () => finished };
}

describe('a run comes to rest as paused', () => {
  test('with what it stopped before, where its plan is not what would be done', () => {
    const { stops, written, finished } = stopsOf(false);
    stops.refuse('The plan said reuse for work#1/look#1; it would be: execute');
    expect(written).toEqual([
      expect.objectContaining({ kind: 'command.ended', commandId: 'c1', outcome: 'refused' }),
      {
        kind: 'run.paused',
        before: 'plan: The plan said reuse for work#1/look#1; it would be: execute',
      },
    ]);
    expect(finished()).toBe('paused');
  });

  test('with what it stopped before, where that is outside of the envelope', () => {
    const { stops, written } = stopsOf(true);
    stops.stopBefore('tool:pay');
    stops.idle();
    expect(written).toEqual([{ kind: 'run.paused', before: 'tool:pay' }]);
  });

  test('without any, where a person asked for it; once, however often that is heard', () => {
    const { stops, written } = stopsOf(true);
    stops.pauseSoon({ kind: 'pause', commandId: 'p1' as never });
    stops.pauseSoon({ kind: 'pause', commandId: 'p1' as never });
    stops.idle();
    stops.idle();
    expect(written).toEqual([
      { kind: 'run.paused' },
      { kind: 'command.ended', commandId: 'p1', outcome: 'done' },
    ]);
  });

  test('before its order went live: the order is withdrawn, not left open', () => {
    const { stops, written } = stopsOf(false);
    stops.pauseSoon({ kind: 'pause', commandId: 'p1' as never });
    stops.idle();
    expect(written).toMatchObject([
      { kind: 'command.ended', commandId: 'c1', outcome: 'withdrawn' },
      { kind: 'run.paused' },
      { kind: 'command.ended', commandId: 'p1', outcome: 'done' },
    ]);
  });
});

describe('a pause that was carried out', () => {
  const stage = stages();

  test('is not carried out again by the epochs after it', async () => {
    const { seen, begin } = stage;
    const agent = oneState(
      { look: seen('look', { effect: 'read', answer: () => stage.lab.clock.delay(40) }) },
      async (ctx) => {
        for (let i = 0; i < 20; i++) await ctx.tool('look', i);
      },
    );
    await begin(agent);
    for (const laps of [3, 6]) {
      await stage.lab.until('r', () => stage.outside.length > laps);
      await stage.lab.command('r', { mode: 'pause' } as never);
      await stage.lab.until('r', (status, _events, held) => status === 'paused' && !held);
      await stage.lab.order('r', 'resume');
    }
    await stage.lab.until('r', (status) => status === 'completed');
    const events = await stage.lab.events('r');
    expect(of(events, 'run.paused')).toHaveLength(2);
    expect(of(events, 'command.ended').map(({ outcome }) => outcome)).toEqual([
      'done',
      'done',
      'done',
      'done',
    ]);
  });
});

describe('a pause that is given while the run stops by itself', () => {
  test('is carried out with that stop', () => {
    const { stops, written } = stopsOf(true);
    stops.stopBefore('tool:pay');
    stops.pauseSoon({ kind: 'pause', commandId: 'p1' as never });
    stops.stopBefore('tool:pay');
    stops.idle();
    expect(written).toEqual([
      { kind: 'run.paused', before: 'tool:pay' },
      { kind: 'command.ended', commandId: 'p1', outcome: 'done' },
    ]);
  });

  test('the other way round as well', () => {
    const { stops, written } = stopsOf(true);
    stops.pauseSoon({ kind: 'pause', commandId: 'p1' as never });
    stops.stopBefore('tool:pay');
    stops.idle();
    expect(written).toMatchObject([
      { kind: 'run.paused' },
      { kind: 'command.ended', commandId: 'p1', outcome: 'done' },
    ]);
  });
});

describe('an order to stop that comes while an intent is on its way', () => {
  const stage = stages();

  test.each(
    (['cancel', 'pause', 'hand-over'] as const).flatMap((how) =>
      (['external', 'idempotent'] as const).map((effect) => ({ how, effect })),
    ),
  )('$how: the $effect call does not leave, and nothing is in doubt', async ({ how, effect }) => {
    const pay = stage.seen('pay', { effect, keyed: true, settlesWithinMs: 10 });
    let isTold = false;
    const worker = await stage.lab.worker([oneState({ pay }, (ctx) => ctx.tool('pay', {}))], {
      onPoint: (point, self) => {
        if (point !== 'effect:before-intent' || isTold) return;
        isTold = true;
        void (how === 'hand-over' ? self.stop() : stage.lab.command('r', { mode: how } as never));
      },
    });
    stage.workers.push(worker);
    void worker.start('a', { runId: 'r' });
    const ended = { cancel: 'cancelled', pause: 'paused', 'hand-over': 'queued' }[how];
    await stage.lab.until('r', (status, _events, held) => status === ended && (how === 'hand-over' || !held));
    const failures = of(await stage.lab.events('r'), 'step.failed');
    expect(failures).toMatchObject([{ failure: 'not-sent', final: false }]);
    expect(stage.outside).toEqual([]);
    if (how === 'cancel') return;
    if (how === 'pause') await stage.lab.order('r', 'resume');
    else stage.workers.push(await stage.lab.worker([oneState({ pay }, (ctx) => ctx.tool('pay', {}))]));
    await stage.lab.until('r', (status) => status === 'completed');
    expect(stage.names()).toEqual(['pay']);
  });
});
