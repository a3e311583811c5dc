import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Codec, Payload } from '@/lib/core/events/payload';
import { assertDefined } from '@/lib/core/shared/assert';

/*
 * How a payload's bytes lie in the database: as they are, or deflated where that is shorter. The digest, the length
 * and what readers get are those of the bytes themselves.
 */

const CODECS = ['json', 'text', 'bytes'] as const satisfies readonly Codec[];
/** Added to a codec's number where the body is deflated. Frozen, as are the numbers. */
const DEFLATED = 4;

/** Below this nothing is gained; above it the event loop would be held for milliseconds. */
const MIN_BYTES = 128;
const MAX_BYTES = 65_536;
/**
 * Deflating costs about 20 µs for 700 bytes: 10 ms for what a worker's full batch brings, little beside decoding and
 * writing it, and too much for an import's thousands.
 */
const MAX_PAYLOADS = 512;
/** A small window: what is worth a big one is above MAX_BYTES, and setting one up costs more than deflating a message. */
const OPTIONS = { level: 6, windowBits: 12, memLevel: 5 } as const;

/** A codec's number where the body lies as it is. */
export const plainCodec = (codec: Codec): number => CODECS.indexOf(codec);

export interface StoredBody {
  readonly codec: number;
  readonly body: Uint8Array;
}

/** `together`: how many are written in this transaction. */
export function toStored(payload: Payload, together: number): StoredBody {
  const codec = plainCodec(payload.codec);
  const { body } = payload;
  const tried = together <= MAX_PAYLOADS && body.byteLength >= MIN_BYTES && body.byteLength <= MAX_BYTES;
  const deflated = tried ? deflateRawSync(body, OPTIONS) : body;
  return deflated.byteLength < body.byteLength
    ? { codec: codec + DEFLATED, body: deflated }
    : { codec, body };
}

export function fromStored({ codec, body }: StoredBody): Pick<Payload, 'codec' | 'bytes' | 'body'> {
  const content = codec >= DEFLATED ? plainView(inflateRawSync(body)) : body;
  return {
    codec: assertDefined(CODECS[codec % DEFLATED], `payload codec ${codec} is known`),
    bytes: content.byteLength,
    body: content,
  };
}

/** Not a `Buffer`, so that readers see what the port promises. */
export const plainView = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
