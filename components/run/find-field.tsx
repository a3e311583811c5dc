'use client';

import { useEffect, useRef, useState } from 'react';
import { Button } from '@/components/ui/button';
import { Glyph } from '@/components/ui/glyph';

/** Its element's id: the key leads to it where it is open. */
export const FIND_FIELD = 'find-in-run';

/** Searches the steps as it is typed: ↵ and ⇧↵ walk through what was found, Esc closes. */
export function FindField({
  text,
  onText,
  onNext,
  onClose,
}: {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onNext: (by: 1 | -1) => void;
  readonly onClose: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  // The address follows the typing, some way behind.
  const [typed, setTyped] = useState(text);
  useEffect(() => field.current?.focus(), []);
  return (
    <div className="find-field">
      <label className="field">
        <Glyph name="search" />
        <input
          ref={field}
          id={FIND_FIELD}
          type="search"
          aria-label="Find in this run"
          placeholder="Step, state, tool, model or error"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            onText(event.target.value);
          }}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return;
            if (event.key === 'Enter') onNext(event.shiftKey ? -1 : 1);
            else if (event.key === 'Escape') onClose();
            else return;
            event.preventDefault();
          }}
        />
      </label>
      <Button kind="quiet" size="small" glyph="x" label="Close the search" onPress={onClose} />
    </div>
  );
}
