import type { CheckpointRow, Disposition, PlanAnswer, PlannedStep } from '@/lib/client/api-types';
import { unescapeName } from '@/lib/core/events/step-key';

/* The journal drawn as a rail: what is given back, what stays behind, and what would run. Places are percents of its width. */

export interface Stretch {
  /** `again`: played again from the record; `tail`: after the checkpoint, returned by key; `gone`: stays in the original. */
  readonly kind: 'restored' | 'again' | 'tail' | 'gone' | 'ahead';
  readonly from: number;
  readonly to: number;
}
export interface AheadMark {
  readonly at: number;
  readonly name: string;
  /** Undefined for a call that may run and need not. */
  readonly disposition: Disposition | undefined;
  /** In whole, for who cannot see the mark. */
  readonly words: string;
}
export interface Rail {
  readonly stretches: readonly Stretch[];
  /** Where the record ends; the whole width where nothing comes after it. */
  readonly end: number;
  /** The way ahead leaves the record here, on a line of its own. */
  readonly branch: number | undefined;
  readonly ahead: readonly AheadMark[];
  /** What is said in place of a way ahead. */
  readonly words: string | undefined;
}

type Plan = Pick<PlanAnswer, 'mode' | 'from' | 'headSeq' | 'steps' | 'envelope' | 'obstacles'>;

/** How much of the width the record takes where something comes after it. */
const RECORD = 70;
/** Marks that find room beside each other, with their names. */
const MOST = 4;
/** Room that a mark's name takes on each side. */
const ASIDE = 3.2;

const runs: ReadonlySet<Disposition> = new Set(['execute', 'retry-same-key', 'needs-decision', 'blocked']);

/** Steps that are more than an answer from the record, then the calls that may follow: in one mark, since nobody knows their order. */
function aheadOf(plan: Plan, after: number): readonly Omit<AheadMark, 'at'>[] {
  const steps: readonly PlannedStep[] = plan.steps.filter(
    (step) => runs.has(step.disposition) || (step.disposition === 'skip' && step.seq > after),
  );
  const named = new Set(steps.flatMap(({ name, disposition }) => (runs.has(disposition) ? [name] : [])));
  const may = plan.envelope.tools
    .filter(({ name, effect }) => !named.has(name) && effect !== 'pure' && effect !== 'read')
    .map(({ name }) => unescapeName(name));
  return [
    ...steps.map(({ name, disposition }) => ({
      name: unescapeName(name),
      disposition,
      words: `${unescapeName(name)}: ${disposition}`,
    })),
    ...(may.length === 0
      ? []
      : [
          {
            name: may.length === 1 ? (may[0] ?? '') : `${may.length} may run`,
            disposition: undefined,
            words: `may run, in any order or not at all: ${may.join(', ')}`,
          },
        ]),
  ];
}

/** As many as find room between two places; how many are left over stands in the last one's place. */
function placed(marks: readonly Omit<AheadMark, 'at'>[], from: number, to: number): readonly AheadMark[] {
  const room = Math.max(1, Math.min(MOST, Math.floor((to - from) / (2 * ASIDE))));
  const left = marks.slice(room - 1);
  const shown =
    left.length <= 1
      ? marks
      : [
          ...marks.slice(0, room - 1),
          {
            name: `${left.length} more`,
            disposition: undefined,
            words: left.map(({ words }) => words).join(', '),
          },
        ];
  const gap = (to - from) / Math.max(1, shown.length);
  return shown.map((mark, n) => ({ ...mark, at: from + gap * (n + 0.5) }));
}

/** None where it would have no length. */
const stretch = (kind: Stretch['kind'], from: number, to: number): readonly Stretch[] =>
  to > from ? [{ kind, from, to }] : [];

/** `checkpoints`: those that can be chosen. */
export function railOf(plan: Plan, checkpoints: readonly CheckpointRow[]): Rail {
  const { mode, headSeq } = plan;
  const isOver = plan.obstacles.some(({ kind }) => kind === 'nothing-to-do');
  const end = isOver ? 100 : RECORD;
  const place = (seq: number) => (headSeq === 0 ? 0 : (Math.min(seq, headSeq) / headSeq) * end);
  if (mode === 'replay') {
    const blocked = plan.steps.find((step) => step.disposition === 'blocked');
    const stop = blocked === undefined ? end : place(blocked.seq);
    return {
      stretches: [...stretch('again', 0, stop), ...stretch('gone', stop, end)],
      end,
      branch: undefined,
      ahead: [],
      words:
        blocked === undefined
          ? 'Plays the whole record again'
          : `Stops at ${unescapeName(blocked.name)}: it has no recorded outcome`,
    };
  }
  const chosen = checkpoints.find(({ id }) => id === plan.from.checkpointId);
  if (mode === 'resume') {
    const point = place(chosen?.seq ?? plan.from.entrySeq);
    return {
      stretches: [
        ...stretch('restored', 0, point),
        ...stretch('tail', point, end),
        ...stretch('ahead', end, isOver ? end : 100),
      ],
      end,
      branch: undefined,
      ahead: isOver ? [] : placed(aheadOf(plan, chosen?.seq ?? plan.from.entrySeq), end + 2, 100),
      words: undefined,
    };
  }
  const point = place(plan.from.seq);
  return {
    stretches: [...stretch('restored', 0, point), ...stretch('gone', point, end)],
    end,
    branch: isOver ? undefined : point,
    ahead: isOver ? [] : placed(aheadOf(plan, plan.from.seq), Math.min(point + 6, 82), 100),
    words: undefined,
  };
}

/** Place of a moment of the record, in percents of the rail's width. */
export const railPlace = (seq: number, headSeq: number, end: number): number =>
  headSeq === 0 ? 0 : (Math.min(seq, headSeq) / headSeq) * end;
