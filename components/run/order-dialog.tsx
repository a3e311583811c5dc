'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Dialog } from 'radix-ui';
import { useState } from 'react';
import { toast } from 'sonner';
import { Button } from '@/components/ui/button';
import { ProblemNote } from '@/components/ui/problem-note';
import { orThrow, problemOf } from '@/lib/client/api';
import type { RunSummary } from '@/lib/client/api-types';
import { newCommandId, sendCommand } from '@/lib/client/plan-queries';
import { runKeys } from '@/lib/client/run-queries';

const words = {
  pause: {
    title: 'Pause the run',
    sentence: 'It stops before its next step; what is on its way ends first.',
    button: 'Pause the run',
    done: 'Pause accepted',
  },
  cancel: {
    title: 'Cancel the run',
    sentence: 'It ends here. Effects in doubt stay visible and can still be settled.',
    button: 'Cancel the run',
    done: 'Cancelled',
  },
} as const;

/** Orders without a plan: a reason, and a button that says what it does. */
export function OrderDialog({
  run,
  mode,
  onClose,
}: {
  readonly run: RunSummary;
  readonly mode: 'pause' | 'cancel';
  readonly onClose: () => void;
}) {
  const [reason, setReason] = useState('');
  const [commandId] = useState(newCommandId);
  const client = useQueryClient();
  const give = useMutation({
    mutationFn: async () => orThrow(await sendCommand(run.id, { mode, commandId, reason })),
    onSuccess: () => {
      toast.success(words[mode].done);
      void client.invalidateQueries({ queryKey: runKeys.live(run.id) });
      onClose();
    },
  });
  const { title, sentence, button } = words[mode];
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog w-[460px]">
          <header>
            <Dialog.Title>{title}</Dialog.Title>
          </header>
          <form
            className="p-4"
            onSubmit={(event) => {
              event.preventDefault();
              give.mutate();
            }}
          >
            <Dialog.Description className="second">{sentence}</Dialog.Description>
            <label className="mt-3 block">
              <span className="small second">Reason</span>
              <input className="text" value={reason} onChange={(event) => setReason(event.target.value)} />
            </label>
            {give.isError && (
              <ProblemNote title={problemOf(give.error).title} detail={problemOf(give.error).detail} />
            )}
            <div className="mt-4 flex justify-end gap-2">
              <Button onPress={onClose}>Keep going</Button>
              <Button
                kind="primary"
                type="submit"
                onPress={() => undefined}
                {...(give.isPending ? { reason: 'Sending' } : {})}
              >
                {button}
              </Button>
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
