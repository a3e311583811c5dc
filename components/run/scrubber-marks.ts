import { plural, whole } from '@/components/ui/format';
import type { GlyphName } from '@/components/ui/glyph';
import type { Tone } from '@/components/ui/mark';
import type { RunSummary, StepRow } from '@/lib/client/api-types';
import { callIn } from '@/lib/core/events/step-key';
import type { Bar } from './scrubber-bars';
import type { FailedAttempt } from './tree-rows';

/* The lowest lane of the scrubber: effects and failures. */

interface LaneMark {
  readonly seq: number;
  readonly glyph: GlyphName;
  readonly tone: Tone | undefined;
  readonly title: string;
}

/** Of a run that is not held whole, where effects and failures lie, as the bars tell. */
const marksOfBars = (bars: readonly Bar[]): LaneMark[] =>
  bars.flatMap(({ fromSeq, toSeq, effects = 0, errors = 0 }): LaneMark[] => {
    const where = `between seq ${whole(fromSeq)} and ${whole(toSeq)}`;
    const seq = Math.round((fromSeq + toSeq) / 2);
    if (errors > 0)
      return [{ seq, glyph: 's-failed', tone: 'bad', title: `${plural(errors, 'failure')} ${where}` }];
    if (effects > 0)
      return [{ seq, glyph: 'e-external', tone: undefined, title: `${plural(effects, 'effect')} ${where}` }];
    return [];
  });

const effectMarks = (steps: readonly StepRow[]): LaneMark[] =>
  steps.flatMap((step): LaneMark[] => {
    if (step.effect !== 'external' && step.effect !== 'idempotent') return [];
    const doubt = step.status === 'in-doubt' || step.status === 'unknown';
    return [
      {
        seq: step.attemptSeq,
        glyph: step.effect === 'external' ? 'e-external' : 'e-idempotent',
        tone: doubt ? 'attention' : undefined,
        title: `${step.name}, ${step.effect}${doubt ? ', in doubt' : ''}`,
      },
    ];
  });

const failureMarks = (failures: readonly FailedAttempt[]): LaneMark[] =>
  failures.map(({ seq, stepKey, attempt, final }) => ({
    seq,
    glyph: 's-failed',
    tone: 'bad',
    title: `${callIn(stepKey)}, attempt ${attempt} failed${final ? '' : ', tried again'}`,
  }));

/** In order of what they are worth, the most important last, so that they are drawn on top. */
export function marksOf({
  steps,
  failures,
  run,
  bars,
  partial,
}: {
  readonly steps: readonly StepRow[];
  readonly failures: readonly FailedAttempt[];
  readonly run: Pick<RunSummary, 'interruption' | 'failure'>;
  readonly bars: readonly Bar[];
  /** Not all steps are held: the bars tell of effects and failures. */
  readonly partial: boolean;
}): readonly LaneMark[] {
  const marks = partial ? marksOfBars(bars) : [...effectMarks(steps), ...failureMarks(failures)];
  if (run.interruption)
    marks.push({ seq: run.interruption.seq, glyph: 's-interrupted', tone: 'bad', title: 'Interrupted' });
  if (run.failure) marks.push({ seq: run.failure.seq, glyph: 's-failed', tone: 'bad', title: 'Failed' });
  return marks;
}

/** One mark for each part of the track so wide: of those that stand in it, the last of the list. */
export function apart<Item extends { readonly seq: number }>(
  items: readonly Item[],
  placeOf: (seq: number) => number,
  width: number,
): readonly Item[] {
  const kept = new Map<number, Item>();
  for (const item of items) {
    const part = Math.floor(placeOf(item.seq) / width);
    kept.delete(part);
    kept.set(part, item);
  }
  return [...kept.values()];
}
