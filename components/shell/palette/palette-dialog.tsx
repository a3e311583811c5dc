'use client';

import { Dialog } from 'radix-ui';
import { frameDialogs } from '../frame-dialogs';
import type { Opener } from '../use-opener';
import { Palette } from './palette';

export function PaletteDialog({
  open,
  find,
  opener,
}: {
  readonly open: boolean;
  readonly find: string;
  readonly opener: Opener;
}) {
  return (
    <Dialog.Root open={open} onOpenChange={(now) => !now && frameDialogs.close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog palette" aria-describedby={undefined} {...opener}>
          <Dialog.Title className="visually-hidden">Commands</Dialog.Title>
          <Palette find={find} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
