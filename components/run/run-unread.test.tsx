import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { ProblemError, toProblem, unreachable } from '@/lib/client/api';
import { RunUnread } from './run-unread';

const shown = (problem: ReturnType<typeof unreachable>) =>
  renderToStaticMarkup(
    <RunUnread runId="run_1" error={new ProblemError(problem)} onAgain={() => undefined} />,
  );

describe('in place of a run', () => {
  it('says that it could not be read, why, once, and offers to try again before anything else', () => {
    const html = shown(unreachable('No answer came (Failed to fetch).'));
    expect(html).toContain('The run could not be read');
    expect(html).toContain('No answer came (Failed to fetch).');
    expect(html).not.toContain('does not answer');
    expect(html.indexOf('Try again')).toBeGreaterThan(0);
    expect(html.indexOf('Go to the runs')).toBeGreaterThan(html.indexOf('Try again'));
  });

  it('passes on what the console answered', () => {
    const problem = toProblem(500, '{"title":"Internal error","detail":"The console failed"}');
    expect(shown(problem)).toContain('The console answered 500: The console failed.');
  });

  it('does not offer to read again what is not there', () => {
    const html = shown(toProblem(404, '{"title":"Not found"}'));
    expect(html).toContain('There is no run run_1');
    expect(html).not.toContain('Try again');
    expect(html).toContain('Go to the runs');
  });
});
