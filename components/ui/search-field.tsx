'use client';

import { type RefObject, useEffect, useRef, useState } from 'react';
import { Glyph } from './glyph';

/** What is typed rests so long before it is looked for. */
const REST_MS = 180;

/** Looks while one types; Enter does at once. Reached by the key `/`, which is the page's to bind. */
export function SearchField({
  label,
  placeholder,
  q,
  onSearch,
  field,
}: {
  readonly label: string;
  readonly placeholder: string;
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
    <label className="field search-field">
      <Glyph name="search" />
      <input
        ref={field}
        type="search"
        aria-label={label}
        placeholder={placeholder}
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
