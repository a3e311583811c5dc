/** Last arm of every switch over a union: a missing case fails `tsc`, not production. */
export function assertNever(value: never, what: string): never {
  throw new Error(`Unhandled ${what}: ${JSON.stringify(value)}`);
}

/** Narrows away `undefined`; `why` says what guarantees that the value exists. */
export function assertDefined<Value>(value: Value | undefined, why: string): Value {
  if (value === undefined) throw new Error(`Broken invariant: ${why}`);
  return value;
}
