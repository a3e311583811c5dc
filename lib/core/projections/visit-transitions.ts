import type { Seq } from '../events/ids';
import type { EventOf, RunEvent } from '../events/run-event';
import { within } from '../events/step-key';
import type { RunState, StepRecord } from './records';
import { omit, own, type Transition, withSteps } from './state-change';
import { nth } from './step-label';

/* What entering and leaving a state does, and the end of any scope. */

export function entered(state: RunState, event: EventOf<'state.entered'>): RunState {
  const seen = own(state.visits, event.state);
  return {
    ...state,
    visit: { key: event.key, state: event.state, visit: event.visit, entrySeq: event.seq, at: event.at },
    visits: {
      ...state.visits,
      [event.state]: { count: (seen?.count ?? 0) + 1, totalMs: seen?.totalMs ?? 0, lastSeq: event.seq },
    },
    edges: event.from === undefined ? state.edges : taken(state.edges, event.from, event.state, event.seq),
    counts: { ...state.counts, visits: state.counts.visits + 1 },
    lastEndedStep: `entering ${nth(event.state, event.visit)}`,
  };
}

function taken(edges: RunState['edges'], from: string, to: string, at: Seq): RunState['edges'] {
  const edge = `${from}→${to}`;
  return { ...edges, [edge]: { count: (edges[edge]?.count ?? 0) + 1, lastSeq: at } };
}

export function left(state: RunState, event: EventOf<'state.left'>): RunState {
  const seen = own(state.visits, event.state);
  if (seen === undefined) return state;
  // Of visits that overlapped (parallel nodes of an imported trace) the next state was entered from the newest.
  if (state.visit?.key !== event.key)
    return event.to === undefined
      ? state
      : { ...state, edges: taken(state.edges, event.state, event.to, event.seq) };
  const spent = Math.max(0, event.at - state.visit.at);
  return { ...state, visits: { ...state.visits, [event.state]: { ...seen, totalMs: seen.totalMs + spent } } };
}

/** Ends everything open below `scope` (everything, where it is absent) as abandoned, its questions with it. */
export function closeScope(state: RunState, scope: string | undefined, event: RunEvent): Transition {
  const below = (key: string) => scope === undefined || within(key, scope);
  const changed: StepRecord[] = [];
  let { open, stopped: stops, questions } = state;
  for (const [key, step] of Object.entries(open)) {
    if (!below(key)) continue;
    open = omit(open, key);
    changed.push({ ...step, status: 'abandoned', endedSeq: event.seq, endedAt: event.at });
  }
  for (const [key, step] of Object.entries(stops)) {
    if (!below(key)) continue;
    stops = omit(stops, key);
    if (step.status !== 'failed')
      changed.push({ ...step, status: 'abandoned', endedSeq: event.seq, endedAt: event.at });
  }
  for (const [id, question] of Object.entries(questions))
    if (below(question.stepKey)) questions = omit(questions, id);
  return withSteps({ ...state, open, stopped: stops, questions }, changed);
}
