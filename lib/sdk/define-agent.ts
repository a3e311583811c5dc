import { defaultCheckpointPolicy } from '../core/checkpoints/policy';
import type { Agent, AgentOptions, AgentState } from './api';
import { replayEntry } from './replay-entry';
import { nameProblem, shownName, stepNameProblem, textOf } from './texts';
import { isWholeNumber, MOST } from './tool';

/** Marks an agent across copies of the SDK: a module may be loaded beside another copy. */
const AGENT = Symbol.for('rerail.agent');

/**
 * Declares an agent. Throws one error that names everything wrong with the declaration: transitions to states that do
 * not exist, tools that are not declared, states that lead nowhere, names that cannot be addressed.
 */
export function defineAgent(options: AgentOptions): Agent {
  const wrong = problemsOf(options);
  if (wrong.length > 0) throw new TypeError(`defineAgent(${String(options.name)}): ${wrong.join('; ')}`);
  const agent: Agent = {
    name: options.name,
    initial: options.initial,
    states: options.states,
    tools: options.tools ?? {},
    llms: options.llms ?? {},
    prompts: options.prompts ?? {},
    checkpoints: {
      everySteps: options.checkpoints?.everySteps ?? defaultCheckpointPolicy.everySteps,
      everyMs: options.checkpoints?.everyMs ?? defaultCheckpointPolicy.everyMs,
    },
    autoVerify: options.autoVerify ?? false,
    limits: { ...options.limits },
  };
  Object.defineProperty(agent, AGENT, { value: replayEntry });
  return Object.freeze(agent);
}

/** True for what `defineAgent` of this or another copy of the SDK made. */
const isAgent = (value: unknown): value is Agent =>
  typeof value === 'object' && value !== null && AGENT in value;

/** Every agent that a module exports, by name. Throws where two have one name. */
export function agentsOf(module: Readonly<Record<string, unknown>>, url: string): readonly Agent[] {
  const found = new Map<string, Agent>();
  for (const value of Object.values(module)) {
    if (!isAgent(value) || found.get(value.name) === value) continue;
    if (found.has(value.name)) throw new TypeError(`${url} exports two agents named ${value.name}`);
    found.set(value.name, value);
  }
  return [...found.values()];
}

function problemsOf(options: AgentOptions): readonly string[] {
  const wrong: string[] = [];
  const states = Object.entries(options.states ?? {});
  const tools = Object.entries(options.tools ?? {});
  const name = (what: string, value: unknown) => {
    // A map that is parsed or checked by name loses it.
    const problem = value === '__proto__' ? 'cannot be used as a name' : stepNameProblem(value);
    if (problem !== undefined) wrong.push(`${what} ${shownName(value)} ${problem}`);
  };
  name('name', options.name);
  for (const [state] of states) name('state', state);
  for (const [toolName] of tools) name('tool', toolName);
  for (const llm of Object.keys(options.llms ?? {})) name('llm', llm);
  if (!Object.hasOwn(options.states ?? {}, options.initial)) {
    wrong.push(`initial state ${shownName(options.initial)} is not declared`);
  }
  for (const [state, declared] of states) wrong.push(...problemsOfState(state, declared, options));
  if (states.length > 0 && !states.some(([, declared]) => declared.final === true)) {
    wrong.push('no state is final');
  }
  for (const [llm, declared] of Object.entries(options.llms ?? {})) {
    if (typeof declared.client?.complete !== 'function')
      wrong.push(`llm ${llm} has no client with complete()`);
    const model = nameProblem(declared.model);
    if (model !== undefined) wrong.push(`the model of llm ${llm} ${model}`);
    for (const [limit, least] of [
      ['timeoutMs', 1],
      ['retries', 0],
    ] as const) {
      const value = declared[limit];
      if (value !== undefined && !isWholeNumber(value, least))
        wrong.push(`${limit} of llm ${llm} must be a whole number from ${least} to ${MOST}`);
    }
  }
  for (const [key, value] of Object.entries(options.checkpoints ?? {})) {
    if (!isWholeNumber(value, 1)) wrong.push(`checkpoints.${key} must be a whole number from 1 to ${MOST}`);
  }
  for (const [key, value] of Object.entries(options.limits ?? {})) {
    if (key !== 'steps' && key !== 'costMicroUsd') wrong.push(`limits has no ${shownName(key)}`);
    else if (!Number.isSafeInteger(value) || value < 1)
      wrong.push(`limits.${key} must be a whole number from 1`);
  }
  return wrong;
}

function problemsOfState(state: string, declared: AgentState, options: AgentOptions): readonly string[] {
  const wrong: string[] = [];
  if (typeof declared?.run !== 'function') wrong.push(`state ${state} has no run()`);
  const { to, tools = [] }: { readonly to?: unknown; readonly tools?: unknown } = declared ?? {};
  if (!Array.isArray(to)) return [...wrong, `state ${state} has no list of transitions, “to”`];
  for (const next of to) {
    if (!Object.hasOwn(options.states, next))
      wrong.push(`state ${state} leads to ${textOf(() => next)}, which is not declared`);
  }
  if (!Array.isArray(tools)) return [...wrong, `“tools” of state ${state} is no list`];
  for (const used of tools) {
    if (!Object.hasOwn(options.tools ?? {}, used))
      wrong.push(`state ${state} names tool ${textOf(() => used)}, which is not declared`);
  }
  if (declared.final === true && to.length > 0) wrong.push(`state ${state} is final, yet it leads to others`);
  if (declared.final !== true && to.length === 0) {
    wrong.push(`state ${state} leads nowhere: name its transitions or mark it final`);
  }
  return wrong;
}
