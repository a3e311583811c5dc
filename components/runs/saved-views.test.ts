import { describe, expect, it } from 'vitest';
import { MOST_VIEWS, movedView, refusedName, renamed, type SavedView, withoutView } from './saved-views';

const views = ['a', 'b', 'c'].map((name): SavedView => ({ name, search: `tag=${name}` }));
const names = (some: readonly SavedView[]) => some.map(({ name }) => name);

describe('views of one’s own', () => {
  it('move by one place, and stay at either end', () => {
    expect(names(movedView(views, 'b', -1))).toEqual(['b', 'a', 'c']);
    expect(names(movedView(views, 'b', 1))).toEqual(['a', 'c', 'b']);
    expect(names(movedView(views, 'a', -1))).toEqual(['a', 'b', 'c']);
    expect(names(movedView(views, 'c', 1))).toEqual(['a', 'b', 'c']);
    expect(names(movedView(views, 'none', 1))).toEqual(['a', 'b', 'c']);
  });

  it('keep filters and place under another name', () => {
    expect(renamed(views, 'b', ' B2 ')).toEqual([views[0], { name: 'B2', search: 'tag=b' }, views[2]]);
    expect(names(withoutView(views, 'b'))).toEqual(['a', 'c']);
  });

  it('have names of their own, whatever their case, and are not without end', () => {
    expect(refusedName(views, '  ', [])).toBe('A view needs a name');
    expect(refusedName(views, 'A', [])).toMatch(/already/);
    expect(refusedName(views, 'needs a PERSON', ['Needs a person'])).toMatch(/already/);
    expect(refusedName(views, 'A', [], 'a')).toBeUndefined();
    expect(refusedName(views, 'b', [], 'a')).toMatch(/already/);
    const many = Array.from({ length: MOST_VIEWS }, (_, n) => ({ name: `v${n}`, search: '' }));
    expect(refusedName(many, 'one more', [])).toMatch(/delete one first/);
    expect(refusedName(many, 'v1b', [], 'v1')).toBeUndefined();
  });
});
