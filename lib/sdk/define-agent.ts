import { defaultCheckpointPolicy } from '../core/checkpoints/policy';
import type { Agent, AgentOptions, AgentState } from './api';
import { replayEntry } from './replay-entry';

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
    if (typeof value !== 'string' || value.length === 0 || value.length > 256 || value.startsWith('$')) {
      wrong.push(
        `${what} ${JSON.stringify(value)} must be text of 1 to 256 characters that does not begin with $`,
      );
    } else if (!value.isWellFormed() || value.includes('\u0000')) {
      wrong.push(`${what} ${JSON.stringify(value)} must be well-formed text without U+0000`);
    }
  };
  name('name', options.name);
  for (const [state] of states) name('state', state);
  for (const [toolName] of tools) name('tool', toolName);
  for (const llm of Object.keys(options.llms ?? {})) name('llm', llm);
  if (!Object.hasOwn(options.states ?? {}, options.initial)) {
    wrong.push(`initial state ${JSON.stringify(options.initial)} is not declared`);
  }
  for (const [state, declared] of states) wrong.push(...problemsOfState(state, declared, options));
  if (states.length > 0 && !states.some(([, declared]) => declared.final === true)) {
    wrong.push('no state is final');
  }
  for (const [llm, declared] of Object.entries(options.llms ?? {})) {
    if (typeof declared.client?.complete !== 'function')
      wrong.push(`llm ${llm} has no client with complete()`);
    if (typeof declared.model !== 'string' || declared.model === '') wrong.push(`llm ${llm} names no model`);
  }
  for (const [key, value] of Object.entries(options.checkpoints ?? {})) {
    if (!Number.isInteger(value) || value < 1)
      wrong.push(`checkpoints.${key} must be a whole number above 0`);
  }
  return wrong;
}

function problemsOfState(state: string, declared: AgentState, options: AgentOptions): readonly string[] {
  const wrong: string[] = [];
  if (typeof declared.run !== 'function') wrong.push(`state ${state} has no run()`);
  for (const to of declared.to) {
    if (!Object.hasOwn(options.states, to))
      wrong.push(`state ${state} leads to ${to}, which is not declared`);
  }
  for (const used of declared.tools ?? []) {
    if (!Object.hasOwn(options.tools ?? {}, used))
      wrong.push(`state ${state} names tool ${used}, which is not declared`);
  }
  if (declared.final === true && declared.to.length > 0)
    wrong.push(`state ${state} is final, yet it leads to others`);
  if (declared.final !== true && declared.to.length === 0) {
    wrong.push(`state ${state} leads nowhere: name its transitions or mark it final`);
  }
  return wrong;
}
