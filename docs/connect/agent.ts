// agent.ts
import { defineAgent, tool } from '@rerail/sdk';

const findInvoice = tool({
  effect: 'read', // asks, and changes nothing
  run: async ({ id }: { id: string }) => ({ id, cents: 4200 }), // your database
});
const pay = tool({
  effect: 'external', // must not happen twice: after a crash it is in doubt, never sent again
  keyed: true,
  // Ask your provider here. Send it the key: it is the same on every attempt and resume.
  run: async ({ cents }: { cents: number }, { idempotencyKey }) => ({ id: 'pay_1', cents, idempotencyKey }),
  receipt: (payment) => payment.id,
});

export const payer = defineAgent({
  name: 'payer',
  initial: 'look_up',
  tools: { find_invoice: findInvoice, pay },
  states: {
    look_up: {
      to: ['pay'],
      tools: ['find_invoice'],
      run: async (ctx) => {
        ctx.vars.set('invoice', await ctx.tool('find_invoice', ctx.input));
        return 'pay';
      },
    },
    pay: {
      to: ['done'],
      tools: ['pay'],
      run: async (ctx) => {
        ctx.vars.set('payment', await ctx.tool('pay', ctx.vars.get('invoice')));
        return 'done';
      },
    },
    done: { to: [], final: true, run: async (ctx) => ctx.vars.get('payment') },
  },
});
