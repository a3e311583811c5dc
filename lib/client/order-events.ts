import { queryOptions } from '@tanstack/react-query';
import type { EventOf, RunEvent } from '@/lib/core/events/run-event';
import { apiUrl, getJson, orThrow, runPath } from './api';
import type { EffectRow, Page } from './api-types';
import { runKeys } from './run-queries';

/* What became of orders and questions to providers, as the journal tells it. */

type Accepted = EventOf<'command.accepted'>;
type Ended = EventOf<'command.ended'>;
type Verified = EventOf<'effect.verified'>;
type Decided = EventOf<'effect.decided'>;

const AT_ONCE = 200;
/** A run whose stream a page does not hear is looked at again so often. */
export const ELSEWHERE_MS = 3_000;

/** Events of these kinds after `after`, newest first, until there are enough of them. */
async function newestEvents(
  runId: string,
  kinds: readonly RunEvent['kind'][],
  after: number,
  enough: (events: readonly RunEvent[]) => boolean,
  signal: AbortSignal,
): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  let before: string | undefined;
  for (;;) {
    const page: Page<RunEvent> = orThrow(
      await getJson<Page<RunEvent>>(
        apiUrl(runPath(runId, '/events'), { kinds, after, before, order: 'desc', limit: AT_ONCE }),
        signal,
      ),
    );
    events.push(...page.items);
    if (page.nextCursor === null || enough(events)) return events;
    before = page.nextCursor;
  }
}

const isOwn = (event: RunEvent): boolean => event.inherited === undefined;
/** The end of that order; what a worker said late of one that had ended is none. */
const isEnd = (event: RunEvent, of: Accepted | undefined): event is Ended =>
  event.kind === 'command.ended' && event.commandId === of?.commandId && event.late === undefined;

/** The newest order, where it has ended. */
export interface EndedOrder {
  readonly accepted: Accepted;
  readonly ended: Ended;
}

/** `events`: `command.accepted` and `command.ended`, newest first. An order under way, or given since, takes its place. */
export function endedOrder(events: readonly RunEvent[]): EndedOrder | undefined {
  const accepted = events.find(
    (event): event is Accepted => event.kind === 'command.accepted' && isOwn(event),
  );
  const ended = events.find((event): event is Ended => isEnd(event, accepted) && isOwn(event));
  return accepted && ended && { accepted, ended };
}

export const endedOrderQuery = (runId: string) =>
  queryOptions({
    queryKey: [...runKeys.live(runId), 'ended-order'],
    queryFn: async ({ signal }) =>
      endedOrder(
        await newestEvents(
          runId,
          ['command.accepted', 'command.ended'],
          0,
          (events) => events.some((event) => event.kind === 'command.accepted' && isOwn(event)),
          signal,
        ),
      ) ?? null,
  });

/** What is known about one intent from asking and deciding, and what is still being asked. */
export interface Verification {
  /** Newest answer, of a probe or a late worker. */
  readonly answer: Verified | undefined;
  /** The newest question, while nothing has come of it. */
  readonly waits: Accepted | undefined;
  /** How the newest question ended, where it ended without an answer. */
  readonly ended: Ended | undefined;
  /** The newest decision on it that is no hold. */
  readonly decided: Decided | undefined;
  /** Ids of the questions that were read. */
  readonly questions: readonly string[];
}

type Intent = Pick<EffectRow, 'stepKey' | 'intentSeq'>;

const isAnswer = (event: RunEvent, intent: Intent): event is Verified =>
  event.kind === 'effect.verified' &&
  event.stepKey === intent.stepKey &&
  event.intentSeq === intent.intentSeq;
const isDecision = (event: RunEvent, intent: Intent): event is Decided =>
  event.kind === 'effect.decided' &&
  event.stepKey === intent.stepKey &&
  event.decision.intentSeq === intent.intentSeq &&
  event.decision.outcome !== 'hold';
const isQuestion = (event: RunEvent, { stepKey }: Intent): event is Accepted =>
  event.kind === 'command.accepted' && event.mode === 'verify' && event.stepKey === stepKey;

/** `events`: those after the intent, newest first. */
export function verificationOf(events: readonly RunEvent[], intent: Intent): Verification {
  const answer = events.find((event): event is Verified => isAnswer(event, intent));
  const decided = events.find((event): event is Decided => isDecision(event, intent));
  const askings = events.filter((event): event is Accepted => isQuestion(event, intent));
  const questions = askings.map((each) => each.commandId);
  const [asked] = askings;
  if (asked === undefined || (answer !== undefined && answer.seq > asked.seq))
    return { answer, decided, waits: undefined, ended: undefined, questions };
  const ended = events.find((event): event is Ended => isEnd(event, asked));
  return { answer, decided, waits: ended === undefined ? asked : undefined, ended, questions };
}

/** Read from the run that owns the intent, whichever page asks. */
export const verificationQuery = (pageOf: string, effect: Intent & Pick<EffectRow, 'runId'>) =>
  queryOptions({
    queryKey: [...runKeys.live(pageOf), 'verification', effect.runId, effect.stepKey, effect.intentSeq],
    queryFn: async ({ signal }) =>
      verificationOf(
        await newestEvents(
          effect.runId,
          ['command.accepted', 'command.ended', 'effect.verified', 'effect.decided'],
          effect.intentSeq,
          (events) =>
            events.some((event) => isAnswer(event, effect)) &&
            events.some((event) => isQuestion(event, effect)),
          signal,
        ),
        effect,
      ),
  });
