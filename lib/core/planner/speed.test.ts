import { describe, expect, it } from 'vitest';
import { refOf, testHash, testMachine } from '../../testing/random-journal';
import { epoch, epochMs, machineDigest, runId, seq, workerId } from '../events/ids';
import type { NewEvent, RunEvent } from '../events/run-event';
import { keyIn, visitPath } from '../events/step-key';
import { extend } from '../journal/extend';
import { newRun } from '../journal/new-run';
import { emptyState, foldRun } from '../projections/run-state';
import { planRun } from './plan-run';

/*
 * DESIGN §10: a plan for 10,000 steps within 100 ms; a fold of a million events in seconds. Limits here are loose, since
 * other work shares the machine; `npm run bench` measures.
 */

const digest = machineDigest('d'.repeat(64));
const ref = refOf({ q: 1 });

function* longRun(visits: number, stepsPerVisit: number): Generator<NewEvent> {
  yield {
    kind: 'run.started',
    agent: 'random-agent',
    machineDigest: digest,
    input: ref,
    tags: [],
    workerId: workerId('w1'),
  };
  for (let v = 1; v <= visits; v++) {
    const key = visitPath('work', v);
    yield { kind: 'state.entered', key, state: 'work', visit: v, ...(v > 1 && { from: 'work' }) };
    for (let n = 1; n <= stepsPerVisit; n++) {
      const stepKey = keyIn(key, 'look', n);
      yield {
        kind: 'step.started',
        stepKey,
        name: 'look',
        step: 'tool',
        effect: 'read',
        attempt: 1,
        inputDigest: ref.sha256,
        input: ref,
      };
      yield { kind: 'step.completed', stepKey, attempt: 1, recorded: true, result: ref };
    }
    if (v < visits) yield { kind: 'state.left', key, state: 'work', visit: v, to: 'work' };
  }
}

describe('speed', () => {
  it('plans a run of 10,000 steps within 100 ms of processor time (median of five)', () => {
    const fresh = newRun({ runId: runId('run_long'), agent: 'random-agent', createdAt: epochMs(1) });
    const built = extend(
      fresh,
      [],
      [...longRun(10, 1_000), { kind: 'run.interrupted', cause: 'lease-lapsed' }],
      { at: epochMs(1), epoch: epoch(1), by: 'worker' },
    );
    expect(built.steps.length).toBe(10_000);
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      const from = process.cpuUsage();
      const plan = planRun(
        {
          run: built.run,
          status: 'interrupted',
          mode: 'resume',
          from: 'latest',
          edits: [],
          decisions: {},
          options: {},
          now: epochMs(2),
          head: built.run.state,
          steps: built.steps,
          checkpoints: built.checkpoints,
          effects: [],
          machine: testMachine,
        },
        testHash,
      );
      times.push(process.cpuUsage(from).user / 1_000);
      expect(plan.ok && plan.value.steps.length).toBe(10_000);
    }
    console.log(`plan of 10,000 steps: ${times.map((ms) => ms.toFixed(1)).join(', ')} ms`);
    // The best of five: other processes on the machine can only add to a run.
    expect(Math.min(...times)).toBeLessThan(100);
  });

  it('folds 60,000 events at a cost per event that does not grow with the journal', () => {
    const events: RunEvent[] = [];
    for (const event of longRun(60, 500)) {
      events.push({
        ...event,
        runId: runId('r'),
        seq: seq(events.length + 1),
        at: epochMs(events.length),
        epoch: epoch(1),
        by: 'worker',
        version: 1,
      });
    }
    const tenth = bestOf(3, () => foldRun(events.slice(0, 6_000)));
    const whole = bestOf(3, () => expect(foldRun(events, emptyState()).counts.steps).toBe(30_000));
    console.log(
      `fold: ${events.length} events in ${whole.toFixed(0)} ms, the first 6,000 in ${tenth.toFixed(0)} ms`,
    );
    expect(whole).toBeLessThan(Math.max(tenth, 20) * 30);
  });
});

/** Least processor time of some tries, in milliseconds. */
function bestOf(tries: number, work: () => unknown): number {
  const times = Array.from({ length: tries }, () => {
    const from = process.cpuUsage();
    work();
    return process.cpuUsage(from).user / 1_000;
  });
  return Math.min(...times);
}
