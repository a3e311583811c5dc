'use client';

import { Dialog } from 'radix-ui';
import type { RunSummary } from '@/lib/client/api-types';
import { ExportCopy } from './export-copy';
import { ExportFiles } from './export-files';
import { ExportLink } from './export-link';
import { useExportOpen } from './export-open';

/** Everything that leaves: files, links, and what can be copied. */
export function ExportDialog({ run }: { readonly run: RunSummary }) {
  const [open, setOpen] = useExportOpen();
  return (
    <Dialog.Root open={open === 'export'} onOpenChange={(stays) => !stays && void setOpen(null)}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog export-dialog" aria-describedby={undefined}>
          <header>
            <Dialog.Title>Share and export</Dialog.Title>
            <span className="grow" />
            <Dialog.Close className="btn" data-kind="quiet" data-size="small">
              Close <kbd>Esc</kbd>
            </Dialog.Close>
          </header>
          <ExportLink run={run} />
          <ExportFiles run={run} />
          <ExportCopy run={run} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
