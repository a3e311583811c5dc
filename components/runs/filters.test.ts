import { describe, expect, it } from 'vitest';
import type { RunsFilter } from '@/lib/client/url-state';
import { chipsOf, filterWords, fromField, isNarrowed, noFilter, searchOf, toField } from './filters';

const words = (change: Partial<typeof noFilter>) => filterWords({ ...noFilter, ...change }, 'utc');

describe('filters in words', () => {
  it('say what is, what is not, and when', () => {
    expect(words({ status: ['failed', 'waiting', 'paused'] })).toEqual([
      'Status is failed, waiting or paused',
    ]);
    expect(words({ agent: ['a'], notAgent: ['b', 'c'] })).toEqual(['Agent is a', 'Agent is not b or c']);
    expect(words({ tag: ['a', 'b'], notTag: ['c'] })).toEqual(['Tag is a and b', 'Tag is not c']);
    expect(words({ within: '24h' })).toEqual(['Started within 24 h']);
    expect(words({ within: 'today' })).toEqual(['Started is today']);
    expect(words({ from: '2026-11-29T01:00:00Z', to: '2026-11-29T02:30:00Z' })).toEqual([
      'Started from 2026-11-29 01:00 UTC to 2026-11-29 02:30 UTC',
    ]);
    expect(words({ to: '2026-11-29T02:30:00Z' })).toEqual(['Started before 2026-11-29 02:30 UTC']);
    expect(words({ from: 'no time' })).toEqual(['Started since no time']);
    expect(words({ inDoubt: true, attention: false, source: ['sdk'], failure: 'x', q: 'y' })).toEqual([
      'In doubt is some effect',
      'Needs a person is no',
      'Engine is SDK worker',
      'Failure has “x”',
      'Search “y”',
    ]);
    expect(words({})).toEqual([]);
  });

  it('are taken away by their chip and by nothing else', () => {
    const filter: RunsFilter = {
      ...noFilter,
      status: ['failed'],
      agent: ['a'],
      notAgent: ['b'],
      tag: ['t'],
      notTag: ['u'],
      source: ['sdk'],
      notSource: ['otlp'],
      inDoubt: false,
      attention: true,
      failure: 'f',
      within: '7d',
    };
    const chips = chipsOf(filter, 'utc');
    expect(new Set(chips.map(({ id }) => id)).size).toBe(11);
    for (const chip of chips)
      expect(chipsOf({ ...filter, ...chip.without }, 'utc').map(({ id }) => id)).toEqual(
        chips.map(({ id }) => id).filter((id) => id !== chip.id),
      );
    const none = chips.reduce<RunsFilter>((left, chip) => ({ ...left, ...chip.without }), filter);
    expect(isNarrowed(none)).toBe(false);
    expect(searchOf(none)).toBe('');
  });

  it('reads a field without a zone in the zone that is shown', () => {
    expect(toField('2026-11-29T01:00:59Z', 'utc')).toBe('2026-11-29T01:00');
    expect(fromField('2026-11-29T01:00', 'utc')).toBe('2026-11-29T01:00:00.000Z');
    const there = fromField('2026-07-01T12:30', 'local');
    expect(toField(there, 'local')).toBe('2026-07-01T12:30');
    expect([toField('', 'utc'), toField('nonsense', 'utc'), fromField('', 'utc')]).toEqual(['', '', '']);
  });
});
