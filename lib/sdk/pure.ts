import { AgentCodeError, NotRecordable } from './errors';
import { type Operation, type Outcome, recordedError } from './operation';
import { read, store } from './values';

/** A pure call's outcome. `notRecordable`: it ran, and its value cannot be recorded. */
export type PureOutcome = Outcome & { readonly notRecordable?: NotRecordable };

/** Runs a pure call's function. It must be synchronous: what it awaited would not be pure. */
export function evaluate(op: Operation): PureOutcome {
  if (op.work.kind !== 'pure') throw new Error(`Broken invariant: ${op.key} is pure`);
  try {
    // A copy, as the record has it: what the function is given cannot change behind its back.
    const value = op.work.run(read(op.input));
    if (isThenable(value))
      throw new AgentCodeError(`${op.key}: the function of compute and condition must be synchronous`);
    return { ok: true, value: store(value, `the result of ${op.key}`) };
  } catch (error) {
    const failed = { ok: false, failure: 'error', error: recordedError(error) } as const;
    return error instanceof NotRecordable ? { ...failed, notRecordable: error } : failed;
  }
}

const isThenable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
