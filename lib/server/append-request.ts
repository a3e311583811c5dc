import type { z } from 'zod';
import type { RunId } from '@/lib/core/events/ids';
import type { AppendAnswer } from '@/lib/core/journal/append-batch';
import type { Result } from '@/lib/core/shared/result';
import { type AppendEventsProblem, appendEvents } from '@/lib/usecases/append-events';
import { type AppendUnleasedProblem, appendUnleased } from '@/lib/usecases/append-unleased';
import { type InlinePayload, takeInline } from '@/lib/usecases/inline-payloads';
import type { inlinePayload } from '@/lib/wire/v1/common';
import type { appendBody } from '@/lib/wire/v1/worker';
import type { Deps } from './deps';

export type AppendRequestProblem = AppendEventsProblem | AppendUnleasedProblem;

/** HTTP status of every way in which an append is refused; shared by the routes for one run and for several. */
export const appendStatus = {
  'not-found': 404,
  mirror: 409,
  'stale-epoch': 409,
  'not-held': 409,
  'batch-gap': 409,
  'batch-differs': 409,
  'effect-exists': 409,
  moved: 409,
  'needs-lease': 409,
  'unknown-payloads': 422,
  'refused-event': 422,
  'bad-payload': 400,
} as const satisfies Record<AppendRequestProblem['kind'], number>;

/** Bytes of the payloads that travel with a batch. */
export const unpack = (inline: readonly z.output<typeof inlinePayload>[]): readonly InlinePayload[] =>
  inline.map((payload) => ({
    sha256: payload.sha256,
    codec: payload.codec,
    body: 'base64' in payload ? Buffer.from(payload.base64, 'base64') : Buffer.from(payload.text),
  }));

/** One run's batch as it was sent, by its holder or by a writer without a lease. */
export async function appendFrom(
  deps: Deps,
  runId: RunId,
  body: z.output<typeof appendBody>,
): Promise<Result<AppendAnswer, AppendRequestProblem>> {
  const taken = takeInline(unpack(body.payloads ?? []), deps.hash);
  if (!taken.ok) return taken;
  const payloads = taken.value;
  return 'expectedSeq' in body
    ? appendUnleased(deps, { runId, expectedSeq: body.expectedSeq, events: body.events, payloads })
    : appendEvents(deps, {
        runId,
        epoch: body.epoch,
        batch: body.batch,
        seenSeq: body.seenSeq,
        events: body.events,
        payloads,
      });
}
