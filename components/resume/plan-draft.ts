import { type Field, formValue } from '@/components/run/schema-fields';
import { plural } from '@/components/ui/format';
import type {
  CheckpointRow,
  DecisionBody,
  EffectRow,
  PlanAnswer,
  PlanBody,
  PlanMode,
  PlannedStep,
} from '@/lib/client/api-types';
import type { StepKey } from '@/lib/core/events/ids';
import type { Json } from '@/lib/core/shared/canonical-json';
import { pointerTo } from '@/lib/core/shared/json-pointer';

/* What a person has chosen on the plan page, and what it means for the plan that is asked for. */

export type Outcome = 'happened' | 'did-not-happen' | 'hold';

export interface DecisionDraft {
  readonly outcome: Outcome;
  /** Texts of the result's form, by field. */
  readonly texts: Readonly<Record<string, string>>;
  readonly receipt: string;
}

export interface EditDraft {
  /** JSON Pointer. */
  readonly path: string;
  readonly text: string;
  /** As it is recorded. */
  readonly was: string;
}

export interface Draft {
  /** By `intentKey`: what was decided about one attempt says nothing about the next. */
  readonly decisions: Readonly<Record<string, DecisionDraft>>;
  readonly keep: readonly StepKey[];
  readonly edits: readonly EditDraft[];
}
export const noDraft: Draft = { decisions: {}, keep: [], edits: [] };

export interface DraftReading {
  readonly body: PlanBody;
  /** Why the order cannot be given yet, in words; empty means that the draft is whole. */
  readonly open: readonly string[];
}

export const intentKey = (effect: Pick<EffectRow, 'stepKey' | 'intentSeq'>): string =>
  `${effect.stepKey} ${effect.intentSeq}`;

type Effect = Pick<EffectRow, 'stepKey' | 'name' | 'intentSeq'>;

/** The decision as it is sent, or what is missing in it. */
export function decisionOf(
  draft: DecisionDraft,
  effect: Effect,
  fields: readonly Field[],
): DecisionBody | string {
  if (draft.outcome !== 'happened') return { intentSeq: effect.intentSeq, outcome: draft.outcome };
  const result = formValue(fields, draft.texts);
  if (!result.ok)
    return `The result of ${effect.name} is not complete: ${result.problem.map((each) => each.message).join('; ')}`;
  return {
    intentSeq: effect.intentSeq,
    outcome: 'happened',
    result: { value: result.value },
    ...(draft.receipt === '' ? {} : { receipt: draft.receipt }),
  };
}

/** A fork and a replay record no decision: an effect in doubt is decided on the run that owns it. */
export const takesDecisions = (mode: PlanMode): boolean => mode === 'resume' || mode === 'rewind';

/** An order carries decisions on doubts of its own run alone; those of another run are recorded there. */
export const goesWithOrder = (
  runId: string,
  effect: Pick<EffectRow, 'runId' | 'status'>,
  mode: PlanMode,
): boolean => takesDecisions(mode) && effect.status === 'in-doubt' && effect.runId === runId;

/** What is chosen, without the texts that may be in the middle of being typed. */
const choicesIn = ({ decisions, keep, edits }: Draft): string =>
  JSON.stringify([
    Object.entries(decisions).map(([key, { outcome }]) => [key, outcome]),
    keep,
    edits.map(({ path }) => path),
  ]);

/** The draft to plan for: a choice counts at once, a text when the typing rests. `rested` is the draft as it last did. */
export const draftToPlan = (draft: Draft, rested: Draft): Draft =>
  choicesIn(draft) === choicesIn(rested) ? rested : draft;

