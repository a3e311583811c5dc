import type { Machine, MachineState } from './machine';

/** What runs were seen to do, in the order of first sight; the same thing twice is the same thing. */
export interface Seen {
  readonly agent: string;
  readonly states: Iterable<string>;
  readonly edges: Iterable<readonly [from: string, to: string]>;
  /** States that a run was completed in. */
  readonly finals?: Iterable<string>;
}

/**
 * The machine that shows itself in what was done, marked as mined: states visited and transitions taken. Loops fold, so
 * that runs which do the same give the same machine however often they go round. What a tool does to the world is not to
 * be seen, so no tool is declared; what a run did not do is not in it.
 */
export function machineSeen(seen: Seen): Machine {
  const edges = [...seen.edges];
  const names = new Set([...seen.states, ...edges.flat()]);
  const follow = grouped(edges);
  const finals = new Set(seen.finals ?? []);
  const states = [...names].map((name): [string, MachineState] => [
    name,
    {
      transitions: [...(follow.get(name) ?? [])],
      tools: [],
      ...(finals.has(name) ? { final: true } : {}),
    },
  ]);
  const entered = new Set(edges.map(([, to]) => to));
  const [first = ''] = names;
  return {
    agent: seen.agent,
    provenance: 'mined',
    initial: entered.has(first) ? ([...names].find((name) => !entered.has(name)) ?? first) : first,
    states: Object.fromEntries(states),
    tools: {},
  };
}

function grouped(pairs: Iterable<readonly [string, string]>): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = new Map<string, Set<string>>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, new Set([value]));
    else group.add(value);
  }
  return groups;
}
