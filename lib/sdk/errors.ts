import type { FailureKind } from './api';

/** Thrown by a tool: the call surely did not leave this process. The only failure after which an external call may be sent again unasked. */
export class NotSent extends Error {
  override readonly name: string = 'NotSent';
}

/** Thrown by a tool: the downstream refused the call, and surely did nothing. */
export class Rejected extends Error {
  override readonly name: string = 'Rejected';
}

/** Thrown by a tool: the downstream is down or overloaded. What happened is not known. */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
}

/** What agent code is given when a step failed for good. It is the same on every resume and replay. */
export class StepFailed extends Error {
  override readonly name: string = 'StepFailed';
  readonly stepKey: string;
  readonly failure: FailureKind;
  /** The name of the error that the tool threw. */
  readonly type: string;
  constructor(stepKey: string, failure: FailureKind, type: string, message: string) {
    super(message);
    this.stepKey = stepKey;
    this.failure = failure;
    this.type = type;
  }
}

/** A value that cannot be recorded; `path` says where in it, such as `$.a[3].b`. */
export class NotRecordable extends Error {
  override readonly name: string = 'NotRecordable';
  readonly path: string;
  constructor(what: string, path: string, why: string) {
    super(`${what} cannot be recorded at ${path}: ${why}`);
    this.path = path;
  }
}

/** The agent's code broke a rule of the SDK: an undeclared tool or state, a name whose number depends on a race. */
export class AgentCodeError extends Error {
  override readonly name: string = 'AgentCodeError';
}

/** Unwinds agent code of a run that this process no longer executes. Never recorded. */
export class Stopped extends Error {
  override readonly name: string = 'Stopped';
}
