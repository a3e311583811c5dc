import type { QuestionRecord, RunState, StepRecord } from './records';

/** What one event does: the state after it, and the rows that it changed. */
export interface Transition {
  readonly state: RunState;
  readonly steps: readonly StepRecord[];
  readonly questions: readonly QuestionRecord[];
}

export const noSteps: readonly StepRecord[] = [];

const noQuestions: readonly QuestionRecord[] = [];

export const only = (state: RunState): Transition => ({ state, steps: noSteps, questions: noQuestions });

export const withSteps = (state: RunState, steps: readonly StepRecord[]): Transition => ({
  state,
  steps,
  questions: noQuestions,
});

/** A copy without one optional member. */
export function without<Value extends object, Key extends keyof Value>(
  value: Value,
  key: Key,
): Omit<Value, Key> & { readonly [K in Key]?: never } {
  if (!(key in value)) return value as Omit<Value, Key> & { readonly [K in Key]?: never };
  const copy = { ...value };
  delete copy[key];
  return copy as Omit<Value, Key> & { readonly [K in Key]?: never };
}

/** The entry under a key that may be any text, a member's name of every object included. */
export const own = <Value>(map: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined;

export function omit<Value>(
  map: Readonly<Record<string, Value>>,
  key: string,
): Readonly<Record<string, Value>> {
  if (!Object.hasOwn(map, key)) return map;
  // Mostly it is the one step that is open. An object that something is deleted from is slow ever after.
  if (Object.keys(map).length === 1) return {};
  const copy = { ...map };
  delete copy[key];
  return copy;
}
