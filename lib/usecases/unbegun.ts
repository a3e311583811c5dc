import type { RunEvent } from '@/lib/core/events/run-event';
import { pace, slices } from './pace';
import type { ImportWarning } from './ports';

const MOST_NAMED = 5;
const AT_ONCE = 1_000;

/**
 * Events of a journal that end what it never began: they are kept as they are, and no fold has a row for them. One
 * warning for each kind of event, with its places; `stored` stands before `fresh`, of which it tells. O(events), in turns
 * of the loop.
 */
export async function unbegun(
  stored: readonly RunEvent[],
  fresh: readonly RunEvent[],
): Promise<readonly ImportWarning[]> {
  const begun = new Set<string>();
  const found = new Map<RunEvent['kind'], { readonly places: string[]; count: number }>();
  const turn = pace();
  for (const part of slices(stored, AT_ONCE)) {
    for (const event of part) begin(event, begun);
    await turn();
  }
  for (const part of slices(fresh, AT_ONCE)) {
    for (const event of part) {
      begin(event, begun);
      const ended = endedBy(event);
      if (ended === undefined || begun.has(ended.id)) continue;
      const of = found.get(event.kind) ?? { places: [], count: 0 };
      found.set(event.kind, of);
      of.count += 1;
      if (of.places.length < MOST_NAMED) of.places.push(`${ended.name} at seq ${event.seq}`);
    }
    await turn();
  }
  return [...found].map(([kind, { places, count }]) => {
    const more = count > places.length ? ` and ${count - places.length} more` : '';
    return {
      path: `run ${fresh[0]?.runId}`,
      message: `${kind} of what never began: ${places.join(', ')}${more}; kept in the journal, and nothing else is shown of it`,
    };
  });
}

function begin(event: RunEvent, begun: Set<string>): void {
  switch (event.kind) {
    case 'state.entered':
      begun.add(`visit ${event.key}`);
      return;
    case 'step.started':
    case 'step.reused':
    case 'step.skipped':
      begun.add(`step ${event.stepKey}`);
      return;
    case 'question.asked':
      begun.add(`question ${event.questionId}`);
      return;
    default:
  }
}

function endedBy(event: RunEvent): { readonly id: string; readonly name: string } | undefined {
  switch (event.kind) {
    case 'state.left':
      return { id: `visit ${event.key}`, name: event.key };
    case 'step.completed':
    case 'step.failed':
    case 'effect.verified':
      return { id: `step ${event.stepKey}`, name: event.stepKey };
    case 'question.answered':
    case 'question.expired':
      return { id: `question ${event.questionId}`, name: event.questionId };
    default:
      return undefined;
  }
}
