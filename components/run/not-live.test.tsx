import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { type ApiProblem, unreachable } from '@/lib/client/api';
import { NotLive, type Stale } from './not-live';

const SINCE = Date.UTC(2026, 10, 29, 2, 27, 40);
const shown = (change: Partial<Stale>) =>
  renderToStaticMarkup(
    <NotLive
      stale={{
        since: SINCE,
        problem: undefined,
        shownAt: SINCE,
        nextAt: SINCE + 5_000,
        onTry: () => undefined,
        trying: false,
        ...change,
      }}
    />,
  )
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

describe('the strip over what may be behind', () => {
  it('says since when, why, and of when what is shown is, each once', () => {
    const text = shown({ problem: unreachable('No answer came (Failed to fetch).') });
    expect(text).toContain(
      'Not live since 02:27:40 UTC. No answer came (Failed to fetch). What is shown is from 02:27:40 UTC.',
    );
    expect(text).not.toContain('does not answer');
  });

  it('passes on what the console answered', () => {
    const problem = { ...unreachable('the database is being moved'), status: 503 } as ApiProblem;
    expect(shown({ problem })).toContain('The console answered 503: the database is being moved. What is');
  });

  it('says that the console answers only where it answered since', () => {
    expect(shown({ shownAt: SINCE + 5_000 })).toContain('The console answers, but does not tell of changes');
    expect(shown({})).toContain('Not live since 02:27:40 UTC. What is shown is from 02:27:40 UTC.');
  });
});
