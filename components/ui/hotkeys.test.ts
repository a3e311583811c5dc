import { describe, expect, it } from 'vitest';
import { comboOf, meaningOf } from './hotkeys';

const table = [{ key: 'Escape' }, { key: 'Mod+Enter' }, { key: 'v' }, { key: ' ' }];
const key = (name: string, more: Partial<Parameters<typeof comboOf>[0]> = {}) => ({
  key: name,
  shiftKey: false,
  metaKey: false,
  ctrlKey: false,
  altKey: false,
  ...more,
});

describe('a pressed key', () => {
  it.each([
    // In a field: the first Escape leaves the field and nothing else.
    ['Escape', 'field', 'blur'],
    ['v', 'field', undefined],
    [' ', 'field', undefined],
    ['Mod+Enter', 'field', 1],
    ['Escape', 'page', 0],
    ['Escape', 'control', 0],
    ['v', 'page', 2],
    ['v', 'control', 2],
    [' ', 'page', 3],
    [' ', 'control', undefined],
    ['x', 'page', undefined],
  ] as const)('%j in a %s means %j', (combo, at, meaning) => {
    expect(meaningOf(combo, at, table)).toBe(meaning);
  });

  it('that is held down orders nothing again, and still moves along', () => {
    expect(meaningOf('Mod+Enter', 'page', table, true)).toBe(undefined);
    expect(meaningOf('Mod+Enter', 'field', table, true)).toBe(undefined);
    expect(meaningOf('ArrowLeft', 'page', [{ key: 'ArrowLeft' }], true)).toBe(0);
  });

  it('is named with what is held beside it', () => {
    expect(comboOf(key('ArrowLeft', { shiftKey: true }))).toBe('Shift+ArrowLeft');
    expect(comboOf(key('?', { shiftKey: true }))).toBe('?');
    expect(comboOf(key('Enter', { ctrlKey: true }))).toBe('Mod+Enter');
  });
});

describe('two keys, one after the other', () => {
  it('mean something together, and the second alone something else', () => {
    const both = [{ key: 'g r' }, { key: 'r' }];
    expect(meaningOf('g r', 'page', both)).toBe(0);
    expect(meaningOf('r', 'page', both)).toBe(1);
    expect(meaningOf('g', 'page', both)).toBe(undefined);
    expect(meaningOf('g r', 'field', both)).toBe(undefined);
  });
});
