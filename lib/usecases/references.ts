import { misreferred, type Payload, type PayloadRef } from '@/lib/core/events/payload';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { WriteContext } from './ports';
import type { BadPayload } from './problems';

/** The references that a commit has to look up: those to what the request does not bring itself. */
export function referredBeyond(
  refs: readonly PayloadRef[],
  brought: readonly Payload[],
): Result<readonly PayloadRef[], BadPayload> {
  const bodies = new Map(brought.map((payload) => [payload.sha256, payload]));
  const beyond = new Map<string, PayloadRef>();
  for (const ref of refs) {
    const payload = bodies.get(ref.sha256);
    const detail = payload === undefined ? undefined : misreferred(ref, payload);
    if (detail !== undefined) return fail({ kind: 'bad-payload', detail });
    if (payload === undefined) beyond.set(`${ref.sha256} ${ref.codec} ${ref.bytes}`, ref);
  }
  return ok([...beyond.values()]);
}

/** The refusal of a request whose references contradict what is stored. */
export const badReference = ({
  badReferences: [detail],
}: Pick<WriteContext, 'badReferences'>): BadPayload | undefined =>
  detail === undefined ? undefined : { kind: 'bad-payload', detail };
