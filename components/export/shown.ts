import type { QueryClient } from '@tanstack/react-query';
import { stepAt } from '@/components/run/tree-rows';
import { apiUrl, runPath } from '@/lib/client/api';
import type { Page, RunSummary, StepRow } from '@/lib/client/api-types';
import { runKeys, stepsQuery } from '@/lib/client/run-queries';

export interface Shown {
  /** For people: what it is, and when. */
  readonly what: string;
  /** Where the API answers it. */
  readonly url: string;
}

export type ShownTab = 'step' | 'state' | 'diff' | 'messages' | 'effects';

const MESSAGES = 50;
const EFFECTS = 5_000;

/** What the inspector shows at the cursor, as the API answers it. Choices within a tab are those that are on the screen. */
export function shownAt(client: QueryClient, run: RunSummary, tab: ShownTab, seq: number): Shown {
  const at = (rest: string, query: Parameters<typeof apiUrl>[1]) => apiUrl(runPath(run.id, rest), query);
  switch (tab) {
    case 'step': {
      const steps = client.getQueryData<Page<StepRow>>(stepsQuery(run).queryKey)?.items ?? [];
      const step = stepAt(steps, seq);
      return step === undefined
        ? { what: `Event ${seq}`, url: at('/events', { after: Math.max(0, seq - 1), limit: 1 }) }
        : { what: `Step ${step.stepKey}`, url: at(`/steps/${encodeURIComponent(step.stepKey)}`, {}) };
    }
    case 'state':
      return { what: `State at seq ${seq}`, url: at('/state', { at: seq }) };
    case 'diff': {
      const from = chosen(client, runKeys.at(run.id, 'diff', seq)) ?? Math.max(0, seq - 1);
      return { what: `Diff from seq ${from} to ${seq}`, url: at('/diff', { from, to: seq }) };
    }
    case 'messages': {
      const limit = chosen(client, runKeys.at(run.id, 'messages', seq)) ?? MESSAGES;
      return { what: `Messages at seq ${seq}`, url: at('/messages', { at: seq, limit }) };
    }
    case 'effects':
      return { what: `Effects at seq ${seq}`, url: at('/effects', { at: seq, limit: EFFECTS }) };
  }
}

/** The number that the query on the screen was asked with, beyond the moment. */
function chosen(client: QueryClient, key: readonly unknown[]): number | undefined {
  const [query] = client.getQueryCache().findAll({ queryKey: key, type: 'active' });
  const last = query?.queryKey.at(-1);
  return query !== undefined && query.queryKey.length > key.length && typeof last === 'number'
    ? last
    : undefined;
}
