'use client';

import { useQueryClient } from '@tanstack/react-query';
import { type RefObject, useEffect, useState } from 'react';
import { inRounds, type Liveness, listenToRuns } from '@/lib/client/live';
import { runKeys } from '@/lib/client/run-queries';

/** How long the list rests between two readings, and the counts of the views. */
const LIST_MS = 700;
const COUNTS_MS = 5_000;

/** Reads the list and the views' counts anew, each now and then, while runs move. */
export function useLiveRuns(): Liveness {
  const client = useQueryClient();
  const [liveness, setLiveness] = useState<Liveness>({ kind: 'connecting' });
  useEffect(() => {
    const list = inRounds(
      () => client.invalidateQueries({ queryKey: runKeys.lists() }, { cancelRefetch: false }),
      LIST_MS,
    );
    const counts = inRounds(() => client.invalidateQueries({ queryKey: runKeys.counts() }), COUNTS_MS);
    const anew = () => {
      list.ask();
      counts.ask();
    };
    const end = listenToRuns({ onItem: anew, onMissed: anew, onLiveness: setLiveness });
    return () => {
      list.end();
      counts.end();
      end();
    };
  }, [client]);
  return liveness;
}

/** Whether somebody points at something in there, has it in focus or has scrolled it: then it stays where it is. */
export function useLookedAt(area: RefObject<HTMLElement | null>): boolean {
  const [lookedAt, setLookedAt] = useState(false);
  useEffect(() => {
    const element = area.current;
    if (element === null) return;
    const look = () =>
      setLookedAt(
        element.matches(':hover') ||
          element.contains(document.activeElement) ||
          [...element.children].some((child) => child.scrollTop > 0),
      );
    const kinds = ['pointerenter', 'pointerleave', 'focusin', 'focusout', 'scroll'];
    // A scroll does not bubble.
    for (const kind of kinds) element.addEventListener(kind, look, { capture: true });
    return () => {
      for (const kind of kinds) element.removeEventListener(kind, look, { capture: true });
    };
  }, [area]);
  return lookedAt;
}
