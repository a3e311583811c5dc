import { describe, expect, it } from 'vitest';
import { refOf, testHash } from '../../testing/random-journal';
import { epoch, epochMs, runId, seq, stepKey } from '../events/ids';
import type { EventOf } from '../events/run-event';
import { isOutcome } from './answers';

const own = runId('run_own');
const other = runId('run_other');
type Answer = EventOf<'step.reused'> | EventOf<'step.skipped'>;

const answer = (kind: Answer['kind'], over: Partial<Answer>): Answer =>
  ({
    kind,
    runId: own,
    seq: seq(40),
    at: epochMs(1),
    epoch: epoch(1),
    by: 'worker',
    version: 1,
    stepKey: stepKey('work#1/pay#1'),
    name: 'pay',
    step: 'tool',
    inputDigest: testHash('a'),
    ...over,
  }) as Answer;

describe.each(['step.reused', 'step.skipped'] as const)('%s', (kind) => {
  const result = refOf('paid');
  it.each<[string, Partial<Answer>, Partial<{ isOpen: boolean; inForce: boolean }>, boolean]>([
    ['a resume’s note of an outcome in force', { sourceSeq: seq(12) }, {}, false],
    ['the same with the run’s own name', { sourceSeq: seq(12), sourceRunId: own }, {}, false],
    ['the answer to a call that has none yet', { sourceSeq: seq(12) }, { isOpen: true }, true],
    ['of what a rewind left behind', { sourceSeq: seq(12) }, { inForce: false }, true],
    ['the ledger’s answer, owned by this run', { sourceSeq: seq(12), sourceRunId: own, result }, {}, true],
    ['the ledger’s answer, owned by another', { sourceSeq: seq(12), sourceRunId: other, result }, {}, true],
    ['a failure of another run', { sourceSeq: seq(12), sourceRunId: other }, {}, true],
    ['one that names no source', { result }, {}, true],
    ['one that names itself, or what is to come', { sourceSeq: seq(40) }, {}, true],
  ])('%s', (_what, over, place, expected) => {
    const { isOpen = false, inForce = true } = place;
    expect(isOutcome(answer(kind, over), { isOpen, isInForce: () => inForce })).toBe(expected);
  });
});
