'use client';

import { useEffect, useRef } from 'react';
import { Glyph } from '@/components/ui/glyph';
import { frameDialogs } from '../frame-dialogs';

/** The commands' field before they are there: what is typed meanwhile is looked for by them. */
export function PaletteField({ find }: { readonly find: string }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <>
      <div className="overlay" />
      <div role="dialog" aria-label="Commands" className="dialog palette">
        <label className="palette-field">
          <Glyph name="search" />
          <input
            ref={field}
            aria-label="Command"
            value={find}
            onChange={(event) => frameDialogs.type(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') frameDialogs.close();
            }}
          />
        </label>
      </div>
    </>
  );
}
