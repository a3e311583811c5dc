'use client';

import { useQueryClient } from '@tanstack/react-query';
import { Dialog } from 'radix-ui';
import { useEffect, useRef, useState } from 'react';
import { Button } from '@/components/ui/button';
import { plural } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { useUnsaved } from '@/components/ui/hotkeys';
import { isDefinite } from '@/lib/client/api';
import type { CommandBody, RunSummary } from '@/lib/client/api-types';
import { newCommandId, sendCommand } from '@/lib/client/plan-queries';
import { runKeys } from '@/lib/client/run-queries';
import { cancellable } from './selection';

/** So many orders are on their way at once. */
const AT_ONCE = 4;

type Outcome =
  | { readonly kind: 'waits' | 'sent' | 'accepted' }
  | { readonly kind: 'refused' | 'unanswered'; readonly why: string };

interface Told {
  readonly run: RunSummary;
  readonly body: CommandBody;
  readonly outcome: Outcome;
}

/** Each run gets an order of its own, with the one reason; what becomes of each is told. */
export function CancelDialog({
  runs,
  onClose,
}: {
  readonly runs: readonly RunSummary[];
  readonly onClose: () => void;
}) {
  const [reason, setReason] = useState('');
  const { told, send, again } = useOrders();
  const { can, cannot } = cancellable(runs);
  const doubtful = can.filter(({ effectsInDoubt }) => effectsInDoubt > 0);
  const doubts = doubtful.reduce((sum, { effectsInDoubt }) => sum + effectsInDoubt, 0);
  const begun = told.length > 0;
  const open = told.filter(({ outcome }) => outcome.kind === 'waits' || outcome.kind === 'sent').length;
  const unanswered = told.filter(({ outcome }) => outcome.kind === 'unanswered').length;
  useUnsaved(reason !== '' && !begun);
  const lock = can.length === 0 ? 'None of these can be cancelled' : undefined;
  return (
    <Dialog.Root open onOpenChange={(to) => !to && open === 0 && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog w-[560px]">
          <header>
            <Dialog.Title>Cancel {plural(begun ? told.length : can.length, 'run')}</Dialog.Title>
          </header>
          <form
            className="p-4"
            onSubmit={(event) => {
              event.preventDefault();
              if (lock === undefined && !begun) send(can, reason);
            }}
          >
            {!begun && (
              <>
                <Dialog.Description className="second">
                  Each run gets its own order. One that a worker holds stops at its next point, and what is on
                  its way ends first.
                </Dialog.Description>
                {doubts > 0 && (
                  <div className="note mt-3" data-tone="attention">
                    <Glyph name="s-doubt" />
                    <div className="grow">
                      <strong>
                        {plural(doubts, 'effect')} in{' '}
                        {plural(doubtful.length, 'of these runs', 'of these runs')} will stay in doubt
                      </strong>
                      <p>
                        Nobody knows whether {doubts === 1 ? 'it' : 'they'} happened. They stay visible and
                        can still be decided.
                      </p>
                      <RunNames runs={doubtful} />
                    </div>
                  </div>
                )}
                {cannot.length > 0 && (
                  <details className="mt-3">
                    <summary>{plural(cannot.length, 'run')} cannot be cancelled and stay as they are</summary>
                    <ul className="told">
                      {cannot.map(({ run, why }) => (
                        <li key={run.id}>
                          <code className="clip">{run.id}</code>
                          <span className="second">{why}</span>
                        </li>
                      ))}
                    </ul>
                  </details>
                )}
                <label className="mt-3 block">
                  <span className="small second">Reason</span>
                  <input
                    className="text"
                    value={reason}
                    maxLength={1_000}
                    onChange={(event) => setReason(event.target.value)}
                  />
                </label>
              </>
            )}
            {begun && <Progress told={told} />}
            <div className="mt-4 flex justify-end gap-2">
              {!begun && <Button onPress={onClose}>Do not cancel</Button>}
              {!begun && (
                <Button kind="primary" type="submit" onPress={() => undefined} reason={lock}>
                  Cancel {plural(can.length, 'run')}
                </Button>
              )}
              {begun && unanswered > 0 && (
                <Button onPress={again} reason={open > 0 ? 'Others are still on their way' : undefined}>
                  Send {plural(unanswered, 'order')} again
                </Button>
              )}
              {begun && (
                <Button
                  kind="primary"
                  onPress={onClose}
                  reason={open > 0 ? `${plural(open, 'order')} are still on their way` : undefined}
                >
                  Close
                </Button>
              )}
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function RunNames({ runs }: { readonly runs: readonly RunSummary[] }) {
  const shown = runs.slice(0, 5);
  return (
    <p className="small">
      {shown.map(({ id }) => (
        <code key={id} className="mr-2 break-all">
          {id}
        </code>
      ))}
      {runs.length > shown.length && `and ${runs.length - shown.length} more`}
    </p>
  );
}

const outcomeWords = {
  waits: 'waits for its turn',
  sent: 'sent',
  accepted: 'accepted',
} as const;

function Progress({ told }: { readonly told: readonly Told[] }) {
  const done = told.filter(({ outcome }) => outcome.kind !== 'waits' && outcome.kind !== 'sent').length;
  const accepted = told.filter(({ outcome }) => outcome.kind === 'accepted').length;
  const failed = done - accepted;
  return (
    <>
      <progress className="bar-progress" max={told.length} value={done} aria-label="Orders answered" />
      <p role="status">
        {done} of {told.length} answered: {accepted} accepted{failed > 0 && `, ${failed} not`}
      </p>
      <ul className="told">
        {told.map(({ run, outcome }) => (
          <li key={run.id} data-tone={toneOf(outcome)}>
            <code className="clip" title={run.id}>
              {run.id}
            </code>
            <span className={outcome.kind === 'refused' || outcome.kind === 'unanswered' ? '' : 'second'}>
              {outcome.kind === 'refused'
                ? `refused: ${outcome.why}`
                : outcome.kind === 'unanswered'
                  ? `no answer, it is not known whether it was taken: ${outcome.why}`
                  : outcomeWords[outcome.kind]}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

const toneOf = ({ kind }: Outcome) =>
  kind === 'refused' ? 'bad' : kind === 'unanswered' ? 'attention' : kind === 'accepted' ? 'ok' : 'neutral';

function useOrders() {
  const client = useQueryClient();
  const [told, setTold] = useState<readonly Told[]>([]);
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);

  const put = (runId: string, outcome: Outcome) => {
    if (here.current)
      setTold((before) => before.map((one) => (one.run.id === runId ? { ...one, outcome } : one)));
  };
  const sendAll = async (orders: readonly Told[]) => {
    const queue = [...orders];
    const next = async (): Promise<void> => {
      const order = queue.shift();
      if (order === undefined) return;
      put(order.run.id, { kind: 'sent' });
      const answer = await sendCommand(order.run.id, order.body);
      if (answer.ok) put(order.run.id, { kind: 'accepted' });
      else
        put(order.run.id, {
          kind: isDefinite(answer.problem) ? 'refused' : 'unanswered',
          why: answer.problem.detail,
        });
      return next();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    void client.invalidateQueries({ queryKey: runKeys.all });
  };
  return {
    told,
    send: (runs: readonly RunSummary[], reason: string) => {
      const orders = runs.map(
        (run): Told => ({
          run,
          // Kept for a repeat: under its id an order cannot be taken twice.
          body: { commandId: newCommandId(), mode: 'cancel', reason } as CommandBody,
          outcome: { kind: 'waits' },
        }),
      );
      setTold(orders);
      void sendAll(orders);
    },
    again: () => void sendAll(told.filter(({ outcome }) => outcome.kind === 'unanswered')),
  };
}
