import { describe, expect, it } from 'vitest';
import { seq, stepKey } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import { endedOrder, verificationOf } from './order-events';

/** Newest first, `seq` counted from 11. */
const journal = (...bodies: readonly object[]) =>
  bodies.map((body, n) => ({ seq: 11 + n, ...body }) as unknown as RunEvent).toReversed();
const accepted = (commandId: string, mode = 'resume', more: object = {}) => ({
  kind: 'command.accepted',
  commandId,
  mode,
  ...more,
});
const ended = (commandId: string, outcome = 'refused') => ({ kind: 'command.ended', commandId, outcome });
const late = (commandId: string) => ({ ...ended(commandId, 'done'), late: true });

describe('the order that ended last', () => {
  it.each([
    ['none was given', [], undefined],
    ['it is under way', [accepted('c1')], undefined],
    ['it ended', [accepted('c1'), ended('c1')], 'c1'],
    ['another was given since', [accepted('c1'), ended('c1'), accepted('c2')], undefined],
    ['an earlier one ended after it', [accepted('c1'), accepted('c2'), ended('c1')], undefined],
    ['both ended', [accepted('c1'), accepted('c2'), ended('c1'), ended('c2')], 'c2'],
    [
      'it was the parent’s',
      [
        { ...accepted('c1'), inherited: { runId: 'p', seq: 1 } },
        { ...ended('c1'), inherited: { runId: 'p', seq: 2 } },
      ],
      undefined,
    ],
  ] as const)('where %s', (_, bodies, expected) => {
    expect(endedOrder(journal(...bodies))?.accepted.commandId).toBe(expected);
  });

  it('tells the end that stands, not what its worker said late', () => {
    expect(endedOrder(journal(accepted('c1'), ended('c1', 'withdrawn'), late('c1')))?.ended.outcome).toBe(
      'withdrawn',
    );
    expect(endedOrder(journal(accepted('c1'), late('c1')))).toBeUndefined();
  });
});

describe('what asking told about an intent', () => {
  const intent = { stepKey: stepKey('pay#1/send#1'), intentSeq: seq(9) };
  const ask = (commandId: string, key: string = intent.stepKey) =>
    accepted(commandId, 'verify', { stepKey: key });
  const answer = (outcome: string, more: object = {}) => ({
    kind: 'effect.verified',
    source: 'probe',
    ...intent,
    outcome,
    ...more,
  });
  const read = (...bodies: readonly object[]) => {
    const { answer: told, waits, ended: end } = verificationOf(journal(...bodies), intent);
    return { answer: told?.outcome, waits: waits?.commandId, ended: end?.outcome };
  };
  const nothing = { answer: undefined, waits: undefined, ended: undefined };

  it.each([
    ['never asked', [], nothing],
    ['asked', [ask('c1')], { ...nothing, waits: 'c1' }],
    ['answered', [ask('c1'), answer('unknown')], { ...nothing, answer: 'unknown' }],
    // However soon it is asked again, the old answer is not the new one.
    [
      'asked again',
      [ask('c1'), answer('unknown'), ask('c2')],
      { ...nothing, answer: 'unknown', waits: 'c2' },
    ],
    [
      'answered anew',
      [ask('c1'), answer('unknown'), ask('c2'), answer('happened')],
      { ...nothing, answer: 'happened' },
    ],
    ['refused, since no worker has the probe', [ask('c1'), ended('c1')], { ...nothing, ended: 'refused' }],
    ['withdrawn', [ask('c1'), ended('c1', 'withdrawn')], { ...nothing, ended: 'withdrawn' }],
    ['asked about another effect', [ask('c1', 'pay#1/other#1')], nothing],
    ['an answer about another effect', [answer('happened', { stepKey: 'pay#1/other#1' })], nothing],
    [
      'an answer about another attempt',
      [ask('c1'), answer('happened', { intentSeq: 4 })],
      { ...nothing, waits: 'c1' },
    ],
    [
      'a late worker told',
      [answer('happened', { source: 'late-worker' })],
      { ...nothing, answer: 'happened' },
    ],
  ] as const)('where it was %s', (_, bodies, expected) => {
    expect(read(...bodies)).toEqual(expected);
  });

  it('knows who decided on this attempt whether it happened', () => {
    const decided = (outcome: string, more: object = {}) => ({
      kind: 'effect.decided',
      stepKey: intent.stepKey,
      decision: { intentSeq: intent.intentSeq, outcome, ...more },
      actor: 'anna',
      reason: 'seen',
    });
    const by = (...bodies: readonly object[]) => verificationOf(journal(...bodies), intent).decided?.actor;
    expect(by(ask('c1'), answer('unknown'), decided('happened'))).toBe('anna');
    expect(by(decided('happened'), ask('c1'), answer('unknown'))).toBe('anna');
    expect(by(decided('did-not-happen'), decided('hold'))).toBe('anna');
    expect(by(decided('hold'))).toBeUndefined();
    expect(by(decided('happened', { intentSeq: 4 }))).toBeUndefined();
  });

  it('knows every question about it, answered or not', () => {
    const events = journal(ask('c1'), answer('unknown'), ask('c2'), ask('c3', 'pay#1/other#1'));
    expect(verificationOf(events, intent).questions).toEqual(['c2', 'c1']);
  });
});
