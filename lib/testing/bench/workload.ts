/*
 * The workload "conversation-200" of the peers' measurements, from our own seeded generator, equal in its sizes: 200
 * turns of a user's 600 and an assistant's 600 characters; in every fourth turn a tool call with a query of 60
 * characters and a result of 2,048 comes first. 500 messages, each once: 440,116 bytes in LangGraph's encoding.
 */

/** Bytes of the 500 messages, each once, as the peers' own encoding writes them (NUMBERS.md). */
export const MINIMUM_BYTES = 440_116;
export const TURNS = 200;

export interface Turn {
  readonly user: string;
  readonly assistant: string;
  readonly tool?: { readonly query: string; readonly result: string };
}

/** mulberry32: numbers in [0, 1), the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const CONSONANTS = 'bcdfghklmnprstvw';
const VOWELS = 'aeiou';

function vocabulary(size: number): readonly string[] {
  const random = seededRandom(7);
  const pick = (letters: string) => letters[Math.floor(random() * letters.length)] ?? '';
  return Array.from({ length: size }, () =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(CONSONANTS) + pick(VOWELS)).join(''),
  );
}

/** Pseudo-text of exactly `length` characters; frequent words are frequent, as in language. */
export function textSource(seed: number): (length: number) => string {
  const words = vocabulary(3_000);
  const random = seededRandom(seed);
  return (length) => {
    let text = '';
    while (text.length < length) text += `${words[Math.floor(random() ** 2 * words.length)]} `;
    return text.slice(0, length);
  };
}

export function conversation(turns = TURNS): readonly Turn[] {
  const text = textSource(42);
  return Array.from({ length: turns }, (_, i) => ({
    user: text(600),
    assistant: text(600),
    ...((i + 1) % 4 === 0 ? { tool: { query: text(60), result: text(2_048) } } : {}),
  }));
}
