import { epoch, epochMs, runId } from '@/lib/core/events/ids';
import type { NewEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { newRun } from '@/lib/core/journal/new-run';
import { machineDigestOf } from '@/lib/core/machine/drift';
import { type PlanInput, planRun } from '@/lib/core/planner/plan-run';
import { type Figure, figure, percentile, timed } from './figures';
import { hash, machine, STEPS_A_VISIT, visitEvents } from './synthetic-run';

const STEPS = 10_000;

function inputOf(): PlanInput {
  const now = epochMs(1_800_000_000_000);
  const digest = machineDigestOf(machine, hash);
  const events: NewEvent[] = [
    { kind: 'run.started', agent: machine.agent, machineDigest: digest, tags: [] },
    ...Array.from({ length: STEPS / STEPS_A_VISIT }, (_, i) => visitEvents(i + 1)).flat(),
    { kind: 'run.interrupted', cause: 'lease-lapsed' },
  ];
  const run = newRun({ runId: runId('bench'), agent: machine.agent, createdAt: now });
  const done = extend(run, [], events, { at: now, epoch: epoch(1), by: 'worker' });
  return {
    run: done.run,
    status: 'interrupted',
    mode: 'resume',
    from: 'latest',
    edits: [],
    decisions: {},
    options: {},
    now,
    head: done.run.state,
    steps: done.steps,
    checkpoints: done.checkpoints,
    effects: [],
    machine,
  };
}

/** Resume, and a fork from the newest point, of a run with 10,000 steps: the planner alone, without reading. */
export async function planRows(): Promise<readonly Figure[]> {
  const input = inputOf();
  const plan = (mode: 'resume' | 'replay', from: string) => () => {
    const made = planRun({ ...input, mode, from }, hash);
    if (!made.ok) throw new Error(`no plan: ${JSON.stringify(made.problem)}`);
  };
  await timed(5, plan('resume', 'latest'));
  const resume = await timed(40, plan('resume', 'latest'));
  const replay = await timed(40, plan('replay', 'start'));
  return [
    figure('plan-10000-steps.resume-p50', percentile(resume, 0.5), 'ms'),
    figure('plan-10000-steps.replay-p50', percentile(replay, 0.5), 'ms'),
  ];
}
