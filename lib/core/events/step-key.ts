import { type StepKey, stepKey } from './ids';

/*
 * Grammar of addresses. A visit is `state#n`; a scope path is a visit followed by `/name#n:branch` for each branch
 * of `parallel` (or item of `map`) and `/name#n` for each nested agent; a step key is `scope/name#n`.
 * Names are percent-escaped where they hold one of `% / # :`, so that an address splits in one way only.
 * Calls that answer at once carry keys too: `scope/$set#n`, `$msg#n`, `$time#n`, `$random#n`, `$id#n`.
 */

/** Escapes a name for use in an address. */
export const escapeName = (name: string): string =>
  name.replace(/[%/#:]/g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** The name as its author wrote it. */
export const unescapeName = (part: string): string =>
  part.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** `lookup#2` for the second visit of `lookup`. */
export const visitPath = (state: string, visit: number): string => `${escapeName(state)}#${visit}`;

/** Path of branch `branch` of the parallel section at `at` (`scope/name#n`). */
export const branchPath = (at: string, branch: string): string => `${at}:${escapeName(branch)}`;

/** Key of the `occurrence`-th call of `name` in the scope at `scopePath`. */
export const keyIn = (scopePath: string, name: string, occurrence: number): StepKey =>
  stepKey(`${scopePath}/${escapeName(name)}#${occurrence}`);

/** Path of the scope that a key lies in. */
export const scopeOf = (key: StepKey): string => key.slice(0, key.lastIndexOf('/'));

/** The rest of it: the call within its scope, `search_orders#1`. */
export const callIn = (key: StepKey): string => key.slice(key.lastIndexOf('/') + 1);

/** Names in an address hold no `#`; of a writer that escapes none, the first number that ends a part is taken. */
const HEAD = /^(.*?)#(\d{1,15})(?=\/|$)/s;

/** Path of the visit that a key or scope path lies in, `lookup#2`; its first part where none is numbered. */
export const visitPathOf = (address: string): string =>
  HEAD.exec(address)?.[0] ?? address.split('/', 1)[0] ?? address;

/** `{ state, visit }` of the visit that a key or scope path lies in; visit 0 where the address numbers none. */
export function visitOf(address: string): { readonly state: string; readonly visit: number } {
  const [, state, visit] = HEAD.exec(address) ?? [];
  return { state: unescapeName(state ?? visitPathOf(address)), visit: Number(visit ?? 0) };
}

/** True where `address` is `scope` or lies below it. */
export const within = (address: string, scope: string): boolean =>
  address === scope || address.startsWith(`${scope}/`) || address.startsWith(`${scope}:`);
