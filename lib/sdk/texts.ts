import { withoutSecrets } from './secret-texts';

/*
 * What may stand as text in the journal. The console's schemas have the same bounds: what broke them would be refused
 * there, long after the call that made it.
 */

const LONGEST_NAME = 256;
/** A step's address. Others are made from it, so it ends before the journal's own bound of 2,048. */
export const LONGEST_KEY = 2_000;
/** The path of a variable. */
export const LONGEST_PATH = 2_048;
const LONGEST_TEXT = 1_000_000;
const LONGEST_RECEIPT = 4_096;

/** What is wrong with a name that becomes part of an address or a row, as the end of a sentence. */
export function nameProblem(name: unknown, least = 1): string | undefined {
  if (typeof name !== 'string' || name.length < least || name.length > LONGEST_NAME)
    return `must be text of ${least} to ${LONGEST_NAME} characters`;
  if (!name.isWellFormed() || name.includes('\u0000')) return 'must be well-formed text without U+0000';
  return undefined;
}

/** The same for steps, states, tools and models: names that begin with `$` are the SDK's own. */
export const stepNameProblem = (name: unknown): string | undefined =>
  typeof name === 'string' && name.startsWith('$')
    ? `must be text of 1 to ${LONGEST_NAME} characters that does not begin with $`
    : nameProblem(name);

/** A name as an error may show it. */
export const shownName = (name: unknown): string =>
  bounded(typeof name === 'string' ? JSON.stringify(name) : textOf(() => name), 300);

/** Text of at most `most` characters; one that was cut says so. */
export function bounded(text: string, most = LONGEST_TEXT): string {
  if (text.length <= most) return text;
  const note = ` … (cut; ${text.length} characters in all)`;
  return text.slice(0, most - note.length) + note;
}

/** What `get` gives, as text of a length that is recorded whole; also of what throws when it is read. */
export function textOf(get: () => unknown): string {
  try {
    return bounded(String(get()));
  } catch {
    return '(unreadable)';
  }
}

/** The downstream's own number for what it did, as it is recorded. */
export const receiptText = (receipt: unknown): string =>
  bounded(withoutSecrets(textOf(() => receipt)), LONGEST_RECEIPT);
