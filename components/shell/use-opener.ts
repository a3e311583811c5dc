'use client';

import { useEffect, useRef } from 'react';

const isOfDialog = (element: Element): boolean =>
  element.closest('[role="dialog"], [data-radix-focus-guard]') !== null;

/** What a dialog's content is told. */
export interface Opener {
  readonly onCloseAutoFocus: (event: Event) => void;
}

/**
 * For a dialog that no button of its own opens: the focus goes back to where it was, if that is still there. What has the
 * focus when the dialog is told that it opens may be a field of its own already.
 */
export function useOpener(): Opener {
  const opener = useRef<HTMLElement | null>(null);
  useEffect(() => {
    const came = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement && !isOfDialog(target)) opener.current = target;
    };
    const went = ({ target, relatedTarget }: FocusEvent) => {
      if (relatedTarget === null && target === opener.current && document.hasFocus()) opener.current = null;
    };
    document.addEventListener('focusin', came);
    document.addEventListener('focusout', went);
    return () => {
      document.removeEventListener('focusin', came);
      document.removeEventListener('focusout', went);
    };
  }, []);
  return {
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      if (opener.current?.isConnected) opener.current.focus({ preventScroll: true });
    },
  };
}
