import { describe, expect, it } from 'vitest';
import { isNarrow, isUnder, levelAbove, navigation } from './nav';

describe('the navigation', () => {
  it.each([
    ['/runs/r%2F1/plan', '/runs/r%2F1'],
    ['/runs/r1', '/runs'],
    ['/audit', '/runs'],
    ['/api-reference', '/runs'],
    ['/runs', undefined],
  ])('leads up from %s to %s', (path, above) => {
    expect(levelAbove(path)).toBe(above);
  });

  it('marks the entry whose page, or a page below it, is open', () => {
    const current = (path: string) =>
      navigation.filter(({ href }) => isUnder(path, href)).map(({ name }) => name);
    expect(current('/runs/r1/plan')).toEqual(['Runs']);
    expect(current('/audit')).toEqual(['Audit']);
    expect(current('/runsome')).toEqual([]);
  });

  it('is narrow on the pages that are one instrument', () => {
    expect(navigation.filter(({ href }) => isNarrow(href))).toEqual([]);
    expect(isNarrow('/runs/r1')).toBe(true);
    expect(isNarrow('/runs/r1/plan')).toBe(true);
  });

  it('has a key of its own for each entry', () => {
    expect(new Set(navigation.map(({ key }) => key)).size).toBe(navigation.length);
  });
});
