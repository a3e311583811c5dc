import { absolute } from '@/components/ui/format';
import type { Zone } from '@/components/ui/zone';
import type { PayloadRef } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';

/** One thing that an event says. */
export type EventFact =
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  | { readonly kind: 'payload'; readonly name: string; readonly payload: PayloadRef };

/** Shown in the head of every event. */
const stamp: ReadonlySet<string> = new Set([
  'runId',
  'seq',
  'at',
  'epoch',
  'by',
  'version',
  'kind',
  'inherited',
]);
const instants: ReadonlySet<string> = new Set(['until', 'sendBy', 'leavesBy']);
/** Anything that JSON can hold; shown as it is. */
const raw: ReadonlySet<string> = new Set(['value', 'parameters', 'context', 'mapping', 'compensate']);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isPayload = (value: unknown): value is PayloadRef =>
  isObject(value) &&
  typeof value['sha256'] === 'string' &&
  typeof value['bytes'] === 'number' &&
  typeof value['codec'] === 'string';

/** `questionId` as `question id`. */
const spoken = (key: string): string =>
  key === 'on'
    ? 'waits on'
    : /^[a-z][A-Za-z]*$/.test(key)
      ? key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
      : key;

function factsOf(name: string, key: string, value: unknown, zone: Zone): readonly EventFact[] {
  if (value === undefined) return [];
  if (isPayload(value)) return [{ kind: 'payload', name, payload: value }];
  if (typeof value === 'string') return [{ kind: 'text', name, text: value }];
  if (typeof value === 'number' && instants.has(key))
    return [{ kind: 'text', name, text: absolute(value, zone) }];
  if (!isObject(value) || raw.has(key)) return [{ kind: 'text', name, text: JSON.stringify(value) }];
  const members = Object.entries(value);
  if (members.length === 0) return [{ kind: 'text', name, text: 'none' }];
  return members.flatMap(([member, inner]) =>
    factsOf(
      Array.isArray(value) ? `${name} ${Number(member) + 1}` : `${name}, ${spoken(member)}`,
      member,
      inner,
      zone,
    ),
  );
}

/** Everything that an event says beyond its head, in the journal's order; nothing is left out. */
export const eventFacts = (event: RunEvent, zone: Zone): readonly EventFact[] =>
  Object.entries(event)
    .filter(([key]) => !stamp.has(key))
    .flatMap(([key, value]) => factsOf(spoken(key), key, value, zone));
