import {
  closeTicket,
  createRefund,
  customerHistory,
  policyLibrary,
  searchOrders,
  sendMail,
} from '@/lib/demo/tools';
import { defineAgent } from '@/lib/sdk/index';

/* Small agents over the demo's tools, each for one scenario. */

const as = new URL(import.meta.url).searchParams.get('as') ?? 'chaos';

const close = { to: [], final: true, run: async () => undefined };
const refund = { orderId: 'ORD-1003', amountCents: 1_000, currency: 'EUR' };

/** One turn calls refund, then mail, then a third tool. */
export const turn = defineAgent({
  name: `${as}-turn`,
  initial: 'turn',
  states: {
    turn: {
      to: ['close'],
      tools: ['create_refund', 'send_mail', 'close_ticket'],
      run: async (ctx) => {
        ctx.vars.set('refund', await ctx.tool('create_refund', refund));
        await ctx.tool('send_mail', {
          to: 'maya@example.com',
          subject: 'Your refund',
          text: 'It is on its way.',
        });
        await ctx.tool('close_ticket', { ticket: as });
        return 'close';
      },
    },
    close,
  },
  tools: { create_refund: createRefund, send_mail: sendMail, close_ticket: closeTicket },
});

/** An external tool with every retry configured that there is. */
export const eager = defineAgent({
  name: `${as}-eager`,
  initial: 'pay',
  states: {
    pay: {
      to: ['close'],
      tools: ['create_refund'],
      run: async (ctx) => {
        ctx.vars.set('refund', await ctx.tool('create_refund', refund));
        return 'close';
      },
    },
    close,
  },
  tools: { create_refund: { ...createRefund, retries: 2 } },
});

/** Three branches at once; the third is the one that dies. */
export const branches = defineAgent({
  name: `${as}-branches`,
  initial: 'gather',
  states: {
    gather: {
      to: ['close'],
      tools: ['search_orders', 'customer_history', 'policy_library'],
      run: async (ctx) => {
        const got = await ctx.parallel('three', {
          order: (c) => c.tool('search_orders', { order_id: 'ORD-1003' }),
          history: (c) => c.tool('customer_history', { order_id: 'ORD-1003' }),
          policy: (c) => c.tool('policy_library', { category: 'books' }),
        });
        ctx.vars.set('got', got);
        return 'close';
      },
    },
    close,
  },
  tools: {
    search_orders: searchOrders,
    customer_history: customerHistory,
    policy_library: { ...policyLibrary, retries: 0 },
  },
});
