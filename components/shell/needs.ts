import { plural } from '@/components/ui/format';
import type { RunSummary } from '@/lib/client/api-types';
import { planHref, runHref } from '@/lib/client/url-state';

/* Of the runs that need a person, which of them most. Whether one does is the store's word: `needsPerson`. */

/** From the most pressing one on. Within one kind: the nearest deadline, then what stopped last. */
export const needKinds = ['doubt', 'question', 'waiting', 'interrupted', 'paused'] as const;
export type NeedKind = (typeof needKinds)[number];

export interface Need {
  readonly runId: string;
  readonly kind: NeedKind;
  readonly words: string;
  /** Where it can be dealt with: the run's plan, or its question. */
  readonly href: string;
  /** Until when it can be answered, epoch ms. */
  readonly until: number | undefined;
}

type Run = Pick<RunSummary, 'id' | 'status' | 'questions' | 'effectsInDoubt' | 'actions' | 'next'>;

const openQuestions = (run: Run) =>
  run.questions.filter(({ status, inForce }) => status === 'open' && inForce);

function deadlineOf(run: Run): number | undefined {
  const ends = openQuestions(run).flatMap(({ until }) => (until === null ? [] : [Date.parse(until)]));
  return ends.length === 0 ? undefined : Math.min(...ends);
}

function kindOf(run: Run): NeedKind {
  if (run.effectsInDoubt > 0) return 'doubt';
  if (openQuestions(run).length > 0) return 'question';
  if (run.status === 'interrupted' || run.status === 'paused') return run.status;
  return 'waiting';
}

function wordsOf(run: Run, kind: NeedKind): string {
  switch (kind) {
    case 'doubt':
      return `${plural(run.effectsInDoubt, 'effect')} in doubt`;
    case 'question':
      return 'waits for an answer';
    case 'waiting':
      return 'waits for a person';
    case 'interrupted':
      return 'interrupted';
    case 'paused':
      return 'paused';
  }
}

function needOf(run: Run): Need {
  const kind = kindOf(run);
  const plans = kind !== 'question' && run.actions.resume.possible;
  const from = run.next?.action === 'resume' ? (run.next.from ?? undefined) : undefined;
  return {
    runId: run.id,
    kind,
    words: wordsOf(run, kind),
    href: plans ? planHref(run.id, 'resume', from) : runHref(run.id),
    until: kind === 'question' ? deadlineOf(run) : undefined,
  };
}

/** Runs that need a person, the most pressing one first. `runs`: what stopped last stands first. */
export function byNeed(runs: readonly Run[]): readonly Need[] {
  const rank = ({ kind, until }: Need) => [needKinds.indexOf(kind), until ?? Number.MAX_VALUE] as const;
  return runs.map(needOf).toSorted((a, b) => rank(a)[0] - rank(b)[0] || rank(a)[1] - rank(b)[1]);
}

/** The one after the run that is looked at; from anywhere else, and after the last, the first. */
export function nextNeed(needs: readonly Need[], at: string | undefined): Need | undefined {
  const here = needs.findIndex(({ runId }) => runId === at);
  return needs[here + 1] ?? needs[0];
}
