import type { MachineDigest } from '@/lib/core/events/ids';
import type { Hash } from '@/lib/core/events/payload';
import { machineDigestOf } from '@/lib/core/machine/drift';
import type { Machine, MachineState } from '@/lib/core/machine/machine';
import { type FileJson, isList, isObject, textOf } from '@/lib/ingest/json';
import { START, type Warn } from './thread-state';

const END = '__end__';

/** The static graph of an assistant (`GET /assistants/{id}/graph`) as a machine; tools are not in it. */
export function machineOf(
  graph: FileJson,
  agent: string,
  hash: Hash,
  warn: Warn,
): { readonly digest: MachineDigest; readonly machine: Machine } | undefined {
  const path = '$.graph';
  const nodes = isObject(graph) && isList(graph['nodes']) ? graph['nodes'] : undefined;
  const edges = isObject(graph) && isList(graph['edges']) ? graph['edges'] : undefined;
  if (nodes === undefined || edges === undefined) {
    warn({
      path,
      message: 'skipped: a graph has "nodes" and "edges"; the states are mined from the history instead',
    });
    return undefined;
  }
  const states = new Map<string, { readonly to: Set<string>; final: boolean }>();
  const stateOf = (name: string) => {
    const known = states.get(name);
    if (known !== undefined) return known;
    const made = { to: new Set<string>(), final: false };
    states.set(name, made);
    return made;
  };
  for (const [i, node] of nodes.entries()) {
    const id = isObject(node) ? nameIn(node['id']) : undefined;
    if (id === undefined) warn({ path: `${path}.nodes[${i}]`, message: 'skipped: a node without an id' });
    else if (id !== START && id !== END) stateOf(id);
  }
  let initial: string | undefined;
  for (const [i, edge] of edges.entries()) {
    const source = isObject(edge) ? nameIn(edge['source']) : undefined;
    const target = isObject(edge) ? nameIn(edge['target']) : undefined;
    if (source === undefined || target === undefined) {
      warn({ path: `${path}.edges[${i}]`, message: 'skipped: an edge without source and target' });
    } else if (source === START) initial ??= target;
    else if (target === END) stateOf(source).final = true;
    else {
      stateOf(source).to.add(target);
      stateOf(target);
    }
  }
  if (initial === undefined || !states.has(initial)) {
    warn({
      path,
      message: `skipped: a graph has an edge from ${START}; the states are mined from the history instead`,
    });
    return undefined;
  }
  const machine: Machine = {
    agent,
    provenance: 'imported',
    initial,
    states: Object.fromEntries(
      [...states].map(([name, { to, final }]): [string, MachineState] => [
        name,
        { transitions: [...to], tools: [], ...(final || to.size === 0 ? { final: true } : {}) },
      ]),
    ),
    tools: {},
  };
  return { digest: machineDigestOf(machine, hash), machine };
}

/** A name that a machine can hold. */
const nameIn = (value: FileJson | undefined): string | undefined => {
  const name = textOf(value);
  return name === undefined ||
    name === '' ||
    name.length > 256 ||
    !name.isWellFormed() ||
    name.includes('\u0000')
    ? undefined
    : name;
};
