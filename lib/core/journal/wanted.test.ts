import { describe, expect, it } from 'vitest';
import {
  epoch,
  epochMs,
  leaseId,
  type MachineDigest,
  machineDigest,
  runId,
  seq,
  stepKey,
  workerId,
} from '../events/ids';
import type { Lease, RunRecord, RunState, RunStatus } from '../projections/records';
import { claimFor } from './lease';
import { newRun } from './new-run';
import { plannedFor, wantedBy } from './wanted';

const [a, b] = [machineDigest('a'.repeat(64)), machineDigest('b'.repeat(64))];
const base = newRun({ runId: runId('r'), agent: 'desk', createdAt: epochMs(1) });

const statuses: readonly RunStatus[] = ['queued', 'running', 'waiting', 'interrupted', 'failed', 'completed'];
const queues: readonly (RunState['queue'] | undefined)[] = [
  undefined,
  ...(['created', 'command', 'answer', 'timer', 'expiry', 'hand-over'] as const).map((reason) => ({
    reason,
    seq: seq(1),
    ...(reason === 'command' && { commandId: 'c' }),
  })),
];
const verifies = [{ commandId: 'v', stepKey: stepKey('k'), actor: 'x', seq: seq(1) }];
const lease: Lease = {
  leaseId: leaseId('l'),
  workerId: workerId('w'),
  epoch: epoch(1),
  since: epochMs(1),
  expiresAt: epochMs(100),
  leaseMs: 99,
  mode: 'verify',
};

function* runs(): Generator<RunRecord> {
  for (const home of ['here', 'mirror'] as const)
    for (const status of statuses)
      for (const queue of queues)
        for (const probes of [[], verifies])
          for (const machine of [undefined, a])
            for (const planned of [undefined, a, b])
              for (const mode of [undefined, 'fork', 'replay'] as const)
                for (const held of [undefined, lease])
                  for (const pending of [undefined, 'resume', 'replay'])
                    yield plannedFor(
                      {
                        ...base,
                        home,
                        ...(mode && { parent: { runId: runId('p'), seq: seq(1), mode } }),
                        ...(held && { lease: held }),
                        state: {
                          ...base.state,
                          status,
                          verifies: probes,
                          ...(queue && { queue }),
                          ...(machine && { machineDigest: machine }),
                          ...(pending && {
                            pending: { commandId: 'c', mode: pending, actor: 'x', seq: seq(1) },
                          }),
                        },
                      },
                      planned,
                    );
}

describe('whom a run waits for', () => {
  it('is never narrower than who may claim it, now or once its lease has ended', () => {
    let claimable = 0;
    for (const run of runs()) {
      const wanted = wantedBy(run);
      for (const machine of [a, b])
        for (const hasProbe of [false, true])
          for (const now of [50, 500]) {
            const offer = { workerId: workerId('w2'), agents: [{ name: 'desk', machineDigest: machine }] };
            const claim = claimFor(run, offer, epochMs(now), {
              judgedFrom: epochMs(0),
              hasProbe,
              ...(run.plannedMachine && { plannedMachine: run.plannedMachine }),
            });
            if (claim === undefined) continue;
            claimable++;
            expect(wanted?.agent).toBe('desk');
            expect([undefined, machine]).toContain(wanted?.machineDigest);
          }
    }
    expect(claimable).toBeGreaterThan(1_000);
  });

  it('is nobody where no worker could ever claim it', () => {
    const anyone = (run: RunRecord) =>
      [a, b].some(
        (machine) =>
          claimFor(
            run,
            { workerId: workerId('w2'), agents: [{ name: 'desk', machineDigest: machine }] },
            epochMs(500),
            { hasProbe: true, ...(run.plannedMachine && { plannedMachine: run.plannedMachine }) },
          ) !== undefined,
      );
    for (const run of runs()) {
      // A run that is running is judged before its probe is given out.
      if (run.state.status === 'running' || run.state.verifies.length > 0) continue;
      expect(wantedBy(run) !== undefined).toBe(anyone(run));
    }
  });

  it('is nobody for an order whose machine is not known: its plan is for one', () => {
    const offer = { workerId: workerId('w2'), agents: [{ name: 'desk', machineDigest: a }] };
    let orders = 0;
    for (const run of runs()) {
      const { machineDigest: known, queue, status, verifies: probes } = run.state;
      if (status !== 'queued' || queue?.reason !== 'command' || probes.length > 0) continue;
      if (known !== undefined || run.plannedMachine !== undefined) continue;
      orders++;
      expect(claimFor(run, offer, epochMs(500))).toBeUndefined();
      expect(wantedBy(run)).toBeUndefined();
    }
    expect(orders).toBeGreaterThan(10);
  });

  it('goes by the machine of the newest order, and by none where that order had none', () => {
    const ordered = { ...base, state: { ...base.state, status: 'queued', queue: queues[2] } } as RunRecord;
    const machineOf = (run: RunRecord): MachineDigest | undefined => wantedBy(run)?.machineDigest;
    expect(machineOf(plannedFor(ordered, b))).toBe(b);
    expect(machineOf(plannedFor(plannedFor(ordered, b), undefined))).toBeUndefined();
  });
});
