import { describe, expect, it } from 'vitest';
import { shownIn, withShown } from './frame-dialogs';

describe('the dialogs of the frame in the address', () => {
  it.each([
    ['?open=palette&command=refund', { open: 'palette', find: 'refund' }],
    ['?open=keys&command=refund', { open: 'keys', find: '' }],
    ['?open=cancel', { open: undefined, find: '' }],
    ['?command=refund', { open: undefined, find: '' }],
    ['', { open: undefined, find: '' }],
  ] as const)('%s', (search, shown) => {
    expect(shownIn(search)).toEqual(shown);
  });

  it('are written beside what the page has there, and taken away without it', () => {
    const page = 'http://h/runs/r1?seq=5&tab=state';
    const open = withShown(page, { open: 'palette', find: 'a b' });
    expect(open).toBe(`${page}&open=palette&command=a+b`);
    expect(shownIn(new URL(open).search)).toEqual({ open: 'palette', find: 'a b' });
    expect(withShown(open, { open: undefined, find: '' })).toBe(page);
  });

  it('leave a dialog of the page alone when they close', () => {
    expect(withShown('http://h/runs/r1?open=cancel', { open: undefined, find: '' })).toBe(
      'http://h/runs/r1?open=cancel',
    );
  });
});
