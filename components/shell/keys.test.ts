import { expect, it } from 'vitest';
import { capsOf, keyGroups, keyWords } from './keys';
import { navigation } from './nav';

it.each([
  ['Mod+k', ['Ctrl', 'K'], 'Ctrl K'],
  ['Shift+d', ['⇧', 'D'], '⇧D'],
  ['Shift+ArrowLeft', ['⇧', '←'], '⇧←'],
  ['g r', ['G', 'R'], 'G R'],
  [' ', ['Space'], 'Space'],
  ['+', ['+'], '+'],
  ['?', ['?'], '?'],
  ['Escape', ['Esc'], 'Esc'],
] as const)('%j stands on the keyboard as %j', (key, caps, words) => {
  expect(capsOf(key, 'Ctrl')).toEqual(caps);
  expect(keyWords(key, 'Ctrl')).toBe(words);
});

it('no key means two things on one page', () => {
  for (const group of keyGroups) {
    const keys = group.keys.filter(({ within }) => within === undefined).flatMap((each) => each.keys);
    expect(new Set(keys).size, group.name).toBe(keys.length);
  }
});

it('the run page lists the keys of an effect in doubt in the words of the plan', () => {
  const listed = (name: string) => keyGroups.find((group) => group.name === name)?.keys ?? [];
  const ask = (name: string) => listed(name).find(({ keys }) => keys.includes('v'))?.what;
  expect(ask('Run')).toBeDefined();
  expect(ask('Run')).toBe(ask('Plan'));
});

it('every page of the navigation is listed with its key', () => {
  const everywhere = keyGroups.find(({ name }) => name === 'Everywhere')?.keys.flatMap(({ keys }) => keys);
  for (const { key } of navigation) expect(everywhere).toContain(key);
});
