import type { FileJson } from '@/lib/ingest/json';
import type { Layout } from './layout';
import type { Span } from './span';
import { asJson, objectIn } from './values';

/*
 * What steps do not show of the spans: every span with its exact times and whatever else it says, and the resource and
 * scope that it came from.
 */

/** By span: keys whose content is shown elsewhere. */
export type Shown = ReadonlyMap<string, ReadonlySet<string>>;

/** `outside`: of the spans that are the run itself. */
export function shownBy({ steps }: Layout, outside: Shown): Shown {
  const shown = new Map<string, ReadonlySet<string>>(outside);
  for (const { call } of steps)
    for (const [id, keys] of call.shown) shown.set(id, new Set([...(shown.get(id) ?? []), ...keys]));
  return shown;
}

export function restOf(span: Span, shown: Shown): FileJson {
  const hidden = shown.get(span.id) ?? new Set();
  const {
    attributes: _attributes,
    events: _events,
    spanId: _id,
    traceId: _trace,
    ...rest
  } = objectIn(span.whole['span']);
  const attributes = [...span.attributes].filter(([key]) => !hidden.has(key));
  const times = objectIn(span.whole['span'])['events'];
  return {
    span: span.id,
    ...rest,
    ...(attributes.length === 0
      ? {}
      : { attributes: Object.fromEntries(attributes.map(([key, value]) => [key, asJson(value)])) }),
    ...(span.events.length === 0
      ? {}
      : {
          events: span.events.map((event, i) => ({
            name: event.name,
            timeUnixNano: objectIn(Array.isArray(times) ? times[i] : undefined)['timeUnixNano'] ?? null,
            attributes: Object.fromEntries([...event.attributes].map(([key, value]) => [key, asJson(value)])),
          })),
        }),
  };
}

/** What the span came from: its resource and scope. Equal ones have equal keys. */
export function sourceOf({ whole }: Span): { readonly key: string; readonly value: FileJson } {
  const { span: _span, ...around } = whole;
  const key = JSON.stringify(around, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  return { key, value: around };
}
