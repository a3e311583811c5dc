import { describe, expect, it } from 'vitest';
import type { RunSummary } from '@/lib/client/api-types';
import { runStatuses } from '@/lib/client/url-state';
import { questionStands, readQuestion } from './question';

const run = (status: RunSummary['status'], possible = true) =>
  ({ status, actions: { answer: { possible, reason: possible ? null : 'Because.' } } }) as unknown as Pick<
    RunSummary,
    'status' | 'actions'
  >;

describe('an open question', () => {
  it.each(runStatuses)('of a run that is %s promises no more than an answer does', (status) => {
    const stands = questionStands(run(status));
    const goesOn = status === 'waiting' || status === 'running' || status === 'queued';
    const over = status === 'completed' || status === 'cancelled';
    expect(stands).toEqual(
      over
        ? { kind: 'closed', reason: `The run is ${status}.` }
        : { kind: 'open', note: goesOn ? undefined : expect.stringMatching(/sets nothing going.*resumed/) },
    );
    expect(questionStands(run(status, false))).toEqual({ kind: 'closed', reason: 'Because.' });
  });
});

describe('the text of a question', () => {
  it('gives its words, the schema of its answer, and the rest', () => {
    expect(readQuestion('{"prompt":"Pay?","schema":{"type":"boolean"},"until":1,"order":"A-1"}')).toEqual({
      prompt: 'Pay?',
      schema: { type: 'boolean' },
      rest: { order: 'A-1' },
    });
    expect(readQuestion('"Pay?"')).toEqual({ prompt: 'Pay?', schema: undefined, rest: {} });
    expect(readQuestion('Pay?')).toEqual({ prompt: 'Pay?', schema: undefined, rest: {} });
  });
});
