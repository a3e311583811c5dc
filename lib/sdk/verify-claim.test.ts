import { expect, it } from 'vitest';
import type { EffectStatus } from '../core/projections/records';
import type { Agent } from './api';
import { systemClock } from './clock';
import type { Batch, Claim, JournalPort, LedgerEntry } from './journal-port';
import { tool } from './tool';
import { verifyClaim } from './verify-claim';

/* The probe is for what is in doubt, an older generation's call too. */

const entry = (generation: number, status: EffectStatus): LedgerEntry =>
  ({
    stepKey: 'work#1/pay#1',
    generation,
    name: 'pay',
    effect: 'external',
    status,
    runId: 'r',
    intentSeq: generation * 10,
    idempotencyKey: `key ${generation}`,
    argsDigest: '',
    attempt: 1,
    firstIntentAt: 0,
    askAgainAt: 0,
    input: undefined,
    result: undefined,
    receipt: undefined,
  }) as unknown as LedgerEntry;

/** What the worker appends for a probe of the step, and the keys that its tool was asked about. */
async function probed(entries: readonly LedgerEntry[], has: 'tool' | 'no tool' = 'tool') {
  const asked: string[] = [];
  const pay = tool<unknown, unknown>({
    name: 'pay',
    effect: 'external',
    run: () => Promise.resolve(null),
    verify: (_args, { idempotencyKey }) => {
      asked.push(idempotencyKey ?? 'none');
      return Promise.resolve({ outcome: 'did-not-happen' });
    },
  } as Parameters<typeof tool<unknown, unknown>>[0]);
  const appended: Batch['events'][number][] = [];
  const port = {
    ledger: () => Promise.resolve(entries),
    append: (_run: unknown, { events }: Batch) => {
      appended.push(...events);
      return Promise.resolve({ ok: true, firstSeq: 1, headSeq: 2, others: [] });
    },
    release: () => Promise.resolve(),
    heartbeat: () => Promise.resolve({ leaseMs: 60_000, others: [] }),
  } as unknown as JournalPort;
  const claim = {
    runId: 'r',
    leaseId: 'l',
    epoch: 3,
    leaseMs: 60_000,
    headSeq: 30,
    reason: 'verify',
    command: { commandId: 'c', mode: 'verify', stepKey: 'work#1/pay#1' },
  } as unknown as Claim;
  const agent = { tools: has === 'tool' ? { pay } : {} } as unknown as Agent;
  await verifyClaim(port, systemClock, agent, claim, () => undefined);
  return { asked, appended };
}

it.each([
  ['the only one in doubt, though a newer one is confirmed', ['in-doubt', 'confirmed'], 1],
  ['the newest of those in doubt', ['in-doubt', 'in-doubt'], 2],
  ['the newest where none is in doubt any more', ['failed', 'confirmed'], 2],
] as const)('asks about %s', async (_what, statuses, generation) => {
  const { asked, appended } = await probed(statuses.map((status, i) => entry(i + 1, status)));
  expect(asked).toEqual([`key ${generation}`]);
  expect(appended).toMatchObject([
    { kind: 'effect.verified', intentSeq: generation * 10, outcome: 'did-not-happen', source: 'probe' },
    { kind: 'command.ended', commandId: 'c', outcome: 'done' },
  ]);
});

it.each([
  ['this run sent nothing', [], 'tool', 'has not sent work#1/pay#1'],
  ['its worker has no such tool', [entry(1, 'in-doubt')], 'no tool', 'no tool named pay'],
] as const)('says why it cannot ask where %s', async (_what, entries, has, why) => {
  const { appended } = await probed(entries, has);
  expect(appended).toMatchObject([
    {
      kind: 'command.ended',
      commandId: 'c',
      outcome: 'refused',
      detail: expect.stringContaining(why) as unknown,
    },
  ]);
});
