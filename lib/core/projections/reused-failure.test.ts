import { expect, it } from 'vitest';
import { runEvent } from '@/lib/wire/v1/events';
import { refOf } from '../../testing/random-journal';
import { epoch, epochMs, runId, seq, stepKey } from '../events/ids';
import type { AttemptFailure, RunEvent } from '../events/run-event';
import { inheritEvents } from '../journal/inherit';
import { foldRun, transition } from './run-state';

const failures = ['timeout', 'unavailable', 'rejected', 'not-sent', 'error'] as const;
const parent = runId('run_parent');

const reused = (failure: AttemptFailure): RunEvent => ({
  kind: 'step.reused',
  runId: runId('run_replay'),
  seq: seq(1),
  at: epochMs(1),
  epoch: epoch(1),
  by: 'worker',
  version: 1,
  stepKey: stepKey('plan#1/lookup#1'),
  name: 'lookup',
  step: 'tool',
  effect: 'read',
  inputDigest: refOf({ a: 1 }).sha256,
  sourceRunId: parent,
  sourceSeq: seq(7),
  failure,
  error: { type: 'HttpError', message: 'no' },
});

it.each(failures)(
  'a recorded failure that answers again stays %s: sent, stored, folded and inherited',
  (failure) => {
    const event = reused(failure);
    expect(runEvent.parse(JSON.parse(JSON.stringify(event)))).toEqual(event);
    expect(transition(foldRun([]), event).steps).toMatchObject([
      { status: 'reused', failure, error: { type: 'HttpError' } },
    ]);
    expect(inheritEvents(runId('run_replay'), [event], seq(2))).toMatchObject([
      { kind: 'step.reused', failure },
    ]);
  },
);
