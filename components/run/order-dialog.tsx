'use client';

import { useQueryClient } from '@tanstack/react-query';
import { Dialog } from 'radix-ui';
import { useState } from 'react';
import { OrderNote } from '@/components/resume/order-note';
import { Button } from '@/components/ui/button';
import { toast } from '@/components/ui/toast';
import type { RunSummary } from '@/lib/client/api-types';
import { runQuery } from '@/lib/client/run-queries';
import { useOrder } from '@/lib/client/use-order';
import { type StopMode, stopDone, stopSentence } from './order-words';
import { impossibleNow } from './run-words';

const words = { pause: 'Pause the run', cancel: 'Cancel the run' } as const;

/** Orders without a plan: a reason, and a button that says what it does. */
export function OrderDialog({
  run,
  mode,
  onClose,
}: {
  readonly run: RunSummary;
  readonly mode: StopMode;
  readonly onClose: () => void;
}) {
  const [reason, setReason] = useState('');
  const client = useQueryClient();
  const order = useOrder(run.id, mode, {
    // Whether it has been carried out yet, the run itself says; a run that cannot be read says nothing.
    onAccepted: async () => {
      onClose();
      const after = await client.fetchQuery({ ...runQuery(run.id), staleTime: 0 }).catch(() => undefined);
      toast.success(after === undefined ? 'The order was accepted' : stopDone(mode, after));
    },
  });
  // The run goes on behind the dialog.
  const impossible = impossibleNow(run, mode);
  const lock = order.lock ?? impossible;
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog w-[460px]">
          <header>
            <Dialog.Title>{words[mode]}</Dialog.Title>
          </header>
          <form
            className="p-4"
            onSubmit={(event) => {
              event.preventDefault();
              if (lock === undefined) order.give({ mode, reason }, words[mode]);
            }}
          >
            <Dialog.Description className="second" role="status">
              {impossible ?? stopSentence(mode, run)}
            </Dialog.Description>
            <label className="mt-3 block">
              <span className="small second">Reason</span>
              <input className="text" value={reason} onChange={(event) => setReason(event.target.value)} />
            </label>
            <OrderNote order={order} />
            <div className="mt-4 flex justify-end gap-2">
              <Button onPress={onClose}>Do not {mode}</Button>
              <Button kind="primary" type="submit" onPress={() => undefined} reason={lock}>
                {words[mode]}
              </Button>
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
