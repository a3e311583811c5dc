import { moment, relative } from '@/components/ui/format';
import type { Zone } from '@/components/ui/zone';
import type { RunSummary } from '@/lib/client/api-types';
import { assertNever } from '@/lib/core/shared/assert';
import { parseJson } from './payload-view';

/** What a question says: its words, the schema of its answer, and whatever else the agent put beside them. */
export interface AskedQuestion {
  readonly prompt: string;
  readonly schema: unknown;
  readonly rest: Readonly<Record<string, unknown>>;
}

export function readQuestion(text: string): AskedQuestion {
  const value = parseJson(text)?.value;
  if (typeof value === 'string') return { prompt: value, schema: undefined, rest: {} };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { prompt: text, schema: undefined, rest: {} };
  const { prompt, schema, until: _until, ...rest } = value as Record<string, unknown>;
  return typeof prompt === 'string'
    ? { prompt, schema, rest }
    : { prompt: '', schema, rest: { ...rest, ...(prompt === undefined ? {} : { prompt }) } };
}

/** Whether a question can be answered, and what the answer does; `note` where it does not set the run going. */
export type QuestionStands =
  | { readonly kind: 'open'; readonly note: string | undefined }
  | { readonly kind: 'closed'; readonly reason: string };

export function questionStands({ status, actions }: Pick<RunSummary, 'status' | 'actions'>): QuestionStands {
  if (!actions.answer.possible)
    return { kind: 'closed', reason: actions.answer.reason ?? 'It cannot be answered now.' };
  switch (status) {
    case 'waiting':
    case 'running':
    case 'queued':
      return { kind: 'open', note: undefined };
    case 'paused':
    case 'interrupted':
    case 'failed':
    case 'unknown':
      return {
        kind: 'open',
        note: `The run is ${status}: an answer is recorded and sets nothing going. It counts once the run is resumed.`,
      };
    case 'completed':
    case 'cancelled':
      return { kind: 'closed', reason: `The run is ${status}.` };
    default:
      return assertNever(status, 'status');
  }
}

/** By when an answer is wanted; `now` is 0 where it is not known. Nothing closes a question at that time. */
export function untilWords(
  until: number,
  now: number,
  zone: Zone,
): { readonly words: string; readonly past: boolean } {
  const past = now > until;
  const away = now === 0 ? '' : `, ${relative(until, now)}`;
  return {
    past,
    words: past
      ? `an answer was wanted by ${moment(until, zone)}${away}: nothing has happened by itself, it can still be answered`
      : `answer by ${moment(until, zone)}${away}; nothing happens by itself then`,
  };
}
