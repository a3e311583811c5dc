import { describe, expect, it } from 'vitest';
import { fail, ok } from '@/lib/core/shared/result';
import { toProblem } from './api';
import type { CommandAnswer, CommandBody } from './api-types';
import { type GivenOrder, GivenOrders } from './given-orders';

const order = (id: string, more: object = {}): GivenOrder => ({
  runId: 'run_1',
  body: { mode: 'fork', commandId: id, reason: '', ...more } as unknown as CommandBody,
  words: 'Fork',
  at: 1,
});
const shelf = () => {
  const items = new Map<string, string>();
  return {
    items,
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, text: string) => void items.set(name, text),
    removeItem: (name: string) => void items.delete(name),
  };
};
const taken = { commandId: 'cmd_1', runId: 'run_2', headSeq: 7 } as unknown as CommandAnswer;
/** Answers with these, one after the other, and notes what was sent. */
function answering(...answers: readonly (number | 'taken')[]) {
  const sent: GivenOrder[] = [];
  const send = async (given: GivenOrder) => {
    const answer = answers[sent.length] ?? 'taken';
    sent.push(given);
    return answer === 'taken' ? ok(taken) : fail(toProblem(answer, ''));
  };
  return { sent, send };
}

describe('an order without a definite answer', () => {
  it.each([0, 408, 500, 502, 503, 504])(
    'is sent again to the letter after %i, whatever is asked for meanwhile',
    async (status) => {
      const orders = new GivenOrders(shelf());
      const { sent, send } = answering(status, status);
      const first = order('cmd_1');
      await orders.give('run_1 plan', first, send);
      expect(orders.get('run_1 plan')).toBe(first);
      await orders.give('run_1 plan', order('cmd_2', { reason: 'another' }), send);
      await orders.give('run_1 plan', order('cmd_3', { mode: 'rewind' }), send);
      expect(sent).toEqual([first, first, first]);
      expect(orders.get('run_1 plan')).toBeUndefined();
    },
  );

  it.each([400, 404, 409, 422, 'taken'] as const)('is one no longer after %s', async (answer) => {
    const orders = new GivenOrders(shelf());
    const { sent, send } = answering(answer);
    await orders.give('run_1 plan', order('cmd_1'), send);
    await orders.give('run_1 plan', order('cmd_2'), send);
    expect(sent.map((each) => each.body.commandId)).toEqual(['cmd_1', 'cmd_2']);
  });

  it('stands before it leaves, and after the page was loaded anew', async () => {
    const kept = shelf();
    const orders = new GivenOrders(kept);
    let atSending: string | undefined;
    await orders.give('run_1 plan', order('cmd_1'), async () => {
      atSending = new GivenOrders(kept).get('run_1 plan')?.body.commandId;
      return fail(toProblem(502, ''));
    });
    expect(atSending).toBe('cmd_1');
    const { sent, send } = answering();
    await new GivenOrders(kept).give('run_1 plan', order('cmd_2'), send);
    expect(sent).toEqual([order('cmd_1')]);
    expect(kept.items.size).toBe(0);
  });

  it('binds no other place, and none once a person gives it up', async () => {
    const orders = new GivenOrders(undefined);
    const { sent, send } = answering(0);
    await orders.give('run_1 plan', order('cmd_1'), send);
    await orders.give('run_2 plan', order('cmd_2'), send);
    orders.forget('run_1 plan');
    await orders.give('run_1 plan', order('cmd_3'), send);
    expect(sent.map((each) => each.body.commandId)).toEqual(['cmd_1', 'cmd_2', 'cmd_3']);
  });

  it('is kept in the tab where the storage throws', async () => {
    const throws = () => {
      throw new Error('forbidden');
    };
    const orders = new GivenOrders({ getItem: throws, setItem: throws, removeItem: throws });
    const { send } = answering(0);
    await orders.give('run_1 plan', order('cmd_1'), send);
    expect(orders.get('run_1 plan')?.body.commandId).toBe('cmd_1');
  });
});
