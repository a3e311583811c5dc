'use client';

import { useSyncExternalStore } from 'react';
import { absolute, relative } from './format';
import { useZone } from './zone';

/* One clock for all relative times of a page: it ticks once a second while somebody listens. */
let now = 0;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  now = Date.now();
  timer ??= setInterval(() => {
    now = Date.now();
    for (const tell of listeners) tell();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const current = () => {
  if (now === 0) now = Date.now();
  return now;
};

/** Epoch milliseconds, renewed each second; 0 on the server. */
export const useNow = (): number => useSyncExternalStore(subscribe, current, () => 0);

/** Relative in the text, absolute with zone on hover and for machines. `short`: without `ago`, under a head that says so. */
export function Ago({ at, short = false }: { readonly at: string; readonly short?: boolean }) {
  const ms = Date.parse(at);
  const clockNow = useNow();
  const zone = useZone();
  return (
    <time dateTime={at} title={absolute(ms, zone)}>
      {clockNow === 0 ? absolute(ms, zone) : relative(ms, clockNow).replace(short ? ' ago' : '', '')}
    </time>
  );
}
