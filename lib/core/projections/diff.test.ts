import { describe, expect, it } from 'vitest';
import { refOf } from '../../testing/random-journal';
import type { PayloadRef } from '../events/payload';
import type { Json } from '../shared/canonical-json';
import { diffStates } from './diff';
import type { RunState } from './records';
import { emptyState } from './run-state';

const at = (variables: Readonly<Record<string, Json>>, rest: Partial<RunState> = {}): RunState => ({
  ...emptyState('desk'),
  ...rest,
  variables: Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, refOf(value)])),
});

/** Resolves the values that `at` was given. */
const resolving = (...states: readonly Readonly<Record<string, Json>>[]) => {
  const known = new Map(
    states.flatMap((one) => Object.values(one).map((value) => [refOf(value).sha256, value])),
  );
  return (ref: PayloadRef) => known.get(ref.sha256);
};

describe('diffStates', () => {
  it('finds nothing between a state and itself', () => {
    expect(diffStates(at({ order: { total: 1 } }), at({ order: { total: 1 } }))).toEqual([]);
  });

  it('names nested differences by JSON Pointer, escaped, in order of path', () => {
    const left = { order: { total: 148, 'a/b~c': 1, gone: true }, list: [1, 2] };
    const right = { order: { total: 133.2, 'a/b~c': 2, new: null }, list: [1, 3, 4] };
    const changes = diffStates(at(left), at(right), resolving(left, right));
    expect(changes.map(({ path, change }) => `${change} ${path}`)).toEqual([
      'changed /variables/list/1',
      'added /variables/list/2',
      'changed /variables/order/a~1b~0c',
      'removed /variables/order/gone',
      'added /variables/order/new',
      'changed /variables/order/total',
    ]);
    expect(changes.at(-1)).toMatchObject({ left: 148, right: 133.2 });
  });

  it('names a value whole, by reference, where it is not at hand', () => {
    const [change] = diffStates(at({ big: 'x' }), at({ big: 'y' }));
    expect(change).toEqual({
      path: '/variables/big',
      change: 'changed',
      leftRef: refOf('x'),
      rightRef: refOf('y'),
    });
  });

  it('tells a variable that was set from one that was removed, and an object from a list', () => {
    const left = { a: 1, shape: [] };
    const right = { b: 2, shape: {} };
    expect(
      diffStates(at(left), at(right), resolving(left, right)).map(({ path, change }) => `${change} ${path}`),
    ).toEqual(['removed /variables/a', 'added /variables/b', 'changed /variables/shape']);
  });

  it('shows status, visit and length of the conversation', () => {
    const visit = { key: 'plan#1', state: 'plan', visit: 1, entrySeq: 2, at: 0 } as unknown as NonNullable<
      RunState['visit']
    >;
    const left = at({}, { status: 'running', visit });
    const right = at({}, { status: 'failed', visit, messages: { count: 3, headSeq: left.seq } });
    expect(diffStates(left, right).map(({ path }) => path)).toEqual(['/messages/count', '/status']);
  });

  it('compares a member named __proto__ like any other', () => {
    const left = { v: JSON.parse('{"__proto__": 1}') as Json };
    const right = { v: JSON.parse('{"__proto__": 2}') as Json };
    expect(diffStates(at(left), at(right), resolving(left, right))).toMatchObject([
      { path: '/variables/v/__proto__', change: 'changed' },
    ]);
  });
});
