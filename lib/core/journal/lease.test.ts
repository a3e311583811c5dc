import { expect, test } from 'vitest';
import { epoch, epochMs, leaseId, machineDigest, runId, seq, workerId } from '../events/ids';
import type { RunRecord } from '../projections/records';
import { claimFor, liveLease } from './lease';
import { newRun } from './new-run';

const fresh = newRun({ runId: runId('r'), agent: 'a', createdAt: epochMs(0) });
const lease = {
  leaseId: leaseId('l'),
  workerId: workerId('w'),
  epoch: epoch(1),
  since: epochMs(0),
  expiresAt: epochMs(1_000),
  leaseMs: 1_000,
  mode: 'start',
};
const run: RunRecord = { ...fresh, lease, state: { ...fresh.state, status: 'running' } };

test('a lease that ran out while the console was down has one lease length from its start', () => {
  expect(liveLease(run, epochMs(5_500), epochMs(5_000))).toBe(lease);
  expect(liveLease(run, epochMs(6_000), epochMs(5_000))).toBeUndefined();
});

test('a lapse that is in the journal stands, whenever the console started', () => {
  const interrupted: RunRecord = { ...run, state: { ...run.state, status: 'interrupted' } };
  expect(liveLease(interrupted, epochMs(5_500), epochMs(5_000))).toBeUndefined();
  expect(
    liveLease({ ...interrupted, lease: { ...lease, mode: 'verify' } }, epochMs(5_500), epochMs(5_000)),
  ).toBeDefined();
});

test('a replay is claimed as the replay that was ordered, and in no other way', () => {
  const offer = { workerId: workerId('w'), agents: [{ name: 'a', machineDigest: machineDigest('m') }] };
  const queuedAs = (reason: 'command' | 'hand-over'): RunRecord => ({
    ...fresh,
    parent: { runId: runId('p'), seq: seq(9), mode: 'replay' },
    state: {
      ...fresh.state,
      machineDigest: machineDigest('m'),
      status: 'queued',
      queue: { reason, seq: seq(2) },
      ...(reason === 'command' && {
        pending: { commandId: 'c', mode: 'replay', actor: 'somebody', seq: seq(1) },
      }),
    },
  });
  expect(claimFor(queuedAs('command'), offer, epochMs(0))).toMatchObject({ reason: 'replay' });
  expect(claimFor(queuedAs('hand-over'), offer, epochMs(0))).toBeUndefined();
});
