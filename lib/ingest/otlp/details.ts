import type { FileJson } from '@/lib/ingest/json';
import type { Layout } from './layout';
import type { Span } from './span';
import type { Node, Tree } from './tree';
import { asJson, objectIn } from './values';

/*
 * What steps do not show of the spans: every span with its exact times and whatever else it says, and the resources
 * and scopes that they came from. As values, a few hundred spans each.
 */

export type Details = readonly { readonly name: string; readonly value: FileJson }[];

const AT_ONCE = 200;

export function detailsOf(
  tree: Tree,
  layout: Layout,
  outside: ReadonlyMap<string, ReadonlySet<string>>,
): Details {
  const shownAs = placesOf(tree, layout);
  const shown = new Map<string, ReadonlySet<string>>(outside);
  for (const { call } of layout.steps)
    for (const [id, keys] of call.shown) shown.set(id, new Set([...(shown.get(id) ?? []), ...keys]));
  const sources = sourcesOf(tree.nodes);
  const rows = tree.nodes.map(
    (node): FileJson => ({
      span: node.span.id,
      as: shownAs.get(node) ?? 'the run',
      ...rowOf(node.span, shown.get(node.span.id)),
      ...(sources.list.length > 1 ? { from: sources.indexOf(node.span) + 1 } : {}),
    }),
  );
  const chunks: { name: string; value: FileJson }[] = [];
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    const to = Math.min(rows.length, from + AT_ONCE);
    chunks.push({
      name: rows.length <= AT_ONCE ? 'spans' : `spans ${from + 1}-${to}`,
      value: rows.slice(from, to),
    });
  }
  return rows.length === 0 ? [] : [{ name: 'sources', value: sources.list }, ...chunks];
}

/** Step or visit that a span is shown as, or is told by. */
function placesOf(tree: Tree, { steps, visits }: Layout): ReadonlyMap<Node, string> {
  const places = new Map<Node, string>();
  for (const { node, key } of visits) if (node !== undefined) places.set(node, key);
  for (const { node, key } of steps) places.set(node, key);
  for (const node of tree.nodes) {
    const above = node.parent === undefined ? undefined : places.get(node.parent);
    if (!places.has(node) && above !== undefined)
      places.set(node, above.startsWith('in ') ? above : `in ${above}`);
  }
  return places;
}

function rowOf(span: Span, shown: ReadonlySet<string> = new Set()): { readonly [key: string]: FileJson } {
  const {
    attributes: _attributes,
    events: _events,
    spanId: _id,
    traceId: _trace,
    ...rest
  } = objectIn(span.whole['span']);
  const attributes = [...span.attributes].filter(([key]) => !shown.has(key));
  const times = objectIn(span.whole['span'])['events'];
  return {
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

/** What the spans came from: each resource with its scope once, in the order of the spans. */
function sourcesOf(nodes: readonly Node[]) {
  const places = new Map<string, number>();
  const list: FileJson[] = [];
  const keyOf = ({ whole: { span: _span, ...around } }: Span) =>
    JSON.stringify(around, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
  for (const { span } of nodes) {
    const key = keyOf(span);
    if (places.has(key)) continue;
    places.set(key, list.length);
    const { span: _span, ...around } = span.whole;
    list.push(around);
  }
  return { list, indexOf: (span: Span) => places.get(keyOf(span)) ?? 0 };
}
