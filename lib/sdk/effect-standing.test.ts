import { describe, expect, test } from 'vitest';
import { type EffectStanding, failedForGood, standingOf } from './effect-standing';
import type { LedgerEntry } from './journal-port';
import { LineageLedger } from './lineage-ledger';

const row = (more: object): LedgerEntry =>
  ({
    stepKey: 's#1/pay#1',
    generation: 1,
    effect: 'external',
    status: 'intended',
    runId: 'r',
    intentSeq: 4,
    argsDigest: 'asked',
    firstIntentAt: 0,
    result: undefined,
    ...more,
  }) as unknown as LedgerEntry;
const result = { sha256: 'x' };
const at = { runId: 'r' as never, now: 500, keyValidForMs: 1_000, goesOnWhenSettled: false };
const call = (more: object = {}) =>
  ({ effect: 'external', inputDigest: 'asked', settledByPerson: false, ...more }) as never;

interface Case {
  readonly what: string;
  readonly rows: readonly LedgerEntry[];
  readonly external: readonly [EffectStanding['kind'], EffectStanding['disposition']];
  /** Where it differs. */
  readonly idempotent?: readonly [EffectStanding['kind'], EffectStanding['disposition']];
}
const blocked = (kind: EffectStanding['kind']) => [kind, 'blocked'] as const;
const again = ['again', 'retry-same-key'] as const;
const doubt = ['in-doubt', 'needs-decision'] as const;
const skip = ['answered', 'skip'] as const;
const reuse = ['answered', 'reuse'] as const;
const cases: readonly Case[] = [
  { what: 'nothing of it', rows: [], external: ['new', 'execute'] },
  { what: 'confirmed', rows: [row({ status: 'confirmed', result })], external: skip, idempotent: reuse },
  {
    what: 'confirmed, and what it answered is not known',
    rows: [row({ status: 'confirmed' })],
    external: blocked('result-unknown'),
  },
  { what: 'open here', rows: [row({})], external: doubt, idempotent: again },
  { what: 'open here, past its key', rows: [row({ firstIntentAt: -501 })], external: doubt },
  { what: 'open here for something else', rows: [row({ argsDigest: 'other' })], external: doubt },
  { what: 'in doubt here', rows: [row({ status: 'in-doubt' })], external: doubt },
  { what: 'open elsewhere', rows: [row({ runId: 'f' })], external: blocked('elsewhere') },
  {
    what: 'in doubt elsewhere',
    rows: [row({ runId: 'f', status: 'in-doubt' })],
    external: blocked('elsewhere'),
  },
  { what: 'surely not happened', rows: [row({ status: 'failed' })], external: again },
  { what: 'surely not happened elsewhere', rows: [row({ status: 'failed', runId: 'f' })], external: again },
  {
    what: 'something else surely not happened',
    rows: [row({ status: 'failed', argsDigest: 'other' })],
    external: ['new', 'execute'],
  },
  {
    what: 'something else confirmed',
    rows: [row({ status: 'confirmed', result, argsDigest: 'other' })],
    external: blocked('conflict'),
  },
  {
    what: 'confirmed, and then something else in doubt',
    rows: [
      row({ status: 'confirmed', result }),
      row({ status: 'in-doubt', generation: 2, argsDigest: 'other' }),
    ],
    external: skip,
    idempotent: reuse,
  },
  {
    what: 'something else confirmed, and then this in doubt',
    rows: [
      row({ status: 'confirmed', result, argsDigest: 'other' }),
      row({ status: 'in-doubt', generation: 2 }),
    ],
    external: doubt,
  },
];

describe.each(['external', 'idempotent'] as const)('what becomes of a call that is %s', (effect) => {
  test.each(cases)('by a ledger that has $what', ({ rows, external, idempotent = external }) => {
    const { kind, disposition } = standingOf(call({ effect }), rows, at);
    expect([kind, disposition]).toEqual(effect === 'external' ? external : idempotent);
  });

  test.each(cases)('settled by a person, it starts nothing without an order: $what', ({ rows }) => {
    const settled = call({ effect, settledByPerson: true });
    const ordered = standingOf(settled, rows, { ...at, goesOnWhenSettled: true });
    expect(ordered).toEqual(standingOf(call({ effect }), rows, at));
    const resting = standingOf(settled, rows, at);
    const isStarted =
      (ordered.kind === 'again' || ordered.kind === 'answered') && rows[0]?.status !== 'intended';
    if (isStarted) expect(resting).toEqual({ kind: 'rests', disposition: ordered.disposition, ordered });
    else expect(resting).toEqual(ordered);
  });
});

test('another effect has another generation than all before it', () => {
  const rows = [1, 3].map((generation) => row({ status: 'failed', argsDigest: 'other', generation }));
  expect(standingOf(call(), rows, at)).toMatchObject({ kind: 'new', generation: 4 });
});

test('a recorded failure is given again only where nothing was sent since', () => {
  const by = (effect: 'external' | 'idempotent', status: string) =>
    failedForGood({ effect }, [row({ status })]);
  expect(['failed', 'confirmed', 'intended', 'in-doubt'].map((status) => by('external', status))).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(['failed', 'confirmed', 'intended', 'in-doubt'].map((status) => by('idempotent', status))).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect(failedForGood({ effect: 'external' }, [])).toBe(true);
});

test('a ledger that was read while this worker told it something is read again', async () => {
  let told = 0;
  let reads = 0;
  const ledger = new LineageLedger({ told: async () => told }, async () => {
    const before = told;
    if (++reads === 1) told++;
    return [row({ attempt: before })];
  });
  await ledger.refresh();
  expect(reads).toBe(2);
  expect(ledger.rowsOf({ key: 's#1/pay#1' as never })).toMatchObject([{ attempt: 1 }]);
});
