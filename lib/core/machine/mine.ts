import type { RunEvent } from '../events/run-event';
import { visitOf } from '../events/step-key';
import type { Machine, MachineState } from './machine';

/** What runs were seen to do, in the order of first sight; the same thing twice is the same thing. */
export interface Seen {
  readonly agent: string;
  readonly states: Iterable<string>;
  readonly edges: Iterable<readonly [from: string, to: string]>;
  readonly tools?: Iterable<readonly [state: string, tool: string]>;
  readonly models?: Iterable<string>;
  /** States that a run was completed in. */
  readonly finals?: Iterable<string>;
}

/**
 * The machine that shows itself in what was done, marked as mined: states visited, transitions taken, which tools were
 * called where. Loops fold, so that runs which do the same give the same machine however often they go round. What
 * a tool does to the world is not to be seen, so no tool is declared; what a run did not do is not in it.
 */
export function machineSeen(seen: Seen): Machine {
  const edges = [...seen.edges];
  const names = new Set([...seen.states, ...edges.flat()]);
  const follow = grouped(edges);
  const tools = grouped(seen.tools ?? []);
  const finals = new Set(seen.finals ?? []);
  const states = [...names].map((name): [string, MachineState] => [
    name,
    {
      transitions: [...(follow.get(name) ?? [])],
      tools: [...(tools.get(name) ?? [])].sort(),
      ...(finals.has(name) ? { final: true } : {}),
    },
  ]);
  const entered = new Set(edges.map(([, to]) => to));
  const [first = ''] = names;
  const models = [...new Set(seen.models ?? [])].sort();
  return {
    agent: seen.agent,
    provenance: 'mined',
    initial: entered.has(first) ? ([...names].find((name) => !entered.has(name)) ?? first) : first,
    states: Object.fromEntries(states),
    tools: {},
    ...(models.length > 0 ? { models } : {}),
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

/** Mines a journal, `events` ascending. The state that was entered first is the initial one. O(events). */
export function mineMachine(agent: string, events: Iterable<RunEvent>): Machine {
  const states = new Set<string>();
  const edges: (readonly [string, string])[] = [];
  const tools: (readonly [string, string])[] = [];
  const models: string[] = [];
  let newest: string | undefined;
  let last: string | undefined;
  for (const event of events) {
    switch (event.kind) {
      case 'state.entered':
        states.add(event.state);
        if (event.from !== undefined) edges.push([event.from, event.state]);
        newest = event.state;
        break;
      case 'state.left':
        if (event.to !== undefined) edges.push([event.state, event.to]);
        break;
      case 'step.started':
        if (event.step === 'tool') tools.push([visitOf(event.stepKey).state, event.name]);
        if (event.model !== undefined) models.push(event.model);
        break;
      case 'run.completed':
        last = newest;
        break;
      default:
    }
  }
  const [initial] = states;
  const machine = machineSeen({
    agent,
    states,
    edges,
    tools,
    models,
    finals: last === undefined ? [] : [last],
  });
  return initial === undefined ? machine : { ...machine, initial };
}