/** The plan to ask for. What is not complete is left out of it and named; what has its outcome meanwhile, too. */
export function readDraft(
  runId: string,
  mode: PlanMode,
  from: string,
  draft: Draft,
  effects: readonly (Effect & Pick<EffectRow, 'runId' | 'status'>)[],
  fieldsFor: (effect: Effect) => readonly Field[],
): DraftReading {
  const open: string[] = [];
  const decisions: Record<string, DecisionBody> = {};
  for (const effect of effects) {
    if (!goesWithOrder(runId, effect, mode)) continue;
    const chosen = draft.decisions[intentKey(effect)];
    if (!chosen) continue;
    const decision = decisionOf(chosen, effect, fieldsFor(effect));
    if (typeof decision === 'string') open.push(decision);
    else decisions[effect.stepKey] = decision;
  }
  const edits: { path: string; value: Json }[] = [];
  for (const edit of mode === 'fork' ? draft.edits : []) {
    try {
      edits.push({ path: edit.path, value: JSON.parse(edit.text) as Json });
    } catch {
      open.push(`The edit of ${edit.path} is not JSON`);
    }
  }
  return {
    body: {
      mode,
      from,
      ...(edits.length > 0 ? { edits } : {}),
      ...(Object.keys(decisions).length > 0 ? { decisions } : {}),
      ...(mode === 'rewind' && draft.keep.length > 0 ? { options: { keep: [...draft.keep] } } : {}),
    },
    open,
  };
}

/** Whether something was entered that has not been recorded, and would be lost. */
export const isDirty = (
  draft: Draft,
  effects: readonly Pick<EffectRow, 'stepKey' | 'intentSeq' | 'status'>[],
  reason: string,
): boolean =>
  reason.trim() !== '' ||
  draft.edits.length > 0 ||
  draft.keep.length > 0 ||
  effects.some((effect) => effect.status === 'in-doubt' && draft.decisions[intentKey(effect)] !== undefined);

/** A fork takes the output of a step of its open visit in another form; what is pure, and what was done outside, stays. */
export const isEditable = (
  step: Pick<PlannedStep, 'effect' | 'disposition' | 'seq' | 'kind'>,
  { from }: Pick<PlanAnswer, 'from'>,
): boolean =>
  step.disposition === 'reuse' &&
  (step.effect === 'read' || step.kind === 'human') &&
  step.seq > from.entrySeq &&
  step.seq <= from.seq;

/** `/variables/NAME` with the name escaped as JSON Pointer asks. */
export const variablePath = (name: string): string => pointerTo('variables', name);

/** `7, after check_balance`. */
const checkpointName = (checkpoint: CheckpointRow): string => `${checkpoint.n}, ${checkpoint.name}`;

/** Checkpoints that can be chosen, newest first: those that no rewind left behind. */
export const choices = (checkpoints: readonly CheckpointRow[]): readonly CheckpointRow[] =>
  checkpoints.filter((each) => each.inForce).toSorted((a, b) => b.seq - a.seq);

/** As many as fit side by side: the first of each stretch, and those that have to be seen. */
export function thinnedOut<Item extends { readonly seq: number }>(
  items: readonly Item[],
  headSeq: number,
  stretches: number,
  must: (item: Item) => boolean,
): readonly Item[] {
  const taken = new Set<number>();
  return items.filter((item) => {
    const stretch = Math.floor((item.seq / Math.max(1, headSeq)) * stretches);
    const free = !taken.has(stretch);
    taken.add(stretch);
    return free || must(item);
  });
}

/** A resume takes the newest point; choosing an older one is a rewind. */
export function modeFor(mode: PlanMode, from: string, checkpoints: readonly CheckpointRow[]): PlanMode {
  if (mode !== 'resume' || from === 'latest') return mode;
  return choices(checkpoints)[0]?.id === from ? 'resume' : 'rewind';
}

/** Where each mode starts unless a person says otherwise. */
export function startOf(mode: PlanMode, checkpoints: readonly CheckpointRow[]): string {
  const newest = choices(checkpoints);
  switch (mode) {
    case 'resume':
      return 'latest';
    case 'replay':
      return 'start';
    case 'fork':
      return newest[0]?.id ?? 'start';
    case 'rewind':
      return newest[1]?.id ?? newest[0]?.id ?? 'start';
  }
}

/** A place that a plan can start from, as the picker offers it. */
export interface StartPoint {
  readonly from: string;
  readonly words: string;
  readonly checkpoint: CheckpointRow | undefined;
  /** The one that is chosen unless a person says otherwise, where it repeats the least. */
  readonly safest: boolean;
}

