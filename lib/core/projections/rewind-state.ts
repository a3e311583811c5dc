import type { EventOf } from '../events/run-event';
import type { OpenStep, QuestionRecord, RunState } from './records';
import { type Transition, without } from './state-change';

/**
 * The state after a rewind: that of `toSeq` on a new line. What was open there is closed as unknown until a worker
 * re-enters. Commands, the count of checkpoints, the alarm of attempts that ran twice and the rewinds themselves belong to
 * the run as a whole: from `head`.
 */
export function rewindState(at: RunState, event: EventOf<'run.rewound'>, head: RunState): RunState {
  return rewindTransition(at, event, head).state;
}

/** Like `rewindState`, with the rows that the new line opens. */
export function rewindTransition(at: RunState, event: EventOf<'run.rewound'>, head: RunState): Transition {
  const line = head.line + 1;
  const back: Record<string, OpenStep> = {};
  // A final failure that had ended the run at that point: its row stands, and the step is tried again.
  const culprits: Record<string, OpenStep> = {};
  for (const [key, step] of [...Object.entries(at.stopped), ...Object.entries(at.open)]) {
    if (step.status === 'failed') {
      culprits[key] = step;
      continue;
    }
    const waits = step.waitsFor === 'question';
    back[key] = {
      ...without(without(step, 'settled'), 'waitsFor'),
      line,
      status: waits ? 'waiting' : 'unknown',
      ...(waits && { waitsFor: 'question' }),
    };
  }
  const questions: Record<string, QuestionRecord> = {};
  for (const [id, question] of Object.entries(at.questions)) questions[id] = { ...question, line };
  const kept = without(without(without(without(at, 'endedAt'), 'failure'), 'interruption'), 'queue');
  const state: RunState = {
    ...without(kept, 'pending'),
    ...(head.pending && { pending: head.pending }),
    ...(head.workerId && { workerId: head.workerId }),
    seq: event.seq,
    at: event.at,
    line,
    status: 'queued',
    counts: {
      ...at.counts,
      checkpoints: head.counts.checkpoints,
      repeatedAttempts: head.counts.repeatedAttempts,
    },
    open: {},
    stopped: { ...culprits, ...back },
    questions,
    waitingOn: [],
    verifies: head.verifies,
    diverged: false,
    finished: false,
    othersSeq: event.by === 'console' ? event.seq : head.othersSeq,
    rewinds: [...head.rewinds, { seq: event.seq, toSeq: event.toSeq }],
  };
  return { state, steps: Object.values(back), questions: Object.values(questions) };
}
