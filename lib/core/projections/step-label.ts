import type { StepKey } from '../events/ids';
import { callIn, visitOf } from '../events/step-key';

/** "lookup, visit 2": the first visit goes without saying. */
export const nth = (name: string, visit: number): string => (visit > 1 ? `${name}, visit ${visit}` : name);

export const label = (name: string | undefined, key: StepKey): string =>
  nth(name ?? nameInKey(key), visitOf(key).visit);

/** Name of the call that a key addresses, as it stands in the key. */
export function nameInKey(key: StepKey): string {
  const last = callIn(key);
  return last.slice(0, last.lastIndexOf('#'));
}
