'use client';

import { useSearchParams } from 'next/navigation';
import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react';
import { runParams } from '@/lib/client/url-state';

/** `jump`: to a place that was chosen, so that the browser's Back returns. `slide`: along, by drag, play or event. */
export type Move = (to: number | null, how: 'jump' | 'slide') => void;

/** A sliding cursor rests so long before the address has it: each change of that makes the whole page look at it. */
const REST_MS = 200;

/** Keys that slide the cursor or leave it alone; with any other one may leave the page. */
const slides = /^(Arrow|Home|End|Shift|Control|Alt|Meta)/;

type Ask = (seq: number | null, how: 'jump' | 'slide') => void;

/**
 * `?seq=` of the address; null where it is absent. What is on its way there arrives before a press or a key may lead to
 * another page: Next drops a navigation during which the address is written.
 */
export function useAskedSeq(): { readonly asked: number | null; readonly ask: Ask } {
  const inAddress = seqIn(useSearchParams());
  /** Where the cursor went, before the address and whoever reads it follow. */
  const [ahead, setAhead] = useState<{ readonly seq: number | null } | undefined>(undefined);
  const [address] = useState(() => new CursorAddress());
  // A link on the page itself led to another moment.
  const giveUpAhead = useEffectEvent((seq: number | null) => {
    if (ahead !== undefined && ahead.seq !== seq && !address.has(ahead.seq)) setAhead(undefined);
  });
  useEffect(() => giveUpAhead(inAddress), [inAddress]);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (!slides.test(event.key)) address.write();
    };
    const press = () => address.write();
    const walked = () => {
      address.drop();
      setAhead(undefined);
    };
    window.addEventListener('keydown', key, true);
    window.addEventListener('pointerdown', press, true);
    window.addEventListener('popstate', walked);
    return () => {
      address.drop();
      window.removeEventListener('keydown', key, true);
      window.removeEventListener('pointerdown', press, true);
      window.removeEventListener('popstate', walked);
    };
  }, [address]);
  const ask: Ask = useCallback(
    (seq, how) => {
      setAhead({ seq });
      address.follow(seq, how);
    },
    [address],
  );
  return { asked: ahead === undefined ? inAddress : ahead.seq, ask };
}

/** The one cursor of a page, from what the address asks for; absent there, it follows the head. */
export function useCursor(asked: number | null, ask: Ask, headSeq: number) {
  const head = useRef(headSeq);
  useEffect(() => {
    head.current = headSeq;
  });
  const move: Move = useCallback(
    (to, how) => ask(to === null || to >= head.current ? null : Math.max(1, to), how),
    [ask],
  );
  const at = asked === null ? headSeq : Math.max(1, Math.min(asked, Math.max(1, headSeq)));
  return { at, following: asked === null, move };
}

const seqIn = (params: { readonly get: (name: string) => string | null }): number | null => {
  const written = params.get('seq');
  return written === null ? null : runParams.seq.parse(written);
};

/** Writes `?seq=` into the address: at once for a jump, after a rest for a slide. */
class CursorAddress {
  #due: { readonly seq: number | null } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  follow(seq: number | null, how: 'jump' | 'slide'): void {
    // A slide that a jump ends has its entry of the history, which Back returns to.
    if (how === 'jump') this.write();
    clearTimeout(this.#timer);
    this.#due = { seq };
    if (how === 'jump') this.write('pushState');
    else this.#timer = setTimeout(() => this.write(), REST_MS);
  }

  /** Whether `seq` is due, or stands in the address already. */
  has(seq: number | null): boolean {
    const { seq: newest } = this.#due ?? { seq: seqIn(new URLSearchParams(window.location.search)) };
    return seq === newest;
  }

  write(method: 'pushState' | 'replaceState' = 'replaceState'): void {
    if (this.#due === undefined) return;
    const url = new URL(window.location.href);
    if (this.#due.seq === null) url.searchParams.delete('seq');
    else url.searchParams.set('seq', String(this.#due.seq));
    this.drop();
    if (url.href !== window.location.href) window.history[method](null, '', url);
  }

  drop(): void {
    clearTimeout(this.#timer);
    this.#due = undefined;
  }
}
