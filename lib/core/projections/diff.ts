import type { PayloadRef } from '../events/payload';
import { canonicalJson, type Json } from '../shared/canonical-json';
import { pointerTo } from '../shared/json-pointer';
import type { RunState } from './records';

/** One difference. `path`: JSON Pointer under `/variables`, `/visit`, `/messages/count`, `/status`, `/input`. */
export interface StateChange {
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly left?: Json;
  readonly right?: Json;
  readonly leftRef?: PayloadRef;
  readonly rightRef?: PayloadRef;
}

/** Gives a payload's JSON; undefined where it is not at hand (too large, other codec). */
export type Resolve = (ref: PayloadRef) => Json | undefined;

/**
 * Differences of two states, in order of path. `resolve` lets variables be compared in depth; what it does not give is
 * named whole, by reference.
 */
export function diffStates(
  left: RunState,
  right: RunState,
  resolve: Resolve = () => undefined,
): readonly StateChange[] {
  const changes: StateChange[] = [];
  diffValue('/status', left.status, right.status, changes);
  diffValue('/visit', left.visit?.key, right.visit?.key, changes);
  diffValue('/messages/count', left.messages.count, right.messages.count, changes);
  diffRef('/input', left.input, right.input, resolve, changes);
  for (const name of new Set([...Object.keys(left.variables), ...Object.keys(right.variables)])) {
    diffRef(pointerTo('variables', name), left.variables[name], right.variables[name], resolve, changes);
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function diffRef(
  path: string,
  left: PayloadRef | undefined,
  right: PayloadRef | undefined,
  resolve: Resolve,
  into: StateChange[],
): void {
  if (left?.sha256 === right?.sha256) return;
  const refs = { ...(left && { leftRef: left }), ...(right && { rightRef: right }) };
  const before = left && resolve(left);
  const after = right && resolve(right);
  if (
    before !== undefined &&
    after !== undefined &&
    isNode(before) &&
    isNode(after) &&
    Array.isArray(before) === Array.isArray(after)
  ) {
    diffValue(path, before, after, into);
    return;
  }
  into.push({
    path,
    change: left === undefined ? 'added' : right === undefined ? 'removed' : 'changed',
    ...(before !== undefined && { left: before }),
    ...(after !== undefined && { right: after }),
    ...refs,
  });
}

function diffValue(path: string, left: Json | undefined, right: Json | undefined, into: StateChange[]): void {
  if (left === undefined && right === undefined) return;
  if (left === undefined || right === undefined) {
    into.push({
      path,
      change: left === undefined ? 'added' : 'removed',
      ...(left !== undefined && { left }),
      ...(right !== undefined && { right }),
    });
    return;
  }
  if (isNode(left) && isNode(right) && Array.isArray(left) === Array.isArray(right)) {
    const before = left as Readonly<Record<string, Json | undefined>>;
    const after = right as Readonly<Record<string, Json | undefined>>;
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      diffValue(`${path}${pointerTo(key)}`, member(before, key), member(after, key), into);
    }
    return;
  }
  if (canonicalJson(left) !== canonicalJson(right)) into.push({ path, change: 'changed', left, right });
}

const isNode = (value: Json): value is Exclude<Json, null | boolean | number | string> =>
  typeof value === 'object' && value !== null;
const member = (of: Readonly<Record<string, Json | undefined>>, key: string): Json | undefined =>
  Object.hasOwn(of, key) ? of[key] : undefined;
