import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryLineage, testHash, testMachine } from '../../testing/random-journal';
import { epochMs, machineDigest, workerId } from '../events/ids';
import { statusNow } from '../projections/run-status';
import { type PlanInput, planRun, resolvePoint } from './plan-run';

const modes = ['resume', 'rewind', 'fork', 'replay'] as const;

describe('laws of the plan', () => {
  it('the same plan twice has one digest, later and with other names for the reason too; totals count the steps; nothing confirmed is sent', () =>
    fc.assert(
      fc.property(arbitraryLineage(160), fc.constantFrom(...modes), fc.nat(100), (lineage, mode, pick) => {
        const { run, steps, checkpoints } = lineage.of();
        const from =
          mode === 'rewind' || mode === 'fork'
            ? (checkpoints[pick % Math.max(1, checkpoints.length)]?.id ?? 'start')
            : 'latest';
        const input: PlanInput = {
          run,
          status: statusNow(run, epochMs(lineage.now)),
          mode,
          from,
          edits: [],
          decisions: {},
          options: {},
          now: epochMs(lineage.now),
          head: run.state,
          steps: [...steps.values()],
          checkpoints,
          effects: lineage.ledger(),
          machine: testMachine,
          today: { digest: machineDigest('d'.repeat(64)), machine: testMachine, workerId: workerId('w') },
        };
        const point = resolvePoint(mode, from, input);
        if (!point.ok) throw new Error(point.problem.sentence);
        const full = { ...input, point: lineage.stateAt(point.value.seq) };
        const plan = planRun(full, testHash);
        const again = planRun(
          {
            ...full,
            now: epochMs(lineage.now + 1_000),
            steps: [...full.steps].reverse(),
            effects: [...full.effects].reverse(),
          },
          testHash,
        );
        if (!plan.ok || !again.ok) throw new Error('refused');
        expect(again.value.digest).toBe(plan.value.digest);
        expect(Object.values(plan.value.totals).reduce((a, b) => a + b, 0)).toBe(plan.value.steps.length);
        expect(new Set(plan.value.steps.map((step) => step.key)).size).toBe(plan.value.steps.length);
        for (const step of plan.value.steps) {
          if (step.effect !== 'external' && step.effect !== 'idempotent') continue;
          const rows = lineage.ledger().filter((row) => row.stepKey === step.key);
          if (rows.some((row) => row.status === 'confirmed' || row.status === 'in-doubt'))
            expect(['execute', 'retry-same-key']).not.toContain(step.disposition);
        }
      }),
      { numRuns: 60 },
    ));
});
