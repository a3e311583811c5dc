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

/** A scope path ends in a number, or in a branch's name behind one. Of a writer that escapes none, the last such end is taken. */
const CALL = /^(.*#\d{1,15}(?::[^/]*)?)\/(.+)$/s;

/** Where the call begins in a key; 0 where it lies in no scope. */
const callAt = (key: string): number => (CALL.exec(key)?.[1]?.length ?? key.lastIndexOf('/')) + 1;

/** Path of the scope that a key or a scope path lies in; empty where that is none. */
export const scopeOf = (key: string): string => key.slice(0, Math.max(0, callAt(key) - 1));

/** The rest of it: the call within its scope, `search_orders#1`. */
export const callIn = (key: StepKey): string => key.slice(callAt(key));

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
