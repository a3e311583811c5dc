import { describe, expect, it } from 'vitest';
import {
  absolute,
  dollars,
  duration,
  elapsed,
  exactDollars,
  partEnd,
  relative,
  seen,
  sentence,
  short,
  size,
  whole,
} from './format';
import { comboOf } from './hotkeys';

describe('numbers and times', () => {
  it('gives durations two units at most', () => {
    expect([0, 352, 8_100, 30_000, 8_069_000, 90_000_000].map(duration)).toEqual([
      '<1 ms',
      '352 ms',
      '8.1 s',
      '30 s',
      '2 h 14 min',
      '1 d 1 h',
    ]);
  });

  it('changes the time of what goes on no more than once a second', () => {
    expect([-5, 8_100, 8_900, 59_999, 8_069_000].map(elapsed)).toEqual([
      '0 s',
      '8 s',
      '8 s',
      '59 s',
      '2 h 14 min',
    ]);
  });

  it('parts the thousands of whole numbers', () => {
    expect([0, 999, 1_000, 12_345, 1_234_567, -1_234].map(whole)).toEqual([
      '0',
      '999',
      '1,000',
      '12,345',
      '1,234,567',
      '-1,234',
    ]);
  });

  it('tells times from now, behind and ahead', () => {
    expect([relative(0, 500), relative(0, 12_000), relative(0, 7_300_000), relative(40_000, 0)]).toEqual([
      'now',
      '12 s ago',
      '2 h ago',
      'in 40 s',
    ]);
  });

  it('ends a text with a full stop, and with one alone', () => {
    expect(['It is held', 'It is held.', 'Why?', 'more…'].map(sentence)).toEqual([
      'It is held.',
      'It is held.',
      'Why?',
      'more…',
    ]);
  });

  it('names the zone of an absolute time', () => {
    expect(absolute(Date.UTC(2026, 10, 29, 1, 59, 12, 129), 'utc')).toBe('2026-11-29 01:59:12.129 UTC');
  });

  it('never shows a cost as nothing when there was one', () => {
    expect([0, 500, 100_000].map(dollars)).toEqual(['$0.00', '<$0.01', '$0.10']);
    expect([1_235, 100_000, 1_500_000_000].map(exactDollars)).toEqual(['$0.001235', '$0.10', '$1,500.00']);
    expect([short(950), short(23_900), short(1_900_000)]).toEqual(['950', '23.9k', '1.9M']);
  });

  it('weighs in binary units, as limits are set', () => {
    expect([0, 1_023, 1_024, 300_000, 1_048_575, 1_048_576, 256 * 2 ** 20].map(size)).toEqual([
      '0 B',
      '1023 B',
      '1.0 KiB',
      '293.0 KiB',
      '1.0 MiB',
      '1.0 MiB',
      '256.0 MiB',
    ]);
  });
});

describe('text of others', () => {
  it('shows what hides and what turns text round, and leaves every other character as it is', () => {
    expect(seen('a\u0000b\u001b[31mc\u202ed\u2066e\r.')).toBe('a␀b␛[31mc⟨U+202E⟩d⟨U+2066⟩e␍.');
    const fine = 'שלום, ok\n\ttab\r\n👩‍🚀 é 中文';
    expect(seen(fine)).toBe(fine);
  });
});

describe('hotkeys', () => {
  const press = (key: string, change: object = {}) =>
    comboOf({ key, shiftKey: false, metaKey: false, ctrlKey: false, altKey: false, ...change });
  it('names letters with shift, and signs without', () => {
    expect([
      press('c'),
      press('D', { shiftKey: true }),
      press('?', { shiftKey: true }),
      press('ArrowLeft', { shiftKey: true }),
      press('Enter', { metaKey: true }),
    ]).toEqual(['c', 'Shift+d', '?', 'Shift+ArrowLeft', 'Mod+Enter']);
  });
});

describe('the end of a part', () => {
  it('never lies inside a character, and all parts together are the text', () => {
    for (const text of ['ab🚂🚂c', '\ud800\ud800a\udc00', '🚂', '']) {
      const parts: string[] = [];
      for (let from = 0; from < text.length; ) {
        const to = Math.max(from + 1, partEnd(text, from + 2));
        parts.push(text.slice(from, to));
        from = to;
      }
      expect(parts.join('')).toBe(text);
    }
    expect(partEnd('ab🚂c', 3)).toBe(2);
    expect(partEnd('ab🚂c', 4)).toBe(4);
    expect(partEnd('\udc00a', 1)).toBe(1);
    expect([partEnd('ab', -5), partEnd('ab', 9)]).toEqual([0, 2]);
  });
});
