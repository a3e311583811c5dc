'use client';

import { useEffect, useRef } from 'react';
import { Glyph } from '@/components/ui/glyph';
import { frameDialogs } from '../frame-dialogs';
import type { Opener } from '../use-opener';

/** The commands' field before they are there: what is typed meanwhile is looked for by them. */
export function PaletteField({ find, opener }: { readonly find: string; readonly opener: Opener }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <>
      <div className="overlay" onPointerDown={() => frameDialogs.close()} />
      <div role="dialog" aria-modal="true" aria-label="Commands" className="dialog palette">
        <label className="palette-field">
          <Glyph name="search" />
          <input
            ref={field}
            aria-label="Command"
            value={find}
            onChange={(event) => frameDialogs.type(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') return;
              frameDialogs.close();
              opener.onCloseAutoFocus(event.nativeEvent);
            }}
          />
        </label>
      </div>
    </>
  );
}
