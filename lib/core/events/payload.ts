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

/** SHA-256 of bytes (or of text as UTF-8), hexadecimal. Passed in: `core` has no hashing of its own. */
export type Hash = (content: Uint8Array | string) => Sha256;
