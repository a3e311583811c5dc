'use client';

import { useSyncExternalStore } from 'react';

/** A setting of this browser. Every page and tab of it sees a change at once. */
export interface Kept<Value> {
  readonly get: () => Value;
  readonly set: (value: Value) => void;
  readonly subscribe: (listener: () => void) => () => void;
  readonly initial: Value;
}

/**
 * Kept in this browser's storage under `name`, as JSON. `read` makes a value of what was found there, which may be
 * anything; undefined is `initial`. Where the browser forbids its storage: as long as the page is open.
 */
export function kept<Value>(
  name: string,
  initial: Value,
  read: (found: unknown) => Value | undefined,
): Kept<Value> {
  const listeners = new Set<() => void>();
  let value: Value | undefined;
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const onStorage = (event: StorageEvent) => {
    if (event.key !== name && event.key !== null) return;
    value = undefined;
    tell();
  };
  return {
    initial,
    get() {
      value ??= found(name, read) ?? initial;
      return value;
    },
    set(next) {
      value = next;
      try {
        window.localStorage.setItem(name, JSON.stringify(next));
      } catch {
        // Full or forbidden: kept for this page alone.
      }
      tell();
    },
    subscribe(listener) {
      if (listeners.size === 0) window.addEventListener('storage', onStorage);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) window.removeEventListener('storage', onStorage);
      };
    },
  };
}

function found<Value>(name: string, read: (found: unknown) => Value | undefined): Value | undefined {
  try {
    const text = window.localStorage.getItem(name);
    return text === null ? undefined : read(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The setting; on the server, and while the page takes over from it, the initial one. */
export const useKept = <Value>({ subscribe, get, initial }: Kept<Value>): Value =>
  useSyncExternalStore(subscribe, get, () => initial);
