import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import type { RunSummary } from '@/lib/client/api-types';
import { endedOrderQuery } from '@/lib/client/order-events';
import { LastOrder } from './last-order';

const diverged = {
  cause: 'diverged',
  error: { type: 'Diverged', message: 'look was asked for another order' },
  stepKey: null,
  seq: 40,
} as unknown as NonNullable<RunSummary['failure']>;

function shown(detail: string, failure: RunSummary['failure']): string {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  client.setQueryData(endedOrderQuery('r1').queryKey, {
    accepted: { mode: 'replay', actor: 'anna', reason: '', at: 0 },
    ended: { outcome: 'refused', detail },
  } as never);
  return renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <LastOrder runId="r1" failure={failure} />
    </QueryClientProvider>,
  );
}

it('does not tell a second time, as a refusal, where an order that was carried out differed', () => {
  expect(shown(diverged.error.message, diverged)).toBe('');
});

it('tells every other order that was refused', () => {
  expect(shown('The plan had changed', diverged)).toContain('The replay of anna was refused.');
  expect(shown(diverged.error.message, null)).toContain('The replay of anna was refused.');
  expect(shown('no such order', { ...diverged, cause: 'error' })).toContain('was refused.');
});