/** Every point, newest first, `offered` being the checkpoints in that order. */
export function startPoints(mode: PlanMode, offered: readonly CheckpointRow[]): readonly StartPoint[] {
  const safest = mode === 'rewind' ? undefined : startOf(mode, offered);
  return [
    { from: 'latest', words: 'The newest point', checkpoint: undefined },
    ...offered.map((each) => ({ from: each.id, words: checkpointName(each), checkpoint: each })),
    { from: 'start', words: 'The start', checkpoint: undefined },
  ].map((point) => ({ ...point, safest: point.from === safest }));
}

/** What it means to start there, beside the picker. `over`: there is nothing for the order to do. */
export function startWords(
  mode: Exclude<PlanMode, 'replay'>,
  from: string,
  checkpoints: readonly CheckpointRow[],
  over = false,
): string {
  const offered = choices(checkpoints);
  const newest = offered[0];
  const chosen = offered.find((each) => each.id === from) ?? (from === 'latest' ? newest : undefined);
  if (over) return 'Nothing goes on from here.';
  switch (mode) {
    case 'resume':
      return `${from === 'latest' ? 'Safest: goes' : 'Goes'} on from the newest point; whatever is recorded${from === 'latest' || !chosen ? '' : ', after this checkpoint too,'} is given back.`;
    case 'fork':
      return 'A new run with this history; the original stays as it is.';
    case 'rewind':
      if (!chosen || !newest)
        return `Goes back in the same run${from === 'start' ? ', and begins again from the start' : ''}.`;
      return chosen.id === newest.id
        ? `Checkpoint ${chosen.n} is the newest: this goes back to it in the same run.`
        : `Checkpoint ${chosen.n} is older than ${newest.n}: this goes back in the same run, so it is a rewind.`;
  }
}

/** What the closed visits of a plan lie within. A resume, and a fork from the newest point, take what closed after the checkpoint too. */
export function pointWords({ mode, from }: Pick<PlanAnswer, 'mode' | 'from'>): string {
  if (mode === 'resume' || (mode === 'fork' && from.asked === 'latest')) return 'Up to the newest point';
  return from.checkpointId === null ? `Before ${from.name}` : `Inside checkpoint ${from.name}`;
}

/** What becomes of the steps that were begun after the point; of effects among them, as their rows in the plan say. */
export function leftWords({ mode, steps: planned, leftBehind }: PlanAnswer): string {
  const { steps: count, effects, questions } = leftBehind;
  const inForce = new Set(effects.map((effect) => effect.stepKey));
  const answering = planned.filter(
    ({ key, disposition }) => inForce.has(key) && (disposition === 'reuse' || disposition === 'skip'),
  ).length;
  const stay = count === 1 ? 'stays' : 'stay';
  const where = mode === 'fork' ? 'with the original run' : 'in history';
  const again = (n: number) =>
    n === 1
      ? 'answers from the record where it is asked for again'
      : 'answer from the record where they are asked for again';
  let rest: string;
  if (answering === 0)
    rest = mode === 'fork' ? ' alone' : ` and ${count === 1 ? 'answers' : 'answer'} nothing`;
  else if (answering >= count) rest = ` and ${again(count)}`;
  else {
    const others = count - answering === 1 ? 'the other answers' : 'the others answer';
    rest = `: ${answering} of them ${again(answering)}, ${others} nothing`;
  }
  const asked = questions.length > 0 ? ` ${plural(questions.length, 'question')} will be asked again.` : '';
  return `${plural(count, 'step')} ${stay} ${where}${rest}.${asked}`;
}

export interface VisitGroup {
  readonly visit: string;
  readonly steps: readonly PlannedStep[];
}

/** Steps by visit, in the order of the plan. */
export function byVisit(steps: readonly PlannedStep[]): readonly VisitGroup[] {
  const groups = new Map<string, PlannedStep[]>();
  for (const step of steps) groups.set(step.visit, [...(groups.get(step.visit) ?? []), step]);
  return [...groups].map(([visit, members]) => ({ visit, steps: members }));
}

