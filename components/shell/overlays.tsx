'use client';

import { useSearchParams } from 'next/navigation';
import { useEffect, useSyncExternalStore } from 'react';
import { Later, part } from '@/components/ui/later';
import { frameDialogs } from './frame-dialogs';
import { PaletteField } from './palette/palette-field';
import { useOpener } from './use-opener';

const keysDialog = part(() => import('./keys-dialog').then((module) => module.KeysDialog));
const palette = part(() => import('./palette/palette-dialog').then((module) => module.PaletteDialog));

/** The frame's dialogs, as the address names them. */
export function Overlays() {
  const search = useSearchParams().toString();
  const { open, find } = useSyncExternalStore(
    frameDialogs.subscribe,
    frameDialogs.snapshot,
    frameDialogs.atFirst,
  );
  const opener = useOpener();
  useEffect(() => frameDialogs.follow(search), [search]);
  return (
    <>
      <Later of={keysDialog} shown={open === 'keys'} props={{ open: open === 'keys', opener }} />
      <Later
        of={palette}
        shown={open === 'palette'}
        instead={open === 'palette' && <PaletteField find={find} opener={opener} />}
        props={{ open: open === 'palette', find, opener }}
      />
    </>
  );
}
