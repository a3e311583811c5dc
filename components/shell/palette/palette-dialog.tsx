'use client';

import { Dialog } from 'radix-ui';
import { lazy, Suspense, useEffect } from 'react';
import { Glyph } from '@/components/ui/glyph';
import { frameDialogs } from '../frame-dialogs';
import { useOpener } from '../use-opener';

/** Commands, and the search that belongs to them, are no part of what a page loads first. */
const load = () => import('./palette').then((module) => ({ default: module.Palette }));
const Palette = lazy(load);

/** So soon after the page stands they are fetched, for the key to answer at once. */
const AHEAD_MS = 2_000;

/** What is typed before the commands are there is looked for by them. */
function Field({ find }: { readonly find: string }) {
  return (
    <label className="palette-field">
      <Glyph name="search" />
      <input aria-label="Command" value={find} onChange={(event) => frameDialogs.type(event.target.value)} />
    </label>
  );
}

export function PaletteDialog({ open, find }: { readonly open: boolean; readonly find: string }) {
  const opener = useOpener();
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => undefined), AHEAD_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Dialog.Root open={open} onOpenChange={(now) => !now && frameDialogs.close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog palette" aria-describedby={undefined} {...opener}>
          <Dialog.Title className="visually-hidden">Commands</Dialog.Title>
          <Suspense fallback={<Field find={find} />}>
            <Palette find={find} />
          </Suspense>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
