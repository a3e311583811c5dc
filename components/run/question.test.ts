import { describe, expect, it } from 'vitest';
import type { RunSummary } from '@/lib/client/api-types';
import { runStatuses } from '@/lib/client/url-state';
import { questionStands, readQuestion, untilWords } from './question';

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

describe('the time by which an answer is wanted', () => {
  const until = Date.parse('2026-11-29T02:00:00Z');

  it('is told with how far away it is, and promises no end that nothing enforces (S33)', () => {
    expect(untilWords(until, until - 12 * 60_000, 'utc')).toEqual({
      past: false,
      words: 'answer by 2026-11-29 02:00:00 UTC, in 12 min; nothing happens by itself then',
    });
  });

  it('is said to be over, and that nothing came of it (S33)', () => {
    expect(untilWords(until, until + 61_000, 'utc')).toEqual({
      past: true,
      words:
        'an answer was wanted by 2026-11-29 02:00:00 UTC, 1 min ago: nothing has happened by itself, it can still be answered',
    });
  });

  it('is not said to be over where the time is not known', () => {
    expect(untilWords(until, 0, 'utc')).toEqual({
      past: false,
      words: 'answer by 2026-11-29 02:00:00 UTC; nothing happens by itself then',
    });
  });
});
