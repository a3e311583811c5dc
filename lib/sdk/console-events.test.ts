import { expect, it } from 'vitest';
import type { RunEvent } from '../core/events/run-event';
import { ConsoleEvents, type ConsoleEventsDeps } from './console-events';
import type { Draft } from './journal-writer';

/** What the worker appends when a person asks it to verify a call that stands like this. */
async function asked(call: object | undefined, isSent = true): Promise<readonly Draft['event'][]> {
  const appended: Draft['event'][] = [];
  const work: Promise<unknown>[] = [];
  const events = new ConsoleEvents({
    hold: {
      isStopped: () => false,
      background: (started: Promise<unknown>) => work.push(started),
      guard: (fn: () => void) => fn(),
      push: ({ event }: Draft) => appended.push(event),
    },
    effects: { verifyFor: () => Promise.resolve(isSent) },
    isLive: () => true,
    callOf: () => call,
  } as unknown as ConsoleEventsDeps);
  const order = { kind: 'command.accepted', mode: 'verify', commandId: 'c', stepKey: 'work#1/pay#1' };
  events.take([order as unknown as RunEvent]);
  await Promise.all(work);
  return appended;
}

const effect = { effect: 'external', arrived: false };

it('says that an order to verify is carried out where the provider was asked', async () => {
  expect(await asked(effect)).toEqual([{ kind: 'command.ended', commandId: 'c', outcome: 'done' }]);
});

it.each([
  ['the code does not wait for the call', undefined, true, 'does not wait for work#1/pay#1'],
  ['the call has its outcome', { ...effect, arrived: true }, true, 'had its outcome before'],
  ['the call is no effect', { ...effect, effect: 'read' }, true, 'changes nothing outside'],
  ['this run sent nothing', effect, false, 'has not sent work#1/pay#1'],
] as const)('says why it cannot ask where %s', async (_what, call, isSent, why) => {
  expect(await asked(call, isSent)).toEqual([
    {
      kind: 'command.ended',
      commandId: 'c',
      outcome: 'refused',
      detail: expect.stringContaining(why) as unknown,
    },
  ]);
});
