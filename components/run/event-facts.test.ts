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
      ['command id', 'c1'],
      ['mode', 'resume'],
      ['actor', 'anna'],
      ['reason', 'the bank says so'],
      ['decisions, pay#1/send#1, intent seq', '9'],
      ['decisions, pay#1/send#1, outcome', 'happened'],
      ['decisions, pay#1/send#1, result', payload],
      ['decisions, pay#1/send#1, receipt', 'r-7'],
      ['edits 1, path', '/amount'],
      ['edits 1, value', '{"cents":100}'],
    ]);
  });

  it('tells what a run waits for', () => {
    const on = [{ stepKey: 'pay#1/send#1', for: 'conflict' }];
    expect(texts({ kind: 'run.waiting', on })).toEqual([
      ['waits on 1, step key', 'pay#1/send#1'],
      ['waits on 1, for', 'conflict'],
    ]);
  });

  it('tells why an order was refused', () => {
    expect(
      texts({ kind: 'command.ended', commandId: 'c1', outcome: 'refused', detail: 'stale plan' }),
    ).toEqual([
      ['command id', 'c1'],
      ['outcome', 'refused'],
      ['detail', 'stale plan'],
    ]);
  });

  it('shows instants as times, and says that a list is empty', () => {
    expect(texts({ kind: 'question.asked', until: 0 })).toEqual([['until', '1970-01-01 00:00:00.000 UTC']]);
    expect(texts({ kind: 'run.rewound', kept: [] })).toEqual([['kept', 'none']]);
    expect(texts({ kind: 'run.resumed', revived: false })).toEqual([['revived', 'false']]);
  });
});
