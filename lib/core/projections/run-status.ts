import type { EpochMs } from '../events/ids';
import { lapsed } from '../journal/lapsed';
import { assertNever } from '../shared/assert';
import {
  type EffectRecord,
  type OpenStep,
  type Phase,
  phases,
  type RunRecord,
  type RunState,
  type RunStatus,
} from './records';
import { own } from './state-change';

/**
 * The most pressing phase of what is open, and of what a stop left open. `doubts`: the run's effects in doubt now
 * (`doubtsOf`), which then speak for every call with an intent; at an older seq the state alone says what was in doubt.
 */
export function phaseOf(state: RunState, doubts?: readonly EffectRecord[]): Phase {
  if (state.finished && state.status !== 'failed') return 'finished';
  const found = new Set<Phase>();
  const needsPerson = (step: OpenStep) =>
    isInDoubtByState(step) ? doubts === undefined || step.intent === undefined : waitsForPerson(step);
  for (const step of Object.values(state.open))
    found.add(needsPerson(step) ? 'waiting_human' : phaseOfStep(step, state));
  if (Object.values(state.stopped).some(needsPerson) || (doubts !== undefined && doubts.length > 0))
    found.add('waiting_human');
  if (state.waitingOn.some((on) => on.for !== 'timer')) found.add('waiting_human');
  const first = phases.find((phase) => found.has(phase));
  return first ?? (state.finished ? 'finished' : 'idle');
}

const isInDoubtByState = (step: OpenStep): boolean =>
  step.settled === undefined && (step.status === 'in-doubt' || step.waitsFor === 'in-doubt');

const waitsForPerson = (step: OpenStep): boolean =>
  step.settled === undefined && step.waitsFor !== undefined && step.waitsFor !== 'timer';

function phaseOfStep(step: OpenStep, state: RunState): Phase {
  if (step.api !== undefined && own(state.apis, step.api)?.status === 'unavailable') return 'api_unavailable';
  if (step.status === 'retrying' || step.status === 'unknown' || step.settled !== undefined)
    return 'waiting_result';
  switch (step.kind) {
    case 'tool':
    case 'retrieval':
      return 'tool_calling';
    case 'llm':
      return 'llm_calling';
    case 'condition':
    case 'compute':
      return 'condition_check';
    case 'wait':
      return 'waiting_timer';
    case 'human':
    case 'agent':
      return 'waiting_result';
    default:
      return assertNever(step.kind, 'step kind');
  }
}

/**
 * The one expression for a run's status: list, page, API and stream. A running run without a live lease is
 * interrupted, recorded so or not; a mirror of one is unknown. `judgedFrom`: the console's start; nothing is judged
 * within one lease of it.
 */
export function statusNow(run: RunRecord, now: EpochMs, judgedFrom?: EpochMs): RunStatus {
  if (run.state.status !== 'running') return run.state.status;
  if (run.home === 'mirror') return 'unknown';
  return run.lease === undefined || lapsed(run.lease, now, judgedFrom) ? 'interrupted' : 'running';
}
