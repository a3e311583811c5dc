import { defineAgent } from '@/lib/sdk/index';
import { type AssistantMessage, chatClient } from './chat-client';
import type { LineRefund, Order, PolicyText } from './domain';
import { APPROVAL_LIMIT_CENTS, money, refundForLine, totalOf } from './refund-policy';
import {
  closeTicket,
  createRefund,
  customerHistory,
  policyLibrary,
  type Refund,
  searchOrders,
  sendMail,
} from './tools';

interface PolicyAnswer {
  readonly documents: readonly PolicyText[];
}
interface Draft {
  readonly message: AssistantMessage;
}
interface Approval {
  readonly approved: boolean;
  readonly note?: string;
}

/** What a run is started with. */
export interface RefundRequest {
  readonly ticket: string;
  readonly request: string;
}

const SYSTEM =
  'You are the refund desk of a small shop. Look orders up before you decide. Be brief and kind.';
const MODEL = process.env['RERAIL_LLM_MODEL'] ?? 'atlas-large';
const SEARCH_TOOL = {
  type: 'function',
  function: {
    name: 'search_orders',
    description: 'Finds an order by its number.',
    parameters: { type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'] },
  },
};

/** The order that the model asked for; a model that only talked is taken at the number in the customer's own words. */
function orderAskedFor(message: AssistantMessage, request: string): string {
  const text = message.tool_calls?.find((call) => call.function.name === 'search_orders')?.function.arguments;
  const asked = text === undefined ? undefined : (JSON.parse(text) as { order_id?: string }).order_id;
  const found = asked ?? /ORD-\d+/.exec(request)?.[0];
  if (found === undefined) throw new Error('the request names no order');
  return found;
}

/** Plan → look up → check each line's policy (a loop) → approval above a limit → refund → mail → close. */
export const refundDesk = defineAgent({
  name: 'refund-desk',
  initial: 'plan',
  llms: { desk: { client: chatClient, model: MODEL } },
  prompts: { system: SYSTEM },
  checkpoints: { everySteps: 3, everyMs: 30_000 },
  autoVerify: false,
  tools: {
    search_orders: searchOrders,
    customer_history: customerHistory,
    policy_library: policyLibrary,
    create_refund: createRefund,
    send_mail: sendMail,
    close_ticket: closeTicket,
  },
  states: {
    plan: {
      to: ['lookup_order'],
      tools: [],
      run: async (ctx) => {
        const { ticket, request } = ctx.input as RefundRequest;
        ctx.vars.set('ticket', ticket);
        ctx.messages.append({ role: 'system', content: SYSTEM });
        ctx.messages.append({ role: 'user', content: request });
        const { message } = (await ctx.llm('desk', {
          messages: [
            { role: 'system', content: SYSTEM },
            { role: 'user', content: request },
          ],
          tools: [SEARCH_TOOL],
          temperature: 0,
          seed: 7,
        })) as Draft;
        ctx.messages.append({
          role: 'assistant',
          content: message.content ?? JSON.stringify(message.tool_calls),
        });
        ctx.vars.set('orderId', orderAskedFor(message, request));
        return 'lookup_order';
      },
    },
    lookup_order: {
      to: ['check_policy'],
      tools: ['search_orders', 'customer_history'],
      run: async (ctx) => {
        const order_id = ctx.vars.get('orderId') as string;
        const found = await ctx.parallel('look_up', {
          order: (c) => c.tool('search_orders', { order_id }),
          history: (c) => c.tool('customer_history', { order_id }),
        });
        ctx.vars.set('order', found.order);
        ctx.vars.set('history', found.history);
        ctx.vars.set('refunds', []);
        return 'check_policy';
      },
    },
    check_policy: {
      to: ['check_policy', 'ask_approval', 'issue_refund', 'send_mail'],
      tools: ['policy_library'],
      run: async (ctx) => {
        const order = ctx.vars.get('order') as Order;
        const done = ctx.vars.get('refunds') as readonly LineRefund[];
        const line = order.lines[done.length];
        if (line === undefined) throw new Error(`order ${order.id} has no line ${done.length + 1}`);
        const { documents } = await ctx.retrieve<PolicyAnswer>('policy_library', { category: line.category });
        const policy = documents[0];
        if (policy === undefined) throw new Error(`there is no policy for ${line.category}`);
        const refund = await ctx.compute('line_refund', { line, policy }, (given) =>
          refundForLine(given.line, given.policy),
        );
        const refunds = [...done, refund];
        ctx.vars.set('refunds', refunds);
        if (
          await ctx.condition(
            'more_lines',
            { checked: refunds.length, lines: order.lines.length },
            (n) => n.checked < n.lines,
          )
        ) {
          return 'check_policy';
        }
        const totalCents = await ctx.compute('total', refunds, totalOf);
        ctx.vars.set('totalCents', totalCents);
        if (await ctx.condition('nothing_due', { totalCents }, (due) => due.totalCents === 0))
          return 'send_mail';
        const needsApproval = await ctx.condition(
          'above_limit',
          { totalCents, limitCents: APPROVAL_LIMIT_CENTS },
          (due) => due.totalCents > due.limitCents,
        );
        return needsApproval ? 'ask_approval' : 'issue_refund';
      },
    },
    ask_approval: {
      to: ['issue_refund', 'send_mail'],
      tools: [],
      run: async (ctx) => {
        const order = ctx.vars.get('order') as Order;
        const amount = money(ctx.vars.get('totalCents') as number, order.currency);
        const answer = await ctx.ask<Approval>('approval', {
          prompt: `Refund ${amount} to ${order.customer.name} for order ${order.id}? It is above ${money(APPROVAL_LIMIT_CENTS, order.currency)}.`,
          schema: {
            type: 'object',
            properties: {
              approved: { type: 'boolean', title: 'Approve this refund' },
              note: { type: 'string', title: 'Note for the record' },
            },
            required: ['approved'],
            additionalProperties: false,
          },
        });
        ctx.vars.set('approval', { ...answer, at: ctx.now() });
        return (await ctx.condition('approved', answer, (given) => given.approved))
          ? 'issue_refund'
          : 'send_mail';
      },
    },
    issue_refund: {
      to: ['send_mail'],
      tools: ['create_refund'],
      run: async (ctx) => {
        const order = ctx.vars.get('order') as Order;
        const refund = await ctx.tool('create_refund', {
          orderId: order.id,
          amountCents: ctx.vars.get('totalCents') as number,
          currency: order.currency,
        });
        ctx.vars.set('refund', refund);
        return 'send_mail';
      },
    },
    send_mail: {
      to: ['close'],
      tools: ['send_mail'],
      run: async (ctx) => {
        const order = ctx.vars.get('order') as Order;
        const refund = ctx.vars.get('refund') as Refund | undefined;
        const facts = [
          `order: ${order.id}`,
          `customer: ${order.customer.name}`,
          ...(refund === undefined ? [] : [`amount: ${money(refund.amountCents, refund.currency)}`]),
        ].join('\n');
        const { message } = (await ctx.llm('desk', {
          messages: [
            { role: 'system', content: SYSTEM },
            { role: 'user', content: `Write the mail to the customer.\n${facts}` },
          ],
          temperature: 0,
          seed: 7,
        })) as Draft;
        const text = message.content ?? '';
        ctx.messages.append({ role: 'assistant', content: text });
        await ctx.tool('send_mail', { to: order.customer.email, subject: `Your order ${order.id}`, text });
        return 'close';
      },
    },
    close: {
      to: [],
      final: true,
      tools: ['close_ticket'],
      run: async (ctx) => {
        const closed = await ctx.tool('close_ticket', { ticket: ctx.vars.get('ticket') as string });
        ctx.vars.set('closed', closed);
        return undefined;
      },
    },
  },
});
