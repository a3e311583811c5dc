import type { EventBody, EventKind, RunEvent, Writer } from '@/lib/core/events/run-event';
import { assertDefined } from '@/lib/core/shared/assert';

/*
 * An event's kind, its writer, and whether it is an intent, as one small integer, so that the journal's index finds
 * console events, intents and errors without reading bodies.
 */

/** Frozen: a kind's code is its place. New kinds are added at the end; none is ever moved or removed. */
// biome-ignore format: grouped as in run-event.ts
const KINDS = [
  'run.queued', 'run.started', 'run.waiting', 'run.paused', 'run.interrupted', 'run.resumed', 'run.rewound', 'run.completed',
  'run.failed', 'run.cancelled', 'state.entered', 'state.left', 'scope.left', 'step.started', 'step.completed', 'step.failed',
  'step.reused', 'step.skipped', 'value.recorded', 'api.unavailable', 'api.recovered', 'variables.patched', 'message.appended',
  'context.compacted', 'checkpoint.saved', 'effect.verified', 'effect.decided', 'effect.conflict', 'question.asked',
  'question.answered', 'question.expired', 'command.accepted', 'command.ended', 'divergence.found',
] as const satisfies readonly EventKind[];

/** Compile-time proof that no kind is missing from the table. */
type Missing = Exclude<EventKind, (typeof KINDS)[number]>;
const noneMissing: [Missing] extends [never] ? true : Missing = true;

const CONSOLE = 1;
const INTENT = 2;
const KIND = 4;
const placeOf = new Map<EventKind, number>(KINDS.map((kind, i) => [kind, i]));

const placeOfKind = (kind: EventKind) =>
  assertDefined(noneMissing ? placeOf.get(kind) : undefined, `event kind ${kind} has a code`);

const isIntent = (body: EventBody) => body.kind === 'step.started' && body.intent !== undefined;

export const eventCode = (event: RunEvent): number =>
  placeOfKind(event.kind) * KIND + (event.by === 'console' ? CONSOLE : 0) + (isIntent(event) ? INTENT : 0);

export function kindOfCode(code: number): { readonly kind: EventKind; readonly by: Writer } {
  const kind = assertDefined(KINDS[Math.floor(code / KIND)], `event code ${code} is known`);
  return { kind, by: (code & CONSOLE) === CONSOLE ? 'console' : 'worker' };
}

/** Every code that an event of one of these kinds can have. */
export const codesOf = (kinds: readonly EventKind[]): readonly number[] =>
  kinds.flatMap((kind) => {
    const code = placeOfKind(kind) * KIND;
    return kind === 'step.started'
      ? [code, code + CONSOLE, code + INTENT, code + INTENT + CONSOLE]
      : [code, code + CONSOLE];
  });

export const intentCodes: readonly number[] = [INTENT, INTENT + CONSOLE].map(
  (flags) => placeOfKind('step.started') * KIND + flags,
);

/** SQL that is true for the code of an event that the console wrote. */
export const byConsole = (code: string): string => `(${code} & ${CONSOLE}) = ${CONSOLE}`;
