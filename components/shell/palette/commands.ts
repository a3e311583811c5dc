import { impossibleNow, orderStanding } from '@/components/run/run-words';
import { kindGlyph, runStatusView, stepStatusView } from '@/components/run/views';
import { plural, whole } from '@/components/ui/format';
import type { GlyphName } from '@/components/ui/glyph';
import type { Hotkey } from '@/components/ui/hotkeys';
import type { CheckpointRow, GraphAt, PlanMode, RunSummary, StepRow } from '@/lib/client/api-types';
import { planHref, runHref } from '@/lib/client/url-state';
import type { Findable } from './find';

/* What can be run from the list of commands, as data. */

export interface Command extends Findable {
  readonly id: string;
  readonly glyph: GlyphName;
  /** The key that does the same, as hotkeys name it. */
  readonly key?: string | undefined;
  /** Why it cannot be done now. */
  readonly reason?: string | undefined;
  /** Beside the words, such as a status. */
  readonly note?: string | undefined;
  readonly act: Act;
}
export type Act =
  | { readonly kind: 'go'; readonly href: string }
  | { readonly kind: 'press'; readonly run: () => void }
  | { readonly kind: 'copy-link' };

/** What tells a row from the others of the list, which takes the blanks at both ends away. */
export const rowValue = ({ id }: Pick<Command, 'id'>): string => JSON.stringify(id);

const go = (href: string): Act => ({ kind: 'go', href });

/** The key's own deed where the page has one, which knows the cursor and what is chosen; else a way to it. */
function keyed(here: readonly Hotkey[], key: string, otherwise: Act, reason: string | undefined) {
  const bound = here.find((each) => each.key === key);
  return bound === undefined
    ? { act: otherwise, reason }
    : { key, act: { kind: 'press', run: bound.run } as const, reason: reason ?? bound.reason };
}

/** What can be done with a run; what cannot, with the reason. `here`: the keys that the page has bound. */
export function runCommands(run: RunSummary, here: readonly Hotkey[]): readonly Command[] {
  const plan = (mode: PlanMode, from?: string) => go(planHref(run.id, mode, from));
  const from = run.next?.action === 'resume' ? (run.next.from ?? undefined) : undefined;
  return [
    {
      id: 'resume',
      glyph: 'resume',
      words: run.checkpoint ? `Resume from checkpoint ${run.checkpoint.n}…` : 'Resume…',
      ...keyed(here, 'r', plan('resume', from), impossibleNow(run, 'resume')),
    },
    {
      id: 'fork',
      glyph: 'fork',
      words: here.some(({ key }) => key === 'b') ? 'Fork from the cursor…' : 'Fork…',
      ...keyed(here, 'b', plan('fork'), impossibleNow(run, 'fork')),
    },
    {
      id: 'replay',
      glyph: 'replay',
      words: 'Replay against today’s code…',
      ...keyed(here, 'p', plan('replay', 'start'), impossibleNow(run, 'replay')),
    },
    {
      id: 'rewind',
      glyph: 'rewind',
      words: 'Rewind…',
      act: plan('rewind'),
      reason: impossibleNow(run, 'rewind'),
    },
    {
      id: 'verify',
      glyph: 'probe',
      words: 'Ask downstream about the effect in doubt',
      more: 'verify probe provider decide doubt',
      ...keyed(here, 'v', plan('resume', from), impossibleNow(run, 'verify')),
    },
    {
      id: 'export',
      glyph: 'download',
      words: 'Export or share the run…',
      more: 'download file native html link',
      act: go(`${runHref(run.id)}?open=export`),
    },
    { id: 'copy-link', glyph: 'link', words: 'Copy a link to what is shown', act: { kind: 'copy-link' } },
  ];
}

/** What can be done from every page and has no key. */
export const everywhere: readonly Command[] = [
  {
    id: 'upload',
    glyph: 'plus',
    words: 'Upload a trace…',
    more: 'import file',
    act: go('/runs?open=upload'),
  },
];

/** Every other key of the page and of the frame. */
export function keyCommands(here: readonly Hotkey[], taken: readonly Command[]): readonly Command[] {
  const left = here.filter(
    ({ key }, n) =>
      key !== 'Mod+k' &&
      !taken.some((each) => each.key === key) &&
      here.findIndex((each) => each.key === key) === n,
  );
  return left.map(({ key, what, run, reason }) => ({
    id: `key ${key}`,
    glyph: 'to-end',
    words: `${what.slice(0, 1).toUpperCase()}${what.slice(1)}`,
    key,
    reason,
    act: { kind: 'press', run },
  }));
}

/** Where on the run's page a moment stands, with what is chosen there kept. */
export type HrefAt = (seq: number) => string;

export function stateCommands(graph: Pick<GraphAt, 'states'> | undefined, at: HrefAt): readonly Command[] {
  return (graph?.states ?? []).map(({ name, visits, lastSeq }) => ({
    id: `state ${name}`,
    glyph: 'k-state',
    words: name,
    more: 'state',
    note: lastSeq === null ? 'state' : `${plural(visits, 'visit')}, last at seq ${whole(lastSeq)}`,
    reason: lastSeq === null ? 'Never visited' : undefined,
    act: go(at(lastSeq ?? 1)),
  }));
}

export const stepCommands = (steps: readonly StepRow[], at: HrefAt): readonly Command[] =>
  steps.map((step) => ({
    id: `step ${step.stepKey} ${step.line}`,
    glyph: kindGlyph[step.kind],
    words: step.stepKey,
    more: `step ${step.kind} ${step.effect ?? ''} ${step.status}`,
    note: `${stepStatusView[step.status].word.toLowerCase()}, seq ${whole(step.startedSeq)}`,
    act: go(at(step.startedSeq)),
  }));

/** `to`: where a checkpoint leads: to its moment, or to a plan from it. */
export const checkpointCommands = (
  checkpoints: readonly CheckpointRow[],
  to: (checkpoint: CheckpointRow) => string,
): readonly Command[] =>
  checkpoints.toReversed().map((checkpoint) => ({
    id: `checkpoint ${checkpoint.id}`,
    glyph: 'checkpoint',
    words: `Checkpoint ${checkpoint.n}, ${checkpoint.name}`,
    more: `seq ${checkpoint.seq}`,
    note: `seq ${whole(checkpoint.seq)}`,
    act: go(to(checkpoint)),
  }));

/** Each run once, where the answer has it again too. */
export const foundRunCommands = (runs: readonly RunSummary[]): readonly Command[] => {
  const once = new Map(runs.map((run) => [run.id, run]));
  return [...once.values()].map((run) => ({
    id: `run ${run.id}`,
    glyph: runStatusView[run.status].glyph,
    words: run.id,
    more: run.agent,
    note: [
      run.agent,
      (orderStanding(run, undefined)?.short ?? runStatusView[run.status].word).toLowerCase(),
      ...(run.effectsInDoubt > 0 ? [`${run.effectsInDoubt} in doubt`] : []),
    ].join(', '),
    act: go(runHref(run.id)),
  }));
};
