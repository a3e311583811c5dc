import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from './ids';
import { decodeValue, digestOf, encodeValue } from './value-codec';

const round = (value: unknown): unknown => {
  const encoded = encodeValue(value);
  if (!encoded.ok) throw new Error(`${encoded.problem.path}: ${encoded.problem.why}`);
  return decodeValue(encoded.value);
};
const refusal = (value: unknown) => {
  const encoded = encodeValue(value);
  return encoded.ok ? undefined : encoded.problem;
};

describe('value codec', () => {
  it('gives any plain value back as it was, key order and -0 included', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u0000', '\ud800', 'a\udfff', '$rerail', '__proto__'),
    );
    const anything = fc.anything({
      key: text,
      values: [
        text,
        fc.double(),
        fc.bigInt(),
        fc.constant(-0),
        fc.date({ noInvalidDate: false }),
        fc.boolean(),
        fc.constant(undefined),
        fc.constant(null),
      ],
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withBigInt: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        const encoded = encodeValue(value);
        if (!encoded.ok) throw new Error(`${encoded.problem.path}: ${encoded.problem.why}`);
        expect(decodeValue(encoded.value)).toEqual(value);
        expect(encodeValue(decodeValue(encoded.value))).toEqual(encoded);
        expect(encoded.value).not.toContain('\u0000');
        expect(encoded.value.isWellFormed()).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps what JSON has no word for (S15)', () => {
    expect(Object.is(round(-0), -0)).toBe(true);
    expect(round([Number.NaN, Number.POSITIVE_INFINITY, 12n, undefined])).toEqual([
      Number.NaN,
      Number.POSITIVE_INFINITY,
      12n,
      undefined,
    ]);
    expect(round(new Map<unknown, unknown>([[{ a: 1 }, new Set([2n])]]))).toEqual(
      new Map([[{ a: 1 }, new Set([2n])]]),
    );
    expect(round(new Uint8Array([0, 255]))).toEqual(new Uint8Array([0, 255]));
    expect(round(Buffer.from('ab'))).toEqual(new Uint8Array([97, 98]));
    expect(round(/a\/b/gu)).toEqual(/a\/b/gu);
    expect(round(new URL('http://x/y?z'))).toEqual(new URL('http://x/y?z'));
    const error = round(new TypeError('no', { cause: { code: 7 } }));
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: 'no', cause: { code: 7 } });
    expect(round({ $rerail: 'bigint', value: 'x' })).toEqual({ $rerail: 'bigint', value: 'x' });
    expect(JSON.stringify(round({ b: 1, a: 2 }))).toBe('{"b":1,"a":2}');
  });

  it('refuses what it cannot keep, naming the path (S15)', () => {
    class Socket {}
    const circle: Record<string, unknown> = { deep: {} };
    circle['deep'] = { back: circle };
    expect(refusal({ a: [0, 1, 2, { b: new Socket() }] })).toEqual({
      path: '$.a[3].b',
      why: 'an instance of Socket',
    });
    expect(refusal(circle)).toMatchObject({ path: '$.deep.back' });
    expect(refusal({ 'odd key': () => 1 })?.path).toBe('$["odd key"]');
    expect(refusal(new Map([['k', Symbol('s')]]))).toMatchObject({ path: '$[0][1]', why: 'a symbol' });
    // biome-ignore lint/suspicious/noSparseArray: a hole is the case
    expect(refusal([, 1])?.why).toContain('holes');
    expect(refusal({ p: Promise.resolve() })?.path).toBe('$.p');
  });

  it('gives one digest whatever the key order', () => {
    const hash = (content: Uint8Array | string) => sha256(createHash('sha256').update(content).digest('hex'));
    expect(digestOf('{"a":1,"b":[2]}', hash)).toBe(digestOf('{ "b": [2], "a": 1 }', hash));
    expect(digestOf('{"a":1}', hash)).not.toBe(digestOf('{"a":2}', hash));
  });
});
