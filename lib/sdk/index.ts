export type * from './api';
export { AgentCodeError, NotRecordable, NotSent, Rejected, StepFailed, Unavailable } from './errors';
export { defineAgent, startWorker, tool } from './public-functions';
