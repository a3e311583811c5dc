import type { Sha256 } from '@/lib/core/events/ids';
import { type Codec, type Hash, misread, type Payload } from '@/lib/core/events/payload';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { payloadOf } from './payload-of';
import type { BadPayload } from './problems';

/** A payload as it travels in a request, its bytes unpacked. */
export interface InlinePayload {
  readonly sha256: Sha256;
  readonly codec: Codec;
  readonly body: Uint8Array;
}

/** Payloads out of a request, where each has the digest and the codec that it claims. */
export function takeInline(
  inline: readonly InlinePayload[],
  hash: Hash,
): Result<readonly Payload[], BadPayload> {
  const taken: Payload[] = [];
  for (const [index, { sha256, codec, body }] of inline.entries()) {
    const payload = payloadOf(codec, body, hash);
    const wrong =
      payload.sha256 === sha256
        ? misread(codec, body)
        : `The bytes have the digest ${payload.sha256}, not ${sha256}.`;
    if (wrong !== undefined) return fail({ kind: 'bad-payload', detail: `Payload ${index}: ${wrong}` });
    taken.push(payload);
  }
  return ok(taken);
}
