import { writeFileSync } from 'node:fs';
import { defineAgent, Rejected, tool } from '@rerail/sdk';

/*
 * A small refund desk for tests over the real API. What it does to the outside is noted in `calls`, which the test
 * process shares; in a replay's process nothing may be added. `DESK_RATE` changes one pure function; with `DESK_CLOCK`
 * the code reads the clock, with `DESK_TOUCH` it writes that file between its steps, with `DESK_BREAK` its process breaks off in
 * the refund, for that reason; with `DESK_HANG` it awaits there what never comes.
 */
const key = Symbol.for('rerail.desk');
globalThis[key] ??= { made: [], mailFails: false };
const calls = globalThis[key];

const external = (name, run) =>
  tool({
    effect: 'external',
    keyed: true,
    timeoutMs: 2_000,
    settlesWithinMs: 200,
    receipt: (result) => result.id,
    run: async (args, call) => {
      calls.made.push({ name, key: call.idempotencyKey });
      return run(args);
    },
    verify: async () => ({ outcome: 'did-not-happen' }),
  });

export const desk = defineAgent({
  name: 'desk',
  initial: 'plan',
  states: {
    plan: {
      to: ['refund'],
      tools: ['find'],
      run: async (ctx) => {
        const order = await ctx.tool('find', { order: ctx.input.order });
        ctx.vars.set('order', order);
        if (process.env.DESK_CLOCK) Date.now();
        if (process.env.DESK_TOUCH) writeFileSync(process.env.DESK_TOUCH, 'touched');
        ctx.vars.set('opened', { at: ctx.now(), id: ctx.id() });
        const reply = await ctx.llm('model', { messages: [{ role: 'user', content: 'what now?' }] });
        ctx.messages.append(reply.message);
        const amount = await ctx.compute(
          'amount',
          { cents: 100 },
          ({ cents }) => cents * Number(process.env.DESK_RATE ?? 1),
        );
        ctx.vars.set('amount', amount);
        const approved = await ctx.ask('approve', { prompt: `Refund ${amount}?` });
        ctx.vars.set('approved', approved);
        return 'refund';
      },
    },
    refund: {
      to: ['close'],
      tools: ['create_refund', 'send_mail'],
      run: async (ctx) => {
        const refund = await ctx.tool('create_refund', { amount: ctx.vars.get('amount') });
        if (process.env.DESK_BREAK) {
          // By then the replay has recorded what came before.
          setTimeout(() => {
            throw new Error(process.env.DESK_BREAK);
          }, 300);
        }
        if (process.env.DESK_BREAK || process.env.DESK_HANG) await new Promise(() => {});
        await ctx.tool('send_mail', { refund });
        return 'close';
      },
    },
    close: { to: [], final: true, run: async (ctx) => ({ refunded: ctx.vars.get('amount') }) },
  },
  tools: {
    find: tool({
      effect: 'read',
      run: async (args) => {
        calls.made.push({ name: 'find' });
        return { order: args.order, total: 100 };
      },
    }),
    create_refund: external('create_refund', async () => ({ id: 're_1' })),
    send_mail: external('send_mail', async () => {
      if (calls.mailFails) throw new Rejected('the mail service refuses');
      return { id: 'm_1' };
    }),
  },
  llms: {
    model: {
      model: 'atlas-large',
      client: {
        complete: async () => {
          calls.made.push({ name: 'llm' });
          return {
            message: { role: 'assistant', content: 'refund it' },
            usage: { inputTokens: 3, outputTokens: 2 },
          };
        },
      },
    },
  },
});
