'use client';

import dynamic from 'next/dynamic';
import { useQueryState } from 'nuqs';
import { Dialog, DropdownMenu } from 'radix-ui';
import { useConfines } from '@/components/ui/confined';
import { Skeleton } from '@/components/ui/problem-note';
import type { RunSummary } from '@/lib/client/api-types';
import { openParam } from '@/lib/client/url-state';

/** Nobody needs it before it is open. */
const ExportBody = dynamic(() => import('./export-body').then((module) => module.ExportBody), {
  ssr: false,
  loading: () => <Skeleton rows={8} />,
});

/** Whether the dialog is open, in the address. */
const useExportOpen = () => useQueryState('open', openParam);

/** The way to it, in the menu of a run. */
export function ExportItem() {
  const confines = useConfines();
  const [, setOpen] = useExportOpen();
  if (confines !== undefined) return null;
  return <DropdownMenu.Item onSelect={() => void setOpen('export')}>Share and export…</DropdownMenu.Item>;
}

/** Everything that leaves: files, links, and what can be copied. Not from a page that is itself a copy. */
export function ExportDialog({ run }: { readonly run: RunSummary }) {
  const confines = useConfines();
  const [open, setOpen] = useExportOpen();
  if (open !== 'export' || confines !== undefined) return null;
  return (
    <Dialog.Root open onOpenChange={(stays) => !stays && void setOpen(null)}>
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
          <ExportBody run={run} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
