import type { Effect, Machine } from './machine';

export interface ReachableTool {
  readonly name: string;
  readonly effect: Effect;
  /** Reachable states that may call it. */
  readonly states: readonly string[];
  /** False: external, and downstream knows no key, so a late send cannot be stopped. */
  readonly guarded: boolean;
}

export interface Reach {
  /** The state itself and all that may follow, in order of discovery (breadth first). */
  readonly states: readonly string[];
  /** By name. */
  readonly tools: readonly ReachableTool[];
}

/** What may still happen from `state` on. O(states + transitions + tools). */
export function reachFrom(machine: Machine, state: string): Reach {
  const states = new Set([state]);
  for (const name of states) for (const next of machine.states[name]?.transitions ?? []) states.add(next);
  const callers = new Map<string, string[]>();
  for (const name of states) {
    for (const tool of machine.states[name]?.tools ?? [])
      callers.set(tool, [...(callers.get(tool) ?? []), name]);
  }
  const tools: ReachableTool[] = [];
  for (const [name, by] of [...callers].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const tool = machine.tools[name];
    if (tool)
      tools.push({
        name,
        effect: tool.effect,
        states: by,
        guarded: tool.effect !== 'external' || tool.keyed,
      });
  }
  return { states: [...states], tools };
}
