import type { Codec, Hash, Payload, PayloadRef } from '@/lib/core/events/payload';
import type { Json } from '@/lib/core/shared/canonical-json';

const encoder = new TextEncoder();

export function payloadOf(codec: Codec, body: Uint8Array, hash: Hash): Payload {
  return { sha256: hash(body), bytes: body.byteLength, codec, body };
}

/** A value that came as JSON in a request is the codec's text already: tagged members stand for what JSON lacks. */
export const jsonPayload = (value: Json, hash: Hash): Payload =>
  payloadOf('json', encoder.encode(JSON.stringify(value)), hash);

export const refOf = ({ sha256, bytes, codec }: PayloadRef): PayloadRef => ({ sha256, bytes, codec });

/** The JSON that a reference says its payload is: how bytes are read is the reference's to say, whoever stored them. */
export const jsonOf = (ref: PayloadRef, payload: Payload | undefined): Json | undefined =>
  ref.codec === 'json' && payload !== undefined
    ? (JSON.parse(new TextDecoder().decode(payload.body)) as Json)
    : undefined;
