import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepKey } from './ids';
import { branchPath, callIn, keyIn, scopeOf, visitOf, visitPath, visitPathOf } from './step-key';

const anyName = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.stringMatching(/^[a-c%/#:0-9]{1,12}$/),
  fc.constantFrom('/', '#', '#1', 'a/b', 'a#1/b#2', '%2f', '%', ':', '/#1/', 'C#', 'tcp/ip#3'),
);
const anyNumber = fc.integer({ min: 1, max: 1_000_000 });

describe('addresses', () => {
  it('say which visit they lie in, whatever the state, the branches and the call are named', () => {
    fc.assert(
      fc.property(
        anyName,
        anyNumber,
        fc.array(fc.tuple(anyName, anyNumber, anyName), { maxLength: 3 }),
        anyName,
        anyNumber,
        (state, visit, branches, call, nth) => {
          const path = visitPath(state, visit);
          expect(visitOf(path)).toEqual({ state, visit });
          const scope = branches.reduce(
            (at, [name, occurrence, branch]) => branchPath(keyIn(at, name, occurrence), branch),
            path,
          );
          const key = keyIn(scope, call, nth);
          expect(visitOf(key)).toEqual({ state, visit });
          expect(visitPathOf(key)).toBe(path);
          expect(`${scopeOf(key)}/${callIn(key)}`).toBe(key);
          expect(scopeOf(key)).toBe(scope);
        },
      ),
    );
  });

  it('of a writer that escapes no name are read as far as they can be told apart', () => {
    expect(visitOf('refund/eu#2')).toEqual({ state: 'refund/eu', visit: 2 });
    expect(visitOf('refund/eu#2/pay#1')).toEqual({ state: 'refund/eu', visit: 2 });
    expect(visitOf('C#3#1/pay#1')).toEqual({ state: 'C#3', visit: 1 });
    expect(visitOf('a#b/c#1')).toEqual({ state: 'a#b/c', visit: 1 });
  });

  it('of a writer that escapes no name, a call lies in the last scope that its key names', () => {
    const parts = (key: string) => [scopeOf(stepKey(key)), callIn(stepKey(key))];
    expect(parts('plan#1/tools/fetch order#2')).toEqual(['plan#1', 'tools/fetch order#2']);
    expect(parts('refund/eu#1/https://pay.example/v1#1')).toEqual([
      'refund/eu#1',
      'https://pay.example/v1#1',
    ]);
    expect(parts('plan#1/fan#1:left/tools/get#1')).toEqual(['plan#1/fan#1:left', 'tools/get#1']);
    expect(parts('plan#1/agent#1/tools/get#1')).toEqual(['plan#1/agent#1', 'tools/get#1']);
    expect(parts('plan/get#1')).toEqual(['plan', 'get#1']);
    expect(parts('get#1')).toEqual(['', 'get#1']);
  });

  it('that number no visit say so, and never give what is no number', () => {
    expect(visitOf('plan')).toEqual({ state: 'plan', visit: 0 });
    expect(visitOf('')).toEqual({ state: '', visit: 0 });
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (address) => {
        expect(Number.isFinite(visitOf(address).visit)).toBe(true);
        expect(address.startsWith(visitPathOf(address))).toBe(true);
      }),
    );
  });
});
