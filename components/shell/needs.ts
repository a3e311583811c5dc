import { plural } from '@/components/ui/format';
import type { RunSummary } from '@/lib/client/api-types';
import { planHref, runHref } from '@/lib/client/url-state';

/* Which runs need a person, and which of them most. */

/** From the most pressing one on. Within one kind: the nearest deadline, then what stopped last. */
export const needKinds = ['doubt', 'question', 'failed', 'interrupted', 'paused'] as const;
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

type Run = Pick<
  RunSummary,
  | 'id'
  | 'status'
  | 'home'
  | 'lineage'
  | 'holder'
  | 'pending'
  | 'questions'
  | 'effectsInDoubt'
  | 'failure'
  | 'actions'
  | 'next'
  | 'updatedAt'
>;

const openQuestions = (run: Run) =>
  run.questions.filter(({ status, inForce }) => status === 'open' && inForce);

function deadlineOf(run: Run): number | undefined {
  const ends = openQuestions(run).flatMap(({ until }) => (until === null ? [] : [Date.parse(until)]));
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** A copy has its home elsewhere, an order that was given is on its way, and a replay that stopped has said what it found. */
function kindOf(run: Run): NeedKind | undefined {
  if (run.home === 'mirror' || run.pending !== null) return undefined;
  if (run.effectsInDoubt > 0 && run.holder === null) return 'doubt';
  if (openQuestions(run).length > 0) return 'question';
  switch (run.status) {
    case 'failed':
      return run.lineage.parent?.mode === 'replay' ? undefined : 'failed';
    case 'interrupted':
      return 'interrupted';
    case 'paused':
      return 'paused';
    default:
      return undefined;
  }
}

function wordsOf(run: Run, kind: NeedKind): string {
  switch (kind) {
    case 'doubt':
      return `${plural(run.effectsInDoubt, 'effect')} in doubt`;
    case 'question':
      return 'waits for an answer';
    case 'failed':
      return run.failure === null ? 'failed' : `failed: ${run.failure.error.message}`;
    case 'interrupted':
      return 'interrupted';
    case 'paused':
      return 'paused';
  }
}

function needOf(run: Run): Need | undefined {
  const kind = kindOf(run);
  if (kind === undefined) return undefined;
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

/** What needs a person, most pressing first. `runs`: what stopped last stands first. */
export function needsIn(runs: readonly Run[]): readonly Need[] {
  const rank = ({ kind, until }: Need) => [needKinds.indexOf(kind), until ?? Number.MAX_VALUE] as const;
  return runs
    .flatMap((run) => needOf(run) ?? [])
    .toSorted((a, b) => rank(a)[0] - rank(b)[0] || rank(a)[1] - rank(b)[1]);
}

/** The one after the run that is looked at; from anywhere else, and after the last, the first. */
export function nextNeed(needs: readonly Need[], at: string | undefined): Need | undefined {
  const here = needs.findIndex(({ runId }) => runId === at);
  return needs[here + 1] ?? needs[0];
}
