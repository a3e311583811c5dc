'use client';

import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import { useExportOpen } from '@/components/export/export-open';
import { PageLink as Link, useConfines } from '@/components/ui/confined';
import { Glyph } from '@/components/ui/glyph';
import { type Press, useFirstItem } from '@/components/ui/opens';
import type { RunAction, RunSummary } from '@/lib/client/api-types';
import { OrderDialog } from './order-dialog';
import type { StopMode } from './order-words';
import { impossibleNow } from './run-words';

/** What else can be done with the run. Drawn when it is asked for, so it begins open. */
export function MoreMenu({
  run,
  rewind,
  asked,
}: {
  readonly run: RunSummary;
  /** From the cursor, or why not. */
  readonly rewind: { readonly href: string; readonly reason: string | undefined };
  /** How it was asked for. */
  readonly asked: Press;
}) {
  const confines = useConfines();
  const [, setOpen] = useExportOpen();
  const [order, setOrder] = useState<StopMode | undefined>(undefined);
  const content = useFirstItem(asked);
  const item = (
    action: RunAction,
    word: string,
    act: () => void,
    reason: string | undefined = impossibleNow(run, action),
  ) => {
    return (
      <DropdownMenu.Item
        key={action}
        aria-disabled={reason !== undefined || undefined}
        onSelect={(event) => {
          if (reason === undefined) act();
          else event.preventDefault();
        }}
      >
        <span>
          {word}
          {reason !== undefined && <small>{reason}</small>}
        </span>
      </DropdownMenu.Item>
    );
  };
  return (
    <>
      <DropdownMenu.Root defaultOpen>
        <DropdownMenu.Trigger className="btn" data-size="large" data-icon="" aria-label="More actions">
          <Glyph name="dots" />
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content ref={content} className="menu" align="end" sideOffset={4}>
            {rewind.reason === undefined ? (
              <DropdownMenu.Item asChild>
                <Link href={rewind.href}>Rewind…</Link>
              </DropdownMenu.Item>
            ) : (
              item('rewind', 'Rewind…', () => undefined, rewind.reason)
            )}
            {item('pause', 'Pause…', () => setOrder('pause'))}
            {item('cancel', 'Cancel the run…', () => setOrder('cancel'))}
            {confines === undefined && (
              <DropdownMenu.Item onSelect={() => void setOpen('export')}>Share and export…</DropdownMenu.Item>
            )}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {order && <OrderDialog run={run} mode={order} onClose={() => setOrder(undefined)} />}
    </>
  );
}
