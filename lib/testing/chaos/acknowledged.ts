import type { RunEvent } from '@/lib/core/events/run-event';
import { journalIn, leftBehind } from './fold-check';
import type { Acknowledged } from './gate';

interface Appended {
  readonly firstSeq: number;
}

/** What was acknowledged through the gate and is not in the file that the killed console left. */
export const acknowledgedLost = (
  file: string,
  acknowledged: readonly Acknowledged[],
): Promise<readonly string[]> =>
  leftBehind(file, async ({ store, runs }) => {
    const journals = new Map<string, readonly RunEvent[]>();
    for (const run of runs) journals.set(run.runId, await journalIn(store, run));
    return acknowledged.flatMap((each) => lostOf(each, journals));
  });

function lostOf(
  { path, body, answer }: Acknowledged,
  journals: ReadonlyMap<string, readonly RunEvent[]>,
): readonly string[] {
  const [, encoded = '', what = ''] = /^\/api\/v1\/runs(?:\/([^/]+)\/(events|commands))?$/.exec(path) ?? [];
  const runId = decodeURIComponent(encoded);
  const journal = journals.get(runId) ?? [];
  const asked = body === '' ? {} : JSON.parse(body);
  const given = answer === '' ? {} : JSON.parse(answer);
  if (path === '/api/v1/runs') return journals.has(given.runId) ? [] : [`run ${given.runId}`];
  if (what === 'events') return eventsLost(runId, asked.events, given, journal);
  if (what === 'commands')
    return [...journals.values()]
      .flat()
      .some((event) => event.kind === 'command.accepted' && event.commandId === asked.commandId)
      ? []
      : [`command ${asked.commandId}`];
  if (path === '/api/v1/events') {
    const items: readonly { readonly runId: string; readonly status: number; readonly answer: Appended }[] =
      given.items;
    return items.flatMap((item, at) =>
      item.status === 200
        ? eventsLost(item.runId, asked.batches[at].events, item.answer, journals.get(item.runId) ?? [])
        : [],
    );
  }
  return [];
}

const eventsLost = (
  runId: string,
  events: readonly { readonly kind: string }[],
  { firstSeq }: Appended,
  journal: readonly RunEvent[],
): readonly string[] =>
  events.flatMap((event, at) =>
    journal[firstSeq - 1 + at]?.kind === event.kind ? [] : [`${runId} ${firstSeq + at} ${event.kind}`],
  );

/** Whether a request's acknowledgement promises that something is durable. */
export const isPromise = ({ method, status }: Acknowledged): boolean =>
  method === 'POST' && status >= 200 && status < 300;
