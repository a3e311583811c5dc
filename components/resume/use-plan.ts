'use client';

import { useQuery } from '@tanstack/react-query';
import { type Dispatch, type SetStateAction, useState } from 'react';
import { useRested } from '@/components/run/use-run';
import { type ApiProblem, problemOf } from '@/lib/client/api';
import type { PlanAnswer, PlanBody, PlanMode, RunSummary } from '@/lib/client/api-types';
import { ELSEWHERE_MS } from '@/lib/client/order-events';
import { planQuery } from '@/lib/client/plan-queries';
import { changedSteps } from './plan-differences';
import { type Draft, draftToPlan, noDraft, readDraft } from './plan-draft';
import { isSame, type ReadPlan, readOnArrival } from './read-plan';
import { areElsewhere, type PlanReads } from './use-plan-reads';

/** What was chosen, and the plan that the console made of it. */
export interface Planned {
  readonly draft: Draft;
  readonly setDraft: Dispatch<SetStateAction<Draft>>;
  /** Why what was entered cannot be ordered yet. */
  readonly open: readonly string[];
  /** What the plan was asked for with. */
  readonly body: PlanBody;
  /** The newest that could be made; a problem leaves it, and what was entered beside it, where they are. */
  readonly plan: PlanAnswer | undefined;
  /** It is the one for what is entered. */
  readonly isCurrent: boolean;
  readonly problem: ApiProblem | undefined;
  readonly again: () => void;
  /** The plan that was read, where `plan` is known to be the one for the same choice. */
  readonly read: PlanAnswer | undefined;
  readonly markRead: () => void;
  /** The person asked about, or decided, the effects with these keys: what changes by that is no news. */
  readonly act: (stepKeys: Iterable<string>) => void;
  /** Rows that the newest choice changed; `n` counts choices. */
  readonly flash: { readonly keys: ReadonlySet<string>; readonly n: number };
}

export const NO_KEYS: ReadonlySet<string> = new Set();
/** How long a text has to rest before it is planned for. */
const TYPING_MS = 250;

/** Rows that a choice of the person's changed; with another kind of order all of them are others. */
const flashing = (before: PlanAnswer, after: PlanAnswer): ReadonlySet<string> =>
  before.mode === after.mode ? changedSteps(before, after) : NO_KEYS;

export function usePlan(
  run: RunSummary,
  { mode, from }: { readonly mode: PlanMode; readonly from: string },
  { effects, fieldsFor }: Pick<PlanReads, 'effects' | 'fieldsFor'>,
): Planned {
  const [draft, setDraft] = useState(noDraft);
  const { open } = readDraft(run.id, mode, from, draft, effects, fieldsFor);
  const asked = draftToPlan(draft, useRested(draft, TYPING_MS));
  const { body } = readDraft(run.id, mode, from, asked, effects, fieldsFor);
  const query = useQuery({
    ...planQuery(run.id, body),
    refetchInterval: areElsewhere(run, effects) ? ELSEWHERE_MS : false,
  });
  const [plan, setPlan] = useState(query.data);
  const [flash, setFlash] = useState({ keys: NO_KEYS, n: 0 });
  if (query.data !== undefined && query.data !== plan) {
    setPlan(query.data);
    if (plan !== undefined && plan.digest !== query.data.digest)
      setFlash({ keys: flashing(plan, query.data), n: flash.n + 1 });
  }
  const [read, setRead] = useState<ReadPlan | undefined>(undefined);
  const [acted, setActed] = useState(NO_KEYS);
  const chosen = { mode, from, draft: asked };
  const isMine = read !== undefined && isSame(read.of, chosen);
  const arrived = query.isSuccess && !query.isPlaceholderData && (isMine || !query.isFetching);
  if (arrived) {
    const now = readOnArrival(read, query.data, chosen, { acted, goesOn: run.status === 'running' });
    if (now !== read) {
      setRead(now);
      setActed(NO_KEYS);
    }
  }
  return {
    draft,
    setDraft,
    open,
    body,
    plan,
    isCurrent: arrived && asked === draft,
    problem: query.isError ? problemOf(query.error) : undefined,
    again: () => void query.refetch(),
    read: arrived ? read?.plan : undefined,
    markRead: () => {
      if (plan) setRead({ plan, of: chosen });
    },
    act: (stepKeys) => setActed((now) => new Set([...now, ...stepKeys])),
    flash,
  };
}
