import { impossibleNow } from '@/components/run/run-words';
import { runStatusView } from '@/components/run/views';
import { plural } from '@/components/ui/format';
import type { RunSummary } from '@/lib/client/api-types';

/* Runs that were picked out, and what can be said of them together. */

export type Selection = ReadonlyMap<string, RunSummary>;
export const nobody: Selection = new Map();

/** With the run, or without it where it was there. */
export function toggled(selection: Selection, run: RunSummary): Selection {
  const next = new Map(selection);
  if (!next.delete(run.id)) next.set(run.id, run);
  return next;
}

/** With every run between the two, both included, in the order that they stand in. */
export function withRange(
  selection: Selection,
  runs: readonly RunSummary[],
  from: string,
  to: string,
): Selection {
  const [a, b] = [runs.findIndex(({ id }) => id === from), runs.findIndex(({ id }) => id === to)];
  if (a === -1 || b === -1) return selection;
  const range = runs.slice(Math.min(a, b), Math.max(a, b) + 1);
  return new Map([...selection, ...range.map((run) => [run.id, run] as const)]);
}

/** What was picked out, as it stands now. */
export function renewed(selection: Selection, rows: ReadonlyMap<string, RunSummary>): Selection {
  if (![...selection].some(([id, run]) => (rows.get(id) ?? run) !== run)) return selection;
  return new Map([...selection].map(([id, run]) => [id, rows.get(id) ?? run]));
}

/** `all failed in lookup_order`; `2 failed, 1 waiting`. */
export function alikeWords(selection: Selection): { readonly words: string; readonly state?: string } {
  const runs = [...selection.values()];
  const statuses = new Map<RunSummary['status'], number>();
  for (const { status } of runs) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const word = (status: RunSummary['status']) => runStatusView[status].word.toLowerCase();
  const [only] = statuses.keys();
  if (statuses.size !== 1 || only === undefined)
    return { words: [...statuses].map(([status, n]) => `${n} ${word(status)}`).join(', ') };
  const states = new Set(runs.map(({ visit }) => visit?.state));
  const [state] = states;
  const all = runs.length === 1 ? '' : runs.length === 2 ? 'both ' : 'all ';
  return states.size === 1 && state !== undefined
    ? { words: `${all}${word(only)} in`, state }
    : { words: `${all}${word(only)}` };
}

/** Which of them can be cancelled now, and why the others cannot. */
export function cancellable(runs: readonly RunSummary[]): {
  readonly can: readonly RunSummary[];
  readonly cannot: readonly { readonly run: RunSummary; readonly why: string }[];
} {
  const cannot = runs.flatMap((run) => {
    const why = impossibleNow(run, 'cancel');
    return why === undefined ? [] : [{ run, why }];
  });
  return { can: runs.filter((run) => impossibleNow(run, 'cancel') === undefined), cannot };
}

/** Why none of them can be cancelled; undefined where one can. */
export function noneCancellable(runs: readonly RunSummary[]): string | undefined {
  const { can, cannot } = cancellable(runs);
  if (can.length > 0) return undefined;
  const whys = new Set(cannot.map(({ why }) => why));
  return whys.size === 1 ? [...whys][0] : `None of these can be cancelled: ${plural(runs.length, 'run')}`;
}
