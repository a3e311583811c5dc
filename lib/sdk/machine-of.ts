import type { MachineDigest } from '../core/events/ids';
import { machineDigestOf } from '../core/machine/drift';
import type { LlmDeclaration, Machine, MachineState, ToolDeclaration } from '../core/machine/machine';
import type { Agent, AgentState, Llm, Tool } from './api';
import { hash } from './hash';
import { llmLimits } from './tool';

/** An agent's machine and its digest: what it declares, never its functions. */
export function machineOf(agent: Agent): { readonly machine: Machine; readonly digest: MachineDigest } {
  const machine: Machine = {
    agent: agent.name,
    provenance: 'declared',
    initial: agent.initial,
    states: mapValues(agent.states, stateOf),
    tools: mapValues(agent.tools, declarationOf),
    ...(Object.keys(agent.prompts).length === 0 ? {} : { prompts: { ...agent.prompts } }),
    ...(Object.keys(agent.llms).length === 0 ? {} : { llms: mapValues(agent.llms, llmOf) }),
    ...(Object.keys(agent.limits).length === 0 ? {} : { limits: { ...agent.limits } }),
    checkpoints: { ...agent.checkpoints },
  };
  return { machine, digest: machineDigestOf(machine, hash) };
}

const llmOf = (llm: Llm): LlmDeclaration => ({ model: llm.model, ...llmLimits(llm) });

const stateOf = (state: AgentState): MachineState => ({
  transitions: [...state.to],
  tools: [...(state.tools ?? [])],
  ...(state.final === true ? { final: true } : {}),
  ...(state.version === undefined ? {} : { version: state.version }),
});

const declarationOf = (tool: Tool): ToolDeclaration => ({
  effect: tool.effect,
  keyed: tool.keyed,
  verify: tool.verify !== undefined,
  timeoutMs: tool.timeoutMs,
  settlesWithinMs: tool.settlesWithinMs,
  keyValidForMs: tool.keyValidForMs,
  retries: tool.retries,
  ...(tool.input === undefined ? {} : { input: tool.input }),
  ...(tool.result === undefined ? {} : { result: tool.result }),
  ...(tool.version === undefined ? {} : { version: tool.version }),
  ...(tool.secrets === undefined || tool.secrets.length === 0
    ? {}
    : { secrets: [...new Set(tool.secrets)].sort() }),
  ...(tool.description === undefined ? {} : { description: tool.description }),
});

const mapValues = <In, Out>(
  record: Readonly<Record<string, In>>,
  fn: (value: In) => Out,
): Record<string, Out> => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, fn(value)]));
