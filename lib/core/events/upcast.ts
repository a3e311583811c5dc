import { EVENT_VERSION, type RunEvent } from './run-event';

/** An event as an older release wrote it: its members are those of its own version's schema. */
export type OldEvent = Pick<RunEvent, 'kind' | 'version'> & Readonly<Record<string, unknown>>;

/** Gives the event as the next version's schema has it. */
export type Upcaster = (event: OldEvent) => OldEvent;

/**
 * By the version that it reads. Whoever changes what a kind of event holds raises `EVENT_VERSION` and registers here how
 * the version before is read; journals are never rewritten.
 */
const upcasters: ReadonlyMap<number, Upcaster> = new Map();

/** The event in today's schema: where journals are read, out of a store or a file. */
export const upcast = (event: RunEvent): RunEvent =>
  event.version === EVENT_VERSION ? event : upcastTo(event, EVENT_VERSION, upcasters);

/** Version by version up to `version`. Throws where one is missing, or where the event is newer than that. */
export function upcastTo(event: RunEvent, version: number, through: ReadonlyMap<number, Upcaster>): RunEvent {
  let now: OldEvent = { ...event };
  while (now.version < version) {
    const next = through.get(now.version);
    if (next === undefined)
      throw new Error(
        `No upcaster reads version ${now.version} of ${now.kind} (event ${event.seq} of ${event.runId})`,
      );
    now = { ...next(now), version: now.version + 1 };
  }
  if (now.version > version)
    throw new Error(
      `Event ${event.seq} of ${event.runId} was written by a newer release: version ${now.version} of ${now.kind}`,
    );
  return now as unknown as RunEvent;
}
