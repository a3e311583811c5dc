import { assertNever } from '../shared/assert';
import type { PayloadRef } from './payload';
import type { EventBody } from './run-event';

/** Every payload that an event refers to; a writer must have stored them. */
export function payloadRefsOf(event: EventBody): readonly PayloadRef[] {
  switch (event.kind) {
    case 'run.started':
      return some(event.input);
    case 'run.completed':
      return some(event.result);
    case 'step.started':
      return some(event.input);
    case 'step.completed':
      return some(event.result, event.message);
    case 'step.failed':
      return some(event.partial);
    case 'step.reused':
      return some(event.input, event.result, event.message);
    case 'step.skipped':
      return some(event.input, event.result);
    case 'variables.patched':
      return some(...event.patch.map((one) => one.value));
    case 'message.appended':
      return [event.message];
    case 'context.compacted':
      return some(event.summary);
    case 'effect.verified':
      return some(event.result);
    case 'effect.decided':
      return some(event.decision.result);
    case 'effect.conflict':
      return [event.asked];
    case 'question.asked':
      return [event.question];
    case 'question.answered':
      return [event.value];
    case 'command.accepted':
      return some(...Object.values(event.decisions ?? {}).map((decision) => decision.result));
    case 'divergence.found':
      return some(event.recorded, event.asked);
    case 'run.queued':
    case 'run.waiting':
    case 'run.paused':
    case 'run.interrupted':
    case 'run.resumed':
    case 'run.rewound':
    case 'run.failed':
    case 'run.cancelled':
    case 'state.entered':
    case 'state.left':
    case 'scope.left':
    case 'value.recorded':
    case 'api.unavailable':
    case 'api.recovered':
    case 'checkpoint.saved':
    case 'question.expired':
    case 'command.ended':
      return none;
    default:
      return assertNever(event, 'event kind');
  }
}

const none: readonly PayloadRef[] = [];
const some = (...refs: readonly (PayloadRef | undefined)[]): readonly PayloadRef[] =>
  refs.filter((ref) => ref !== undefined);
