import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderToStaticMarkup } from 'react-dom/server';
import { afterEach, expect, it, vi } from 'vitest';
import type { RunSummary, StepRow } from '@/lib/client/api-types';
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

function shownAt(time: string): string {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(time) });
  return renderToStaticMarkup(
    <QueryClientProvider client={new QueryClient()}>
      <StepTab
        run={{ id: 'r1', status: 'interrupted', conflicts: [] } as unknown as RunSummary}
        step={step}
        stepLoads={false}
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
