'use client';

import { useSyncExternalStore } from 'react';

/*
 * Whether keys of one character do something. Whoever speaks to the browser, or rests a hand on the keyboard, turns
 * them off; arrows, Escape and combinations with Ctrl or ⌘ stay.
 */

const NAME = 'rerail.single-keys';
const listeners = new Set<() => void>();
/** Where the browser forbids its storage: as long as the page is open. */
let off: boolean | undefined;

export function singleKeysOn(): boolean {
  try {
    off ??= window.localStorage.getItem(NAME) === 'off';
  } catch {
    off ??= false;
  }
  return !off;
}

export function setSingleKeys(on: boolean): void {
  off = !on;
  try {
    window.localStorage.setItem(NAME, on ? 'on' : 'off');
  } catch {
    // Kept for this page alone.
  }
  for (const tell of listeners) tell();
}

export const useSingleKeys = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    singleKeysOn,
    () => true,
  );

/** `combo` as hotkeys name it: one character, alone or with Shift. The space bar is a key of its own. */
export const isSingleKey = (combo: string): boolean => /^(Shift\+)?[^ ]$/.test(combo);
