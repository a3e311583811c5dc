import { z } from 'zod';
import { json, mapOf, wireCommandId, wireQuestionId, wireSeq, wireSha256, wireStepKey } from './common';
import { decision, edit, planFrom, planOptions } from './events';

/** A decision as a person sends it: its result inline; the server stores it as a payload. */
export const decisionBody = decision
  .omit({ result: true })
  .extend({ result: z.strictObject({ value: json }).exactOptional() });
const decisions = mapOf(z.string().max(2_048), decisionBody);

export const planBody = z.strictObject({
  mode: z.enum(['resume', 'rewind', 'fork', 'replay']),
  from: planFrom.default('latest'),
  edits: z.array(edit).max(256).optional(),
  decisions: decisions.optional(),
  options: planOptions.optional(),
});

const given = { commandId: wireCommandId, reason: z.string().max(4_096).default('') };
const planned = {
  from: planFrom.default('latest'),
  planDigest: wireSha256,
  edits: z.array(edit).max(256).optional(),
  decisions: decisions.optional(),
  options: planOptions.optional(),
};

export const commandBody = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('resume'), ...given, ...planned }),
  z.strictObject({ mode: z.literal('rewind'), ...given, ...planned }),
  z.strictObject({ mode: z.literal('fork'), ...given, ...planned }),
  z.strictObject({ mode: z.literal('replay'), ...given, ...planned }),
  z.strictObject({ mode: z.literal('verify'), ...given, stepKey: wireStepKey }),
  z.strictObject({ mode: z.literal('decide'), ...given, decisions }),
  z.strictObject({
    mode: z.literal('answer'),
    ...given,
    questionId: wireQuestionId,
    questionDigest: wireSha256,
    value: json,
  }),
  z.strictObject({ mode: z.literal('pause'), ...given }),
  z.strictObject({ mode: z.literal('cancel'), ...given }),
]);
export type CommandBody = z.output<typeof commandBody>;
/** `runId` is the new run's for fork and replay. */
export const commandAnswer = z.object({ commandId: wireCommandId, runId: z.string(), headSeq: wireSeq });
