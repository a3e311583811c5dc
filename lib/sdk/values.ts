import type { Sha256 } from '../core/events/ids';
import type { PayloadRef } from '../core/events/payload';
import { decodeValue, digestOf, encodeValue } from '../core/events/value-codec';
import { NotRecordable } from './errors';
import { hash } from './hash';
import { secretAt } from './secret-texts';
import { textOf } from './texts';

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

/** What the console takes in one request, unless it was told to take less. */
const LARGEST_BYTES = 32 * 1024 * 1024;

/** Records a value. Throws `NotRecordable` with the path of the part that cannot be; `what` names the value. */
export function store(value: unknown, what: string): Stored {
  const stored = storedText(encoded(value, what));
  const leak = secretAt(stored.text, () => read(stored));
  if (leak !== undefined) throw new NotRecordable(what, leak.path, `it holds the secret ${leak.name}`);
  if (stored.ref.bytes > LARGEST_BYTES)
    throw new NotRecordable(what, '$', `${stored.ref.bytes} bytes; at most ${LARGEST_BYTES} can be`);
  return stored;
}

function encoded(value: unknown, what: string): string {
  let result: ReturnType<typeof encodeValue>;
  try {
    result = encodeValue(value);
  } catch (thrown) {
    // The value's own code: a getter, a proxy.
    throw new NotRecordable(what, '$', `reading it threw: ${textOf(() => thrown)}`);
  }
  if (!result.ok) throw new NotRecordable(what, result.problem.path, result.problem.why);
  return result.value;
}

/** A fresh copy of a recorded value. Code is given this, live too, so that a resume gives it nothing else. */
export const read = (stored: Stored): unknown => decodeValue(stored.text);

/** Equal values have equal digests, whatever the order of their keys. */
export const digest = ({ text, ref }: Stored): Sha256 =>
  digestOf(text, (canonical) => (canonical === text ? ref.sha256 : hash(canonical)));
