'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { ApiProblem } from './api';
import type { CommandAnswer, CommandBody, OrderBody } from './api-types';
import { type GivenOrder, GivenOrders } from './given-orders';
import { newCommandId, sendCommand } from './plan-queries';
import { runKeys } from './run-queries';

/** There is none on the server, and a browser may forbid it. */
function shelf(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    return undefined;
  }
}
const orders = new GivenOrders(shelf());

/** What the last press came to. */
type Last =
  | { readonly kind: 'none' | 'sending' }
  | { readonly kind: 'accepted'; readonly order: GivenOrder; readonly answer: CommandAnswer }
  | { readonly kind: 'refused'; readonly problem: ApiProblem };

export interface Order {
  /** Sends it, `words` being what the button said. */
  readonly give: (body: OrderBody, words: string) => void;
  /** Sends the unanswered one again. */
  readonly again: () => void;
  /** Lets the unanswered one go, without knowing whether it was taken. */
  readonly forget: () => void;
  /** Takes away what the last one came to. */
  readonly clear: () => void;
  readonly unanswered: GivenOrder | undefined;
  readonly problem: ApiProblem | undefined;
  readonly accepted: CommandAnswer | undefined;
  /** Why none can be given just now: also after one was accepted, until `clear`. */
  readonly lock: string | undefined;
}

/** `open`: the order that has had no definite answer yet. */
export function lockOf(last: Last, open: GivenOrder | undefined): string | undefined {
  if (last.kind === 'sending') return 'Sent; waits for the answer';
  if (open !== undefined)
    return 'It is not known whether the last order was taken; send that one again first';
  return last.kind === 'accepted' ? 'Accepted' : undefined;
}

/** Orders from one place of a run's pages, one at a time. `place` says which, such as `plan` or `answer q1`. */
export function useOrder(
  runId: string,
  place: string,
  heard: {
    readonly onAccepted?: (answer: CommandAnswer, order: GivenOrder) => void;
    readonly onRefused?: (problem: ApiProblem) => void;
  } = {},
): Order {
  const client = useQueryClient();
  const key = `${runId} ${place}`;
  const [last, setLast] = useState<Last>({ kind: 'none' });
  const open = useSyncExternalStore(
    orders.subscribe,
    () => orders.get(key),
    () => undefined,
  );
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);

  const send = async (fresh: GivenOrder) => {
    setLast({ kind: 'sending' });
    const order = orders.get(key) ?? fresh;
    const answer = await orders.give(key, fresh, (given) => sendCommand(given.runId, given.body));
    void client.invalidateQueries({ queryKey: runKeys.live(runId) });
    // Who has left the page is taken nowhere by an answer that comes later.
    if (!here.current) return;
    if (answer.ok) {
      setLast({ kind: 'accepted', order, answer: answer.value });
      heard.onAccepted?.(answer.value, order);
    } else {
      setLast(
        orders.get(key) === undefined ? { kind: 'refused', problem: answer.problem } : { kind: 'none' },
      );
      if (orders.get(key) === undefined) heard.onRefused?.(answer.problem);
    }
  };
  const clear = useCallback(() => setLast({ kind: 'none' }), []);
  const unanswered = last.kind === 'sending' ? undefined : open;
  return {
    give: (body, words) =>
      void send({
        runId,
        body: { ...body, commandId: newCommandId() } as CommandBody,
        words,
        at: Date.now(),
      }),
    again: () => {
      if (open !== undefined) void send(open);
    },
    forget: () => orders.forget(key),
    clear,
    unanswered,
    problem: last.kind === 'refused' ? last.problem : undefined,
    accepted: last.kind === 'accepted' ? last.answer : undefined,
    lock: lockOf(last, open),
  };
}
