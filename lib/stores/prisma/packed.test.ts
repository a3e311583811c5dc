import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runId, seq, sha256, stepKey } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import { digest, effectRecord, payload, refOf } from '@/lib/testing/store-rows';
import { codesOf, eventCode, kindOfCode } from './event-codes';
import { digestsInPacked, fromColumn, pack, toColumn, unpack } from './packed';
import { eventFromRow, eventValues } from './rows';

const hex64 = fc.stringMatching(/^[0-9a-f]{64}$/);
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
  hex64,
  fc.string().map((text) => `#${text}`),
  fc.string().map((text) => `&${text}`),
  fc.string().map((text) => `'${text}`),
);
const ref = fc.record({ sha256: hex64, bytes: fc.nat(), codec: fc.constantFrom('json', 'text', 'bytes') });
/** Keys of the table, codes of the table, keys that look escaped, and others. */
const anyKey = fc.oneof(
  fc.constantFrom(
    'stepKey',
    'sha256',
    'bytes',
    'codec',
    'a',
    'b',
    'aa',
    '$a',
    '$$',
    '~',
    '__proto__',
    '1',
    '',
  ),
  fc.string(),
);
const { value: anyJson } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    anyText,
    ref,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(anyKey, tie('value')), { maxLength: 5 }).map((entries) => JSON.parse(object(entries))),
  ),
}));
const object = (entries: readonly (readonly [string, unknown])[]) =>
  `{${[...new Map(entries)].map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`;

describe('packed text', () => {
  it('gives back every JSON value, whatever its keys and strings look like, with its keys in order', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const back = unpack(pack(value));
        expect(back).toEqual(value);
        expect(keysOf(back)).toEqual(keysOf(value));
      }),
      { numRuns: 2_000 },
    );
  });

  it('shows every payload that the value refers to without being unpacked', () => {
    fc.assert(
      fc.property(anyJson, fc.array(ref, { maxLength: 4 }), (value, refs) => {
        const found = new Set<string>(digestsInPacked(pack({ refs, [JSON.stringify(value)]: value })));
        expect(refs.filter((one) => !found.has(one.sha256))).toEqual([]);
      }),
    );
  });

  it('holds no character that a database refuses', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = pack(value);
        expect(text.isWellFormed() && !text.includes('\u0000')).toBe(true);
      }),
    );
  });

  it('is short: no names of usual members, no hexadecimal digests', () => {
    const event = { stepKey: 'plan#1/a#1', inputDigest: digest('x'), result: refOf(payload('1')) };
    expect(pack(event)).toBe(
      `{"a":"plan#1/a#1","f":"#${Buffer.from(digest('x'), 'hex').toString('base64url')}","i":"&${Buffer.from(digest('1'), 'hex').toString('base64url')}j1"}`,
    );
  });

  it('keeps texts of columns apart and gives them back', () => {
    fc.assert(
      fc.property(anyText, anyText, (left, right) => {
        expect(fromColumn(toColumn(left))).toBe(left);
        expect(toColumn(left).isWellFormed() && !toColumn(left).includes('\u0000')).toBe(true);
        expect(toColumn(left) === toColumn(right)).toBe(left === right);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Frozen rows: what was stored by an earlier build is read the same for ever. */
describe('stored events', () => {
  const id = runId('run_a');
  const stamp = {
    runId: id,
    seq: seq(7),
    at: 1_700_000_000_000,
    epoch: 3,
    by: 'worker',
    version: 1,
  } as const;
  const frozen: readonly (readonly [string, readonly unknown[], object])[] = [
    [
      'a message',
      [7, 1_700_000_000_000, 3, 88, `{"v":"s#1/$msg#1","t":"user","u":"&${'A'.repeat(43)}j2s"}`],
      {
        ...stamp,
        kind: 'message.appended',
        key: 's#1/$msg#1',
        role: 'user',
        message: { sha256: '0'.repeat(64), bytes: 100, codec: 'json' },
      },
    ],
  ];

  it('S36 gives back every event as it was written', () => {
    const bodies = fc
      .record({ stepKey: anyText, message: anyText, extra: anyJson })
      .map(({ stepKey: key, message, extra }) => ({
        kind: 'step.failed',
        stepKey: key,
        attempt: 1,
        failure: 'error',
        error: { type: 'E', message },
        final: true,
        extra,
      }));
    const stamps = fc.record(
      {
        by: fc.constantFrom('worker', 'console'),
        version: fc.constant(1),
        inherited: fc.record({ runId: fc.string({ minLength: 1 }), seq: fc.nat() }),
      },
      { requiredKeys: ['by', 'version'] },
    );
    fc.assert(
      fc.property(bodies, stamps, (body, more) => {
        const event = { runId: id, seq: 9, at: 1_000, epoch: 2, ...more, ...body } as unknown as RunEvent;
        expect(eventFromRow(id, eventValues(1, event).slice(1))).toEqual(event);
      }),
    );
  });

  it.each([
    [0, 'No upcaster reads version 0 of step.failed (event 9 of run_a)'],
    [2, 'Event 9 of run_a was written by a newer release: version 2 of step.failed'],
  ])('S36 refuses version %i, which this build cannot read, by name', (version, sentence) => {
    const event = {
      ...stamp,
      seq: 9,
      version,
      kind: 'step.failed',
      stepKey: 'k',
      attempt: 1,
      failure: 'error',
      error: { type: 'E', message: 'm' },
      final: true,
    } as unknown as RunEvent;
    expect(() => eventFromRow(id, eventValues(1, event).slice(1))).toThrow(sentence);
  });

  it('reads a frozen message row', () => {
    const [, row, event] = frozen[0] ?? ['', [], {}];
    expect(eventFromRow(id, row)).toEqual(event);
    expect(eventValues(1, event as RunEvent).slice(1)).toEqual(row);
  });

  it('codes kind, writer and intent in one number and finds them by it', () => {
    const started = {
      ...stamp,
      kind: 'step.started',
      stepKey: stepKey('k'),
      name: 'n',
      step: 'tool',
      attempt: 1,
      inputDigest: sha256('0'.repeat(64)),
    } as unknown as RunEvent;
    const intent = {
      ...started,
      by: 'console',
      intent: effectRecord(id, stepKey('k')).intent,
    } as unknown as RunEvent;
    expect(eventCode(intent)).not.toBe(eventCode(started));
    for (const event of [started, intent]) {
      expect(kindOfCode(eventCode(event))).toEqual({ kind: 'step.started', by: event.by });
      expect(codesOf(['step.started'])).toContain(eventCode(event));
    }
    expect(() => kindOfCode(4_000)).toThrow(/code 4000/);
  });
});

function keysOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return value.map(keysOf);
  // A reference is made anew, its keys in the order of its type.
  if ('sha256' in value && 'codec' in value) return undefined;
  return Object.entries(value).map(([key, member]) => [key, keysOf(member)]);
}
