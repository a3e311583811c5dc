import { describe, expect, it } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { eventFacts } from './event-facts';

const event = (body: object): RunEvent =>
  ({ runId: 'run_1', seq: 4, at: 0, epoch: 1, by: 'console', version: 1, ...body }) as unknown as RunEvent;
const payload = { sha256: 'a'.repeat(64), bytes: 12, codec: 'json' };
const texts = (body: object) =>
  eventFacts(event(body), 'utc').map((fact) => [fact.name, fact.kind === 'text' ? fact.text : fact.payload]);

describe('what an event says', () => {
  it('tells who gave an order and why, with its decisions and edits', () => {
    expect(
      texts({
        kind: 'command.accepted',
        commandId: 'c1',
        mode: 'resume',
        actor: 'anna',
        reason: 'the bank says so',
        decisions: { 'pay#1/send#1': { intentSeq: 9, outcome: 'happened', result: payload, receipt: 'r-7' } },
        edits: [{ path: '/amount', value: { cents: 100 } }],
      }),
    ).toEqual([
      ['order id', 'c1'],
      ['mode', 'resume'],
      ['actor', 'anna'],
      ['reason', 'the bank says so'],
      ['decisions, pay#1/send#1, intent at seq', '9'],
      ['decisions, pay#1/send#1, outcome', 'happened'],
      ['decisions, pay#1/send#1, result', payload],
      ['decisions, pay#1/send#1, receipt', 'r-7'],
      ['edits, path', '/amount'],
      ['edits, value', '{"cents":100}'],
    ]);
  });

  it('tells what a run waits for', () => {
    const on = [{ stepKey: 'pay#1/send#1', for: 'conflict' }];
    expect(texts({ kind: 'run.waiting', on })).toEqual([
      ['waits on, step key', 'pay#1/send#1'],
      ['waits on, for', 'an effect that was confirmed with other arguments'],
    ]);
  });

  it('numbers what stands in a list, where it is more than one', () => {
    const patch = [
      { op: 'add', path: '/a' },
      { op: 'remove', path: '/b' },
    ];
    expect(texts({ kind: 'variables.patched', patch }).map(([name]) => name)).toEqual([
      'change 1, what',
      'change 1, path',
      'change 2, what',
      'change 2, path',
    ]);
  });

  it('tells why an order was refused', () => {
    expect(
      texts({ kind: 'command.ended', commandId: 'c1', outcome: 'refused', detail: 'stale plan' }),
    ).toEqual([
      ['order id', 'c1'],
      ['outcome', 'refused'],
      ['detail', 'stale plan'],
    ]);
  });

  it('shows instants as times, and says that a list is empty', () => {
    expect(texts({ kind: 'question.asked', until: 0 })).toEqual([['until', '1970-01-01 00:00:00.000 UTC']]);
    expect(texts({ kind: 'run.rewound', kept: [] })).toEqual([['kept', 'none']]);
    expect(texts({ kind: 'run.resumed', revived: false })).toEqual([['revived', 'no']]);
  });

  it('gives lengths of time, money and large numbers as people read them', () => {
    const intent = { timeoutMs: 30_000, settlesWithinMs: 60_000, keyValidForMs: 86_400_000, guarded: true };
    expect(texts({ kind: 'step.started', intent })).toEqual([
      ['intent, time-out', '30 s'],
      ['intent, settles within', '1 min'],
      ['intent, key valid for', '1 d'],
      ['intent, guarded', 'yes'],
    ]);
    expect(texts({ kind: 'step.completed', usage: { inputTokens: 12_345, costMicroUsd: 1_235 } })).toEqual([
      ['usage, input tokens', '12,345'],
      ['usage, cost', '$0.001235'],
    ]);
  });

  it('says what stands for one of few in words, and leaves what people wrote as it is', () => {
    expect(texts({ kind: 'run.interrupted', cause: 'lease-lapsed', workerId: 'eu-3' })).toEqual([
      ['cause', 'the lease lapsed'],
      ['worker', 'eu-3'],
    ]);
    expect(texts({ kind: 'run.queued', reason: 'timer' })).toEqual([['reason', 'a timer is due']]);
    expect(texts({ kind: 'command.accepted', reason: 'timer' })).toEqual([['reason', 'timer']]);
    expect(texts({ kind: 'variables.patched', patch: [{ op: 'add', path: '/payment' }] })).toEqual([
      ['change, what', 'set'],
      ['change, path', '/payment'],
    ]);
    expect(texts({ kind: 'step.failed', failure: 'not-sent', final: false, nextDelayMs: 1_500 })).toEqual([
      ['failure', 'surely not sent'],
      ['last attempt', 'no'],
      ['tried again after', '1.5 s'],
    ]);
    expect(texts({ kind: 'divergence.found', what: 'missing' })).toEqual([
      ['what', 'a recorded call is not made'],
    ]);
    expect(texts({ kind: 'run.cancelled', reason: 'constructor' })).toEqual([['reason', 'constructor']]);
    expect(texts({ kind: 'effect.verified', outcome: 'constructor' })).toEqual([['outcome', 'constructor']]);
  });
});
