'use client';

import { useQuery } from '@tanstack/react-query';
import { diffQuery, effectsQuery, stateQuery } from '@/lib/client/run-queries';
import type { InspectorMoment } from './inspector-moment';
import { useRested } from './use-run';

/** The cursor rests so long before the tabs are counted: it may be on its way. */
const REST_MS = 300;

/** How much each tab of the inspector has to show at the cursor, by the tab's id; what is not known is left out. */
export function useCounts({
  run,
  settled,
}: Pick<InspectorMoment, 'run' | 'settled'>): Readonly<Record<string, number | undefined>> {
  const rested = useRested<number | null>(settled, REST_MS, null);
  const [at, enabled] = [rested ?? settled, rested !== null];
  const state = useQuery({ ...stateQuery(run.id, at), enabled }).data;
  const diff = useQuery({ ...diffQuery(run.id, Math.max(0, at - 1), at), enabled }).data;
  const effects = useQuery({ ...effectsQuery(run.id, at), enabled }).data;
  return {
    diff: diff?.changes.length,
    messages: state?.messages.count,
    effects: effects?.total,
  };
}
