import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderToStaticMarkup } from 'react-dom/server';
import { afterEach, expect, it, vi } from 'vitest';
import type { RunSummary, StepDetail, StepRow } from '@/lib/client/api-types';
import { effectsQuery, stepQuery } from '@/lib/client/run-queries';
import { StepTab } from './inspector-step';

afterEach(() => void vi.useRealTimers());

/** A read that was out when its run stopped: closed then, with its outcome not known. */
const step = {
  stepKey: 'plan#1/look#1',
  name: 'look',
  kind: 'tool',
  effect: 'read',
  status: 'unknown',
  attempt: 1,
  executions: 1,
  inForce: true,
  startedSeq: 3,
  startedAt: '2026-11-29T01:00:00.000Z',
  attemptSeq: 3,
  endedSeq: 5,
  endedAt: '2026-11-29T01:00:04.000Z',
  conversation: 0,
  input: null,
  result: null,
  message: null,
  receipt: null,
  failure: null,
  error: null,
  idempotencyKey: null,
  guarded: null,
  usage: null,
  api: null,
  model: null,
  verdict: null,
  source: null,
} as unknown as StepRow;

function shownAt(time: string, shown: StepRow = step, client = new QueryClient()): string {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(time) });
  return renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <StepTab
        run={
          {
            id: 'r1',
            agent: 'desk',
            status: 'interrupted',
            conflicts: [],
            actions: { verify: { possible: true, reason: null } },
          } as unknown as RunSummary
        }
        step={shown}
        stepLoads={false}
        stepUnread={undefined}
        event={undefined}
        seq={5}
        checkpoints={[]}
        onMove={() => undefined}
      />
    </QueryClientProvider>,
  );
}

it('tells how long a step took that its run’s stop closed as unknown, the same whenever it is looked at (S20)', () => {
  const html = shownAt('2026-11-29T01:00:05.000Z');
  expect(html).toMatch(/class="badge"[^>]*>.*?Unknown</s);
  expect(html).toMatch(/<dt>Took<\/dt><dd[^>]*>4\.0 s</);
  expect(html).toContain('seq 3 to 5');
  expect(shownAt('2026-11-30T01:00:00.000Z')).toBe(html);
});

it('tells each attempt of a step: when it began, how it ended and after how long, with its error', () => {
  const tried = { ...step, status: 'completed', attempt: 3 } as StepRow;
  const attempt = (n: number, more: object) => ({
    attempt: n,
    seq: 2 * n + 1,
    at: `2026-11-29T01:00:0${2 * n}.000Z`,
    endedSeq: 2 * n + 2,
    endedAt: `2026-11-29T01:00:0${2 * n}.250Z`,
    error: null,
    epoch: 1,
    workerId: 'eu-1',
    ...more,
  });
  const client = new QueryClient();
  client.setQueryData(stepQuery('r1', step.stepKey).queryKey, {
    ...tried,
    attempts: [
      attempt(1, { outcome: 'timeout', error: { type: 'TimeoutError', message: 'no answer in 1 s' } }),
      attempt(2, { outcome: 'unavailable', error: { type: 'HttpError', message: '503' }, workerId: 'eu-2' }),
      attempt(3, { outcome: 'running', endedAt: null, endedSeq: null }),
    ],
  } as unknown as StepDetail);
  const text = shownAt('2026-11-29T01:00:09.000Z', tried, client)
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ');
  expect(text).toContain('seq 3 attempt 1 time-out after 250 ms 01:00:02 UTC worker eu-1');
  expect(text).toContain('TimeoutError: no answer in 1 s');
  expect(text).toContain('seq 5 attempt 2 API unavailable after 250 ms 01:00:04 UTC worker eu-2');
  expect(text).toContain('HttpError: 503');
  expect(text).toContain('seq 7 attempt 3 running 01:00:06 UTC worker eu-1');
});

it('offers to ask about an effect in doubt at the cursor, or says why not', () => {
  const doubtful = { ...step, stepKey: 'pay#1/send#1', effect: 'external', status: 'in-doubt' } as StepRow;
  const row = {
    stepKey: doubtful.stepKey,
    intentSeq: 3,
    runId: 'r1',
    status: 'in-doubt',
    verifiable: true,
    idempotencyKey: null,
    held: false,
  };
  const at = (effect: object | undefined) => {
    const client = new QueryClient();
    if (effect) client.setQueryData(effectsQuery('r1').queryKey, { items: [effect] } as never);
    const html = shownAt('2026-11-29T01:00:05.000Z', doubtful, client);
    return [...html.matchAll(/<(?:button|a)[^>]*>.*?<\/(?:button|a)>/gs)].map(([button]) => button);
  };
  expect(at(row)).toContainEqual(expect.stringMatching(/^<button(?!.*aria-disabled).*Ask downstream/s));
  expect(at({ ...row, verifiable: false })).toContainEqual(
    expect.stringMatching(/^<button.*This tool has no probe.*Ask downstream/s),
  );
  expect(at(undefined).join('')).not.toContain('Ask downstream');
  for (const effect of [row, undefined]) expect(at(effect).join('')).toContain('Decide…');
});