/** A visit, or so many that are left out in its place. */
export type GroupOrGap = VisitGroup | { readonly leftOut: number; readonly from: string };

/** The first `most` groups, and beyond them those that press; what is left out is counted where it would stand. */
export function shownGroups(
  groups: readonly VisitGroup[],
  most: number,
  presses: (group: VisitGroup) => boolean,
): readonly GroupOrGap[] {
  const shown: GroupOrGap[] = groups.slice(0, most);
  let gap: { leftOut: number; from: string } | undefined;
  for (const group of groups.slice(most)) {
    if (presses(group)) {
      shown.push(group);
      gap = undefined;
    } else if (gap) gap.leftOut += 1;
    else {
      gap = { leftOut: 1, from: group.visit };
      shown.push(gap);
    }
  }
  return shown;
}

/** What closed before the point, in the head of its rows. */
export const closedWords = (steps: number, visits: number): string =>
  `${plural(steps, 'step')} in ${plural(visits, 'closed visit')}: ${
    steps === 1 ? 'its result stands, nothing of it runs' : 'their results stand, nothing of them runs'
  }`;

/** How many of a visit's steps the rows below show, and what happens to a visit that is not simply given back. */
export function groupWords({ mode, steps, from }: PlanAnswer, { visit, steps: shown }: VisitGroup): string {
  const all = steps.filter((step) => step.visit === visit);
  const count =
    shown.length === all.length
      ? plural(all.length, 'step')
      : `${shown.length} of ${plural(all.length, 'step')}`;
  if (mode === 'replay') return count;
  return all.some((step) => step.seq <= from.seq)
    ? `${count}: its handler is entered again and gets what is recorded, by key`
    : `${count}, after the point: reached anew by the code`;
}

/** Where a tool may be called, and what of it is recorded and not called again. */
export function toolWords(
  { name, states, guarded }: PlanAnswer['envelope']['tools'][number],
  steps: readonly PlannedStep[],
): string {
  const own = steps.filter(
    (step) => step.name === name && (step.effect === 'external' || step.effect === 'idempotent'),
  );
  const recorded = own.filter(({ disposition }) => answers.has(disposition)).length;
  const open = own.filter(({ disposition }) => disposition === 'needs-decision').length;
  return [
    recorded > 0 &&
      `new calls only: the ${recorded === 1 ? 'recorded one is' : `${recorded} recorded ones are`} not repeated`,
    open > 0 &&
      `the ${open === 1 ? 'one' : open} in doubt not before ${open === 1 ? 'its' : 'their'} outcome is known`,
    !guarded && 'unguarded: a late send cannot be stopped',
    `in ${states.join(', ')}`,
  ]
    .filter((part) => part !== false)
    .join('; ');
}

/** What a step is given from the record. */
const answers: ReadonlySet<PlannedStep['disposition']> = new Set(['restored', 'reuse', 'skip']);

/** Nothing of it runs: it closed before the point. */
export const isRestored = (group: VisitGroup): boolean =>
  group.steps.every((step) => step.disposition === 'restored');

/**
 * Holds to be recorded, where nothing but holds was decided and nothing else is left to decide: then that is what the
 * button does. Undefined where it does something else.
 */
export function holdsIn(
  plan: Pick<PlanAnswer, 'mode' | 'totals'>,
  { decisions = {} }: Pick<PlanBody, 'decisions'>,
  effects: readonly Pick<EffectRow, 'stepKey' | 'held'>[],
): NonNullable<PlanBody['decisions']> | undefined {
  const chosen = Object.entries(decisions);
  const isHold = ([key, { outcome }]: (typeof chosen)[number]) =>
    outcome === 'hold' && effects.some((effect) => effect.stepKey === key && !effect.held);
  if (chosen.length === 0 || plan.totals['needs-decision'] > 0 || !chosen.every(isHold)) return undefined;
  return decisions;
}

/** True where this order would do nothing at all: the run has come to its end. */
export const isOver = (plan: PlanAnswer): boolean =>
  plan.obstacles.some((obstacle) => obstacle.kind === 'nothing-to-do');
