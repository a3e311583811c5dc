import type { Json } from '@/lib/core/shared/canonical-json';

/** The value with `put` at the JSON Pointer's segments; `undefined` where the path leads through what is not there. */
export function setAtPointer(value: Json, segments: readonly string[], put: Json): Json | undefined {
  const [head, ...rest] = segments;
  if (head === undefined) return put;
  if (isList(value)) {
    const index = head === '-' ? value.length : /^(?:0|[1-9]\d*)$/.test(head) ? Number(head) : -1;
    if (index < 0 || index > value.length || (index === value.length && rest.length > 0)) return undefined;
    const member = setAtPointer(value[index] ?? null, rest, put);
    return member === undefined ? undefined : [...value.slice(0, index), member, ...value.slice(index + 1)];
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const before = Object.hasOwn(value, head) ? value[head] : undefined;
  if (before === undefined && rest.length > 0) return undefined;
  const member = setAtPointer(before ?? null, rest, put);
  if (member === undefined) return undefined;
  // A member named `__proto__` stays a member.
  return Object.fromEntries([
    ...Object.entries(value).filter(([name]) => name !== head || before !== undefined),
    [head, member],
  ]);
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
