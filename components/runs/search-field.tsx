'use client';

import { type RefObject, useEffect, useRef, useState } from 'react';
import { Glyph } from '@/components/ui/glyph';

/** What is typed rests so long before it is looked for. */
const REST_MS = 180;

export function SearchField({
  q,
  onSearch,
  field,
}: {
  readonly q: string;
  readonly onSearch: (q: string) => void;
  readonly field: RefObject<HTMLInputElement | null>;
}) {
  const [typed, setTyped] = useState<string | undefined>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const look = (text: string) => {
    clearTimeout(timer.current);
    onSearch(text);
    setTyped(undefined);
  };
  return (
    <label className="field runs-search">
      <Glyph name="search" />
      <input
        ref={field}
        type="search"
        aria-label="Search runs"
        placeholder="Run id, agent, tag, failure…"
        maxLength={256}
        value={typed ?? q}
        onChange={(event) => {
          const text = event.target.value;
          setTyped(text);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => look(text), REST_MS);
        }}
        onKeyDown={(event) => event.key === 'Enter' && look(event.currentTarget.value)}
      />
      <span aria-hidden="true">
        <kbd>/</kbd>
      </span>
    </label>
  );
}
