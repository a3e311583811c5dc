import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});
const load = () => import('./single-keys');

describe('keys of one character', () => {
  it.each([
    ['r', true],
    ['?', true],
    ['/', true],
    ['1', true],
    ['Shift+d', true],
    ['ArrowLeft', false],
    ['Shift+ArrowLeft', false],
    ['Escape', false],
    ['Mod+Enter', false],
    ['Mod+k', false],
    [' ', false],
  ])('%s: %s', async (combo, single) => {
    expect((await load()).isSingleKey(combo)).toBe(single);
  });

  it('stay off in the next page of this browser', async () => {
    const kept = new Map<string, string>();
    vi.stubGlobal('window', {
      localStorage: {
        getItem: (name: string) => kept.get(name) ?? null,
        setItem: (name: string, value: string) => kept.set(name, value),
      },
    });
    const first = await load();
    expect(first.singleKeysOn()).toBe(true);
    first.setSingleKeys(false);
    vi.resetModules();
    expect((await load()).singleKeysOn()).toBe(false);
  });

  it('can be turned off where the browser keeps nothing', async () => {
    vi.stubGlobal('window', {
      get localStorage(): Storage {
        throw new Error('denied');
      },
    });
    const { setSingleKeys, singleKeysOn } = await load();
    setSingleKeys(false);
    expect(singleKeysOn()).toBe(false);
  });
});
