'use client';

import { useSearchParams } from 'next/navigation';
import { useEffect, useSyncExternalStore } from 'react';
import { frameDialogs } from './frame-dialogs';
import { KeysDialog } from './keys-dialog';
import { PaletteDialog } from './palette/palette-dialog';

/** The frame's dialogs, as the address names them. */
export function Overlays() {
  const search = useSearchParams().toString();
  const { open, find } = useSyncExternalStore(
    frameDialogs.subscribe,
    frameDialogs.snapshot,
    frameDialogs.atFirst,
  );
  useEffect(() => frameDialogs.follow(search), [search]);
  return (
    <>
      <KeysDialog open={open === 'keys'} />
      <PaletteDialog open={open === 'palette'} find={find} />
    </>
  );
}
