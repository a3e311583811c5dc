import type { MachineDigest } from '../events/ids';
import type { Hash } from '../events/payload';
import { canonicalJson, type Json } from '../shared/canonical-json';
import { namesIn, pointerTo } from '../shared/json-pointer';
import type { Machine, MachineDifference } from './machine';

/** Digest of what the machine declares. Where it comes from (`provenance`) and the order of names are no part of it. */
export function machineDigestOf(machine: Machine, hash: Hash): MachineDigest {
  return hash(canonicalJson(declared(machine))) as string as MachineDigest;
}

/** What counts, with sets in order, so that equal declarations are equal text. */
function declared(machine: Machine): Json {
  const { provenance: _provenance, ...rest } = machine;
  const states = Object.fromEntries(
    Object.entries(machine.states).map(([name, state]) => [
      name,
      {
        ...state,
        final: state.final === true,
        transitions: sorted(state.transitions),
        tools: sorted(state.tools),
      },
    ]),
  );
  return JSON.parse(
    JSON.stringify({ ...rest, states, models: sorted(machine.models ?? []), prompts: machine.prompts ?? {} }),
  ) as Json;
}

const sorted = (names: readonly string[]): readonly string[] => [...names].sort();

/** Every declared difference by name, in order of path. For now each one blocks. */
export function compareMachines(recorded: Machine, now: Machine): readonly MachineDifference[] {
  const differences: MachineDifference[] = [];
  const isOlder = recorded.models !== undefined || now.models !== undefined;
  const form = isOlder ? withModelsOnly : (machine: Machine) => machine;
  compare('', declared(form(recorded)), declared(form(now)), differences);
  return differences.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Beside a machine that does not say which llm has which model, the models are all that can be compared. */
function withModelsOnly({ llms = {}, models = [], ...rest }: Machine): Machine {
  return { ...rest, models: [...new Set([...models, ...Object.values(llms).map(({ model }) => model)])] };
}

function compare(
  path: string,
  recorded: Json | undefined,
  now: Json | undefined,
  into: MachineDifference[],
): void {
  if (recorded !== undefined && now !== undefined && canonicalJson(recorded) === canonicalJson(now)) return;
  if (isObject(recorded) && isObject(now) && !isValue(path)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      const before = recorded[key];
      const after = now[key];
      if (before !== undefined || after !== undefined)
        compare(`${path}${pointerTo(key)}`, before, after, into);
    }
    return;
  }
  into.push({
    path,
    grade: 'block',
    ...(recorded !== undefined && { recorded }),
    ...(now !== undefined && { now }),
    sentence: sentenceOf(path, recorded, now),
  });
}

/** JSON Schemas are compared whole: their insides are not names of ours. */
const isValue = (path: string): boolean => /^\/tools\/[^/]+\/(input|result)$/.test(path);

const isObject = (value: Json | undefined): value is { readonly [key: string]: Json | undefined } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const things: Readonly<Record<string, string>> = {
  states: 'State',
  tools: 'Tool',
  prompts: 'Prompt',
  llms: 'LLM',
};

function sentenceOf(path: string, recorded: Json | undefined, now: Json | undefined): string {
  const [area = '', name, ...rest] = namesIn(path);
  const thing =
    things[area] !== undefined && name !== undefined
      ? `${things[area]} ${name}`
      : [area, name].filter((part) => part !== undefined).join('.');
  const what =
    things[area] === undefined
      ? [thing, ...rest].join('.')
      : rest.length > 0
        ? `${thing}: ${rest.join('.')}`
        : thing;
  if (recorded === undefined) return `${what} was added since the run was recorded.`;
  if (now === undefined) return `${what} is gone since the run was recorded.`;
  return isValue(path)
    ? `${thing}: the schema of its ${rest[0]} changed.`
    : `${what} changed from ${brief(recorded)} to ${brief(now)}.`;
}

function brief(value: Json): string {
  const text = canonicalJson(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
