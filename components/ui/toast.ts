import type { ExternalToast } from 'sonner';

/** A message that passes: what was done, or why it was not. */
export interface Toast {
  readonly kind: 'success' | 'error';
  readonly words: string;
  readonly more: ExternalToast | undefined;
}

/** What was said before there was anything to show it. */
let waiting: readonly Toast[] = [];
let show: ((said: Toast) => void) | undefined;
const listeners = new Set<() => void>();

function say(said: Toast): void {
  if (show !== undefined) show(said);
  else {
    waiting = [...waiting, said];
    for (const tell of listeners) tell();
  }
}

export const toast = {
  success: (words: string, more?: ExternalToast): void => say({ kind: 'success', words, more }),
  error: (words: string, more?: ExternalToast): void => say({ kind: 'error', words, more }),
};

/** The other end: what shows them is code of its own, and wanted with the first. */
export const toasts = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  areWaiting: (): boolean => waiting.length > 0,
  /** Shows what waits and what comes, until the answer is called. */
  showWith: (how: (said: Toast) => void): (() => void) => {
    show = how;
    for (const said of waiting) how(said);
    waiting = [];
    return () => {
      if (show === how) show = undefined;
    };
  },
};
