import { useMemo, useSyncExternalStore } from 'react';

const MOVED = 'copy:moved';

/** The browser tells of Back and Forward only: whoever writes the address tells here. Once, before the first page. */
export function watchAddress(): void {
  for (const method of ['pushState', 'replaceState'] as const) {
    const write = window.history[method].bind(window.history);
    window.history[method] = (...args) => {
      write(...args);
      // As Next does: the writer is done before anybody hears of it.
      queueMicrotask(() => window.dispatchEvent(new Event(MOVED)));
    };
  }
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(MOVED, listener);
  window.addEventListener('popstate', listener);
  return () => {
    window.removeEventListener(MOVED, listener);
    window.removeEventListener('popstate', listener);
  };
}

/** `next/navigation`, as much of it as the run's page uses. */
export function useSearchParams(): URLSearchParams {
  const search = useSyncExternalStore(subscribe, () => window.location.search);
  return useMemo(() => new URLSearchParams(search), [search]);
}

export const usePathname = (): string => '/copy';

/** There is no other page. */
const router = {
  push: () => undefined,
  replace: () => undefined,
  refresh: () => undefined,
  prefetch: () => undefined,
};
export const useRouter = () => router;
