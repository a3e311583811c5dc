import { describe, expect, it } from 'vitest';
import type { RunSummary } from '@/lib/client/api-types';
import { stopDone, stopSentence } from './order-words';

const holder = (mode: string) => ({ workerId: 'eu-1', since: '', mode });
const pending = (mode: string) => ({ commandId: 'c1', mode, actor: 'ann' });
const stands = (
  status: RunSummary['status'],
  held: ReturnType<typeof holder> | null,
  order: ReturnType<typeof pending> | null,
) => ({ status, holder: held, pending: order });

describe('pause and cancel', () => {
  it.each([
    ['cancel', stands('cancelled', null, null), 'Cancelled'],
    [
      'cancel',
      stands('running', holder('resume'), pending('cancel')),
      'Cancel accepted; worker eu-1 stops at its next point',
    ],
    [
      'cancel',
      stands('waiting', holder('verify'), pending('cancel')),
      'Cancel accepted; nobody has carried it out yet',
    ],
    [
      'cancel',
      stands('interrupted', null, pending('cancel')),
      'Cancel accepted; nobody has carried it out yet',
    ],
    // It stopped in another way first.
    ['cancel', stands('completed', null, null), 'Cancel accepted'],
    ['pause', stands('paused', null, null), 'Paused'],
    [
      'pause',
      stands('running', holder('resume'), pending('pause')),
      'Pause accepted; worker eu-1 stops at its next point',
    ],
    ['pause', stands('running', holder('resume'), pending('cancel')), 'Pause accepted'],
    ['pause', stands('waiting', null, null), 'Pause accepted'],
  ] as const)('a %s of %j says “%s”', (mode, run, words) => {
    expect(stopDone(mode, run)).toBe(words);
  });

  it('promises an end at once only where nobody carries the run', () => {
    for (const mode of ['pause', 'cancel'] as const) {
      expect(stopSentence(mode, { holder: null })).toMatch(/at once/);
      expect(stopSentence(mode, { holder: holder('verify') })).toMatch(/at once/);
      for (const held of ['resume', 'rewind', 'fork', 'replay', 'answer', 'timer', 'hand-over'])
        expect(stopSentence(mode, { holder: holder(held) })).toMatch(
          /^Worker eu-1 is told and stops at its next/,
        );
    }
  });
});
