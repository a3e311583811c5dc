import type { Sha256 } from './ids';

/**
 * How a payload's bytes are read. `json`: UTF-8 JSON text, values outside JSON tagged (see `value-codec.ts`);
 * `text`: UTF-8; `bytes`: as they are.
 */
export type Codec = 'json' | 'text' | 'bytes';

/** A value by content: its bytes are stored once under their digest. `bytes` is their count. */
export interface PayloadRef {
  readonly sha256: Sha256;
  readonly bytes: number;
  readonly codec: Codec;
}

/** A payload with its bytes at hand, as it travels beside the events that refer to it. */
export interface Payload extends PayloadRef {
  readonly body: Uint8Array;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Why the bytes cannot be read as the codec says. */
export function misread(codec: Codec, body: Uint8Array): string | undefined {
  if (codec === 'bytes') return undefined;
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return `The bytes are not UTF-8, which codec ${codec} needs.`;
  }
  if (codec === 'text') return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return 'The bytes are not JSON, which codec json needs.';
  }
}

/** What a reference says wrongly of the payload that it names. Bytes may be read by any codec that fits them. */
export function misreferred(ref: PayloadRef, payload: Payload): string | undefined {
  if (ref.bytes !== payload.bytes)
    return `Payload ${ref.sha256} has ${payload.bytes} bytes, not ${ref.bytes}.`;
  const why = ref.codec === payload.codec ? undefined : misread(ref.codec, payload.body);
  return why === undefined ? undefined : `Payload ${ref.sha256}: ${why}`;
}

/** SHA-256 of bytes (or of text as UTF-8), hexadecimal. Passed in: `core` has no hashing of its own. */
export type Hash = (content: Uint8Array | string) => Sha256;
