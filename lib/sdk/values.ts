import type { Sha256 } from '../core/events/ids';
import type { PayloadRef } from '../core/events/payload';
import { decodeValue, digestOf, encodeValue } from '../core/events/value-codec';
import { NotRecordable } from './errors';
import { hash } from './hash';

/** A value as it is recorded: its JSON text, and the reference that events carry. */
export interface Stored {
  readonly ref: PayloadRef;
  readonly text: string;
}

/** `text` is JSON text, as `encodeValue` gives it. */
export const storedText = (text: string): Stored => ({
  text,
  ref: { sha256: hash(text), bytes: Buffer.byteLength(text), codec: 'json' },
});

/** Records a value. Throws `NotRecordable` with the path of the part that cannot be; `what` names the value. */
export function store(value: unknown, what: string): Stored {
  const encoded = encodeValue(value);
  if (!encoded.ok) throw new NotRecordable(what, encoded.problem.path, encoded.problem.why);
  return storedText(encoded.value);
}

/** A fresh copy of a recorded value. Code is given this, live too, so that a resume gives it nothing else. */
export const read = (stored: Stored): unknown => decodeValue(stored.text);

/** Equal values have equal digests, whatever the order of their keys. */
export const digest = (stored: Stored): Sha256 => digestOf(stored.text, hash);
