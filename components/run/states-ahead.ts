import type { GraphAt } from '@/lib/client/api-types';

/**
 * Declared states that the run has not entered, those nearest to where it stands first; what cannot be reached from
 * there comes last, in the machine's order.
 */
export function statesAhead({
  states,
  edges,
  current,
  initial,
}: Pick<GraphAt, 'states' | 'edges' | 'current' | 'initial'>): readonly {
  readonly name: string;
  readonly tools: readonly string[];
}[] {
  const out = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const known = out.get(from);
    if (known) known.push(to);
    else out.set(from, [to]);
  }
  const from = current ?? initial;
  const order = new Set([from]);
  // A set is walked in the order in which it grows: breadth first.
  for (const name of order) for (const to of out.get(name) ?? []) order.add(to);
  const rank = new Map([...order].map((name, n) => [name, n]));
  return states
    .filter(({ visits, declared }) => visits === 0 && declared)
    .map(({ name, tools }, n) => ({ name, tools, rank: rank.get(name) ?? states.length + n }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ name, tools }) => ({ name, tools }));
}
